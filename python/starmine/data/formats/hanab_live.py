"""Games of hanab.live as JSON.

A game is an object with `players` (names; the first one starts), `deck` (`{"suitIndex": 0, "rank": 1}`, the top card
first; hands are dealt whole), `actions` (`{"type", "target", "value"}`) and `options` (`variant`, `emptyClues`,
`allOrNothing`, `oneExtraCard`, `oneLessCard`); `id` or `seed` names it. A file holds one object, a list of them, or
an object in each line (JSON Lines).

| type | action | target | value |
|---|---|---|---|
| 0, 1 | play, discard | the card's place in the deck | |
| 2, 3 | colour hint, rank hint | player | colour from 0, rank from 1 |
| 4, 5 | end of the game, such as by surrendering or by a vote | | |

hanab.live ends a game when nothing more can be played, and players may end it at any time: such games stop before
their end by our rules. Why they stop is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine._util.numbers import is_integer
from starmine.data.formats.hanab_live_rules import game_rules, rules_of, suit_names
from starmine.data.formats.records import (
    GameRecord,
    SkippedGame,
    game_names,
    is_game_number,
    read_each,
    starting_at_seat_0,
)
from starmine.games.games import Games
from starmine.games.hands import Hands
from starmine.games.roster import UNKNOWN, names_by_seat

SUFFIXES = (".json", ".jsonl")
PLAY, DISCARD, COLOR_HINT, RANK_HINT = range(4)  # types of moves
KINDS = ("play", "discard", "color_hint", "rank_hint")
Move = tuple[int, int, int]  # its type, the slot of a card or the offset of a hinted player, and the value of a hint
ENDS = (4, 5)  # types of actions that end a game
NAMES = ("Alice", "Bob", "Cathy", "Donald", "Emily")  # hanab.live's own for players without names


def read(path: Path) -> list[GameRecord | SkippedGame]:
    """Read a file. Of JSON Lines, a line that is not JSON, such as one that is cut off, is skipped."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StarmineError(f"{path}: it is not text in UTF-8 ({error.reason} at byte {error.start})") from error
    if not text.strip():
        raise StarmineError(f"{path}: it is empty")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [_value(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if not any(isinstance(line, dict) for line in lines):
            raise StarmineError(f"{path}: it is not JSON ({error})") from error
        return read_each(path, lines, record_of, name_of)
    return read_each(path, value if isinstance(value, list) else [value], record_of, name_of)


def _value(line: str, number: int) -> Any:
    """The value of a line, or an error that names it."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return StarmineError(f"line {number}: it is not JSON ({error})")


def name_of(entry: Any) -> str:
    """What a game's object calls it: by its id, or by its seed."""
    told = [entry[key] for key in ("id", "seed") if entry.get(key)] if isinstance(entry, dict) else []
    return str(told[0]) if told else ""


def record_of(entry: Any) -> GameRecord:
    """A game from its JSON object."""
    if not isinstance(entry, dict):
        raise StarmineError("it is no JSON object")
    players, deck, actions = (_list(entry, key) for key in ("players", "deck", "actions"))
    roles = entry.get("characters") or []
    if not isinstance(roles, list) or any(isinstance(role, dict) and role.get("name") for role in roles):
        raise StarmineError("its characters are not among our rules")
    variant, start = rules_of(entry, len(players))
    cards = [_card(card, place, variant) for place, card in enumerate(deck)]
    if len(cards) != variant.deck_size:
        raise StarmineError(f"its deck has {len(cards)} cards: expected {variant.deck_size}")
    score = entry.get("score")  # the site's own exports tell none
    if score is not None and not is_integer(score):
        raise StarmineError(f"score={score!r} is not allowed: expected an integer")
    ids = _Table(variant, start).read(actions)
    return GameRecord(variant, cards, ids, start, score, name_of(entry), _names(players), suit_names(variant))


def _list(entry: dict[str, Any], key: str) -> list[Any]:
    values = entry.get(key)
    if not isinstance(values, list):
        raise StarmineError(f"it has no list {key!r}")
    return values


def _names(players: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(name, str) for name in players):
        raise StarmineError("'players' are not all names")
    return tuple(players)


def _card(card: Any, place: int, variant: Variant) -> int:
    """The number of a card. Older tools call the suit `suit`."""
    told = [card[key] for key in ("suitIndex", "suit") if key in card] if isinstance(card, dict) else []
    suit = told[0] if told and told[-1] == told[0] else None
    rank = card.get("rank") if isinstance(card, dict) else None
    if not (is_integer(suit) and is_integer(rank) and 0 <= suit < variant.colors and 1 <= rank <= variant.ranks):
        raise StarmineError(
            f"deck[{place}]={card} is no card: expected a suitIndex from 0 to {variant.colors - 1} and a rank from 1 "
            f"to {variant.ranks}"
        )
    return int(suit * variant.ranks + rank - 1)


class _Table:
    """The hands of a game as places in the deck, to translate between them and slots."""

    def __init__(self, variant: Variant, start: int) -> None:
        self.variant, self.seat, self.hands = variant, start, Hands(variant)

    def read(self, actions: list[Any]) -> list[int]:
        """The action ids of the actions of hanab.live."""
        ids: list[int] = []
        for turn, action in enumerate(actions):
            kind, target = (action.get(key) for key in ("type", "target")) if isinstance(action, dict) else (None, None)
            if is_integer(kind) and kind in ENDS:
                if turn + 1 < len(actions):
                    raise StarmineError(f"turn {turn}: it ends the game, and {len(actions) - turn - 1} actions follow")
                return ids
            if isinstance(action, dict) and "clue" in action:  # where 0 is a hint, not a play
                raise StarmineError(f"turn {turn}: {action} has the form of before April 2020, which is not read")
            if not is_integer(kind) or not 0 <= kind < len(KINDS) or not is_integer(target):
                raise StarmineError(f"turn {turn}: {action} is no action: expected a type from 0 to 5 and a target")
            ids.append(self._id(int(kind), int(target), action.get("value"), turn))
        return ids

    def _id(self, kind: int, target: int, value: Any, turn: int) -> int:
        """The id of an action; the table moves on."""
        move: Move | None = None
        if kind in (PLAY, DISCARD):
            hand = self.hands.numbers[self.seat]
            if target == self.hands.dealt < self.hands.deck_size:
                raise StarmineError(f"turn {turn}: the top card of the deck is played, which our rules do not have")
            if target not in hand:
                raise StarmineError(f"turn {turn}: the card {target} is not in the hand of player {self.seat}: {hand}")
            move = (kind, hand.index(target), 0)
        elif is_integer(value) and 0 <= target < self.variant.players:
            move = (kind, (target - self.seat) % self.variant.players, value)
        moves = moves_of(self.variant)
        if move is None or move not in moves:
            told = KINDS[kind].replace("_", " ")
            raise StarmineError(f"turn {turn}: player {self.seat} has no {told} to player {target} of value {value}")
        self._advance(move)
        return moves.index(move)

    def write(self, action: int) -> dict[str, int]:
        """The action of hanab.live for an action id; the table moves on."""
        kind, place, value = move = moves_of(self.variant)[action]
        is_hint = kind in (COLOR_HINT, RANK_HINT)
        target = (self.seat + place) % self.variant.players if is_hint else self.hands.numbers[self.seat][place]
        self._advance(move)
        return {"type": kind, "target": target, "value": value}

    def _advance(self, move: Move) -> None:
        """Take a card that leaves a hand, deal the next one, and pass to the next player."""
        if move[0] in (PLAY, DISCARD):
            self.hands.take(self.seat, move[1])
        self.seat = (self.seat + 1) % self.variant.players


@lru_cache(maxsize=64)
def moves_of(variant: Variant) -> list[Move]:
    """The move of each action id as the site has it, without what it announces; a rank counts from 1."""
    moves = []
    for move in map(variant.move, range(variant.num_actions)):
        place = move.offset if move.slot is None else move.slot
        value = move.color if move.rank is None else move.rank + 1
        moves.append((KINDS.index(move.kind), place or 0, value or 0))
    return moves


def entries(games: Games) -> Iterator[dict[str, Any]]:
    """The JSON objects of games. Seats are numbered from the one that started."""
    suits, switches = game_rules(games.variant)
    games = starting_at_seat_0(games)
    seats, ranks = names_by_seat(games.roster, games.players), games.variant.ranks
    for game, (name, players) in enumerate(zip(game_names(games), seats, strict=True)):
        table = _Table(games.variant, 0)
        actions = games.actions[games.offsets[game] : games.offsets[game + 1]].tolist()
        yield {
            **({"id": int(name)} if is_game_number(name) and name != "0" else {"id": 0, "seed": name}),
            "players": list(NAMES[: len(players)]) if set(players) == {UNKNOWN[0].name} else list(players),
            "deck": [{"suitIndex": card // ranks, "rank": card % ranks + 1} for card in games.decks[game].tolist()],
            "actions": list(map(table.write, actions)),
            "options": {"variant": suits.name, **switches},
        }


def write(games: Games, path: Path) -> None:
    """Write a file: one game as an object, others as a list of objects."""
    written = list(entries(games))
    text = json.dumps(written[0], indent=1) if len(written) == 1 else json.dumps(written)
    replace_file(path, (text + "\n").encode())
