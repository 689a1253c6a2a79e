"""Where the points of a game went: the turns after which fewer points could be reached than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starmine._core import Event, StarmineError, State
from starmine.look.frame import outlook

MISPLAY, CRITICAL, TIME = "misplay", "critical", "time"


@dataclass(frozen=True)
class Mistake:
    """A turn that cost something.

    Attributes:
        turn: the turn's number, from 1.
        seat: the seat that moved.
        kind: "misplay"; "critical", the discard of the last copy of a card that was needed; or "time", a turn after
            which too few turns were left for all the points.
        points: by how much the turn lowered the score that could still be reached.
        text: what happened, such as "seat 0 discards W5, the last copy".
    """

    turn: int
    seat: int
    kind: str
    points: int
    text: str


def mistakes(state: State, names: Sequence[str] | None = None) -> list[Mistake]:
    """The turns of a game that cost points, and the misplays, which cost a life token; in their order.

    The points of all mistakes are those by which the score has stayed behind what could be reached after the deal.

    Args:
        state: the game, of which the past turns are looked at.
        names: of the seats; None for "seat 0" and so on.

    Raises:
        StarmineError: no state, such as a view, which does not have the deck.

    >>> import starmine
    >>> state = starmine.Variant().new_game(seed=7)
    >>> while not state.is_terminal:
    ...     reward = state.apply(state.suggest("simple"))
    >>> sum(mistake.points for mistake in starmine.look.mistakes(state)) == 25 - state.score
    True
    """
    if not isinstance(state, State):
        raise StarmineError(f"state is a {type(state).__name__}: expected a State")
    named = [f"seat {seat}" for seat in range(state.variant.players)] if names is None else names
    position = state.variant.new_game(deck=state.deck, start_player=state.start_player)
    found, before = [], reachable(position)
    for turn, event in enumerate(state.history, 1):
        critical = outlook(state.variant, position.fireworks, position.discard_pile)["critical"]
        position.apply(event.action)
        after = reachable(position)
        last_copy = event.card is not None and not event.added and str(event.card) in critical
        kind = MISPLAY if event.misplay else CRITICAL if last_copy else TIME
        if before > after or kind != TIME:
            text = _text(event, kind, last_copy, position, named[event.seat])
            found.append(Mistake(turn, event.seat, kind, before - after, text))
        before = after
    return found


def reachable(state: State) -> int:
    """The most points that the game can still reach, as far as discards, turns and life tokens tell.

    Of each suit it counts the cards below the first one whose copies are all discarded, and in all one point at most
    for each turn on which a card can still be played. A game that is over reaches its score.
    """
    if state.is_terminal:
        return state.score
    variant, played = state.variant, sum(state.fireworks)
    dead = outlook(variant, state.fireworks, state.discard_pile)["dead"]
    by_cards = variant.colors * variant.ranks - (len(dead) - played)
    return by_cards if variant.crowning_piece else min(by_cards, played + _plays_left(state))


def _plays_left(state: State) -> int:
    """The most cards that can still be played: one for each card of the deck, then one for each seat."""
    players = state.variant.players
    if state.deck_size > 0:
        return state.deck_size + players
    drawn = [turn for turn, event in enumerate(state.history, 1) if event.drawn is not None]
    return players - (state.length - (drawn[-1] if drawn else 0))


def _text(event: Event, kind: str, last_copy: bool, position: State, name: str) -> str:
    """What happened, in words."""
    rest = ", the last copy" if last_copy else ""
    if kind == MISPLAY:
        lives = "the last life token" if position.life_tokens == 0 else "a life token"
        return f"{name} misplays {event.card}{rest}, and {lives} is lost"
    if kind == CRITICAL:
        return f"{name} discards {event.card}{rest}"
    if position.is_terminal:
        return f"{name}: {event.move}; the game is over ({(position.ending or '').replace('_', ' ')})"
    return f"{name}: {event.move}; too few turns are left to play every card"
