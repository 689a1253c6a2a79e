"""Histories of games that somebody gives: their items in every form, and the states that they lead to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starmine._core import StarmineError, State, Variant
from starmine._util.numbers import is_integer
from starmine.hle.cards import COLOR_CHAR
from starmine.hle.moves import HanabiHistoryItem, HanabiMove, HanabiMoveType, move_of
from starmine.hle.position import Position
from starmine.hle.rules import Rules

TEXT = re.compile(
    r"<?\((?:Deal (?P<card>[RYGWB][1-5])|(?P<kind>Play|Discard) (?P<slot>\d)"
    r"|Reveal player \+(?P<offset>\d) (?:color (?P<color>[RYGWB])|rank (?P<rank>[1-5])))\)"
    r"(?: by player (?P<seat>\d)(?: (?P<outcome>[^>]+))?)?>?"
)
NUMBERS = ("card_index", "target_offset", "rank")  # entries of a move's dictionary


class Item(NamedTuple):
    """An item of a history.

    Attributes:
        move: the move or the deal.
        text: the item in messages.
        seat: the seat that made the move; -1 where the item does not tell it.
        outcome: what the move did, in HLE's words, such as "scored R1"; None where the item does not tell it.
        dealt_to: the seat that a card is dealt to; None where the item does not tell it.
        variant: the rules of the game; None where the item does not tell them.
    """

    move: HanabiMove
    text: str
    seat: int = -1
    outcome: str | None = None
    dealt_to: int | None = None
    variant: Variant | None = None

    @property
    def is_deal(self) -> bool:
        """Whether it is the deal of a card."""
        return self.move.type() == HanabiMoveType.DEAL


def item_of(item: Any, place: str) -> Item:
    """An item of a history in any form.

    Args:
        item: a move or a history item, of HLE's own library too; its text; or the dictionary of a move.
        place: where it stands, for messages.

    Raises:
        StarmineError: it is none of these.
    """
    try:
        if isinstance(item, str):
            return _item_of_text(item)
        if isinstance(item, Mapping):
            wrong = [name for name in NUMBERS if name in item and not is_integer(item[name])]
            if wrong:
                raise ValueError(f"{wrong[0]}={item[wrong[0]]!r}: expected an integer")
            move = move_of(dict(item))
            return Item(move, str(move))
        if not hasattr(item, "move"):
            move = _own_move(item)
            return Item(move, str(move))
        told = HanabiHistoryItem(
            _own_move(item.move()),
            item.player(),
            card=(item.color(), item.rank()),
            scored=item.scored(),
            token=item.information_token(),
            touched=tuple(item.card_info_revealed()),
        )
        variant = getattr(item, "_variant", None)
        return Item(told.move(), str(told), told.player(), told.outcome(), item.deal_to_player(), variant)
    except (AttributeError, AssertionError, KeyError, TypeError, ValueError) as error:
        raise StarmineError(f"{place}={item!r} is no move of HLE: {error}") from error


def _own_move(move: Any) -> HanabiMove:
    """A move of any library as one of this package."""
    kind = HanabiMoveType(int(move.type()))
    return HanabiMove(kind, move.card_index(), move.target_offset(), move.color(), move.rank())


def _item_of_text(text: str) -> Item:
    """The item of HLE's text of a move or of a history item."""
    match = TEXT.fullmatch(text)
    if match is None:
        raise ValueError("expected a text such as '(Play 0)' or '(Reveal player +1 color R)'")
    if match["card"] is not None:
        move = HanabiMove.get_deal_move(COLOR_CHAR.index(match["card"][0]), int(match["card"][1]) - 1)
    elif match["kind"] is not None:
        make = HanabiMove.get_play_move if match["kind"] == "Play" else HanabiMove.get_discard_move
        move = make(int(match["slot"]))
    elif match["color"] is not None:
        move = HanabiMove.get_reveal_color_move(int(match["offset"]), COLOR_CHAR.index(match["color"]))
    else:
        move = HanabiMove.get_reveal_rank_move(int(match["offset"]), int(match["rank"]) - 1)
    return Item(move, text, -1 if match["seat"] is None else int(match["seat"]), match["outcome"])


def start_of(items: Sequence[Item], players: int) -> int:
    """The seat that starts: the first item that tells its seat decides, and seat 0 if none does."""
    seats = [item.seat for item in items if not item.is_deal]
    return next(((seat - turn) % players for turn, seat in enumerate(seats) if seat >= 0), 0)


def deck_of(rules: Rules, items: Sequence[Item]) -> list[int]:
    """The numbers of all cards of a history, as `Rules.deck_of` orders them."""
    return rules.deck_of([item.move.color() * rules.variant.ranks + item.move.rank() for item in items if item.is_deal])


def state_of(rules: Rules, items: Sequence[Item], start_player: int, name: str) -> State:
    """The state after the items of a history.

    Args:
        rules: of the game.
        items: all moves and deals from the first deal on.
        start_player: the seat that starts.
        name: of the history in messages.

    Raises:
        StarmineError: a move is not legal or comes before its deal, or an item tells of another game.
    """
    deck = [rules.cards[number] for number in deck_of(rules, items)]
    state = rules.variant.new_game(deck=deck, start_player=start_player)
    seen = 0
    for place, item in enumerate(items):
        if item.is_deal:
            seen += 1
            continue
        try:
            _apply(state, rules, item, seen)
        except StarmineError as error:
            _compare(state, rules, items[:place], name)  # what differs first is the better message
            raise StarmineError(f"{name}[{place}]: {item.text}{error}") from error
    _compare(state, rules, items, name)
    return state


def _apply(state: State, rules: Rules, item: Item, seen: int) -> None:
    """Make the move of an item before which some cards were dealt; errors continue the item's text."""
    seat, dealt = (state.start_player + state.length) % rules.variant.players, len(state.deck) - state.deck_size
    if item.seat >= 0 and item.seat != seat:
        raise StarmineError(f": expected player {seat}")
    if seen != dealt:
        raise StarmineError(f": {seen} cards are dealt before it: expected {dealt}")
    action = rules.actions.get(item.move)
    if action is None:
        raise StarmineError(f" does not exist in {rules.variant}")
    try:
        state.apply(action)
    except StarmineError as error:
        raise StarmineError(f" is not legal: {error}") from error


def _compare(state: State, rules: Rules, items: Sequence[Item], name: str) -> None:
    """Refuse the first item that tells anything else than the game that was replayed from them."""
    expected = Position(rules, state, 0).history()
    for place, item in enumerate(items):
        if place == len(expected):
            raise StarmineError(f"{name}[{place}]: {item.text}: no card is to be dealt")
        played = expected[place]
        if item.seat not in (-1, played.player()) or item.outcome not in (None, played.outcome()):
            raise StarmineError(f"{name}[{place}]: {item.text}: expected {played}")
        if item.dealt_to not in (None, played.deal_to_player()):
            to, other = item.dealt_to, played.deal_to_player()
            raise StarmineError(f"{name}[{place}]: {item.text} to player {to}: expected player {other}")
