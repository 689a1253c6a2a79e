"""Games of DeepMind's Hanabi Learning Environment (HLE), which has no file format of its own.

A file has a JSON object in each line:

`{"game": {"players": 2, "colors": 5, ...}, "moves": ["(Deal R1)", ..., "(Play 0)", ...], "start_player": 0,
"score": 21}`

`game` holds HLE's parameters; its defaults stand for those that are missing, and `seed` and `observation_type` are
ignored. `moves` is HLE's `state.move_history()`, deals included: each item is the text of a move, `"(Play 0)"`, the
text of a history item, `"<(Play 0) by player 1 R1>"`, or the dictionary of a move, `{"action_type": "PLAY",
"card_index": 0}`. Without `start_player`, the seat that a history item names starts, or seat 0; `score` is optional. A
deck ends with the cards that were never dealt, which HLE does not tell, in the order of their numbers.

`record` makes such an object from a game in progress in HLE's Python module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine._util.numbers import is_integer
from starmine.data.formats.moves import COLOR_HINT, DISCARD, PLAY, RANK_HINT, Move, action_of, move_of
from starmine.data.formats.records import NOT_RECORDED, ImportedGames, ReadGames, RecordedGame, SkippedGame, assemble
from starmine.data.formats.text_files import Broken, Readable, card_of, json_values, read_text, text_of
from starmine.games.trajectories import LETTERS

PARAMETERS = ("players", "colors", "ranks", "hand_size", "max_information_tokens", "max_life_tokens")
IGNORED = ("seed", "observation_type")
TEXT = re.compile(
    r"<?\((?:Deal (?P<card>\w+)|(?P<kind>Play|Discard) (?P<slot>\d+)"
    r"|Reveal player \+(?P<offset>\d) (?P<hint>color|rank) (?P<value>\w))\)(?: by player (?P<seat>\d).*)?>?"
)


def record(game: Any, state: Any) -> dict[str, Any]:
    """A game of HLE as an object of this format."""
    history = state.move_history()
    parameters = dict(line.split("=", 1) for line in game.parameter_string().splitlines() if line)
    rules: dict[str, Any] = {name: int(parameters[name]) for name in PARAMETERS}
    rules["random_start_player"] = parameters["random_start_player"] == "true"
    seats = [item.player() for item in history if item.player() >= 0]
    first = seats[0] if seats else max(state.cur_player(), 0)
    return {
        "game": rules,
        "moves": [str(item.move()) for item in history],
        "start_player": first,
        "score": state.score(),
    }


def read(path: Readable, variant: Variant | None = None) -> ReadGames:
    """Read a file."""
    games = list(_games(json_values(read_text(path), lists=False)))
    first = next((game.variant for game in games if isinstance(game, RecordedGame)), Variant())
    return assemble(games, first if variant is None else variant)


def _games(entries: list[Any]) -> Iterator[RecordedGame | SkippedGame]:
    """The games of the values of a file, one after the other."""
    for index, entry in enumerate(entries):
        if isinstance(entry, Broken):
            yield SkippedGame(index, "", entry.reason)
            continue
        try:
            yield game_of(entry)
        except StarmineError as error:
            yield SkippedGame(index, "", str(error))


def game_of(entry: Any, name: str = "") -> RecordedGame:
    """A game from an object of this format."""
    if not isinstance(entry, dict) or not isinstance(entry.get("moves"), list):
        raise StarmineError("it is no JSON object with a list 'moves'")
    variant = _variant(entry.get("game", {}))
    dealt: list[int] = []
    actions: list[int] = []
    seats: list[int] = []
    for place, item in enumerate(entry["moves"]):
        try:
            _add_move(item, variant, dealt, actions, seats)
        except StarmineError as error:
            raise StarmineError(f"moves[{place}]: {error}") from error
    start = entry.get("start_player", seats[0] if seats else 0)
    score = entry.get("score", NOT_RECORDED)
    if not is_integer(start) or not is_integer(score):
        raise StarmineError(f"start_player={start!r} and score={score!r} are not allowed: expected integers")
    wrong = next((turn for turn, seat in enumerate(seats) if seat != (start + turn) % variant.players), None)
    if wrong is not None:
        raise StarmineError(f"turn {wrong}: seat {seats[wrong]} acts: expected {(start + wrong) % variant.players}")
    return RecordedGame(name, variant, dealt + _undealt(dealt, variant), actions, start, score)


def _variant(parameters: Any) -> Variant:
    """The rules of HLE's parameters."""
    if not isinstance(parameters, Mapping):
        raise StarmineError("'game' is no JSON object")
    known = {name: value for name, value in parameters.items() if name not in IGNORED}
    strangers = known.keys() - {*PARAMETERS, "random_start_player"}
    if strangers:
        raise StarmineError(f"'game' has {sorted(strangers)}: expected {[*PARAMETERS, 'random_start_player']}")
    try:
        return Variant(**known)
    except (TypeError, OverflowError) as error:
        raise StarmineError(f"'game' is not allowed: {error}") from error


