"""A position as a frame: plain data, which becomes JSON and from which everything is drawn.

A frame is a dictionary. `board.js` and the pictures read nothing else.

Its fields:

| field | type | meaning |
|---|---|---|
| `format` | int | `FORMAT`; another number is another meaning of the fields |
| `variant` | dict | the rules: `text`, `players`, `colors`, `ranks`, `hand_size`, `max_information_tokens`, `max_life_tokens`, `deck_size`, `max_score`, `copies`, `edition`, and the rules that are on or off, as `Variant.switches` names them |
| `suits` | list of dicts | the `letter` and the `name` of each suit; every card in the frame has these letters |
| `names` | list of str | of the seats, such as "smart" or "seat 0" |
| `observer` | int or None | the seat whose view this is; None for the open table |
| `turn` | int | turns played |
| `current_player`, `start_player` | int | seats |
| `ending` | str or None | one of `starmine.endings()` |
| `score`, `information_tokens`, `life_tokens`, `deck_size` | int | of the position |
| `fireworks` | list of int | heights by suit |
| `discards` | list of str | the discard pile, the oldest card first |
| `playable`, `critical`, `dead` | list of str | kinds of cards: next on their stack; needed, and the last copy; never to be played again |
| `hands` | list of lists of cards | by seat, the oldest card first |
| `last` | dict or None | the last turn: `seat`, `action`, `kind`, `slot`, `target`, `color`, `rank`, `announced`, `touched`, `card`, `added`, `misplay`, `regained`, as in `starmine.Event` |
| `words` | str | the last turn in words, such as "smart hints seat 1: red (slots 2, 3)"; before the first one who begins |
| `legal` | list of dicts | the moves of the seat to act, if the frame may show them: `action`, `text`, `kind`, `slot`, `target`, `color`, `rank`, `announced` |
| `policy` | dict or None | what a player thinks: see `frame_of` |

A card of a hand is a dictionary:

| field | type | meaning |
|---|---|---|
| `card` | str or None | such as "R1"; None where the observer does not see it |
| `number` | int | how many cards were dealt before it; it names the card as long as the game goes on |
| `color`, `rank` | int or None | what hints have named, from 0 |
| `plausible` | str | a "1" for each kind of card that the hints allow, at `suit * ranks + rank`, otherwise "0" |
| `told` | list | each hint about it: the turn's number, from 1, and "+R" or "-3": touched by red, not touched by 3 |
| `belief` | list of float or None | the probability of each kind of card to its owner: `View.marginals()`, to four digits |

In the frame of a view, `card` is None and `belief` given for the observer's own cards, and the other way round for the
others: what a partner believes depends on the cards that the observer does not see.
"""  # noqa: E501 - the rows of the tables

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starmine._core import Card, Event, Knowledge, Move, StarmineError, State, Variant, View
from starmine._util.keywords import check_names
from starmine.games.hands import Hands
from starmine.look.shapes import SUITS
from starmine.look.words import Suits, does, move_in_words, turn_in_words

FORMAT = 1
Frame = dict[str, Any]
"""A position as one seat, or everybody, sees it: a dictionary."""

# The letter of each suit. The engine's editions, and hanab.live, name their suits with these.
LETTERS = {suit["name"]: letter for letter, suit in SUITS.items()}
OF_VARIANT = [
    "players",
    "colors",
    "ranks",
    "hand_size",
    "max_information_tokens",
    "max_life_tokens",
    "deck_size",
    "max_score",
    "copies",
    "edition",
]
OF_EVENT = [
    "seat",
    "action",
    "kind",
    "slot",
    "target",
    "color",
    "rank",
    "announced",
    "touched",
    "added",
    "misplay",
    "regained",
]
OF_MOVE = ["kind", "slot", "color", "rank", "announced"]


def frame_of(
    position: State | View,
    seat: int | None = None,
    *,
    names: Sequence[str] | None = None,
    suits: Sequence[str] | None = None,
    policy: Mapping[str, Any] | None = None,
    beliefs: bool = True,
    legal: bool = True,
) -> Frame:
    """A position as a frame (see the module's page for its fields).

    Args:
        position: a state, or a seat's view.
        seat: with a state, the seat that looks, and what it may not see is not in the frame; None for the open table.
        names: of the seats; None for "seat 0", "seat 1" and so on.
        suits: the names of the suits, in their order, such as those of a game of hanab.live; None for those of the
            variant's edition.
        policy: what a player thinks of the position: `name`; `probabilities`, a mapping from actions to probabilities;
            `value`, a number of points; `choice`, the action that it would play. All may be left out.
        beliefs: whether to compute what the owners of the hidden cards believe.
        legal: whether to list the legal moves.

    Raises:
        StarmineError: there is no such seat, a seat with a view that is not its own, names that are not one for each
            seat, or suits that are not one for each suit of the variant.
        UnknownNameError: there is no such suit.

    >>> import starmine
    >>> frame = starmine.look.frame_of(starmine.Variant().new_game(seed=7), seat=1)
    >>> [card["card"] for card in frame["hands"][1]]
    [None, None, None, None, None]
    """
    if isinstance(position, View):
        if seat is not None and seat != position.observer:
            raise StarmineError(f"seat={seat!r} is not allowed: the view is that of seat {position.observer}")
        view, state = position, None
    else:
        view, state = position.view(0 if seat is None else seat), position if seat is None else None
    variant, history = view.variant, (view if state is None else state).history
    shown = view if state is None else state
    called = suits_of(variant, suits)
    told = _CardHistory(variant, history, called)
    discards, seats = shown.discard_pile, seat_names(names, variant.players)
    last = event_of(history[-1], called) if history else None
    if state is None:
        hands = [_hand(view, at, told, beliefs) for at in range(variant.players)]
    else:
        hands = _open_hands(state, told, beliefs)
    return {
        "format": FORMAT,
        "variant": {
            "text": str(variant),
            **{name: getattr(variant, name) for name in (*OF_VARIANT, *variant.switches)},
        },
        "suits": called,
        "names": seats,
        "observer": None if state is not None else view.observer,
        "turn": len(history),
        "current_player": shown.current_player,
        "start_player": history[0].seat if history else shown.current_player,
        "ending": view.ending,
        "score": shown.score,
        "information_tokens": shown.information_tokens,
        "life_tokens": shown.life_tokens,
        "fireworks": shown.fireworks,
        "deck_size": shown.deck_size,
        "discards": [card_name(card, called) for card in discards],
        **{kind: [card_name(card, called) for card in cards] for kind, cards in view.outlook().items()},
        "hands": hands,
        "last": last,
        "words": does(seats[shown.current_player], "begin") if last is None else turn_in_words(last, seats, called),
        "legal": _legal(shown, called) if legal else [],
        "policy": _policy(policy),
    }


