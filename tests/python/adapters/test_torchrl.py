"""The TorchRL adapter: TorchRL's check, masks, partial resets, a collector, a short PPO run, and `GymWrapper`."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import starmine

torch = pytest.importorskip("torch")

GAMES = 8
MODULES = [
    *("tensordict.nn", "torchrl.collectors", "torchrl.envs", "torchrl.envs.utils", "torchrl.modules"),
    *("torchrl.objectives", "torchrl.objectives.value", "starmine.adapters.torchrl"),
]


@pytest.fixture(scope="module")
def rl():
    """The names of TorchRL, whose import takes seconds, so that only the process that runs these tests imports it."""
    pytest.importorskip("torchrl")
    names = {}
    for module in MODULES:
        names |= vars(import_module(module))
    return SimpleNamespace(**names)


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def assert_legal(rollout):
    """Every action was legal, and the mask of a game that is over is full."""
    assert rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1)).all()
    nexts = rollout["next"]
    assert torch.equal(nexts["action_mask"].all(-1, keepdim=True), nexts["done"])


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "bits"])
def test_check_env_specs(rl, dtype):
    env = rl.HanabiTorchRLEnv(GAMES, "small", dtype=dtype, players=3, illegal_action="terminate")
    rl.check_env_specs(env, break_when_any_done="both", seed=1)


def test_check_env_specs_with_the_action_mask(rl):
    rl.check_env_specs(
        rl.TransformedEnv(rl.HanabiTorchRLEnv(GAMES, "small"), rl.ActionMask()), break_when_any_done="both"
    )


def test_rollouts_reset_the_games_that_end(rl):
    env = rl.TransformedEnv(rl.HanabiTorchRLEnv(GAMES, "small", seed=0), rl.Compose(rl.ActionMask(), rl.RewardSum()))
    rollout = env.rollout(60, break_when_any_done=False)
    assert rollout["next", "done"].sum() > GAMES
    assert_legal(rollout)


def test_a_rollout_up_to_the_end_of_all_games(rl):
    env = rl.HanabiTorchRLEnv(GAMES, "small", seed=0)
    last = torch.arange(env.action_spec.space.n)
    policy = rl.TensorDictModule(lambda mask: (mask * last).argmax(-1), in_keys=["action_mask"], out_keys=["action"])
    rollout = env.rollout(200, policy, break_when_all_done=True)
    assert rollout.shape[1] < 200
    assert rollout["next", "done"][:, -1].all()


def test_seeds_and_partial_resets_are_those_of_the_core(rl):
    env = rl.HanabiTorchRLEnv(3, "small", dtype="uint8", illegal_action="terminate")
    env.set_seed(5)
    entries = env.reset()
    for game in range(3):
        expected = env.variant.new_game(seed=5, game=game)
        np.testing.assert_array_equal(entries["observation"][game], expected.encode(0))
    before = entries.clone()
    entries["action"] = torch.tensor([-1, env.variant.action("play 0"), -1])
    after = env.step(entries)["next"]
    assert after["done"].squeeze(-1).tolist()[::2] == [True, True]
    after["_reset"] = torch.tensor([[True], [False], [False]])
    entries = env.reset(after)
    np.testing.assert_array_equal(entries["observation"][0], env.variant.new_game(seed=5, game=0, episode=1).encode(0))
    assert entries["done"].squeeze(-1).tolist() == [False, after["done"][1].item(), True]
    assert not torch.equal(before["observation"][1], entries["observation"][1])


def test_games_that_are_over_are_not_stepped(rl):
    env = rl.HanabiTorchRLEnv(2, illegal_action="terminate")
    entries = env.reset()
    entries["action"] = torch.tensor([-1, 5])
    entries = env.step_mdp(env.step(entries))
    entries["action"] = torch.tensor([5, 5])
    with pytest.raises(starmine.StarmineError, match=r"games \[0\] are over: reset them first"):
        env.step(entries.clone())
    entries["_step"] = torch.tensor([True, False])
    with pytest.raises(starmine.StarmineError, match=r"games \[0\] are over: reset them first"):
        env.step(entries.clone())
    entries["_reset"] = torch.tensor([[True], [False]])
    entries = env.reset(entries)
    entries["action"], entries["_step"] = torch.tensor([5, 5]), torch.tensor([True, False])
    with pytest.raises(starmine.StarmineError, match=r"games \[1\] are in play: they cannot be left out"):
        env.step(entries)


def test_an_illegal_action_is_an_error_that_names_the_game(rl):
    env = rl.HanabiTorchRLEnv(2)
    entries = env.reset()
    entries["action"] = torch.tensor([5, 33])
    with pytest.raises(starmine.IllegalActionError, match=r"actions\[1\]=33"):
        env.step(entries)


class LastLegal:
    """A policy that plays the last legal action."""

    encoder = "canonical"

    def act_batch(self, turns):
        return turns.action_mask.shape[1] - 1 - turns.action_mask[:, ::-1].argmax(axis=1)


def test_rewards_partners_and_extra_outputs_are_those_of_the_vector_environment(rl):
    extra = ["card_features", "own_hand"]
    settings = {"reward": "fireworks", "lost_game_penalty": 2.0, "partners": {1: LastLegal()}, "extra_outputs": extra}
    env = rl.HanabiTorchRLEnv(GAMES, "small", **settings)
    expected = starmine.HanabiVectorEnv(GAMES, "small", autoreset_mode="Disabled", **settings)
    entries, (_, info) = env.reset(seed=3), expected.reset(seed=3)
    ended = np.zeros(GAMES, dtype=int)
    for _ in range(40):
        entries["action"] = entries["action_mask"].int().argmax(dim=1)
        _, reward, terminated, _, info = expected.step(entries["action"].numpy())
        played, entries = env.step_and_maybe_reset(entries)
        np.testing.assert_array_equal(played["next", "reward"].squeeze(-1), reward)
        np.testing.assert_array_equal(played["next", "done"].squeeze(-1), terminated)
        for name in extra:
            np.testing.assert_array_equal(played["next", name], info[name])
        if terminated.any():
            expected.reset(options={"reset_mask": terminated})
        ended += terminated
    assert ended.all(), "every game ends at least once"


def test_check_env_specs_with_extra_outputs(rl):
    env = rl.HanabiTorchRLEnv(GAMES, "small", extra_outputs=["card_features", "marginals", "own_hand"])
    rl.check_env_specs(rl.TransformedEnv(env, rl.ActionMask()), break_when_any_done="both")


@pytest.mark.parametrize("setting", ["autoreset_mode", "observers", "render_mode"])
def test_settings_that_torchrl_decides_are_refused(rl, setting):
    with pytest.raises(starmine.StarmineError, match=f"{setting}='all' is not allowed: TorchRL takes one form only"):
        rl.HanabiTorchRLEnv(2, **{setting: "all"})
    with pytest.raises(TypeError, match='"num_threads"'):
        rl.HanabiTorchRLEnv(2, num_thread=1)
    assert repr(rl.HanabiTorchRLEnv(2)) == "HanabiTorchRLEnv(num_envs=2, variant=Variant(players=2))"


def actor_and_critic(rl, env):
    features, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    network = torch.nn.Sequential(torch.nn.Linear(features, 64), torch.nn.Tanh(), torch.nn.Linear(64, actions))
    module = rl.TensorDictModule(network, in_keys=["observation"], out_keys=["logits"])
    actor = rl.ProbabilisticActor(
        module,
        in_keys={"logits": "logits", "mask": "action_mask"},
        out_keys=["action"],
        distribution_class=rl.MaskedCategorical,
        return_log_prob=True,
    )
    critic = torch.nn.Sequential(torch.nn.Linear(features, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    return actor, rl.ValueOperator(critic, in_keys=["observation"])


def update(batch, loss, advantage, optimizer):
    """Four epochs of PPO on a batch."""
    for _ in range(4):
        advantage(batch)
        rows = batch.reshape(-1)
        for index in torch.randperm(len(rows)).split(256):
            losses = loss(rows[index])
            optimizer.zero_grad()
            sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
            optimizer.step()


def test_a_collector_and_ppo(rl):
    torch.manual_seed(0)
    games = rl.HanabiTorchRLEnv(64, "very-small", max_life_tokens=3, seed=0)
    env = rl.TransformedEnv(games, rl.Compose(rl.ActionMask(), rl.RewardSum()))
    actor, critic = actor_and_critic(rl, env)
    loss = rl.ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    advantage = rl.GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), lr=3e-3)
    settings = {"frames_per_batch": 1024, "total_frames": 16 * 1024, "auto_register_policy_transforms": True}
    collector, returns = rl.Collector(env, actor, **settings), []
    for batch in collector:
        assert_legal(batch)
        returns.append(batch["next", "episode_reward"][batch["next", "done"]].mean().item())
        update(batch, loss, advantage, optimizer)
    collector.shutdown()
    assert np.mean(returns[-4:]) > np.mean(returns[:4]) + 0.3


@pytest.mark.parametrize("policy", ["RandomPolicy", "None"])
def test_random_collectors_do_not_use_the_action_mask(rl, policy):
    """What the docstring of the adapter and the page say of them."""

    def collect(**settings):
        env = rl.TransformedEnv(rl.HanabiTorchRLEnv(GAMES, "small", **settings), rl.ActionMask())
        random = rl.RandomPolicy(env.action_spec) if policy == "RandomPolicy" else None
        collector = rl.Collector(
            env, random, frames_per_batch=160, total_frames=160, auto_register_policy_transforms=True
        )
        return list(collector)

    with pytest.raises(starmine.IllegalActionError):
        collect()
    assert len(collect(illegal_action="terminate")) == 1


def test_gym_wrapper_takes_the_vector_environment(rl):
    """`GymWrapper` draws actions without masks before any transform is there, so illegal actions must not raise."""
    vector = starmine.HanabiVectorEnv(GAMES, "small", autoreset_mode="Disabled", illegal_action="terminate")
    games = rl.GymWrapper(vector, categorical_action_encoding=True).auto_register_info_dict()
    rl.check_env_specs(games)
    env = rl.TransformedEnv(games, rl.Compose(rl.ActionMask(), rl.RewardSum()))
    env.set_seed(5)  # which deals the first episode
    rollout = env.rollout(60, break_when_any_done=False)
    for game in range(GAMES):
        expected = vector.variant.new_game(seed=5, game=game, episode=1).encode(0)
        np.testing.assert_array_equal(rollout["observation"][game, 0], expected)
    assert rollout["action_mask"].gather(-1, rollout["action"].unsqueeze(-1)).all()
    assert not rollout["next", "illegal_action"].any()
    done = rollout["next", "done"].squeeze(-1)
    assert done.sum() > GAMES
    scores = rollout["next", "final_score"][done]
    assert torch.equal(rollout["next", "episode_reward"].squeeze(-1)[done], scores.float())


def test_gym_wrapper_takes_the_infos_of_one_game(rl):
    single = starmine.HanabiEnv("small", illegal_action="terminate", extra_outputs=["own_hand"])
    games = rl.GymWrapper(single, categorical_action_encoding=True).auto_register_info_dict()
    rl.check_env_specs(games)
    rollout = rl.TransformedEnv(games, rl.ActionMask()).rollout(60, break_when_any_done=False)
    done = rollout["next", "done"].squeeze(-1)
    assert done.any()
    assert torch.equal(rollout["next", "ending"] > 0, done)
    assert not rollout["next", "illegal_action"].any()
    assert rollout["next", "own_hand"].shape == (60, single.variant.hand_size)
