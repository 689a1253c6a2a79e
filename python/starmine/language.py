"""Hanabi in words: what a view shows as text, moves as text and back, and a player for language models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from starmine._core import Card, NotationError, StarmineError, Variant, View
from starmine.durable import given_path, replace_file

INSTRUCTIONS = (
    "You play Hanabi, a cooperative card game. You see all hands but your own. The team stacks cards on the fireworks "
    "of each colour from rank 1 upwards. A wrong play costs a life token; without life tokens the game is lost. A hint "
    "costs an information token and names all cards of one colour or one rank in another hand; a discard gives a token "
    "back. Slot 0 is the oldest card of a hand, and +1 is the next seat."
)
_MOVE = re.compile(
    r"\b(?P<kind>play|discard) (?:(?:slot|card) )?(?P<slot>\d+)\b"
    r"(?: (?:announcing )?(?!play |discard |hint )(?P<announced>[a-z]+))?"
    r"|\bhint (?:player )?\+?(?P<offset>\d+) (?:rank |colou?r )?(?P<value>[a-z]+|\d+)\b"
)


def describe(view: View) -> str:
    """What a view shows, in words.

    The text is stable: a line for the seat, one for the counters, then the fireworks, the discards, the own hand,
    the hands of the others and the moves of the last round.

    >>> import starmine
    >>> print(starmine.describe(starmine.variant("very-small").new_game(seed=1).view(0)).splitlines()[0])
    You are seat 0 of 2 seats. Turn 0. You are to act.
    """
    variant = view.variant
    seat = view.observer
    to_act = "You are" if view.current_player == seat else f"Seat {view.current_player} is"
    lines = [
        f"You are seat {seat} of {variant.players} seats. Turn {len(view.history)}. {to_act} to act.",
        f"Score {view.score} of {variant.max_score}. Information tokens: {view.information_tokens} of "
        f"{variant.max_information_tokens}. Life tokens: {view.life_tokens} of {variant.max_life_tokens}. "
        f"Cards left in the deck: {view.deck_size}.",
        "Fireworks: " + " ".join(f"{_letter(suit)}{height}" for suit, height in enumerate(view.fireworks)),
        "Discards: " + (" ".join(map(str, view.discard_pile)) or "none"),
    ]
    for offset, hand in enumerate(view.hands):
        whose = "Your hand" if offset == 0 else f"Hand of +{offset} (seat {(seat + offset) % variant.players})"
        lines.append(f"{whose}, the oldest card first:")
        lines += [f"  slot {slot}: {_card_text(view, offset, slot, card)}" for slot, card in enumerate(hand)]
    recent = view.history[-variant.players :]
    lines.append("Moves of the last round:" + ("" if recent else " none"))
    lines += [f"  {event}" for event in recent]
    return "\n".join(lines)


def _letter(suit: int) -> str:
    return str(Card.of(suit, 0))[0]


def _card_text(view: View, offset: int, slot: int, card: Card | None) -> str:
    """A card, if it is seen, what hints named of it, and what they leave."""
    known = view.knowledge(offset, slot)
    color = "" if known.color is None else _letter(known.color)
    named = (color + ("" if known.rank is None else str(known.rank + 1))) or "nothing"
    colors = "".join(_letter(suit) for suit in sorted({card.suit for card in known.plausible}))
    ranks = "".join(str(rank + 1) for rank in sorted({card.rank for card in known.plausible}))
    seen = "" if card is None else f"{card}, "
    return f"{seen}hinted {named}, can be {colors} {ranks}"


def legal_moves_text(view: View) -> list[str]:
    """The legal moves of the observer in words, such as "play slot 2" or "hint +1 red"; none when another seat acts."""
    return [view.variant.action_meaning(action) for action in view.legal_actions()]


def actions_text(variant: Variant, mask: NDArray[np.bool_]) -> str:
    """The actions of a mask, bool (num_actions,), with their moves in words, as error messages list them."""
    return ", ".join(f"{action} ({variant.action_meaning(action)})" for action in np.flatnonzero(mask).tolist())


def read_move(text: str, view: View) -> int:
    """The legal action that a text names: the last move in it, in the words of `legal_moves_text` or close to them.

    Upper and lower case, punctuation and Markdown do not matter: "I think **Play card 2**." is "play slot 2".

    Args:
        text: a reply.
        view: of the seat to act.

    Raises:
        NotationError: there is no move in it.
        StarmineError: the move is not legal.
    """
    words = " ".join(re.sub(r"[^a-z0-9+ ]", " ", text.lower()).split())
    found = None
    for match in _MOVE.finditer(words):
        action = _action(match, view)
        found = action if action is not None else found
    legal = legal_moves_text(view)
    if found is None:
        raise NotationError(f"{text[-200:]!r} names no move: expected one of {legal}")
    if found not in view.legal_actions():
        raise StarmineError(f"{view.variant.action_meaning(found)!r} is not legal now: expected one of {legal}")
    return found


def _action(match: re.Match[str], view: View) -> int | None:
    """The action of a match; None where the variant has none such."""
    if match["offset"] is not None:
        forms = [f"hint +{match['offset']} {match['value']}"]
    else:
        plain = f"{match['kind']} {match['slot']}"
        forms = [f"{plain} {match['announced']}", plain] if match["announced"] else [plain]
    for form in forms:
        try:
            return view.variant.action(form)
        except StarmineError:
            continue
    return None


@dataclass(frozen=True)
class Exchange:
    """A question to a language model and its reply.

    Attributes:
        seat: of the player.
        turn: of the game, from 0.
        attempt: of this turn, from 0.
        prompt: the question.
        reply: the answer.
        move: the move that was read in it, in words; None if there was no legal one.
        error: why not; None if there was one.
    """

    seat: int
    turn: int
    attempt: int
    prompt: str
    reply: str
    move: str | None
    error: str | None


class LanguagePlayer:
    """A player for a language model, or any other function of text to text; wherever Python bots are taken.

    Args:
        ask: answers a prompt.
        retries: how often it is asked again, with what was wrong, after a reply without a legal move.
        instructions: what each prompt begins with.
        fallback: chooses the action when all replies were useless; None to raise an error instead.

    Attributes:
        transcript: every exchange, the oldest first.

    Example:
        >>> import starmine
        >>> player = starmine.LanguagePlayer(lambda prompt: "I would play slot 0.")
        >>> games = starmine.play_games([player, "random"], games=1)
        >>> player.transcript[0].move
        'play slot 0'
    """

    def __init__(
        self,
        ask: Callable[[str], str],
        *,
        retries: int = 2,
        instructions: str = INSTRUCTIONS,
        fallback: Callable[[View], int] | None = None,
    ) -> None:
        if not callable(ask):
            raise StarmineError(f"ask={ask!r} is not allowed: expected a function of text to text")
        if not isinstance(retries, int) or retries < 0:
            raise StarmineError(f"retries={retries!r} is not allowed: expected an integer of at least 0")
        self.ask = ask
        self.retries = retries
        self.instructions = instructions
        self.fallback = fallback
        self.transcript: list[Exchange] = []

    def prompt(self, view: View) -> str:
        """The question of a turn: the instructions, what the view shows, and the legal moves."""
        moves = "\n".join(f"  {move}" for move in legal_moves_text(view))
        return f"{self.instructions}\n\n{describe(view)}\n\nYour legal moves:\n{moves}\n\nAnswer with one of them."

    def act(self, view: View) -> int:
        """Ask until a reply names a legal move.

        Raises:
            StarmineError: no reply did, and there is no fallback.
        """
        question = self.prompt(view)
        prompt = question
        for attempt in range(self.retries + 1):
            reply = self.ask(prompt)
            if not isinstance(reply, str):
                raise StarmineError(f"ask returned {reply!r}: expected text")
            action, error = None, None
            try:
                action = read_move(reply, view)
            except StarmineError as refusal:
                error = str(refusal)
            move = None if action is None else view.variant.action_meaning(action)
            turn = len(view.history)
            self.transcript.append(Exchange(view.observer, turn, attempt, prompt, reply, move, error))
            if action is not None:
                return action
            prompt = f"{question}\n\nYour last answer was not usable: {error}"
        if self.fallback is not None:
            return self.fallback(view)
        raise StarmineError(f"{self.retries + 1} replies named no legal move; the last problem: {error}")

    def save(self, path: str | Path) -> None:
        """Write the transcript as JSON, an exchange a line.

        Raises:
            StarmineError: the path is empty.
            OSError: the file cannot be written; an earlier one is still there.
        """
        lines = [json.dumps(asdict(exchange)) + "\n" for exchange in self.transcript]
        replace_file(given_path("path", path), "".join(lines).encode())
