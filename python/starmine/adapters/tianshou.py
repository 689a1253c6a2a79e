"""Tianshou: many games behind its vector API, for collectors.

>>> from starmine.adapters.tianshou import HanabiTianshouEnv
>>> env = HanabiTianshouEnv(8, players=2)
>>> observations, infos = env.reset(seed=0)
>>> observations.obs.shape, observations.mask.shape
((8, 658), (8, 20))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from starmine._core import ArrayError, StarmineError
from starmine._util.arrays import Array
from starmine._util.keywords import check_options, named_keywords, refuse_settings
from starmine.envs.vector import HanabiVectorEnv
from starmine.games.seeds import game_seed

try:
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv
except ImportError as _missing:
    raise ImportError("starmine.adapters.tianshou needs Tianshou: pip install 'starmine[tianshou]'") from _missing


class HanabiTianshouEnv(BaseVectorEnv):
    """Many games for Tianshou, in each of which the seat whose turn it is acts: one policy plays all seats.

    An observation is a Tianshou `Batch` with `obs` (K, D) and `mask` bool (K, A), as from Tianshou's
    `PettingZooEnv`. The caller resets ended games, as collectors do. All games step at once: one that is left out
    of a step, as collectors leave out those that they no longer need, must be reset before it steps again.

    Args:
        num_envs: number of games N, at least 1.
        variant: a `Variant`, or a preset's name.
        **settings: those of `HanabiVectorEnv`, but for `autoreset_mode`, `observers` and `extra_outputs`.

    Raises:
        StarmineError: a setting that is not allowed; otherwise as `HanabiVectorEnv`.
    """

    def __init__(self, num_envs: int = 1, variant: Any = "standard", **settings: Any) -> None:
        refuse_settings(settings, ("autoreset_mode", "observers"), "Tianshou takes one form only")
        refuse_settings(settings, ("extra_outputs",), "the observations have no place for them")
        # Games that are left out go on with any legal action, and with "NextStep" also past their end.
        self.env = HanabiVectorEnv(num_envs, variant, autoreset_mode="NextStep", **settings)
        self.variant = self.env.variant
        self._space = spaces.Dict(
            {"obs": self.env.single_observation_space, "mask": spaces.MultiBinary(self.variant.num_actions)}
        )
        # What Tianshou's collectors read of a vector environment.
        self.env_num = self.wait_num = num_envs
        self.timeout, self.is_async, self.is_closed = None, False, False
        self.workers: list[Any] = []
        self.waiting_id: list[int] = []
        self.ready_id = list(range(num_envs))
        self._seed: int | list[int] | None = None
        self._mask: Array | None = None
        self._in_play = np.zeros(num_envs, dtype=bool)

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """The action space, the observation space or another attribute of `HanabiVectorEnv`, once for each id."""
        self._assert_is_not_closed()
        own = {"action_space": self.env.single_action_space, "observation_space": self._space}
        return [own[key] if key in own else getattr(self.env, key)] * len(self._rows(id))

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        """Games have no attributes of their own to set.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{key!r} cannot be set for single games: make another environment")

    def seed(self, seed: int | list[int] | None = None) -> list[Any]:
        """Seed the games at the next `reset` of all, as `HanabiVectorEnv.reset` does.

        Args:
            seed: an integer s, so that game i in episode k follows from (s, i, k); N integers seed each game; None for
                the next episodes.

        Returns:
            N lists with the integer that each game's seed was given by. Tianshou's other classes give game i the seed
            s + i, so that games of close seeds are the same.

        Raises:
            ArrayError: another number of integers.
            StarmineError: a seed out of range.
            TypeError: a seed that is not an integer.
        """
        self._assert_is_not_closed()
        self._seed = self._checked_seed(seed)
        each = self._seed if isinstance(self._seed, list) else [self._seed] * self.env_num
        return [None if one is None else [one] for one in each]

    def _checked_seed(self, seed: Any) -> int | list[int] | None:
        if seed is None or np.ndim(seed) == 0:
            return game_seed(seed)
        if np.shape(seed) != (self.env_num,):
            raise ArrayError(f"seed has shape {np.shape(seed)}: expected one integer, or ({self.env_num},)")
        return [one for one in map(game_seed, seed) if one is not None]

    def reset(self, env_id: Any = None, **settings: Any) -> tuple[Any, Array]:
        """Deal games anew.

        Args:
            env_id: the games, an integer or K integers; None for all.
            **settings: seed, only for all games, as in `seed`. options, a dict with "decks" and "start_players" of all
                games, as in `HanabiVectorEnv.reset`.

        Returns:
            The observations of these games, and their infos, an array of K dicts.

        Raises:
            StarmineError: a seed for some of the games.
            ArrayError: a game that there is not, or twice.
            UnknownNameError: another option; the message has the nearest.
            TypeError: another setting.
        """
        self._assert_is_not_closed()
        rows, (seed, options) = self._rows(env_id), self._reset_settings(**settings)
        if len(set(rows)) < self.env_num:
            if seed is not None:
                raise StarmineError(f"seed={seed!r} is not allowed for some of the games: seed all, or none")
            options["reset_mask"] = np.isin(np.arange(self.env_num), rows)
            obs, info = self.env.reset(options=options)
        else:
            seed = self._seed if seed is None else self._checked_seed(seed)
            obs, info = self.env.reset(seed=seed, options=options)
            self._seed = None
        self._mask = info["action_mask"]
        self._in_play[rows] = True
        return self._observations(obs, rows), self._infos(info, rows)

    @staticmethod
    @named_keywords
    def _reset_settings(seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return seed, check_options(options, ("decks", "start_players"))

    def step(self, action: Any, id: Any = None) -> tuple[Any, Array, Array, Array, Array]:
        """Play one turn in these games.

        Args:
            action: K integers.
            id: the games, an integer or K integers; None for all. The others are over until they are reset.

        Returns:
            Observations, rewards float32 (K,), terminated and truncated bool (K,), and infos, an array of K dicts.

        Raises:
            IllegalActionError: an action that the rules refuse; no game has moved.
            ArrayError: actions of another shape or dtype, or a game that there is not, or twice.
            StarmineError: a game that must be reset first.
        """
        self._assert_is_not_closed()
        rows = self._rows(id)
        if self._mask is None or not self._in_play[rows].all():
            over = [game for game in rows if not self._in_play[game]]
            raise StarmineError(f"games {over[:8]} are over or were left out of a step: reset them first")
        chosen = np.asarray(action)
        if chosen.shape != (len(rows),):
            raise ArrayError(f"action has shape {chosen.shape}: expected ({len(rows)},)")
        actions = self._mask.argmax(axis=1).astype(chosen.dtype)
        actions[rows] = chosen
        obs, reward, terminated, truncated, info = self.env.step(actions)
        self._mask = info["action_mask"]
        self._in_play[:] = False
        self._in_play[rows] = ~terminated[rows]
        infos = self._infos(info, rows)
        return self._observations(obs, rows), reward[rows], terminated[rows], truncated[rows], infos

    def _observations(self, obs: Array, rows: list[int]) -> Any:
        assert self._mask is not None
        return Batch(obs=obs[rows], mask=self._mask[rows])

    @staticmethod
    def _infos(info: dict[str, Any], rows: list[int]) -> Array:
        players, scores = info["current_player"].tolist(), info["score"].tolist()
        infos: list[dict[str, Any]] = [
            {"env_id": row, "current_player": players[row], "score": scores[row]} for row in rows
        ]
        if "partner" in info:
            for row, own in zip(rows, infos, strict=True):
                own["partner"] = info["partner"][row].copy()
        return np.array(infos, dtype=object)

    def render(self, **settings: Any) -> list[Any]:
        """A picture of each game, uint8 (height, width, 3), with `render_mode="rgb_array"`; None without."""
        return [None] * self.env_num if self.env.render_mode is None else list(self.env.render())

    def close(self) -> None:
        """Close the environment; later calls raise an AssertionError, as in Tianshou's own."""
        self._assert_is_not_closed()
        self.env.close()
        self.is_closed = True

    def _rows(self, id: Any) -> list[int]:
        """The games of an id, each once."""
        given = np.atleast_1d(np.arange(self.env_num) if id is None else np.asarray(id))
        rows: list[int] = given.tolist()
        if given.dtype.kind not in "iu" or not set(rows) <= set(range(self.env_num)) or len(set(rows)) < len(rows):
            raise ArrayError(f"id={id!r} is not allowed: expected games of 0 to {self.env_num - 1}, each once")
        return rows
