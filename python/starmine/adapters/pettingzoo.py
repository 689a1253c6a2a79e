"""PettingZoo: one game in which each seat is an agent, with the conventions of PettingZoo's `classic/hanabi-v5`.

>>> import pettingzoo, starmine.adapters.pettingzoo
>>> env = pettingzoo.make("aec", "starmine/hanabi-v0", players=3)
>>> env.reset(seed=0)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     done = termination or truncation
...     env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
"""

from __future__ import annotations

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from starmine._core import IllegalActionError, StarmineError, State, Variant, _unknown_name
from starmine._util.arrays import Array
from starmine._util.copies import CopiedWhole
from starmine._util.keywords import GAME_OPTIONS, check_options
from starmine._util.render_modes import RENDER_MODES, usable_modes
from starmine.envs import registration
from starmine.games.seeds import OwnSeed, game_seed
from starmine.look.png import rgb_of
from starmine.look.svg import to_svg

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils.env_logger import EnvLogger
except ImportError as _missing:
    raise ImportError(
        "starmine.adapters.pettingzoo needs PettingZoo: install starmine with the extra pettingzoo"
    ) from _missing


# OpenSpiel's names for what an observation tells, and ours.
ENCODERS = {"minimal": "canonical-minimal", "card_knowledge": "canonical", "seer": "canonical-seer"}
# What an agent that moves illegally gets.
ILLEGAL_REWARD = -1.0
# What there is only after `reset`.
_AFTER_RESET = {
    "_cumulative_rewards",
    "agent_selection",
    "agents",
    "game",
    "infos",
    "rewards",
    "terminations",
    "truncations",
}


