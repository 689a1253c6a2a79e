"""What the calls of language models came to: the totals of chat players, kept with the games of each pairing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from starmine.text import ChatPlayer

Calls: TypeAlias = dict[str, Any]  # totals, as `ChatPlayer.report` has them, without the name

SHOWN = (
    *("move", "illegal", "unreadable", "failed", "timeout"),
    *("prompt_tokens", "completion_tokens", "reasoning_tokens", "cost"),
)


def added(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The sums of the numbers of two nested dicts; of texts, which are first problems, the first one's."""
    total = dict(one)
    for name, value in other.items():
        if name not in total:
            total[name] = value
        elif isinstance(value, Mapping):
            total[name] = added(total[name], value)
        elif not isinstance(value, str):
            total[name] += value
    return total


def chat_players(players: Mapping[str, Any]) -> dict[str, ChatPlayer]:
    """The chat players among some players, by name; a player of several names has the first."""
    if not players:
        return {}  # without an import
    from starmine.text.chat import ChatPlayer

    found: dict[str, ChatPlayer] = {}
    for name, player in players.items():
        if isinstance(player, ChatPlayer) and all(player is not known for known in found.values()):
            found[name] = player
    return found


@contextmanager
def counted(players: Mapping[str, Any]) -> Iterator[dict[str, Calls]]:
    """The totals of the calls that chat players make in the block, by name; they are there after the block.

    Args:
        players: those at the table, by name.
    """
    before = {name: (chat, len(chat.exchanges), chat.fallbacks) for name, chat in chat_players(players).items()}
    calls: dict[str, Calls] = {}
    yield calls
    for name, (chat, exchanges, fallbacks) in before.items():
        from starmine.text.exchange import totals

        calls[name] = totals(chat.exchanges[exchanges:], chat.fallbacks - fallbacks)


def in_order(numbers: Mapping[str, float]) -> list[tuple[str, float]]:
    """Outcomes or sums of usage in the order in which they are shown; stored numbers are in that of the alphabet."""
    first = {name: numbers[name] for name in SHOWN if name in numbers}
    return list((first | dict(sorted(numbers.items()))).items())


def described(calls: Calls) -> str:
    """Totals in words, such as "12 calls: 10 move, 2 illegal; 1 moves of the fallback; tokens 700; 0.5 seconds a call".

    There is at least one call.
    """
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in in_order(calls["outcomes"]))
    by_fallback = [f"{calls['fallbacks']:,} moves of the fallback"] if calls["fallbacks"] else []
    usage = [f"{kind} {amount:,}" for kind, amount in in_order(calls["usage"])]
    seconds = f"{calls['seconds'] / calls['calls']:.2f} seconds a call"
    return f"{calls['calls']:,} calls: {'; '.join([outcomes, *by_fallback, *usage, seconds])}"
