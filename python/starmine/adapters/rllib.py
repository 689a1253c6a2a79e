"""RLlib, the new API stack: many games behind its vector entry point, and one game in which each seat is an agent.

>>> from starmine.adapters.rllib import HanabiRLlibVectorEnv
>>> env = HanabiRLlibVectorEnv({"num_envs": 8, "players": 2})
>>> observations, infos = env.reset(seed=0)
>>> observations["observations"].shape, observations["action_mask"].shape
((8, 658), (8, 20))
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from starmine._core import StarmineError, Variant
from starmine._util.arrays import Array
from starmine._util.keywords import refuse_settings
from starmine.envs.single import HanabiEnv
from starmine.envs.vector import HanabiVectorEnv, MaskedActions
from starmine.games.seeds import game_seed

try:
    from ray.rllib.env.env_context import EnvContext
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as _missing:
    raise ImportError("starmine.adapters.rllib needs RLlib: pip install 'starmine[rllib]'") from _missing

Observation = dict[str, Array]
# Of each agent by its name; RLlib names agents by any hashable value.
ByAgent = dict[Any, Any]


def _settings(config: Mapping[str, Any] | None, decided: tuple[str, ...]) -> dict[str, Any]:
    """The settings of an `env_config`.

    Raises:
        StarmineError: one of those that are `decided`.
    """
    settings = dict(config or {})
    refuse_settings(settings, decided, "RLlib takes one form only")
    # With one seed every runner would deal the same games.
    refuse_settings(settings, ("seed",), "expected config.debugging(seed=...) of RLlib")
    return settings


def _mixed_seed(seed: int, worker: int, place: int = 0) -> int:
    """The seed of a runner's games, or of the game of this place among them.

    RLlib gives runner w the seed s + w, and game i of a runner of agents the seed s + w + i, so that close seeds would
    deal the same games. The first game of the local runner, w = 0 and i = 0, keeps its seed.
    """
    if worker == place == 0:
        return seed
    return int(np.random.SeedSequence([seed, worker, place]).generate_state(1, np.uint64)[0])


def _next_place(config: Any) -> int:
    """The place of a game among those that RLlib makes of one `EnvContext`, which has no such number; else 0."""
    if not isinstance(config, EnvContext):
        return 0
    place: int = vars(config).get("_starmine_games", 0)
    vars(config)["_starmine_games"] = place + 1
    return place


def _observation_space(observations: spaces.Space[Any], num_actions: int) -> spaces.Dict:
    """The space of what one seat sees, in the form that RLlib's action masking modules read."""
    mask = spaces.Box(0, 1, (num_actions,), np.float32)
    return spaces.Dict({"action_mask": mask, "observations": observations})


