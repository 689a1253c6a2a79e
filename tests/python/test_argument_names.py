"""Where an argument has a wrong type, the message names it.

The table has the main doors with arguments that they take. Each argument is replaced by values of wrong types, and the
message must have its name. For what the core defines, the note that a traceback shows below the message has the name.
"""

import inspect

import numpy as np
import pytest

import starmine
import starmine.data
import starmine.text

torch = pytest.importorskip("torch")
pytest.importorskip("pyarrow")

from starmine.torch import (  # noqa: E402
    ColorFeatures,
    ColorNetwork,
    GamesDataset,
    ModulePolicy,
    PolicyNetwork,
    unpack_bits,
)

RULES = starmine.variant("mini")
PLAYED = starmine.play_games(["random"] * 2, 4, variant="mini", record=True).trajectories
PAIR = ["random", "random"]


class Odd:
    """What no argument takes."""


class Chooses(torch.nn.Module):
    def forward(self, observations, action_mask):
        return action_mask.float()


WRONG = [Odd(), np.float32, {"agent_0": 5}, [Odd()], b"text", 2.5, True]


def environment(make=starmine.HanabiVectorEnv, *given):
    env = make(*given, variant="mini", seed=0)
    env.reset()
    return env


def stepped(actions):
    return environment(starmine.HanabiVectorEnv, 2).step(actions)


def stepped_alone(action):
    return environment(starmine.HanabiEnv).step(action)


def reset(seed, options):
    return environment(starmine.HanabiVectorEnv, 2).reset(seed=seed, options=options)


def reset_options(reset_mask, decks, start_players):
    given = {"reset_mask": reset_mask, "decks": decks, "start_players": start_players}
    return reset(None, given)


def reset_alone(seed, options):
    return environment(starmine.HanabiEnv).reset(seed=seed, options=options)


def batch_step(actions):
    return starmine.Batch("mini", 2, seed=0).step(actions)


def batch_reset(seed, reset_mask, decks, start_players):
    return starmine.Batch("mini", 2).reset(seed, reset_mask, decks, start_players)


