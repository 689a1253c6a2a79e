"""The Stable-Baselines3 adapter: masks, infos, and MaskablePPO that learns on it."""

import numpy as np
import pytest

import starmine

sb3_contrib = pytest.importorskip("sb3_contrib")
torch = pytest.importorskip("torch")
from sb3_contrib.common.maskable.evaluation import evaluate_policy  # noqa: E402
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize  # noqa: E402

from starmine.adapters.sb3 import HanabiVecEnv  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def random_actions(env, rng):
    masks = get_action_masks(env)
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def test_maskable_ppo_learns():
    env = HanabiVecEnv(64, "very-small", max_life_tokens=3)
    settings = {"n_steps": 16, "batch_size": 256, "n_epochs": 4, "learning_rate": 3e-3, "gamma": 1.0}
    model = sb3_contrib.MaskablePPO("MlpPolicy", env, seed=0, device="cpu", **settings)
    before, _ = evaluate_policy(model, env, n_eval_episodes=256)
    model.learn(8192)
    after, _ = evaluate_policy(model, env, n_eval_episodes=256)
    assert after > before + 0.3


def test_ppo_without_masks_needs_games_that_end_by_illegal_actions():
    env = HanabiVecEnv(8, "small", illegal_action="terminate")
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=128, n_epochs=1, seed=0, device="cpu").learn(128)
    assert len(model.ep_info_buffer) > 0
    with pytest.raises(starmine.IllegalActionError):
        PPO("MlpPolicy", HanabiVecEnv(64, "small"), n_steps=16, seed=0, device="cpu").learn(1024)


def test_wrappers_of_vec_envs():
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        monitored = VecMonitor(HanabiVecEnv(8, "small"))
    env = VecNormalize(monitored, norm_obs=False)
    assert is_masking_supported(env)
    env.reset()
    rng, episodes = np.random.default_rng(0), []
    for _ in range(60):
        *_, infos = env.step(random_actions(env, rng))
        episodes += [info["episode"] for info in infos if "episode" in info]
    assert len(episodes) > 5


def test_what_infos_tell_is_what_the_vector_environment_tells():
    env, expected = HanabiVecEnv(16, "small"), starmine.HanabiVectorEnv(16, "small")
    env.seed(3)
    obs, info = env.reset(), {}
    other, info = expected.reset(seed=3)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(40):
        np.testing.assert_array_equal(obs, other)
        np.testing.assert_array_equal(get_action_masks(env), info["action_mask"])
        actions = random_actions(env, rng)
        obs, reward, done, infos = env.step(actions)
        other, other_reward, terminated, _, info = expected.step(actions)
        np.testing.assert_array_equal(reward, other_reward)
        np.testing.assert_array_equal(done, terminated)
        for game in range(16):
            assert bool(infos[game]) == bool(done[game])
            if done[game]:
                np.testing.assert_array_equal(infos[game]["terminal_observation"], info["final_obs"][game])
                assert infos[game]["TimeLimit.truncated"] is False
                assert infos[game]["episode"]["l"] == info["final_length"][game]
                assert infos[game]["episode"]["r"] == infos[game]["score"] == info["final_score"][game]
                assert infos[game]["ending"] == info["final_ending"][game]
                ended += 1
    assert ended > 10


def test_an_illegal_action_moves_no_game():
    env = HanabiVecEnv(4)
    env.reset()
    masks = get_action_masks(env)
    with pytest.raises(starmine.IllegalActionError):
        env.step(np.array([5, 5, -1, 5]))
    np.testing.assert_array_equal(get_action_masks(env), masks)
    env.step(np.array([5, 5, 5, 5]))


def test_pictures_of_the_games():
    env = HanabiVecEnv(2, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    assert [image.shape for image in images] == [env.env.render()[0].shape] * 2
    assert env.render().shape[1] in (800, 1600)  # tiled


def test_an_episode_s_return_is_the_sum_of_its_rewards():
    env = HanabiVecEnv(8, "small", max_life_tokens=1, reward="fireworks", lost_game_penalty=2)
    env.reset()
    rng, returns, checked = np.random.default_rng(0), np.zeros(8), 0
    for _ in range(60):
        _, rewards, dones, infos = env.step(random_actions(env, rng))
        returns += rewards
        for game in np.flatnonzero(dones):
            assert infos[game]["episode"]["r"] == returns[game]
            checked += infos[game]["score"] == 0 and returns[game] != 0
        returns[dones] = 0
    assert checked > 10


def test_infos_of_ended_games_name_the_partner():
    partners = {1: ["simple", "iggi"]}
    env, expected = (make(16, "small", partners=partners) for make in (HanabiVecEnv, starmine.HanabiVectorEnv))
    env.seed(3)
    env.reset(), expected.reset(seed=3)
    rng, found = np.random.default_rng(0), set()
    for _ in range(40):
        actions = random_actions(env, rng)
        *_, infos = env.step(actions)
        *_, terminated, _, info = expected.step(actions)
        for game in np.flatnonzero(terminated):
            np.testing.assert_array_equal(infos[game]["partner"], info["final_partner"][game])
            found.add(tuple(infos[game]["partner"].tolist()))
    assert found == {(-1, 0), (-1, 1)}


def model_of():
    """An untrained model."""
    return sb3_contrib.MaskablePPO(
        "MlpPolicy", HanabiVecEnv(8), n_steps=8, batch_size=64, n_epochs=1, seed=0, device="cpu"
    )


def test_a_model_is_evaluated_in_a_class_around_its_predict():
    model = model_of()

    class Player:
        dtype = "float32"

        def act_batch(self, turns):
            return model.predict(turns.obs, action_masks=turns.action_mask, deterministic=True)[0]

    games = starmine.play_games([Player(), Player()], games=20)
    for state in (games.state(game) for game in range(3)):
        played = starmine.Variant().new_game(deck=state.deck)
        for event in state.history:
            obs = played.encode(played.current_player).astype(np.float32)
            action, _ = model.predict(obs, action_masks=np.array(played.legal_action_mask()), deterministic=True)
            assert action == event.action
            played.apply(event.action)
    found = starmine.evaluate({"mine": Player()}, games=20, figure=False).pairing("mine", "mine")
    assert found.games == 20


def test_a_model_with_act_batch_is_a_player():
    class Model(type(model_of().policy)):
        def act_batch(self, turns):
            return turns.action_mask.argmax(1)

    policy = model_of().policy
    policy.__class__ = Model
    assert len(starmine.play_games([policy, policy], games=2)) == 2
