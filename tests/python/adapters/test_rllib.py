"""The RLlib adapter: spaces, masks, the end of games, and PPO with one policy for all seats and with one for each."""

import gymnasium
import numpy as np
import pytest

import starmine

pytestmark = pytest.mark.filterwarnings("ignore")  # those of ray
ray = pytest.importorskip("ray", reason="ray not found: pip install 'starmine[rllib]'")
pytest.importorskip("ray.rllib", reason="RLlib not found: pip install 'starmine[rllib]'", exc_type=ImportError)
torch = pytest.importorskip("torch")
from ray.rllib.algorithms.ppo import PPOConfig  # noqa: E402
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec  # noqa: E402
from ray.rllib.core.rl_module.rl_module import RLModuleSpec  # noqa: E402
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode  # noqa: E402
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule  # noqa: E402
from ray.rllib.utils.pre_checks.env import check_multiagent_environments  # noqa: E402

from starmine.adapters.rllib import HanabiRLlibMultiAgentEnv, HanabiRLlibVectorEnv  # noqa: E402

GAMES = 8


@pytest.fixture(scope="module")
def cluster():
    """A local Ray; the training is done in this process."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    ray.init(address="local", num_cpus=1, include_dashboard=False, object_store_memory=2**27, log_to_driver=False)
    yield
    ray.shutdown()
    torch.set_num_threads(threads)


def legal(mask, rng):
    return ((1 - rng.random(mask.shape)) * mask).argmax(axis=-1)


def test_games_that_end_are_dealt_anew_in_the_next_step():
    env = HanabiRLlibVectorEnv({"num_envs": GAMES, "variant": "small"})
    rng, ended, ends = np.random.default_rng(0), np.zeros(GAMES, dtype=bool), 0
    observations, info = env.reset(seed=0)
    assert "action_mask" not in info
    assert "_action_mask" not in info
    for _ in range(100):
        assert env.observation_space.contains(observations)
        actions = np.where(ended, 10**6, legal(observations["action_mask"], rng))
        observations, reward, terminated, truncated, info = env.step(actions)
        assert not reward[ended].any()
        assert not terminated[ended].any()
        assert not truncated.any()
        assert (observations["action_mask"].all(axis=1) == terminated).all()
        ended, ends = terminated, ends + terminated.sum()
    assert ends > GAMES
    env.close()
    assert env.env.closed


@pytest.mark.parametrize("name", ["autoreset_mode", "observers", "seed"])
def test_settings_that_rllib_decides_are_refused(name):
    with pytest.raises(starmine.StarmineError, match=f"{name}=1 is not allowed"):
        HanabiRLlibVectorEnv({"num_envs": 2, name: 1})


def test_the_vectorization_that_is_missing_is_named():
    with pytest.raises(starmine.StarmineError, match='gym_env_vectorize_mode="vector_entry_point"'):
        HanabiRLlibVectorEnv({"players": 3})


def test_an_illegal_action_is_an_error_that_names_the_game():
    env = HanabiRLlibVectorEnv({"num_envs": 2})
    env.reset()
    with pytest.raises(starmine.IllegalActionError, match=r"actions\[1\]=33"):
        env.step([5, 33])


def played(env, seed):
    """(agent, observation, action, rewards) of each turn of one game, and what `step` returned last."""
    rng, turns = np.random.default_rng(seed), []
    observations, _ = env.reset(seed=seed)
    while True:
        ((agent, observation),) = observations.items()
        action = legal(observation["action_mask"], rng)
        results = env.step({agent: action})
        turns.append((agent, observation, action, results[1]))
        if results[2]["__all__"]:
            return turns, results
        observations = results[0]


def test_agents_take_turns_as_the_seats_of_the_game():
    env = HanabiRLlibMultiAgentEnv({"variant": "small", "players": 3, "dtype": "uint8"})
    for seed in range(10):
        state = env.variant.new_game(seed=seed)
        turns, (observations, _, terminated, truncated, infos) = played(env, seed)
        before = dict.fromkeys(env.possible_agents, 0)  # points from before an agent's first turn
        for agent, observation, action, rewards in turns:
            seat = state.current_player
            assert agent == f"player_{seat}"
            assert env.observation_spaces[agent].contains(observation)
            np.testing.assert_array_equal(observation["observations"], state.encode(seat))
            np.testing.assert_array_equal(observation["action_mask"], state.legal_action_mask())
            gained = state.apply(int(action))
            expected = dict.fromkeys(env.possible_agents, gained) | dict.fromkeys(before, 0)
            expected[agent] = gained + before.pop(agent, 0)
            before = {other: points + gained for other, points in before.items()}
            assert rewards == expected
        assert state.is_terminal
        assert terminated == dict.fromkeys([*env.possible_agents, "__all__"], True)
        assert truncated == dict.fromkeys([*env.possible_agents, "__all__"], False)
        for seat, agent in enumerate(env.possible_agents):
            np.testing.assert_array_equal(observations[agent]["observations"], state.encode(seat))
            assert observations[agent]["action_mask"].all()
            assert starmine.endings()[infos[agent]["ending"] - 1] == state.ending


def test_only_the_agent_to_act_acts_and_only_in_a_game():
    env = HanabiRLlibMultiAgentEnv({"illegal_action": "terminate"})
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset first"):
        env.step({"player_0": 5})
    env.reset(seed=0)
    for actions in ({"player_1": 5}, {"player_0": 5, "player_1": 5}, {}):
        with pytest.raises(starmine.StarmineError, match="expected that of 'player_0'"):
            env.step(actions)
    *_, terminated, _, infos = env.step({"player_0": -1})
    assert terminated["__all__"]
    assert infos["player_1"]["illegal_action"]
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset first"):
        env.step({"player_0": 5})


def test_rllibs_check_of_the_environment():
    for _ in range(10):
        check_multiagent_environments(HanabiRLlibMultiAgentEnv({"players": 4}))


@pytest.mark.parametrize("players", [2, 3, 5])
def test_rllibs_episodes_have_the_teams_return(players):
    """RLlib drops rewards that come before an agent's first observation."""
    env = HanabiRLlibMultiAgentEnv({"players": players, "lost_game_score": "fireworks"})
    early = 0
    for seed in range(150):
        rng, over, acted = np.random.default_rng(seed), False, set()
        episode = MultiAgentEpisode(observation_space=env.observation_spaces, action_space=env.action_spaces)
        observations, infos = env.reset(seed=seed)
        episode.add_env_reset(observations=observations, infos=infos)
        while not over:
            ((agent, observation),) = observations.items()
            actions = {agent: legal(observation["action_mask"], rng)}
            observations, rewards, terminated, truncated, infos = env.step(actions)
            episode.add_env_step(observations, actions, rewards, infos, terminateds=terminated, truncateds=truncated)
            over = terminated["__all__"]
            acted.add(agent)
            early += len(acted) < players and env.env.state.score > 0
        returns = [each.get_return() for each in episode.agent_episodes.values() if len(each)]
        assert returns == [env.env.state.score] * len(returns)
    assert early > 10