# By door the call and its arguments. In a folder of tests, DATA is a data set and NEW a path of nothing.
DATA, NEW = object(), object()
DOORS = {
    "Variant": (starmine.Variant, dict.fromkeys(inspect.signature(starmine.Variant).parameters, ...)),
    "variant": (starmine.variant, {"name": "mini", "players": 2, "crowning_piece": True}),
    "HanabiVectorEnv": (
        starmine.HanabiVectorEnv,
        {"num_envs": 2, "variant": "mini", "encoder": ..., "dtype": ..., "observers": ..., "autoreset_mode": ...}
        | {"illegal_action": ..., "reward": ..., "lost_game_penalty": ..., "partners": ..., "extra_outputs": ...}
        | {"num_threads": ..., "seed": ..., "render_mode": ..., "players": ..., "colors": ..., "hand_size": ...},
    ),
    "HanabiEnv": (
        starmine.HanabiEnv,
        {"variant": "mini", "encoder": ..., "dtype": ..., "observers": ..., "illegal_action": ..., "reward": ...}
        | {"lost_game_penalty": ..., "extra_outputs": ..., "seed": ..., "render_mode": ..., "players": ...},
    ),
    "step": (stepped, {"actions": [5, 5]}),
    "step of one game": (stepped_alone, {"action": 5}),
    "reset": (reset, {"seed": None, "options": None}),
    "options of a reset": (
        reset_options,
        {"reset_mask": np.ones(2, bool), "decks": PLAYED.decks[:2], "start_players": np.zeros(2, np.uint8)},
    ),
    "reset of one game": (reset_alone, {"seed": None, "options": None}),
    "Batch": (
        starmine.Batch,
        {"variant": "mini", "num_envs": 2, "encoder": ..., "dtype": ..., "observers": ..., "autoreset_mode": ...}
        | {"illegal_action": ..., "partners": ..., "extra_outputs": ..., "num_threads": ..., "seed": ...},
    ),
    "Batch.step": (batch_step, {"actions": [5, 5]}),
    "Batch.reset": (batch_reset, dict.fromkeys(("seed", "reset_mask", "decks", "start_players"))),
    "new_game": (RULES.new_game, {"seed": 0, "deck": ..., "start_player": ..., "game": ..., "episode": ...}),
    "encode": (RULES.new_game(seed=0).encode, {"observer": 0, "encoder": ...}),
    "play_games": (
        starmine.play_games,
        {"players": PAIR, "games": 2, "seed": 1, "variant": "mini", "num_threads": 1, "first_game": 0, "record": ...},
    ),
    "evaluate": (
        starmine.evaluate,
        {
            "evaluated": ["random"],
            "games": 2,
            "variant": "mini",
            "figure": False,
            "seed": ...,
            "output": ...,
            "partners": ...,
        }
        | {"methods": ..., "num_threads": ..., "progress": ..., "fresh": ...},
    ),
    "make_bot": (starmine.make_bot, {"bot": "iggi", "variant": "mini", "seat": 0, "seed": 0}),
    "load_policy": (starmine.load_policy, {"policy": "ippo-mini", "sampled": False}),
    "search": (
        starmine.search,
        {"position": starmine.Variant().new_game(seed=0), "blueprint": "smart", "rollouts": 10, "hands": 9}
        | {"milliseconds": ..., "depth": ..., "threshold": ..., "method": ..., "step": ..., "seed": ...},
    ),
    "Trajectories.replay": (
        PLAYED.replay,
        {"outputs": ["obs"], "encoder": "canonical", "dtype": ..., "observers": ..., "num_threads": ...},
    ),
    "Trajectories.state": (PLAYED.state, {"game": 0, "turn": None}),
    "generate": (
        starmine.data.generate,
        {"players": PAIR, "games": 2, "output": NEW, "variant": "mini", "seed": 1, "evaluation_decks": ...}
        | {"shard_size": ..., "shards": ..., "num_threads": ..., "progress": ...},
    ),
    "Dataset": (starmine.data.Dataset, {"path": DATA}),
    "Dataset.replay": (
        lambda data, **given: starmine.data.Dataset(data).replay(**given),
        {"data": DATA, "batch_size": ..., "encoder": ..., "dtype": ..., "observers": ..., "outputs": ...},
    ),
    "Dataset.filter": (
        lambda data, **given: starmine.data.Dataset(data).filter(**given),
        {"data": DATA, "min_score": ..., "max_score": ..., "ending": ..., "seats": ...},
    ),
    "Dataset.read": (lambda data, **given: starmine.data.Dataset(data).read(**given), {"data": DATA, "place": 0}),
    "Dataset.select": (lambda data, **given: starmine.data.Dataset(data).select(**given), {"data": DATA, "games": [0]}),
    "Dataset.table": (lambda data, **given: starmine.data.Dataset(data).table(**given), {"data": DATA, "columns": ...}),
    "read_games": (starmine.data.read_games, {"source": DATA, "format": ..., "variant": ..., "on_error": ...}),
    "write_games": (
        starmine.data.write_games,
        {"games": PLAYED, "path": NEW, "format": "parquet", "on_error": ...},
    ),
    "verify": (starmine.data.verify, {"path": DATA, "deal": ..., "num_threads": ..., "progress": ...}),
    "info": (starmine.data.info, {"path": DATA}),
    "color_permutations": (starmine.data.color_permutations, {"variant": RULES, "seed": 0, "games": [0]}),
    "GamesDataset": (
        GamesDataset,
        {"data": DATA, "batch_size": ..., "encoder": ..., "dtype": ..., "observers": ..., "outputs": ..., "seed": ...}
        | {"shuffle": ..., "permute_colors": ..., "drop_last": ..., "pin_memory": ..., "rank": ..., "num_threads": ...},
    ),
    "ModulePolicy": (
        ModulePolicy,
        {"module": Chooses(), "encoder": ..., "sampled": ..., "seed": ..., "cheats": ..., "extra_outputs": ...}
        | {"recurrent": ...},
    ),
    "PolicyNetwork": (
        PolicyNetwork,
        {"variant": RULES, "encoder": ..., "hidden": ..., "recurrent": ..., "card_features": ..., "matmul_dtype": ...}
        | {"layer_norm": ...},
    ),
    "ColorNetwork": (
        ColorNetwork,
        {"variant": RULES, "encoder": ..., "hidden": ..., "recurrent": ..., "matmul_dtype": ...},
    ),
    "ColorFeatures": (ColorFeatures, {"variant": RULES, "encoder": ...}),
    "unpack_bits": (
        unpack_bits,
        {"bits": torch.zeros((2, 88), dtype=torch.uint8), "num_features": 658, "dtype": ..., "out": ...},
    ),
}
# True where it is a value that the argument takes.
TAKES_TRUE = {"crowning_piece", "empty_hints", "random_start_player", "timed_display", "fresh", "record", "recurrent"}
TAKES_TRUE |= {"evaluation_decks", "progress", "deal", "shuffle", "permute_colors", "drop_last", "sampled", "cheats"}
TAKES_TRUE |= {"figure", "card_features", "layer_norm", "num_features", "pin_memory"}
TAKES_NUMBERS = {"lost_game_penalty", "threshold", "step"}  # also 2.5
OF_THE_CORE = {"Variant", "Batch", "new_game", "encode", "make_bot"}
# What is named as the element of it that is wrong.
ELEMENTS = {"outputs": "output", "columns": "column", "extra_outputs": "output", "data": "path"}
ELEMENTS |= {"options": "option"}
CASES = [(door, name) for door, (_, given) in DOORS.items() for name in given if (name, given[name]) != ("data", DATA)]
CASES += [("GamesDataset", "data")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("named") / "games"
    starmine.data.generate(PAIR, 20, path, "mini", num_threads=1)
    return path


def arguments(door, folder, new):
    """The arguments that a door takes, without those that have their defaults."""
    given = {name: value for name, value in DOORS[door][1].items() if value is not ...}
    return {name: folder if value is DATA else new if value is NEW else value for name, value in given.items()}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_takes_its_arguments(door, folder, tmp_path):
    DOORS[door][0](**arguments(door, folder, tmp_path / "new"))


@pytest.mark.parametrize(("door", "name"), CASES, ids=lambda value: value)
def test_an_argument_of_a_wrong_type_is_named(door, name, folder, tmp_path):
    call, given = DOORS[door][0], arguments(door, folder, tmp_path / "new")
    for value in WRONG:
        if (value is True and name in TAKES_TRUE) or (value == 2.5 and name in TAKES_NUMBERS):
            continue
        with pytest.raises((TypeError, ValueError, starmine.StarmineError, IndexError)) as caught:
            call(**given | {name: value})
        notes = getattr(caught.value, "__notes__", ()) if door in OF_THE_CORE else ()
        shown = "\n".join([str(caught.value), *notes])
        assert name in shown or ELEMENTS.get(name, name) in shown, (value, shown)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (
            lambda: starmine.HanabiVectorEnv(2, dtype=np.float32),
            "numpy.float32'> is a type: expected a str",
        ),
        (lambda: starmine.HanabiVectorEnv(2, players="2"), "players: 'str' object"),
        (lambda: starmine.variant("mini", players="2"), "players: 'str' object"),
        (lambda: starmine.HanabiEnv(colors="5"), "colors: 'str' object"),
        (lambda: stepped_alone({"agent_0": 5}), "action is a dict: expected a single integer"),
        (lambda: stepped({"agent_0": 5}), "actions is a dict: expected an array of integers"),
        (lambda: RULES.new_game(deck=["R1", "X9"]), 'deck[1]: "X9" is not a card'),
        (lambda: starmine.play_games(["ippo-mini"] * 2, 2), '(variant="mini")'),
        (lambda: starmine.HanabiVectorEnv(2, partners={1: "ippo-mini"}), '(variant="mini")'),
    ],
)
def test_a_message_says_what_is_meant(call, named):
    with pytest.raises((TypeError, starmine.StarmineError)) as caught:
        call()
    assert named in str(caught.value)


