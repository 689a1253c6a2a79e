"""Writes the golden files of a version: what it promises to keep, and one file of each format that it writes.

    python tests/data/make_compat.py 0.5                         # with the package that is imported
    python tests/data/make_compat.py 0.5 --only games batches    # some of it

The files of a released version are never written again. tests/python/test_compatibility.py reads all of them.
"""

import argparse
import inspect
import json
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "python" / "helpers"), str(ROOT / "examples")]

import compatibility as promised  # noqa: E402

import starmine  # noqa: E402


def write_json(path, value):
    """One entry a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}" for name, entry in value.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def write_games(folder):
    """Games of seeds, played by single states."""
    found = {
        name: [promised.played_game(v, seed) for seed in promised.SEEDS] for name, v in promised.variants().items()
    }
    write_json(folder / "games.json", found)


def write_batches(folder):
    """Games of seeds, played by batches."""
    known = promised.variants()
    found = {
        name: {dtype: promised.batch_sums(known[name], dtype) for dtype in promised.DTYPES} for name in promised.BATCHES
    }
    write_json(folder / "batches.json", found)


def write_actions(folder):
    """What each action id means."""
    write_json(folder / "actions.json", {name: promised.action_meanings(v) for name, v in promised.variants().items()})


def write_layouts(folder):
    """The sections of each encoder's observations."""
    found = {
        name: {encoder: promised.sections(variant, encoder) for encoder in starmine.encoders()}
        for name, variant in promised.variants().items()
    }
    write_json(folder / "layouts.json", found)


def write_stored(folder):
    """A game and batches in progress, and how the batches go on."""
    (folder / "state.json").write_text(promised.halfway().to_json() + "\n", encoding="utf-8")
    found = {}
    for name, partners in promised.PARTNERS.items():
        batch = promised.batch_halfway(partners)
        (folder / f"{name}.bin").write_bytes(batch.to_bytes())
        found[name] = promised.played_on(batch, 40)
    write_json(folder / "stored.json", found)


def write_policies(folder):
    """A policy file of each format, and its outputs."""
    import torch

    from starmine import torch as networks

    variant, found = starmine.variant("very-small"), {}
    made = {
        "policy-plain": ("PolicyNetwork", {"hidden": (8,), "recurrent": True, "card_features": True}),
        "policy-colors": ("ColorNetwork", {"hidden": (8, 8)}),
    }
    for name, (kind, options) in made.items():
        torch.manual_seed(3)
        path = folder / f"{name}.safetensors"
        getattr(networks, kind)(variant, "canonical", **options).save(path, steps=1)
        found[name] = promised.policy_outputs(starmine.load_policy(path))
    write_json(folder / "policies.json", found)


def write_checkpoint(folder):
    """A checkpoint of examples/ppo.py after two updates."""
    import ppo

    given = {
        **{"variant": "very-small", "hidden": (4, 4), "num_envs": 4, "rollout": 8, "epochs": 1, "minibatch": 32},
        **{"total_steps": 64, "eval_every": 4, "eval_games": 4, "final_games": 4, "num_threads": 1, "seed": 1},
    }
    known = inspect.signature(ppo.Args).parameters
    with tempfile.TemporaryDirectory() as made:
        ppo.main(ppo.Args(out=Path(made) / "run", **{name: value for name, value in given.items() if name in known}))
        shutil.copy(Path(made) / "run" / "checkpoint.pt", folder / "checkpoint.pt")


def write_data(folder):
    """A folder of games on disk, and one file of each format that can be both read and written."""
    from starmine import data

    shutil.rmtree(folder / "games", ignore_errors=True)
    data.generate(["simple", "simple"], games=6, output=folder / "games", shard_size=3, seed=4, progress=False)
    (folder / "games" / ".lock").unlink(missing_ok=True)
    games = data.read_games(folder / "games")
    for suffix in (".json", ".safetensors"):
        data.write_games(games, folder / f"exported{suffix}")


def write_evaluation(folder):
    """A folder of `starmine eval`."""
    shutil.rmtree(folder / "evaluation", ignore_errors=True)
    from starmine.cli import main

    main(["eval", "simple", "--games", "10", "--seed", "2", "--output", str(folder / "evaluation")])
    for name in (".lock", "eval.png", "eval.csv", "table.csv"):
        (folder / "evaluation" / name).unlink(missing_ok=True)


def main():
    """Write the files."""
    parts = {name.removeprefix("write_"): write for name, write in globals().items() if name.startswith("write_")}
    del parts["json"]
    parser = argparse.ArgumentParser(description="Write the golden files of a version.")
    parser.add_argument("version", help="names the folder, such as 0.5")
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts), help="these of them")
    options = parser.parse_args()
    folder = HERE / "compat" / options.version
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        parts[name](folder)


if __name__ == "__main__":
    main()
