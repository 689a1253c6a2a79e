"""Writes perft.json: how many sequences of legal actions lead from the start of small games, by the oracle.

    python tests/data/make_perft.py [--limit NUMBER]

Each entry names its game: the parameters of the variant, the start player and the whole deck, the top card first.
"depths" has an object for each length of sequences, from 1: "paths", the number of sequences; "score", the sum of
the scores that they lead to; and for each ending the number of sequences whose last action ends the game so.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "python" / "helpers"))

from counted_paths import count_paths  # noqa: E402
from oracle import Game  # noqa: E402
from oracle_rules import Rules  # noqa: E402

LIMIT = 200_000
LONGEST = 40

SMALL = {"players": 2, "colors": 2, "ranks": 2, "hand_size": 2, "max_information_tokens": 2, "max_life_tokens": 2}
TINY = {"players": 2, "colors": 1, "ranks": 3, "hand_size": 2, "max_information_tokens": 1, "max_life_tokens": 2}
THREE = {"players": 3, "colors": 2, "ranks": 2, "hand_size": 1, "max_information_tokens": 1, "max_life_tokens": 3}
ALL_SWITCHES = {"empty_hints": True, "crowning_piece": True, "timed_display": True}
SIX_COLORS = {"colors": 6, "copies": [[3, 2, 2, 2, 1]] * 5 + [[1] * 5]}

GAMES = {
    "base": SMALL,
    "base, one colour": TINY,
    "base, three players": THREE,
    "standard": {},
    "empty hints": {**SMALL, "empty_hints": True},
    "crowning piece": {**SMALL, "crowning_piece": True},
    "crowning piece, one colour": {**TINY, "crowning_piece": True},
    "crowning piece, few cards": {**TINY, "copies": [[2, 1, 1]], "max_information_tokens": 2, "crowning_piece": True},
    "timed display": {**SMALL, "timed_display": True},
    "timed display, one colour": {**TINY, "timed_display": True},
    "fireworks kept": {**SMALL, "lost_game_score": "fireworks"},
    "seat 1 starts": {**THREE, "random_start_player": True},
    "copies": {**SMALL, "copies": [[1, 2], [2, 3]]},
    "no information tokens": {**SMALL, "max_information_tokens": 0},
    "no information tokens, crowning piece": {**SMALL, "max_information_tokens": 0, "crowning_piece": True},
    "six colours": {**THREE, **SIX_COLORS, "ranks": 5},
    "the deal empties the deck": {**SMALL, "ranks": 1, "copies": [[2], [2]]},
    "empty hints, crowning piece": {**TINY, "empty_hints": True, "crowning_piece": True},
    "empty hints, timed display": {**SMALL, "empty_hints": True, "timed_display": True},
    "crowning piece, timed display": {**TINY, "crowning_piece": True, "timed_display": True},
    "all switches": {**SMALL, **ALL_SWITCHES},
    "all switches, three players, fireworks kept": {**THREE, **ALL_SWITCHES, "lost_game_score": "fireworks"},
    "all switches, the deal empties the deck": {**SMALL, **ALL_SWITCHES, "ranks": 1, "copies": [[2], [2]]},
    "all switches, five players, six colours": {**SIX_COLORS, **ALL_SWITCHES, "players": 5},
}


def new_game(name, parameters):
    """The deck, shuffled by the game's name, and the start player."""
    deck = Rules(**parameters).all_cards()
    random.Random(name).shuffle(deck)
    return deck, int(parameters.get("random_start_player", False))


def continuations(game, depth):
    """How many sequences are one action longer than the depth."""
    actions = game.legal_actions()
    if depth == 0:
        return len(actions)
    total = 0
    for action in actions:
        after = game.copy()
        after.apply(action)
        total += continuations(after, depth - 1)
    return total


def entry_of(name, parameters, limit):
    """What is written about a game: counts for each depth whose number of sequences is within the limit."""
    deck, start_player = new_game(name, parameters)
    game = Game(Rules(**parameters), deck, start_player)
    depth = 0
    while depth < LONGEST and 0 < continuations(game, depth) <= limit:
        depth += 1
    return {
        "name": name,
        "variant": parameters,
        "deck": " ".join(str(card) for card in deck),
        "start_player": start_player,
        "depths": [dict(sorted(row.items())) for row in count_paths(game, depth)],
    }


def main():
    parser = argparse.ArgumentParser(description="Writes perft.json: counts of sequences of legal actions.")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"sequences of one length, at most (default {LIMIT})")
    arguments = parser.parse_args()
    entries = []
    for name, parameters in GAMES.items():
        start = time.perf_counter()
        entries.append(entry_of(name, parameters, arguments.limit))
        depths = entries[-1]["depths"]
        print(f"{name}: depth {len(depths)}, {depths[-1]}, {time.perf_counter() - start:.0f} s", flush=True)
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    (HERE / "perft.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
