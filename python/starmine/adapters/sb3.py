"""Stable-Baselines3: many games as one `VecEnv`, with the masks that sb3-contrib's MaskablePPO asks for.

>>> from sb3_contrib import MaskablePPO
>>> from starmine.adapters.sb3 import HanabiVecEnv
>>> env = HanabiVecEnv(64, "small")
>>> model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=1024, n_epochs=1, device="cpu")
>>> model = model.learn(2048)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from starmine._core import ArrayError, StarmineError
from starmine._util.arrays import Array
from starmine._util.copies import CopiedWhole
from starmine._util.keywords import GAME_OPTIONS, check_options, refuse_settings
from starmine.envs.vector import HanabiVectorEnv, given_decks, given_game
from starmine.games.seeds import game_seed

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as _missing:
    raise ImportError(
        "starmine.adapters.sb3 needs Stable-Baselines3: install starmine with the extra sb3"
    ) from _missing


class HanabiVecEnv(CopiedWhole, VecEnv):
    """Many games for Stable-Baselines3, in each of which the seat whose turn it is acts: one policy plays all seats.

    Ended games are dealt anew in the same step. The info of an ended game has `terminal_observation`,
    `TimeLimit.truncated` (always False), `episode` with return `r`, length `l` and seconds `t`, which the log and
    `evaluate_policy` read without a monitor, `score`, and `ending`, a code of `starmine.endings()` counted from 1;
    with partners also `partner`, int32 (players,), as `HanabiVectorEnv` tells it.

    Args:
        num_envs: number of games N, at least 1.
        variant: a `Variant`, or a text as `starmine.variant` takes it.
        **settings: those of `HanabiVectorEnv`, except `autoreset_mode`, `observers` and `extra_outputs`. An algorithm
            that knows no masks, such as SB3's own PPO, needs `illegal_action="terminate"`.

    Raises:
        StarmineError: a setting that is not allowed; otherwise as `HanabiVectorEnv`.
    """

    def __init__(self, num_envs: int = 1, variant: Any = "standard", **settings: Any) -> None:
        refuse_settings(settings, ("autoreset_mode", "observers"), "Stable-Baselines3 takes one form only")
        refuse_settings(settings, ("extra_outputs",), "Stable-Baselines3's observations have no place for them")
        self.env = HanabiVectorEnv(num_envs, variant, **settings)
        self.variant = self.env.variant
        super().__init__(num_envs, self.env.single_observation_space, self.env.single_action_space)
        self._mask: Array | None = None
        self._decks: tuple[Array, Array] | None = None
        self._actions: Array | None = None
        self._started_at, self._returns = np.zeros(num_envs), np.zeros(num_envs)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the games at the next `reset`: game i in episode k follows from (seed, i, k), as in `HanabiVectorEnv`.

        Args:
            seed: an integer, or None for a random one, which numpy's global generator draws.

        Returns:
            N times the seed. SB3's other classes give game i the seed s + i, so that games of close seeds are the same.

        Raises:
            StarmineError: a seed out of range.
            TypeError: a seed that is not an integer.
        """
        seed = game_seed(seed)
        self._seeds = [super().seed(seed)[0]] * self.num_envs
        return self._seeds

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Give the options of the next `reset`.

        Args:
            options: a dict for each game, or one dict for all games. "deck", the cards or their texts with the top card
                first, and "start_player", a seat, deal this game. Either all games have a deck, or none.

        Raises:
            UnknownNameError: another option; the message has the nearest.
            ArrayError: another number of dicts, or decks for some of the games.
            DeckError: a deck that is not the variant's, or a start player that is not a seat.
            StarmineError: a start player without a deck.
            TypeError: options that are not dicts.
        """
        given = [options] * self.num_envs if isinstance(options, dict | None) else options
        if not isinstance(given, list | tuple):
            raise TypeError(f"options={options!r} is not allowed: expected a dict, or a list with a dict for each game")
        if len(given) != self.num_envs:
            raise ArrayError(f"options are {len(given)} dicts: expected {self.num_envs}, one for each game")
        games = [given_game(self.variant, *check_options(each, GAME_OPTIONS).values()) for each in given]
        if without := [row for row, game in enumerate(games) if game is None]:
            if len(without) < self.num_envs:
                raise ArrayError(f"games {without[:8]} have no deck, others have: expected decks for all games or none")
            self._decks = None
        else:
            self._decks = given_decks([game for game in games if game is not None])

    def reset(self) -> Array:
        """Deal games anew: by the seed of `seed` if it was called before, else each game's next episode.

        Returns:
            Observations (N, D).
        """
        decks, start_players = self._decks or (None, None)
        given = {"decks": decks, "start_players": start_players}
        obs, info = self.env.reset(seed=self._seeds[0], options=given)
        self._mask = info["action_mask"]
        self._started_at[:], self._returns[:] = time.perf_counter(), 0
        self._reset_seeds()
        self._decks = None
        return obs

    def step_async(self, actions: Array) -> None:
        """Keep the actions, integers (N,), for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Play one turn in every game.

        Returns:
            Observations (N, D), rewards float32 (N,), whether the games ended bool (N,), and N infos.

        Raises:
            IllegalActionError: an action that the rules refuse; no game has moved.
            ArrayError: no actions, or actions of another shape or dtype.
            ResetNeeded: `reset` has not been called.
        """
        if self._actions is None:
            raise ArrayError("there are no actions: expected a call of step_async first")
        actions, self._actions = self._actions, None
        obs, reward, terminated, _, info = self.env.step(actions)
        self._mask = info["action_mask"]
        self._returns += reward
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if "final_obs" in info:
            self._add_ended(infos, np.flatnonzero(terminated).tolist(), info)
        return obs, reward, terminated, infos

    def _add_ended(self, infos: list[dict[str, Any]], ended: list[int], info: dict[str, Any]) -> None:
        """Tells of the games that ended in the form that Stable-Baselines3 and its monitor use."""
        now = time.perf_counter()
        for game in ended:
            infos[game] = {
                "terminal_observation": info["final_obs"][game],
                "TimeLimit.truncated": False,
                "episode": {
                    "r": float(self._returns[game]),
                    "l": int(info["final_length"][game]),
                    "t": round(now - self._started_at[game], 6),
                },
                "score": int(info["final_score"][game]),
                "ending": int(info["final_ending"][game]),
            }
            if "final_partner" in info:
                infos[game]["partner"] = info["final_partner"][game].copy()
        self._started_at[ended], self._returns[ended] = now, 0

    def action_masks(self) -> Array:
        """The legal actions of the seats to act, bool (N, A).

        Raises:
            StarmineError: `reset` has not been called.
        """
        if self._mask is None:
            raise StarmineError("there are no games yet: call reset first")
        return self._mask.copy()

    def close(self) -> None:
        """Close the environment; later calls of `reset` and `step` raise ClosedEnvironmentError."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of this class or of `HanabiVectorEnv`, once for each index.

        Raises:
            AttributeError: there is no such attribute.
        """
        owner = self if hasattr(type(self), attr_name) or attr_name in vars(self) else self.env
        return [getattr(owner, attr_name)] * len([*self._get_indices(indices)])

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Single games have no attributes to set.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name!r} cannot be set for single games: make another environment")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """`action_masks` of each index, the only method of single games.

        Raises:
            AttributeError: another method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"single games have no method {method_name!r}: expected 'action_masks'")
        return list(self.action_masks()[[*self._get_indices(indices)]])

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """True for SB3's `Monitor`, whose `episode` entries the infos have; False for other wrappers."""
        return [issubclass(wrapper_class, Monitor)] * len([*self._get_indices(indices)])

    def get_images(self) -> Sequence[Array | None]:
        """A picture of each game, uint8 (height, width, 3), with `render_mode="rgb_array"`; None without."""
        return [None] * self.num_envs if self.env.render_mode is None else list(self.env.render())
