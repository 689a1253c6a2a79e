"""Where the points of a game went: the turns after which fewer points could be reached than before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starmine._core import Event, State, View
from starmine.games.playable import nothing_playable
from starmine.look.frame import card_name, seat_names, suits_of
from starmine.look.words import Suits, does

MISPLAY, CRITICAL, TIME, STUCK = "misplay", "critical", "time", "stuck"


@dataclass(frozen=True)
class Mistake:
    """A turn that cost something.

    Attributes:
        turn: the turn's number, from 1.
        seat: the seat that moved.
        kind: "misplay"; "critical", the discard of the last copy of a card that was needed; "time", a turn after which
            too few turns were left for all the points; or "stuck", a turn after which the next seat had neither a card
            nor an information token, which ends a game with a crowning piece.
        points: by how much the turn lowered the score that could still be reached.
        text: what happened, such as "seat 0 discards W5, the last copy".
        chance: how likely the move was to cost nothing by what the seat could know (`View.marginals`): that the card
            would fit, or that the discard was not the last copy of a needed card. None for "time" and "stuck".
    """

    turn: int
    seat: int
    kind: str
    points: int
    text: str
    chance: float | None = None


def mistakes(state: State, names: Sequence[str] | None = None, suits: Sequence[str] | None = None) -> list[Mistake]:
    """The turns of a game that cost points, and the misplays, which cost a life token; in their order.

    The points of all mistakes add up to the fall of `View.reachable_score` since the deal. After the end of a game this
    is what could be reached after the deal, minus the score.

    Args:
        state: the game, of which the past turns are looked at.
        names: of the seats; None for "seat 0" and so on.
        suits: the names of the suits, as `frame_of` takes them.

    Raises:
        StarmineError: names that are not one for each seat, or suits that are not the variant's.
        UnknownNameError: there is no such suit.

    >>> import starmine
    >>> state = starmine.Variant().new_game(seed=7)
    >>> while not state.is_terminal:
    ...     reward = state.apply(state.suggest("simple"))
    >>> sum(mistake.points for mistake in starmine.look.mistakes(state)) == 25 - state.score
    True
    """
    named, called = seat_names(names, state.variant.players), suits_of(state.variant, suits)
    position = state.variant.new_game(deck=state.deck, start_player=state.start_player)
    errors = []
    for turn, event in enumerate(state.history, 1):
        seen = position.view(event.seat)
        position.apply(event.action)
        before, after = seen.reachable_score, position.view(event.seat).reachable_score
        last_copy = event.card is not None and not event.added and event.card in seen.outlook()["critical"]
        kind = _kind(event, last_copy, position)
        if before > after or kind != TIME:
            text = _text(event, kind, last_copy, position, named, called)
            chance = None if kind in (TIME, STUCK) else _chance(event, seen)
            errors.append(Mistake(turn, event.seat, kind, before - after, text, chance))
    return errors


def verdict(state: State, names: Sequence[str] | None = None, suits: Sequence[str] | None = None) -> str:
    """How a game ended and where its points went, in a sentence or two.

    Args:
        state: as `mistakes` takes it.
        names: as `mistakes` takes them.
        suits: as `mistakes` takes them.

    Raises:
        StarmineError, UnknownNameError: as `mistakes`.

    >>> import starmine
    >>> state = starmine.Variant().new_game(seed=7)
    >>> while not state.is_terminal:
    ...     reward = state.apply(state.suggest("simple"))
    >>> starmine.look.verdict(state)
    'The deck ran out: 21 of 25 points. 4 went by discards of last copies.'
    """
    errors, most = mistakes(state, names, suits), state.variant.max_score
    match state.ending:
        case None:
            why = "Stopped when nothing more could be played" if nothing_playable(state) else "Not played to its end"
            return f"{why}: {state.score} of {most} points after {state.length} turns."
        case "perfect":
            return f"All {most} points, in {state.length} turns."
        case "deck_exhausted":
            return f"The deck ran out: {state.score} of {most} points.{_shares(errors)}"
        case "lost":
            cause = _misplays(state, errors, seat_names(names, state.variant.players), suits_of(state.variant, suits))
        case "indispensable_card_lost":
            cause = f"{errors[-1].text}, and these rules need every card"
        case "no_legal_action":
            cause = errors[-1].text
    return f"Lost on turn {state.length}: {cause}. {_played(state)}"


def _misplays(state: State, errors: Sequence[Mistake], named: Sequence[str], suits: Suits) -> str:
    """Which misplays took the last life token, with their turns, and with the player where one made all of them."""
    fatal = [mistake for mistake in errors if mistake.kind == MISPLAY]
    taken = [state.history[mistake.turn - 1].card for mistake in fatal]
    told = [card_name(card, suits) for card in taken if card is not None]
    *first, last = [f"{card} (turn {mistake.turn})" for card, mistake in zip(told, fatal, strict=True)]
    cards = f"{', '.join(first)} and {last}" if first else last
    if len({mistake.seat for mistake in fatal}) == 1:
        return f"{named[fatal[0].seat]} misplayed {cards}, which took the last life token"
    return f"the misplays of {cards} took the last life token"


def _played(state: State) -> str:
    """How many cards lay on the table when a game was lost, and what that is worth."""
    played = sum(state.fireworks)
    if not played:
        return "No card had been played."
    cards = "1 card" if played == 1 else f"{played} cards"
    return f"{cards} had been played, {f'which count {state.score}' if state.score else 'but a lost game scores 0'}."


def _shares(errors: Sequence[Mistake]) -> str:
    """How many points went by each kind of mistake."""
    ways = {CRITICAL: "by discards of last copies", MISPLAY: "by misplays", TIME: "for want of turns"}
    points = {kind: sum(mistake.points for mistake in errors if mistake.kind == kind) for kind in ways}
    told = [f"{points[kind]} {way}" for kind, way in ways.items() if points[kind]]
    told[:1] = [share.replace(" ", " went ", 1) for share in told[:1]]
    return f" {', '.join(told)}." if told else ""


def _chance(event: Event, view: View) -> float:
    """How likely a play was to fit, or a discard to be no last copy of a needed card, by what the seat could know."""
    assert event.slot is not None
    belief = view.marginals()[event.slot].tolist()
    wanted = view.outlook()["critical" if event.kind == "discard" else "playable"]
    chances = (
        belief[card.suit * view.variant.ranks + card.rank] for card in wanted if event.announced in (None, card.suit)
    )
    share = float(sum(chances))
    return 1 - share if event.kind == "discard" else share


def _kind(event: Event, last_copy: bool, position: State) -> str:
    """The kind of a turn that cost something; the position is that after the turn."""
    if event.misplay:
        return MISPLAY
    if last_copy:
        return CRITICAL
    return STUCK if position.ending == "no_legal_action" else TIME


def _text(event: Event, kind: str, last_copy: bool, position: State, named: Sequence[str], suits: Suits) -> str:
    """What happened, in words; the position is that after the turn."""
    name, rest = named[event.seat], ", the last copy" if last_copy else ""
    card = "" if event.card is None else card_name(event.card, suits)
    move = f"{does(name, event.kind)} {card}{rest}" if card else does(name, "hint")
    if kind == MISPLAY:
        lives = "the last life token" if position.life_tokens == 0 else "a life token"
        move = f"{does(name, 'misplay')} {card}{rest}, and {lives} is lost"
    if position.ending == "no_legal_action":
        stuck = named[position.current_player]
        return f"{move}; {stuck} {'have' if stuck == 'you' else 'has'} neither a card nor an information token"
    if kind == TIME:
        return f"{move}; {'it was the last turn' if position.is_terminal else 'too few turns are left for every card'}"
    return move