class TakesOne(torch.nn.Module):
    def forward(self, observations):
        return observations


class TakesFeatures(torch.nn.Module):
    def forward(self, observations, action_mask, card_features):
        return action_mask.float()


def test_a_module_that_takes_other_arguments_is_refused():
    expected = r"forward\(.*\).* is not allowed: it is called as forward\(observations, action_mask\)"
    for call in (
        lambda: ModulePolicy(TakesOne()),
        lambda: starmine.play_games([TakesOne()] * 2, 2),
        lambda: starmine.HanabiVectorEnv(2, partners={1: TakesOne()}),
        lambda: ModulePolicy(torch.nn.Linear(658, 20)),
    ):
        with pytest.raises(starmine.StarmineError, match=expected):
            call()
    with pytest.raises(
        starmine.StarmineError, match=r"\(too many positional arguments\)\. Expected a module whose forward"
    ):
        ModulePolicy(torch.nn.Sequential(torch.nn.Linear(658, 20)))
    cure = r"Expected ModulePolicy\(module, extra_outputs=\('card_features',\)\)$"
    for call in (
        lambda: ModulePolicy(TakesFeatures()),
        lambda: starmine.play_games([TakesFeatures()] * 2, 2),
        lambda: ModulePolicy(TakesFeatures(), extra_outputs=["marginals"]),
    ):
        with pytest.raises(starmine.StarmineError, match=cure):
            call()
    with pytest.raises(starmine.StarmineError, match=r"called as forward\(observations, action_mask, marginals=\.\.\."):
        ModulePolicy(TakesFeatures(), extra_outputs=["marginals"])
    ModulePolicy(TakesFeatures(), extra_outputs=["card_features"])
    with pytest.warns(FutureWarning):
        ModulePolicy(torch.jit.script(Chooses().eval()))