def seat_names(names: Sequence[str] | None, players: int) -> list[str]:
    """The names of the seats."""
    if names is None:
        return [f"seat {seat}" for seat in range(players)]
    if len(names) != players:
        raise StarmineError(f"there are {len(names)} names: expected one for each of the {players} seats")
    return [*map(str, names)]


def suits_of(variant: Variant, names: Sequence[str] | None = None) -> list[dict[str, str]]:
    """The letter and the name of each suit of a variant, such as {"letter": "R", "name": "red"}."""
    if names is None:
        return [{"letter": letter, "name": name} for letter, name in zip(variant.letters, variant.suits, strict=True)]
    check_names("suit", names, LETTERS)
    if len(names) != variant.colors or len(set(names)) != len(names):
        raise StarmineError(f"suits={list(names)} is not allowed: expected {variant.colors} different suits")
    return [{"letter": LETTERS[name], "name": name} for name in names]


def card_name(card: Card, suits: Suits) -> str:
    """A card's name, such as "R1", with the letter that its suit has among these."""
    return f"{suits[card.suit]['letter']}{card.rank + 1}"


def event_of(event: Event, suits: Suits) -> dict[str, Any]:
    """A turn as plain data, the `last` of a frame."""
    told = {name: getattr(event, name) for name in OF_EVENT}
    return told | {"card": None if event.card is None else card_name(event.card, suits)}


def _legal(position: State | View, suits: Suits) -> list[dict[str, Any]]:
    moves: list[tuple[int, Move]] = list(zip(position.legal_actions(), position.legal_moves(), strict=True))
    seat, players = position.current_player, position.variant.players
    return [
        {
            "action": action,
            "text": move_in_words(move, suits),
            "target": None if move.offset is None else (seat + move.offset) % players,
            **{name: getattr(move, name) for name in OF_MOVE},
        }
        for action, move in moves
    ]


def _policy(policy: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a player thinks, with numbers of Python."""
    if policy is None:
        return None
    told = dict(policy)
    if told.get("probabilities") is not None:
        told["probabilities"] = {int(action): float(share) for action, share in told["probabilities"].items()}
    for name, kind in (("value", float), ("choice", int)):
        if told.get(name) is not None:
            told[name] = kind(told[name])
    return told


class _CardHistory:
    """What was said about each card of the hands, and how many cards were dealt before it."""

    def __init__(self, variant: Variant, history: Sequence[Event], suits: Suits) -> None:
        self.suits, hands = suits, Hands(variant)
        self.numbers = hands.numbers
        self.hints: dict[int, list[list[Any]]] = {}
        letters = [suit["letter"] for suit in suits]
        for turn, event in enumerate(history, 1):
            if event.target is not None:
                said = letters[event.color] if event.color is not None else str((event.rank or 0) + 1)
                for slot, number in enumerate(self.numbers[event.target]):
                    sign = "+" if slot in event.touched else "-"
                    self.hints.setdefault(number, []).append([turn, sign + said])
            hands.follow(event)

    def card(self, seat: int, slot: int, knowledge: Knowledge, variant: Variant) -> dict[str, Any]:
        """What everybody knows about a card."""
        number = self.numbers[seat][slot]
        plausible = ["0"] * (variant.colors * variant.ranks)
        for card in knowledge.plausible:
            plausible[card.suit * variant.ranks + card.rank] = "1"
        return {
            "card": None,
            "number": number,
            "color": knowledge.color,
            "rank": knowledge.rank,
            "plausible": "".join(plausible),
            "told": self.hints.get(number, []),
            "belief": None,
        }


def _hand(view: View, seat: int, told: _CardHistory, beliefs: bool) -> list[dict[str, Any]]:
    """A hand as the observer sees it: beliefs about its own cards, and the cards of the others."""
    variant, offset = view.variant, (seat - view.observer) % view.variant.players
    hand = view.hands[offset]
    known = [told.card(seat, slot, view.knowledge(offset, slot), variant) for slot in range(len(hand))]
    if offset:
        for row, card in zip(known, hand, strict=True):
            row["card"] = None if card is None else card_name(card, told.suits)
    elif beliefs:
        for row, shares in zip(known, view.marginals().tolist(), strict=True):
            row["belief"] = [round(share, 4) for share in shares]
    return known


def _open_hands(state: State, told: _CardHistory, beliefs: bool) -> list[list[dict[str, Any]]]:
    """All hands, face up, and what their owners believe."""
    hands = []
    for seat, cards in enumerate(state.hands):
        own = _hand(state.view(seat), seat, told, beliefs)
        hands.append([known | {"card": card_name(card, told.suits)} for known, card in zip(own, cards, strict=True)])
    return hands
