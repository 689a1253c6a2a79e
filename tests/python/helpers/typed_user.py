"""What users write, with types: `tests/python/project/test_user_types.py` runs strict type checkers on it."""

from __future__ import annotations

import gymnasium
import numpy as np
from numpy.typing import NDArray

import starmine


class FirstLegal:
    """A bot of one's own."""

    def act(self, view: starmine.View) -> int:
        """The first legal action."""
        return view.legal_actions()[0]


def one_game() -> list[str]:
    """The moves of a game, and its end."""
    variant = starmine.variant("hard", players=3)
    state: starmine.State = variant.new_game(seed=7)
    total = 0.0
    while not state.is_terminal:
        total += state.apply(state.legal_actions()[0])
    ending: str | None = state.ending
    hand: list[starmine.Card] = list(state.hands[0])
    first: starmine.Move = variant.move(0)
    assert first.kind == "discard"  # strict checks refuse a kind that does not exist
    return [*(str(event) for event in state.history), str(first), str(ending), str(total), str(hand)]


def many_games(steps: int) -> NDArray[np.float32]:
    """The sum of the rewards of each game of a vector environment."""
    env = starmine.HanabiVectorEnv(num_envs=8, players=2, autoreset_mode="NextStep")
    obs, info = env.reset(seed=0)
    total = np.zeros(env.num_envs, dtype=np.float32)
    for _ in range(steps):
        actions: NDArray[np.int64] = env.action_space.sample(info["action_mask"])
        obs, reward, terminated, truncated, info = env.step(actions)
        total += reward
        assert obs.shape == (8, len(env.layout))
        assert terminated.shape == truncated.shape
    return total


def one_environment() -> float:
    """The reward of one step."""
    env: gymnasium.Env[NDArray[np.float32], np.int64] = gymnasium.make("starmine:Starmine/Hanabi-v0")
    _, info = env.reset(seed=0)
    _, reward, _, _, _ = env.step(env.action_space.sample(info["action_mask"]))
    own = starmine.HanabiEnv(players=2, reward="fireworks")
    own.reset(seed=0)
    masks: NDArray[np.int8] = own.action_masks()
    return float(reward) + float(masks.sum())


def own_buffers() -> int:
    """The games of a batch that ended, with arrays of one's own."""
    batch = starmine.Batch(starmine.Variant(), 16, dtype="uint8", seed=0)
    out = batch.reset()
    obs = np.zeros_like(out["obs"])
    mask = np.zeros_like(out["action_mask"])
    terminated = np.zeros(16, dtype=bool)
    ended = 0
    for _ in range(10):
        batch.step_into(out["action_mask"].argmax(axis=1), obs=obs, action_mask=mask, terminated=terminated)
        out["action_mask"] = mask
        ended += int(terminated.sum())
    return ended


def recorded() -> list[str]:
    """The last moves of recorded games, by bots alone and with one of one's own."""
    games: starmine.Games = starmine.play_games(["smart", "smart"], games=2)
    own = starmine.play_games(["smart", FirstLegal()], games=2)
    last = [own.state(0).history[-1].move, games.state(1).history[-1].move]
    return [str(move) for move in last]


def evaluated() -> tuple[float, float | None]:
    """The mean score of two bots and its standard error."""
    games = starmine.play_games(["smart", FirstLegal()], games=10, seed=0)
    assert isinstance(games, starmine.Games)
    lost: float = games.share("lost")
    table = starmine.evaluate({"first": FirstLegal(), "smart": "smart"}, games=10)
    pairing: starmine.evaluation.Pairing = table.pairing("first", "smart")
    bot = starmine.make_bot("smart", starmine.Variant(), seat=0)
    state = starmine.Variant().new_game(seed=1)
    move: int = bot.act(state.view(0))
    assert lost >= 0
    assert move >= 0
    return pairing.score, pairing.standard_error