def _add_move(item: Any, variant: Variant, dealt: list[int], actions: list[int], seats: list[int]) -> None:
    """Add a deal to the dealt cards, or a move to the actions and its seat, where it is told, to the seats."""
    if isinstance(item, dict):
        card, move = _of_dictionary(item)
    else:
        found = TEXT.fullmatch(item) if isinstance(item, str) else None
        if found is None:
            raise StarmineError(f"{item!r} is no move of HLE")
        card, move = found["card"], _of_text(found)
        if found["seat"] is not None:
            seats.append(int(found["seat"]))
    if move is None:
        dealt.append(card_of(card, variant))
        return
    action = action_of(variant, move)
    if action is None:
        raise StarmineError(f"{item!r} does not exist in {variant}")
    actions.append(action)


def _of_text(found: re.Match[str]) -> Move | None:
    """The move of a text that matches; None for a deal."""
    if found["card"] is not None:
        return None
    if found["kind"] is not None:
        return Move(PLAY if found["kind"] == "Play" else DISCARD, int(found["slot"]))
    if found["hint"] == "color":
        return Move(COLOR_HINT, int(found["offset"]), LETTERS.find(found["value"]))
    return Move(RANK_HINT, int(found["offset"]), int(found["value"]) - 1 if found["value"].isdecimal() else -1)


def _of_dictionary(item: dict[str, Any]) -> tuple[str | None, Move | None]:
    """The card of a deal or the move of a dictionary."""
    numbers = [item[name] for name in ("card_index", "target_offset", "rank") if name in item]
    if not all(map(is_integer, numbers)):
        raise StarmineError(f"{item} is no move of HLE: expected integers")
    kind = item.get("action_type")
    color = item.get("color")
    if kind == "DEAL":
        return f"{color}{item.get('rank', -2) + 1}", None
    if kind in ("PLAY", "DISCARD"):
        return None, Move(PLAY if kind == "PLAY" else DISCARD, item.get("card_index", -1))
    if kind == "REVEAL_COLOR" and isinstance(color, str) and len(color) == 1:
        return None, Move(COLOR_HINT, item.get("target_offset", 0), LETTERS.find(color))
    if kind == "REVEAL_RANK":
        return None, Move(RANK_HINT, item.get("target_offset", 0), item.get("rank", -1))
    raise StarmineError(f"{item} is no move of HLE")


def _undealt(dealt: list[int], variant: Variant) -> list[int]:
    """The cards of the deck that are not among the dealt ones, in the order of their numbers."""
    rest = []
    for suit, copies in enumerate(variant.copies):
        for rank, count in enumerate(copies):
            card = suit * variant.ranks + rank
            missing = count - dealt.count(card)
            if missing < 0:
                raise StarmineError(f"{text_of(card, variant)} is dealt {dealt.count(card)} times: there are {count}")
            rest += [card] * missing
    return rest


def write(games: ImportedGames, path: Path) -> None:
    """Write a file, a game a line."""
    variant = games.variant
    parameters = {name: getattr(variant, name) for name in (*PARAMETERS, "random_start_player")}
    if variant.colors > 5 or Variant(**parameters) != variant:
        raise StarmineError(f"{variant} is not allowed: HLE has none of its rules beyond {list(parameters)}")
    played = games.trajectories
    lines = []
    for game, deck in enumerate(played.decks.tolist()):
        actions = played.actions[played.offsets[game] : played.offsets[game + 1]].tolist()
        entry = {
            "game": parameters,
            "moves": _history(variant, deck, actions),
            "start_player": int(played.start_players[game]),
            "score": int(games.scores[game]),
        }
        lines.append(json.dumps(entry) + "\n")
    replace_file(path, "".join(lines).encode())


def _history(variant: Variant, deck: list[int], actions: list[int]) -> list[str]:
    """The texts of deals and moves, as HLE's history has them after each deal that a move asks for."""
    dealt = variant.players * variant.hand_size
    history = [f"(Deal {text_of(card, variant)})" for card in deck[:dealt]]
    for action in actions:
        move = move_of(variant, action)
        history.append(_text(move))
        if move.kind in (PLAY, DISCARD) and dealt < len(deck):
            history.append(f"(Deal {text_of(deck[dealt], variant)})")
            dealt += 1
    return history


def _text(move: Move) -> str:
    """HLE's text of a move."""
    if move.kind in (PLAY, DISCARD):
        return f"({'Play' if move.kind == PLAY else 'Discard'} {move.place})"
    if move.kind == COLOR_HINT:
        return f"(Reveal player +{move.place} color {LETTERS[move.value]})"
    return f"(Reveal player +{move.place} rank {move.value + 1})"