class HanabiRLlibVectorEnv(VectorEnv[Observation, Array, Array]):
    """Many games for RLlib, in each of which the seat whose turn it is acts: one policy plays all seats.

    It is the `env` of a config with `gym_env_vectorize_mode="vector_entry_point"`, and `env_config` its settings.
    An ended game is replaced in the step after its end ("NextStep"), which ignores the action for it.

    Observations, a dict:
        observations: (N, D) in the dtype of `dtype`, what the seat to act sees.
        action_mask: float32 (N, A), 1 where the action is legal. After the end all are 1, since a distribution
            over no action is none.

    Info is that of `HanabiVectorEnv` without `action_mask`.

    Args:
        config: a dict, such as RLlib's `EnvContext`. "num_envs", at least 1, which RLlib adds; "variant", a `Variant`
            or a preset's name; the other settings of `HanabiVectorEnv`, but for `autoreset_mode`, `observers` and
            `seed`; and parameters of the variant, such as "players".

    Raises:
        StarmineError: a setting that is not allowed, or no "num_envs"; otherwise as `HanabiVectorEnv`.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        settings = _settings(config, ("autoreset_mode", "observers"))
        self._worker = getattr(config, "worker_index", 0)
        if "num_envs" not in settings:
            raise StarmineError(
                'num_envs is missing: RLlib gives it with gym_env_vectorize_mode="vector_entry_point" in '
                "config.env_runners(...)"
            )
        self.env = HanabiVectorEnv(autoreset_mode="NextStep", **settings)
        self.variant: Variant = self.env.variant
        self.num_envs = self.env.num_envs
        self.metadata = self.env.metadata
        self.render_mode = None
        self.single_observation_space = _observation_space(self.env.single_observation_space, self.variant.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = self.env.single_action_space
        self.action_space: MaskedActions = self.env.action_space

    @staticmethod
    def _observation(obs: Array, info: dict[str, Any]) -> Observation:
        """The observations with the masks, which leave the info."""
        mask = info.pop("action_mask")
        del info["_action_mask"]
        over = ~mask.any(axis=1, keepdims=True)
        return {"action_mask": (mask | over).astype(np.float32), "observations": obs}

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Deal games anew; `seed` and `options` as in `HanabiVectorEnv.reset`.

        An integer is mixed with the number of RLlib's runner, except in the local one, so that no two runners, and no
        runners of two close seeds, play the same games.

        Returns:
            The observations and the info of all games.

        Raises:
            StarmineError, TypeError, ClosedEnvironmentError: as `HanabiVectorEnv.reset`.
        """
        if np.ndim(seed) == 0 and (one := game_seed(seed)) is not None:
            seed = _mixed_seed(one, self._worker)
        obs, info = self.env.reset(seed=seed, options=options)
        return self._observation(obs, info), info

    def step(self, actions: Any) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Play one turn in every game, but for those that ended in the last step: these are dealt anew.

        Args:
            actions: N integers.

        Returns:
            Observations, rewards float32 (N,), terminated and truncated bool (N,), and the info.

        Raises:
            IllegalActionError: an action that the rules refuse; no game has moved.
            ArrayError, ResetNeeded, ClosedEnvironmentError: as `HanabiVectorEnv.step`.
        """
        obs, reward, terminated, truncated, info = self.env.step(actions)
        return self._observation(obs, info), reward, terminated, truncated, info

    def close_extras(self, **kwargs: Any) -> None:
        """Close the environment that holds the games."""
        self.env.close()

    def __repr__(self) -> str:
        return f"HanabiRLlibVectorEnv(num_envs={self.num_envs}, variant={self.variant!r})"


class HanabiRLlibMultiAgentEnv(MultiAgentEnv):
    """One game for RLlib in which the agents `player_0`, `player_1`, ... take turns and share the reward.

    Each dict of observations has one agent, the one to act; that of the last turn has all agents. Each dict of rewards
    has all agents, and RLlib adds up what an agent gets until its next turn. Points from before an agent's first turn
    belong to the reward of its first turn, since RLlib drops rewards that come before an agent's first observation.
    So an agent's return is the team's, unless the game ends before the agent has acted.

    Observation of an agent, a dict:
        observations: (D,) in the dtype of `dtype`, what its seat sees.
        action_mask: float32 (A,), 1 where the action is legal; after the end all are 1.

    Info of each agent that observes: `current_player`, `score`, `illegal_action` and `ending`, as in `HanabiEnv`.

    Args:
        config: a dict, such as RLlib's `EnvContext`: "variant", a `Variant` or a preset's name; the other settings of
            `HanabiEnv`, but for `observers` and `seed`; and parameters of the variant, such as "players".
            "illegal_action" is "terminate" unless given, since RLlib's check of an environment draws actions without
            masks.

    Raises:
        StarmineError: a setting that is not allowed; otherwise as `HanabiEnv`.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call,unused-ignore]
        settings = {"illegal_action": "terminate"} | _settings(config, ("observers",))
        self._worker, self._place = getattr(config, "worker_index", 0), _next_place(config)
        self.env = HanabiEnv(observers="all", **settings)
        self.variant: Variant = self.env.variant
        # RLlib writes into it.
        self.metadata = dict(self.env.metadata)
        self.render_mode = self.env.render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.players)]
        self.agents = list(self.possible_agents)
        rows = self.env.observation_space
        assert isinstance(rows, spaces.Box)
        one = spaces.Box(rows.low[0], rows.high[0], dtype=rows.low.dtype.type)
        space = _observation_space(one, self.variant.num_actions)
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, self.env.action_space)
        self._to_act: str | None = None
        self._owed = dict.fromkeys(self.possible_agents, 0.0)

    def _observed(self, obs: Array, info: dict[str, Any], over: bool) -> tuple[ByAgent, ByAgent]:
        """The observations and infos of the agent to act, or of all after the end."""
        mask = info.pop("action_mask").astype(np.float32)
        seats = range(self.variant.players) if over else [info["current_player"]]
        mask = np.ones_like(mask) if over else mask
        agents = {self.possible_agents[seat]: seat for seat in seats}
        self._to_act = None if over else next(iter(agents))
        observations = {
            agent: {"action_mask": mask.copy(), "observations": obs[seat]} for agent, seat in agents.items()
        }
        return observations, {agent: deepcopy(info) for agent in agents}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[ByAgent, ByAgent]:
        """Deal a new game; `seed` and `options` as in `HanabiEnv.reset`.

        The seed is mixed with the number of RLlib's runner and the place of this game among the runner's games, except
        in the first game of the local runner, so that games of close seeds differ.

        Returns:
            The observation and the info of the agent to act, each in a dict by the agent's name.

        Raises:
            StarmineError, TypeError: as `HanabiEnv.reset`.
        """
        one = game_seed(seed)
        mixed = None if one is None else _mixed_seed(one, self._worker, self._place)
        obs, info = self.env.reset(seed=mixed, options=options)
        self._owed = dict.fromkeys(self.possible_agents, 0.0)
        return self._observed(obs, info, over=False)

    def step(  # type: ignore[override,unused-ignore]
        self, action_dict: ByAgent
    ) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Play one turn.

        Args:
            action_dict: the action of the agent to act.

        Returns:
            Dicts by the agents' names: observations, rewards, terminated and truncated, both also with "__all__", and
            infos.

        Raises:
            IllegalActionError: with `illegal_action="raise"`, an action that the rules refuse; nothing has moved.
            StarmineError: actions of other agents than the one to act.
            ResetNeeded: `reset` has not been called since the last game.
        """
        if self._to_act is None:
            raise ResetNeeded("there is no game in play: call reset first")
        if list(action_dict) != [self._to_act]:
            raise StarmineError(f"actions of {list(action_dict)} are not allowed: expected that of {self._to_act!r}")
        agent = self._to_act
        obs, reward, terminated, truncated, info = self.env.step(action_dict[agent])
        observations, infos = self._observed(obs, info, terminated)
        rewards = dict.fromkeys(self.possible_agents, reward)
        rewards[agent] += self._owed.pop(agent, 0.0)
        for waiting in self._owed:  # agents before their first turn
            self._owed[waiting] += reward
            rewards[waiting] = 0.0
        everyone = [*self.possible_agents, "__all__"]
        return observations, rewards, dict.fromkeys(everyone, terminated), dict.fromkeys(everyone, truncated), infos

    def render(self) -> Any:
        """The board, as from `HanabiEnv.render`.

        Raises:
            StarmineError, ResetNeeded: as `HanabiEnv.render`.
        """
        return self.env.render()