def configuration(games):
    """PPO without workers, which keeps all in this process."""
    return (
        PPOConfig()
        .env_runners(num_env_runners=0, num_envs_per_env_runner=games, rollout_fragment_length="auto")
        .learners(num_learners=0)
        .training(gamma=1.0, lr=3e-3, minibatch_size=256)
        .debugging(seed=0, log_level="ERROR")
    )


def module():
    settings = {"fcnet_hiddens": [64], "head_fcnet_hiddens": []}
    return RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=settings)


def iterate(config, count):
    """What the environments report of each iteration."""
    algorithm = config.build_algo()
    try:
        return [algorithm.train()["env_runners"] for _ in range(count)]
    finally:
        algorithm.stop()


@pytest.mark.slow
def test_ppo_with_one_policy_for_all_seats(cluster):
    """An illegal action is an error, so the masks hold."""
    config = (
        configuration(64)
        .environment(HanabiRLlibVectorEnv, env_config={"variant": "very-small", "max_life_tokens": 3})
        .env_runners(gym_env_vectorize_mode="vector_entry_point")
        .training(train_batch_size_per_learner=2048, num_epochs=4)
        .rl_module(rl_module_spec=module())
    )
    returns = [runners["episode_return_mean"] for runners in iterate(config, 5)]
    assert returns[-1] > returns[0] + 0.3


@pytest.mark.slow
def test_ppo_with_a_policy_for_each_seat(cluster):
    """RLlib's check is off because it draws actions without masks, which are errors here."""
    settings = {"variant": "very-small", "illegal_action": "raise"}
    config = (
        configuration(GAMES)
        .environment(HanabiRLlibMultiAgentEnv, env_config=settings, disable_env_checking=True)
        .multi_agent(policies={"player_0", "player_1"}, policy_mapping_fn=lambda agent, *_, **__: agent)
        .training(train_batch_size_per_learner=256, num_epochs=1)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={f"player_{seat}": module() for seat in range(2)}))
    )
    for runners in iterate(config, 3):
        assert runners["num_episodes"] > GAMES
        assert set(runners["agent_episode_returns_mean"]) == {"player_0", "player_1"}
