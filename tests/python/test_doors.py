"""Names, seeds and policies that cannot be used are refused where they come in."""

import json

import numpy as np
import pytest

import starmine
from starmine import SerializationError, StarmineError, evaluate, play_games

LONE = "\udc80"
GAMES = {"games": 2, "variant": "mini", "figure": False}


class NamedEncoder:
    encoder = LONE

    def act_batch(self, turns):
        return turns.action_mask.argmax(1)


DOORS = {
    "players": lambda: play_games([LONE, LONE], 1),
    "the variant of games": lambda: play_games(["iggi", "iggi"], 1, variant=LONE),
    "a policy's encoder": lambda: play_games([NamedEncoder(), "iggi"], 1, variant="mini"),
    "an ending": lambda: play_games(["iggi", "iggi"], 1, variant="mini").share(LONE),
    "evaluated players": lambda: evaluate([LONE], **GAMES),
    "the name of a player": lambda: evaluate({LONE: "iggi"}, **GAMES),
    "the bot of a player": lambda: evaluate({"a": LONE}, **GAMES),
    "the variant of an evaluation": lambda: evaluate(["iggi"], variant=LONE),
    "a pairing": lambda: evaluate(["iggi"], **GAMES).pairing("iggi", LONE),
    "a policy's path": lambda: starmine.load_policy(LONE),
    "the variant of an environment": lambda: starmine.HanabiVectorEnv(1, LONE),
    "the variant of one game": lambda: starmine.HanabiEnv(LONE),
}


@pytest.mark.parametrize("call", DOORS.values(), ids=DOORS)
def test_a_lone_surrogate_is_refused_by_name(call):
    with pytest.raises(StarmineError, match=r"\\udc80"):
        call()


@pytest.mark.parametrize("env", [starmine.HanabiEnv("mini"), starmine.HanabiVectorEnv(1, "mini")], ids=["one", "many"])
def test_a_seed_is_any_integer(env):
    expected = env.reset(seed=3)[0]
    for seed in (np.array(3), np.int64(3), np.uint8(3)):
        assert np.array_equal(env.reset(seed=seed)[0], expected)
        assert env.np_random_seed == 3
    for seed in (np.array(3.0), np.array(True), 3.0, True, "3"):
        with pytest.raises(TypeError, match=r"seed=.*expected an integer"):
            env.reset(seed=seed)
    with pytest.raises(StarmineError, match=r"seed=-1 is not allowed: expected 0 to 2\*\*64 - 1"):
        env.reset(seed=np.array(-1))


# --- Policies ---------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def write(torch, tmp_path):
    """Writes a policy file of a network, with other weights or metadata."""

    def write(network, weights=None, **described):
        from safetensors import safe_open
        from safetensors.torch import save_file

        path = tmp_path / "policy.safetensors"
        network.save(path)
        with safe_open(path, "pt") as file:
            found = json.loads(file.metadata()["starmine"])
        save_file(weights or network.state_dict(), path, {"starmine": json.dumps(found | described)})
        return path

    return write


def small_network(torch, hidden=(8, 8), **options):
    from starmine.torch import PolicyNetwork

    torch.manual_seed(0)
    return PolicyNetwork(starmine.variant("small"), hidden=hidden, **options)


@pytest.mark.parametrize("about", ["text", None, [1], 5])
def test_notes_that_are_no_object_are_refused_when_loaded(torch, write, about):
    path = write(small_network(torch), about=about)
    with pytest.raises(SerializationError, match=r'"about" in its metadata is .*: expected an object'):
        starmine.load_policy(path)


@pytest.mark.parametrize("note", [LONE, {"a": [LONE]}, float("nan"), [float("inf")]])
def test_notes_that_could_not_be_read_again_are_refused_when_saved(torch, tmp_path, note):
    with pytest.raises(StarmineError, match=r"score=.* is not allowed: "):
        small_network(torch).save(tmp_path / "policy.safetensors", score=note)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("size", [3e38, 1e30])
def test_weights_with_which_outputs_overflow_are_refused(torch, write, dtype, size):
    """In the network by colour, which the core plays."""
    from starmine.torch import ColorNetwork

    torch.manual_seed(0)
    network = ColorNetwork(starmine.variant("small"), hidden=(8, 8))
    for name in network.state_dict():
        weights = {key: tensor.to(getattr(torch, dtype)) for key, tensor in network.state_dict().items()}
        weights[name] = torch.full_like(weights[name], size)
        path = write(network, weights)
        try:
            policy = starmine.load_policy(path)
        except SerializationError as error:
            assert "may leave the range of float32: expected smaller weights" in str(error)  # noqa: PT017
            with pytest.raises(SerializationError, match="may leave the range of float32"):
                play_games([f"policy: {path}", "iggi"], 2, variant="small")
            with pytest.raises(SerializationError, match="may leave the range of float32"):
                starmine.Batch("small", 2, partners={1: f"policy: {path}"})
        else:  # what is not refused has finite outputs
            assert size < 1e38
            observations = np.random.default_rng(0).integers(0, 2, (500, network.features), np.uint8)
            for output in policy.logits(observations)[:2]:
                assert np.isfinite(output).all(), name


@pytest.mark.parametrize("options", [{}, {"layer_norm": True}, {"hidden": (8,)}])
def test_a_network_that_pytorch_plays_is_refused_where_its_outputs_overflow(torch, write, options):
    network = small_network(torch, **options)
    weights = {key: torch.full_like(tensor, 3e38) for key, tensor in network.state_dict().items()}
    path = write(network, weights)
    with pytest.raises(starmine.StarmineError, match=r"finite|nan|inf"):
        play_games([f"policy: {path}", "iggi"], 2, variant="small")


def test_each_shipped_policy_and_the_deepest_network_are_within_range(torch, tmp_path):
    for name in starmine.policies.shipped():
        starmine.load_policy(name)
    small_network(torch, hidden=(256,) * 16).save(tmp_path / "policy.safetensors")
    starmine.load_policy(tmp_path / "policy.safetensors")


def test_a_network_that_sees_its_own_hand_is_not_saved(torch, tmp_path):
    network = small_network(torch, encoder="canonical-seer")
    with pytest.raises(StarmineError, match="shows the observer's own hand"):
        network.save(tmp_path / "policy.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seed", [np.array(3), np.int64(3)])
def test_a_batch_takes_an_array_without_axes_as_a_seed(seed):
    batch = starmine.Batch("mini", 4)
    assert (batch.reset(seed)["obs"] == starmine.Batch("mini", 4, seed=3).reset()["obs"]).all()
    assert batch.seed == 3


def test_a_module_that_returns_nan_fails_by_name(torch):
    network = small_network(torch)
    for tensor in network.state_dict().values():
        tensor.fill_(3e38)
    with pytest.raises(starmine.BotError, match="the module returned nan as a logit"):
        play_games([network, "iggi"], 2, variant="small")


def test_a_run_with_one_final_game_leaves_a_policy_that_can_be_read(torch, tmp_path):
    one = play_games(["random", "random"], 1, variant="small")
    assert one.summary()["standard_error"] is None
    small_network(torch).save(tmp_path / "policy.safetensors", **one.summary())
    assert starmine.load_policy(tmp_path / "policy.safetensors").about["standard_error"] is None
