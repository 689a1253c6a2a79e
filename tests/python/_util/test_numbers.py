"""True and False are no numbers, 2.0 and nan no integers: no public call takes them in silence."""

import numpy as np
import pytest

import starmine

STANDARD = starmine.Variant()
MINI = starmine.variant("mini")
STATE = STANDARD.new_game(seed=1)
TRUTHS = [True, np.True_]
NO_INTEGERS = [*TRUTHS, 2.0, float("nan"), "2"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("games") / "games"
    starmine.data.generate(["random", "random"], 8, folder, MINI, shard_size=4, num_threads=1)
    return starmine.data.Dataset(folder)


@pytest.mark.parametrize("value", NO_INTEGERS, ids=repr)
def test_integers(value, data):
    for call in (
        lambda: data.read(value),
        lambda: starmine.data.color_permutations(STANDARD, 1, np.array([value])),
        lambda: starmine.data.generate(["random", "random"], 2, "games", MINI, shard_size=value, num_threads=1),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("value", NO_INTEGERS, ids=repr)
def test_integers_of_networks_and_training(value):
    pytest.importorskip("torch")
    from starmine.torch import PolicyNetwork, SeatGRU
    from starmine.training import progress_games, training_seed

    for call in (
        lambda: PolicyNetwork(MINI, hidden=[value]),
        lambda: SeatGRU(value),
        lambda: training_seed(value),
        lambda: progress_games("random", MINI, value),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("value", TRUTHS, ids=repr)
def test_numbers(value):
    for call in (lambda: starmine.HanabiVectorEnv(2, MINI, partners={1: [("random", value), "iggi"]}),):
        with pytest.raises(TypeError, match="expected a number"):
            call()


@pytest.mark.parametrize("value", [*TRUTHS, float("nan"), -1.0, 1.5, None], ids=repr)
def test_probabilities_of_training(value):
    torch = pytest.importorskip("torch")
    from starmine.training import WeightAverage, explore

    with pytest.raises(starmine.StarmineError, match="decay="):
        WeightAverage(torch.nn.Linear(1, 1), torch.zeros(2), value)
    with pytest.raises(starmine.StarmineError, match="epsilon="):
        explore(torch.zeros(1, dtype=torch.int64), torch.ones(1, 3, dtype=torch.bool), value)


@pytest.mark.parametrize("name", ["eval_games", "final_games"])
def test_games_of_evaluations_are_checked_before_training(name):
    pytest.importorskip("torch")
    from starmine.training import ScriptArgs, prepare_torch

    with pytest.raises(starmine.StarmineError, match=f"{name}=0 is not allowed"):
        prepare_torch(ScriptArgs(**{name: 0}))


@pytest.mark.parametrize("value", ["no", 0, None], ids=repr)
def test_options_that_are_true_or_false(value, data, tmp_path):
    torch = pytest.importorskip("torch")
    from starmine.torch import ColorNetwork, GamesDataset, ModulePolicy, PolicyNetwork

    module, folder = torch.nn.Linear(1, 1), data.files[0].path.parent
    calls = [
        (lambda **flag: starmine.evaluate(["random"], 2, variant=MINI, output=tmp_path, **flag), ["fresh"]),
        (lambda **flag: starmine.data.verify(folder, **flag), ["deal"]),
        (lambda **flag: GamesDataset(data, **flag), ["shuffle", "permute_colors", "drop_last"]),
        (lambda **flag: ModulePolicy(module, **flag), ["sampled", "cheats"]),
        (lambda **flag: PolicyNetwork(MINI, hidden=[4], **flag), ["recurrent", "card_features"]),
        (lambda **flag: ColorNetwork(MINI, hidden=[4, 4], **flag), ["recurrent"]),
    ]
    for call, names in calls:
        for name in names:
            with pytest.raises(TypeError, match=f"{name}={value!r} is .*: expected True or False"):
                call(**{name: value})
    assert not list(tmp_path.iterdir())


def test_the_scale_of_a_picture():
    for value in (*TRUTHS, float("nan"), 0, 11):
        with pytest.raises(starmine.StarmineError, match="scale="):
            starmine.look.to_png(STATE, scale=value)
