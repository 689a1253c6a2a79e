"""The Tianshou adapter: collectors, and an update of its masked deep Q-learning."""

import numpy as np
import pytest

import starmine

pytest.importorskip("tianshou")
torch = pytest.importorskip("torch")
from tianshou.algorithm import DQN  # noqa: E402
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy  # noqa: E402
from tianshou.algorithm.optim import AdamOptimizerFactory  # noqa: E402
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm  # noqa: E402
from tianshou.data import Collector, VectorReplayBuffer  # noqa: E402
from tianshou.utils.torch_utils import policy_within_training_step  # noqa: E402

from starmine.adapters.tianshou import HanabiTianshouEnv  # noqa: E402


class Network(torch.nn.Module):
    """Action values of the features, which the policy takes out of the observation, as it does the mask."""

    def __init__(self, features, actions):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(features, 32), torch.nn.ReLU(), torch.nn.Linear(32, actions))

    def forward(self, obs, state=None, info=None):
        return self.layers(torch.as_tensor(obs, dtype=torch.float32)), state


def collector(games=8, **settings):
    env = HanabiTianshouEnv(games, "small", **settings)
    random = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.env.single_action_space)
    return Collector(random, env, VectorReplayBuffer(100 * games, games))


def test_a_collector_of_steps():
    collected = collector()
    collected.reset(gym_reset_kwargs={"seed": 0})
    stats = collected.collect(n_step=800)
    rows = collected.buffer[:]
    assert len(rows) == stats.n_collected_steps == 800
    assert rows.obs.mask[np.arange(800), rows.act].all()
    assert rows.terminated.sum() == stats.n_collected_episodes > 50
    np.testing.assert_array_equal(rows.obs_next.mask.any(axis=1), ~rows.terminated.astype(bool))


@pytest.mark.filterwarnings("ignore:n_episode=3 should be larger:UserWarning")
@pytest.mark.parametrize("episodes", [20, 3])
def test_a_collector_of_episodes(episodes):
    """A collector leaves games out of steps once it has no use for them."""
    collected = collector()
    for _ in range(2):
        collected.reset()
        assert collected.collect(n_episode=episodes).n_collected_episodes == episodes


def test_deep_q_learning_takes_the_masks():
    torch.manual_seed(0)
    env = HanabiTianshouEnv(8, "small")
    space = env.env.single_action_space
    network = Network(len(env.env.layout), int(space.n))
    policy = DiscreteQLearningPolicy(model=network, action_space=space, eps_training=0.2)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0)
    collected = Collector(algorithm, env, VectorReplayBuffer(800, 8), exploration_noise=True)
    collected.reset()
    weights = network.layers[0].weight.detach().clone()
    with policy_within_training_step(policy):
        collected.collect(n_step=160)
        algorithm.update(buffer=collected.buffer, sample_size=64)
    rows = collected.buffer[:]
    assert rows.obs.mask[np.arange(len(rows)), rows.act].all()
    assert not torch.equal(network.layers[0].weight, weights)


def test_seeds():
    env = HanabiTianshouEnv(4, "small")
    assert env.seed(5) == [[5]] * 4
    first, _ = env.reset()
    again, _ = env.reset(seed=[5, 6, 7, 8])
    for game in range(4):
        np.testing.assert_array_equal(first.obs[game], env.variant.new_game(seed=5, game=game).encode(0))
        np.testing.assert_array_equal(again.obs[game], env.variant.new_game(seed=5 + game).encode(0))
    assert env.seed([5, 6, 7, 8]) == [[5], [6], [7], [8]]
    np.testing.assert_array_equal(env.reset()[0].obs, again.obs)
    with pytest.raises(starmine.ArrayError, match=r"expected one integer, or \(4,\)"):
        env.seed([5, 6])
    with pytest.raises(starmine.StarmineError, match="seed all, or none"):
        env.reset([0, 1], seed=3)


def test_games_that_were_left_out_must_be_reset():
    env = HanabiTianshouEnv(4)
    with pytest.raises(starmine.StarmineError, match="reset them first"):
        env.step([5, 5, 5, 5])
    env.reset()
    env.step([5, 5], [1, 3])
    with pytest.raises(starmine.StarmineError, match=r"games \[0, 2\] are over or were left out"):
        env.step([5, 5, 5, 5])
    env.reset([0, 2])
    env.step([5, 5, 5, 5])
    with pytest.raises(starmine.ArrayError, match=r"expected \(4,\)"):
        env.step([5, 5])


def test_what_collectors_read():
    env = HanabiTianshouEnv(4, "small")
    assert len(env) == 4
    assert env.action_space == [env.env.single_action_space] * 4
    observations, infos = env.reset()
    observation = {"obs": observations.obs[0], "mask": observations.mask[0].astype(np.int8)}
    assert env.observation_space[0].contains(observation)
    assert infos[2] == {"env_id": 2, "current_player": 0, "score": 0}
    for name in ("autoreset_mode", "observers", "extra_outputs"):
        with pytest.raises(starmine.StarmineError, match=f"{name}='all' is not allowed"):
            HanabiTianshouEnv(2, **{name: "all"})
    env.close()
    with pytest.raises(AssertionError, match="after close"):
        env.reset()


@pytest.mark.parametrize("games", [[9], [-1], [0, 0], ["x"], [0.0]])
def test_games_that_there_are_not_are_refused(games):
    env = HanabiTianshouEnv(2)
    env.reset()
    for call in (lambda: env.step([5] * len(games), id=games), lambda: env.reset(games)):
        with pytest.raises(starmine.ArrayError, match="expected games of 0 to 1, each once"):
            call()


def test_pictures_of_the_games():
    env = HanabiTianshouEnv(2, render_mode="rgb_array")
    env.reset()
    assert [image.shape[1:] for image in env.render()] == [(800, 3)] * 2
    assert HanabiTianshouEnv(2).render() == [None, None]


def test_infos_name_the_partner():
    partners = {1: ["simple", "iggi"]}
    env = HanabiTianshouEnv(8, "small", partners=partners)
    expected = starmine.HanabiVectorEnv(8, "small", partners=partners, autoreset_mode="Disabled")
    (observations, infos), (_, info) = env.reset(seed=3), expected.reset(seed=3)
    np.testing.assert_array_equal([own["partner"] for own in infos], info["partner"])
    *_, infos = env.step(observations.mask.argmax(axis=1))
    *_, info = expected.step(observations.mask.argmax(axis=1))
    np.testing.assert_array_equal([own["partner"] for own in infos], info["partner"])
    assert {own["partner"][1] for own in infos} == {0, 1}
    collected = collector(partners=partners)
    collected.reset(gym_reset_kwargs={"seed": 0})
    collected.collect(n_step=80)
    assert collected.buffer[:].info.partner.shape == (80, 2)