class HanabiAECEnv(CopiedWhole, AECEnv[str, dict[str, Array], int]):
    """One game for PettingZoo. The agents `player_0`, `player_1`, ... take turns and share the reward.

    Args:
        colors, ranks, players, max_information_tokens, max_life_tokens, random_start_player: parameters of `Variant`.
        hand_size: 5 unless given, as in `classic/hanabi-v5`; None for the rules' own, 4 from four players on.
        observation_type: "minimal", "card_knowledge" or "seer".
        render_mode: "ansi" makes `render` return the board as text, "rgb_array" as a picture, "human" prints it after
            each turn, None does none of these.
        **rules: other parameters of `Variant`, such as `lost_game_score="fireworks"`.

    Observation of an agent, a dict:
        observation: float64 (D,), each 0 or 1, what its seat sees.
        action_mask: int8 (A,), 1 where the action is legal; all 0 for those not to act.

    An illegal action ends the game: its agent gets -1 and the others 0, and the game is terminated and truncated.

    Raises:
        VariantError: a parameter out of range.
        UnknownNameError: there is no such observation type.
        StarmineError: a render mode that is not allowed.
    """

    def __init__(
        self,
        colors: int = 5,
        ranks: int = 5,
        players: int = 2,
        hand_size: int | None = 5,
        max_information_tokens: int = 8,
        max_life_tokens: int = 3,
        observation_type: str = "card_knowledge",
        random_start_player: bool = False,
        render_mode: str | None = None,
        **rules: Any,
    ) -> None:
        super().__init__()
        if observation_type not in ENCODERS:
            raise _unknown_name("observation_type", str(observation_type), list(ENCODERS))
        if render_mode not in (None, *RENDER_MODES):
            expected = "None, 'ansi', 'human' or 'rgb_array'"
            raise StarmineError(f"render_mode={render_mode!r} is not allowed: expected {expected}")
        self.variant = Variant(
            players=players,
            colors=colors,
            ranks=ranks,
            hand_size=hand_size,
            max_information_tokens=max_information_tokens,
            max_life_tokens=max_life_tokens,
            random_start_player=random_start_player,
            **rules,
        )
        self.metadata = {
            "name": "hanabi_v0",
            "render_modes": usable_modes(RENDER_MODES),
            "render_fps": 1,
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._encoder = ENCODERS[observation_type]
        self.possible_agents = [f"player_{seat}" for seat in range(self.variant.players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        length, actions = len(self.variant.layout(self._encoder)), self.variant.num_actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (length,), np.float64),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._game: State | None = None
        self._seed: int | None = None
        self._own_seed = OwnSeed(None)
        self._episode = 0

    def __getattr__(self, name: str) -> Any:
        """What there is only after `reset`, named by an error before it."""
        if name in _AFTER_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions, the same object at every call."""
        return self.action_spaces[agent]

    @property
    def game(self) -> State:
        """A copy of the game, with what no seat may see.

        Raises:
            AttributeError: `reset` has not been called.
        """
        return self._played().copy()

    def _played(self) -> State:
        if self._game is None:
            raise AttributeError("the game cannot be accessed before reset")
        return self._game

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game.

        Args:
            seed: an integer deals the game `variant.new_game(seed=seed)`; None deals the next episode of the last
                seed, and of a random one before any. If no seed was ever given, another process that resets a copy
                draws its own.
            options: a dict. "deck", the cards or their texts with the top card first, and "start_player", a seat, deal
                this game. `{"options": 1}`, which PettingZoo's tests give to every environment, changes nothing.

        Raises:
            UnknownNameError: another option; the message has the nearest.
            StarmineError: a seed out of range, or a start player without a deck.
            DeckError: a deck that is not the variant's, or a start player that is not a seat.
            TypeError: a seed that is not an integer, or options that are not a dict.
        """
        deck, start_player = check_options(None if options == {"options": 1} else options, GAME_OPTIONS).values()
        seed = self._own_seed.of_reset(game_seed(seed))
        if seed is None and self._seed is None:
            seed = int(np.random.default_rng().integers(2**63))
        next_seed, episode = (self._seed, self._episode + 1) if seed is None else (seed, 0)
        dealt_seed = next_seed if deck is None else None
        game = self.variant.new_game(dealt_seed, deck, start_player, episode=episode if deck is None else 0)
        self._game, self._seed, self._episode = game, next_seed, episode
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection: str | None = None
        self._next_turn(game)

    def _next_turn(self, game: State) -> None:
        """Hands the turn to the seat to act; after the end, to the first agent."""
        over = game.is_terminal or self.terminations[self.agents[0]]
        self.agent_selection = self.agents[0] if over else self.possible_agents[game.current_player]
        self.infos = {agent: {"action_mask": self._action_mask(agent)} for agent in self.agents}
        if self.render_mode == "human":
            print(f"{game}\n")

    def _action_mask(self, agent: str) -> Array:
        """The legal actions of an agent, int8 (A,), a new array; all 0 for those not to act."""
        if agent != self.agent_selection or self.terminations.get(agent, True):
            return np.zeros(self.variant.num_actions, dtype=np.int8)
        return self._played().legal_action_mask().view(np.int8)

    def observe(self, agent: str) -> dict[str, Array]:
        """What an agent sees: its observation and its action mask, both new arrays."""
        observation = self._played().encode(self._seats[agent], self._encoder).astype(np.float64)
        return {"observation": observation, "action_mask": self._action_mask(agent)}

    def state(self) -> Array:
        """What the seat to act would see with its own hand open, float64 (D,), for critics in training."""
        game = self._played()
        return game.encode(game.current_player, "canonical-seer").astype(np.float64)

    def step(self, action: int | None) -> None:
        """Play one turn of the agent that is selected.

        Args:
            action: an integer of the action space; None for an agent whose game is over.

        Raises:
            AssertionError: an action outside the action space.
            ValueError: an action of an agent whose game is over.
        """
        game = self._played()
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type,unused-ignore]
            return
        self._cumulative_rewards[agent] = 0.0
        self._play(game, agent, self._index(action))
        self._accumulate_rewards()
        self._next_turn(game)

    def _index(self, action: Any) -> int:
        try:
            index = operator.index(action)
        except TypeError:
            index = -1
        if not 0 <= index < self.variant.num_actions:
            allowed = f"0 to {self.variant.num_actions - 1}"
            raise AssertionError(f"action={action!r} is not in the action space: expected {allowed}")
        return index

    def _play(self, game: State, agent: str, action: int) -> None:
        try:
            reward = float(game.apply(action))
        except IllegalActionError:
            EnvLogger.warn_on_illegal_move()
            self.rewards = {other: ILLEGAL_REWARD if other == agent else 0.0 for other in self.agents}
            self.terminations = dict.fromkeys(self.agents, True)
            self.truncations = dict.fromkeys(self.agents, True)
            return
        self.rewards = dict.fromkeys(self.agents, reward)
        if game.is_terminal:
            self.terminations = dict.fromkeys(self.agents, True)

    def render(self) -> str | Array | None:
        """The board: as text with render mode "ansi", as a picture with "rgb_array", uint8 (height, width, 3).

        None with "human", which prints each turn.

        Raises:
            ImportError: a picture needs resvg-py and Pillow, the extra `pictures`.
        """
        if self.render_mode is None:
            gymnasium.logger.warn("render_mode=None shows no board: expected 'ansi', 'human' or 'rgb_array'")
        if self.render_mode == "rgb_array":
            return rgb_of(to_svg(self._played()))
        return str(self._played()) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """There is nothing to release."""


def env(**settings: Any) -> HanabiAECEnv:
    """An environment, by the name that PettingZoo's modules give to it; see `HanabiAECEnv` for the settings."""
    return HanabiAECEnv(**settings)


raw_env = env
registration.register_with_pettingzoo()
