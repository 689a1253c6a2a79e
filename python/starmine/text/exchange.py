"""What a model is asked and what it answers: messages, answers and exchanges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from starmine._core import StarmineError
from starmine._util.equality import equal_by_value
from starmine._util.numbers import is_number
from starmine.text.prompt import PROMPT_VERSION

LONGEST = 1000  # characters of a problem that is kept with totals
Message: TypeAlias = dict[str, str]
Messages: TypeAlias = list[Message]


@equal_by_value
@dataclass(frozen=True)
class Answer:
    """A model's reply with more than its text; `ask` of a `ChatPlayer` may return it.

    Attributes:
        text: the text of the reply. If there are tool calls, it is not read.
        tool_calls: the tool calls of the reply, as dicts with a name and arguments.
        usage: numbers that are summed, such as `prompt_tokens`, `completion_tokens` and `cost`; others are ignored.
        complete: False for a reply that was cut off at its length limit. It is refused.

    Raises:
        StarmineError: an attribute has another type.
    """

    text: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    complete: bool = True

    def __post_init__(self) -> None:
        for name, kind in (("text", str), ("tool_calls", Sequence), ("usage", Mapping)):
            if not isinstance(getattr(self, name), kind):
                raise StarmineError(
                    f"{name}={getattr(self, name)!r} is not allowed: expected a {kind.__name__.lower()}"
                )


@equal_by_value
@dataclass(frozen=True)
class Exchange:
    """One reply of a model, or one call that failed.

    Attributes:
        player: the name of the `ChatPlayer`.
        game: index of the game among those that are played together, from 0, in an evaluation among those of its
            pairing; None if `act` was called.
        seat: the seat that was asked.
        turn: number of turns that the game has had before.
        attempt: number of unusable replies that the model has given in this turn before.
        prompt: the first 16 hexadecimal digits of the SHA-256 hash of `json.dumps(messages)`.
        messages: the messages that the model got.
        reply: the text of the reply, or its tool calls as JSON; None if the call failed.
        outcome: "move" if the reply names one legal move, "illegal" if the move is not legal or its slot, seat or rank
            does not exist, "unreadable" if the reply names no move or several; "failed" if the call raised an
            exception.
        action: the action id of the legal move; None for other outcomes.
        problem: what was wrong, with the place where an exception was raised; None for the outcome "move".
        seconds: duration of the call.
        usage: the numbers of `Answer.usage`.
        prompt_version: `PROMPT_VERSION`, which changes with the texts of prompts.
        players: in an evaluation the names of the game's players, by seat; else None.
    """

    player: str
    game: int | None
    seat: int
    turn: int
    attempt: int
    prompt: str
    messages: Messages
    reply: str | None
    outcome: str
    action: int | None
    problem: str | None
    seconds: float
    usage: dict[str, float]
    prompt_version: int = PROMPT_VERSION
    players: list[str] | None = None


def numbers_of(usage: Mapping[str, Any]) -> dict[str, float]:
    """The finite numbers of `Answer.usage`, as JSON can represent them."""
    numbers: dict[str, float] = {}
    for name, value in usage.items():
        with suppress(OverflowError):  # of an integer beyond all floats
            if is_number(value, -math.inf):
                numbers[str(name)] = value if isinstance(value, int | float) else float(value)
    return numbers


def totals(exchanges: Sequence[Exchange], fallbacks: int) -> dict[str, Any]:
    """What some exchanges came to, as JSON can represent it; see `ChatPlayer.totals`.

    Args:
        exchanges: those of one player.
        fallbacks: number of moves that its fallback has chosen.
    """
    usage: Counter[str] = Counter()
    for exchange in exchanges:
        usage.update(exchange.usage)
    return {
        "calls": len(exchanges),
        "outcomes": dict(Counter(exchange.outcome for exchange in exchanges)),
        "problems": {each.outcome: shortened(each.problem) for each in exchanges[::-1] if each.problem},
        "fallbacks": fallbacks,
        "seconds": sum(exchange.seconds for exchange in exchanges),
        "usage": dict(usage),
    }


def shortened(problem: str, longest: int = LONGEST) -> str:
    """A problem without its middle if it is too long; its end names the line that raised an exception."""
    half = longest // 2
    return problem if len(problem) <= longest else f"{problem[:half]} ... {problem[-half:]}"
