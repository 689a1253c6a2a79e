"""Writes kaggle.json: observations of Hanabi in Kaggle's arena, made by its own code in kaggle-environments.

    pip install --no-deps kaggle-environments==1.33.2 open_spiel==2.0.2
    python tests/data/make_kaggle.py

Only the module of Hanabi is loaded, without the package's other dependencies.
"""

import importlib
import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import pyspiel

PACKAGE = "kaggle_environments.envs.open_spiel_env.games.hanabi"


def proxy():
    """The module of the arena's Hanabi."""
    root = Path(importlib.util.find_spec("kaggle_environments").submodule_search_locations[0])
    names = PACKAGE.split(".")
    for depth in range(1, len(names) + 1):
        package = ModuleType(".".join(names[:depth]))
        package.__path__ = [str(root.joinpath(*names[1:depth]))]
        sys.modules[package.__name__] = package
    return importlib.import_module(f"{PACKAGE}.hanabi_proxy")


def main():
    proxy()
    rng, found = random.Random(0), []
    for players in (2, 3, 4, 5):
        for careful in (False, True):
            state = pyspiel.load_game("hanabi_proxy", {"players": players}).new_initial_state()
            turns, shown = [], []
            while not state.is_terminal():
                if state.is_chance_node():
                    action = rng.choice([action for action, _ in state.chance_outcomes()])
                else:
                    turns.append(state.move_number())
                    legal = state.legal_actions()
                    size = 5 if players < 4 else 4
                    kept = [action for action in legal if not size <= action < 2 * size]  # no plays
                    action = rng.choice(kept if careful and kept else legal)
                state.apply_action(action)
                if state.is_chance_node():
                    continue
                is_last_round = json.loads(state.observation_string(0))["deck_size"] == 0
                if state.is_terminal() or is_last_round or len(turns) % 29 == 5:
                    seats = [0, 1] if state.is_terminal() else [len(turns) % players]
                    said = [json.loads(state.observation_string(seat)) for seat in seats]
                    for one in said:
                        del one["move_number"]  # counts draws
                    history = [[item.player, item.action] for item in state.full_history()]
                    shown.append({"history": history, "observations": said})
            found += shown
    path = Path(__file__).with_name("kaggle.json")
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n")
    print(f"{len(found)} positions, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
