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

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starmine._core import StarmineError, Variant
from starmine._util.durable import replace_file
from starmine._util.numbers import is_integer
from starmine.data.formats.records import NOT_RECORDED, ImportedGames, ReadGames, RecordedGame, read_each
from starmine.data.formats.text_files import Readable, json_values, read_text, text_of
from starmine.hle.histories import deck_of, item_of, start_of, state_of
from starmine.hle.moves import HanabiMoveType
from starmine.hle.rules import OF_VARIANT, AgentObservationType, Rules, rules_for, variant_of

DRAWS = (HanabiMoveType.PLAY, HanabiMoveType.DISCARD)


def record(game: Any, state: Any) -> dict[str, Any]:
    """A game of HLE as an object of this format.

    Raises:
        StarmineError: the state is of another game.
    """
    history = state.move_history()
    parameters = dict(line.split("=", 1) for line in game.parameter_string().splitlines() if line)
    rules: dict[str, Any] = {name: int(parameters[name]) for name in OF_VARIANT}
    rules["random_start_player"] = parameters["random_start_player"] == "true"
    told = next((getattr(item, "_variant", None) for item in history), None)  # only `starmine.hle` tells it
    if state.num_players() != rules["players"] or told not in (None, variant_of(rules)):
        raise StarmineError(f"the state is of another game: expected {variant_of(rules)}")
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
    return read_each(json_values(read_text(path), lists=False), game_of, variant)


def game_of(entry: Any) -> RecordedGame:
    """A game from an object of this format."""
    if not isinstance(entry, dict) or not isinstance(entry.get("moves"), list):
        raise StarmineError("it is no JSON object with a list 'moves'")
    rules = _rules(entry.get("game", {}))
    items = [item_of(item, f"moves[{place}]") for place, item in enumerate(entry["moves"])]
    actions, seats = [], []
    for place, item in enumerate(items):
        if item.is_deal:
            continue
        action = rules.actions.get(item.move)
        if action is None:
            raise StarmineError(f"moves[{place}]: {item.move} does not exist in {rules.variant}")
        actions.append(action)
        seats.append(item.seat)
    players = rules.variant.players
    start = entry.get("start_player", start_of(items, players))
    score = entry.get("score", NOT_RECORDED)
    if not is_integer(start) or not is_integer(score):
        raise StarmineError(f"start_player={start!r} and score={score!r} are not allowed: expected integers")
    for turn, seat in enumerate(seats):
        if seat not in (-1, (start + turn) % players):
            raise StarmineError(f"turn {turn}: seat {seat} acts: expected {(start + turn) % players}")
    if any(item.outcome is not None for item in items):
        state_of(rules, items, start, "moves")  # refuses a game in which the moves do something else
    return RecordedGame("", rules.variant, deck_of(rules, items), actions, start, score)


def _rules(parameters: Any) -> Rules:
    """HLE's tables of its parameters."""
    if not isinstance(parameters, Mapping):
        raise StarmineError("'game' is no JSON object")
    return rules_for(variant_of(parameters), AgentObservationType.CARD_KNOWLEDGE)


def write(games: ImportedGames, path: Path) -> None:
    """Write a file, a game a line."""
    variant = games.variant
    parameters = {name: getattr(variant, name) for name in (*OF_VARIANT, "random_start_player")}
    if variant.colors > 5 or Variant(**parameters) != variant:
        raise StarmineError(f"{variant} is not allowed: HLE has none of its rules beyond {list(parameters)}")
    rules, played = rules_for(variant, AgentObservationType.CARD_KNOWLEDGE), games.trajectories
    lines = []
    for game, deck in enumerate(played.decks.tolist()):
        actions = played.actions[played.offsets[game] : played.offsets[game + 1]].tolist()
        entry = {
            "game": parameters,
            "moves": _history(rules, deck, actions),
            "start_player": int(played.start_players[game]),
            "score": int(games.scores[game]),
        }
        lines.append(json.dumps(entry) + "\n")
    replace_file(path, "".join(lines).encode())


def _history(rules: Rules, deck: list[int], actions: list[int]) -> list[str]:
    """The texts of deals and moves, as HLE's history has them after each deal that a move asks for."""
    deals = iter([f"(Deal {text_of(card, rules.variant)})" for card in deck])
    history = list(itertools.islice(deals, rules.variant.players * rules.variant.hand_size))
    for action in actions:
        move = rules.moves[action]
        history.append(str(move))
        if move.type() in DRAWS:
            history += itertools.islice(deals, 1)
    return history
