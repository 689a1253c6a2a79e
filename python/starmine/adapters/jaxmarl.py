"""JaxMARL: its interface to Hanabi, so that its training scripts run on these games.

>>> import jax
>>> from starmine.adapters.jaxmarl import HanabiJaxMARLEnv
>>> env = HanabiJaxMARLEnv(num_agents=2)
>>> obs, state = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), 8))
>>> legal = jax.vmap(env.get_legal_moves)(state)
>>> actions = {agent: legal[agent].argmax(axis=1) for agent in env.agents}
>>> keys = jax.random.split(jax.random.key(1), 8)
>>> obs, state, rewards, dones, infos = jax.jit(jax.vmap(env.step))(keys, state, actions)
>>> obs["agent_0"].shape, legal["agent_0"].shape, dones["__all__"].shape
((8, 658), (8, 21), (8,))
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from starmine._core import DeckError, StarmineError, Variant, _unknown_name
from starmine._util.arrays import Array
from starmine.games.variants import resolve_variant
from starmine.policies.v0_beliefs import v0_beliefs

try:
    import jax
    from jax import numpy as jnp

    from starmine.adapters.jax import HanabiJaxEnv, Turn, seed_words
except ImportError as _missing:
    raise ImportError("starmine.adapters.jaxmarl needs JAX: install starmine with the extra jax") from _missing

Agents = dict[str, jax.Array]

KNOWLEDGE = ("v0_belief", "hints")
# JaxMARL's names of parameters that are ours under another name.
_NAMES = {
    "num_agents": "players",
    "num_colors": "colors",
    "num_ranks": "ranks",
    "max_info_tokens": "max_information_tokens",
    "num_cards_of_rank": "copies",
}
_TURN_OUTPUTS = ("obs", "action_mask", "reward", "terminated", "score", "current_player")
_COUNTERS = ("step", "serial")


class State(NamedTuple):
    """One game as JAX sees it; the game itself lives on the host.

    Attributes:
        done: bool, whether the game is over: False, since an ended game is dealt anew in the same step.
        step: int32, the number of turns played.
        score: int32, the score so far.
        current_player: int32, the seat to act, which is the number of its agent.
        action_mask: bool (A,), its legal actions, without the no-op.
        serial: int32, another one for each state of each game, so that an old state is told from the newest.
    """

    done: jax.Array
    step: jax.Array
    score: jax.Array
    current_player: jax.Array
    action_mask: jax.Array
    serial: jax.Array


class Discrete(NamedTuple):
    """JaxMARL's space of `n` actions, where JaxMARL itself is not loaded."""

    n: int
    shape: tuple[int, ...] = ()
    dtype: Any = jnp.int32


class Box(NamedTuple):
    """JaxMARL's space of observations, where JaxMARL itself is not loaded; `shape` is a number, as it is there."""

    low: float
    high: float
    shape: int
    dtype: Any = jnp.float32


class _Games:
    """The games of one `reset`, and the serial numbers of their newest states."""

    def __init__(self, env: HanabiJaxEnv) -> None:
        self.env = env
        self.serials = np.zeros(env.num_envs, dtype=np.int32)
        self.turns = np.zeros(env.num_envs, dtype=np.int32)


class HanabiJaxMARLEnv:
    """JaxMARL's interface to Hanabi; one environment is one game, and `jax.vmap` makes it many.

    It is no subclass of JaxMARL's `MultiAgentEnv`, and has neither `step_env` nor `get_obs`: an ended game is always
    dealt anew, and `reset` and `step` give the observations.

    Agents are "agent_0" to "agent_{n-1}", the seats. Every agent acts in every step: those not to act play the
    no-op, which is the last action, and whatever they play is ignored. Rewards and dones have an entry for each agent
    and "__all__". An ended game is dealt anew in the same step.

    The games live on the host and are stepped by one callback for all games under `vmap`. So a state can be
    stepped once, and only in the company of the games that it was reset with; any other use is an error. `reset`
    with as many games as an earlier one deals the earlier games anew: games in play side by side need an environment
    each.

    Args:
        num_agents: number of players; None for the variant's, 2 for a preset.
        variant: a `Variant`, or a text as `starmine.variant` takes it.
        knowledge: what observations hold of each card in hand: "v0_belief" for JaxMARL's probabilities, from the
            hints and the cards that are discarded or played, or "hints" for HLE's bits, from the hints alone.
        illegal_action: "raise", or "terminate" to end that game as a lost one. JaxMARL plays illegal actions.
        num_threads: as in `HanabiVectorEnv`.
        **overrides: parameters of the variant to change, by our names or JaxMARL's `num_colors`, `num_ranks`,
            `max_info_tokens` and `num_cards_of_rank`.

    Raises:
        UnknownNameError: there is no such preset, kind of knowledge or rule for illegal actions.
        VariantError: a parameter of the variant out of range.
        StarmineError: a number out of range.
        TypeError: there is no such argument, or a parameter is given by both names.
    """

    name = "Hanabi"

    def __init__(
        self,
        num_agents: int | None = None,
        variant: str | Variant = "standard",
        *,
        knowledge: str = "v0_belief",
        illegal_action: str = "raise",
        num_threads: int | None = None,
        **overrides: Any,
    ) -> None:
        if knowledge not in KNOWLEDGE:
            raise _unknown_name("knowledge", str(knowledge), list(KNOWLEDGE))
        self.variant = resolve_variant(variant, _our_names(variant, num_agents, overrides))
        self.knowledge = knowledge
        self._settings: dict[str, Any] = {"illegal_action": illegal_action, "num_threads": num_threads}
        game = self._make_games(1).env
        layout = game.layout
        self.num_agents, self.obs_size = self.variant.players, len(layout)
        self.num_moves = self.num_actions = self.variant.num_actions + 1
        self.agents = [f"agent_{seat}" for seat in range(self.num_agents)]
        self._sections = {name: layout[name].slice for name in ("fireworks", "discards", "knowledge")}
        turn = game.shapes._asdict()
        self._returned = {name: (turn[name].shape[1:], turn[name].dtype) for name in _TURN_OUTPUTS}
        self._returned |= dict.fromkeys(_COUNTERS, ((), np.int32))
        self._kept: dict[int, _Games] = {}
        self._serial = 0
        self._on_reset, self._on_deal = self._host_call(self._reset, 1), self._host_call(self._deal, 1)
        self._on_step = self._host_call(self._step, 0)

    def _make_games(self, count: int) -> _Games:
        settings = {"observers": "all", "autoreset_mode": "SameStep", **self._settings}
        return _Games(HanabiJaxEnv(count, self.variant, **settings))

    def reset(self, key: jax.Array) -> tuple[Agents, State]:
        """Deal a game.

        Args:
            key: of `jax.random`; it seeds this game's episodes, also those that `step` deals.

        Returns:
            The observations of the agents, float32 (D,) each, and the state.
        """
        out = self._on_reset(seed_words(key))
        return self._observations(out["obs"]), self._state(out)

    def reset_from_deck_of_pairs(self, deck: jax.Array) -> tuple[Agents, State]:
        """Deal a game from a deck; the episodes after it are random ones.

        Args:
            deck: integers (deck size, 2), the color and the rank of each card from 0, the top card first.

        Returns:
            As `reset`.

        Raises:
            JaxRuntimeError or ValueError, as JAX makes of it: a deck that is not the variant's.
        """
        cards = jnp.asarray(deck).astype(jnp.int32)
        out = self._on_deal(cards[:, 0], cards[:, 1])
        return self._observations(out["obs"]), self._state(out)

    def step(
        self, key: jax.Array, state: State, actions: Agents, reset_state: State | None = None
    ) -> tuple[Agents, State, Agents, Agents, dict[str, Any]]:
        """Play one turn.

        Args:
            key: not used; the key of `reset` deals the next episodes.
            state: the newest one of the game.
            actions: an integer for each agent; that of the agent to act is played.
            reset_state: must be None.

        Returns:
            Observations, float32 (D,) for each agent, the state, rewards (float32) and dones (bool) for each agent
            and "__all__", and an empty dict. After the end, observations and state are those of the next episode.

        Raises:
            StarmineError: a reset state, or actions that are no integers.
            JaxRuntimeError or ValueError, as JAX makes of it: an action that the rules refuse, or a state that is not
                the newest; no game has moved.
        """
        if reset_state is not None:
            raise StarmineError("reset_state is not allowed: the games live outside of JAX, and their keys deal them")
        action = jnp.stack([jnp.asarray(actions[agent]) for agent in self.agents])[state.current_player]
        if not jnp.issubdtype(action.dtype, jnp.integer):
            raise StarmineError(f"actions have dtype {action.dtype}: expected integers")
        out = self._on_step(state.serial, action.astype(jnp.int32))
        rewards = dict.fromkeys([*self.agents, "__all__"], out["reward"])
        dones = dict.fromkeys([*self.agents, "__all__"], out["terminated"])
        return self._observations(out["obs"]), self._state(out), rewards, dones, {}

    def get_legal_moves(self, state: State) -> Agents:
        """The legal actions, float32 (A + 1,) of 0 and 1 for each agent; the no-op for those not to act."""
        acts = jnp.arange(self.num_agents)[:, None] == state.current_player
        moves = jnp.concatenate([state.action_mask & acts, ~acts], axis=1).astype(jnp.float32)
        return {agent: moves[seat] for seat, agent in enumerate(self.agents)}

    get_avail_actions = get_legal_moves

    @property
    def action_spaces(self) -> dict[str, Any]:
        """The space of actions for each agent: JaxMARL's `Discrete` where JaxMARL is loaded."""
        return {agent: _space_class("Discrete", Discrete)(self.num_moves) for agent in self.agents}

    @property
    def observation_spaces(self) -> dict[str, Any]:
        """The space of observations for each agent: JaxMARL's `Box` where JaxMARL is loaded."""
        return {agent: _space_class("Box", Box)(0, 1, self.obs_size) for agent in self.agents}

    def action_space(self, agent: str) -> Any:
        """The space of actions of an agent."""
        return self.action_spaces[agent]

    def observation_space(self, agent: str) -> Any:
        """The space of observations of an agent."""
        return self.observation_spaces[agent]

    def _observations(self, obs: jax.Array) -> Agents:
        """The rows of the seats, float32 (players, D), by agent."""
        if self.knowledge == "v0_belief":
            obs = self._with_v0_belief(obs)
        return {agent: obs[seat] for seat, agent in enumerate(self.agents)}

    def _with_v0_belief(self, obs: jax.Array) -> jax.Array:
        """The seats' observations of one game, with V0 beliefs in the place of the cards that hints allow."""
        rules, place = self.variant, self._sections["knowledge"]
        beliefs = v0_beliefs(rules, obs, self._sections, jnp.asarray)
        knowledge = obs[:, place].reshape(rules.players, rules.players * rules.hand_size, -1)
        known = jnp.concatenate([beliefs, knowledge[..., rules.colors * rules.ranks :]], axis=-1)
        return jnp.concatenate([obs[:, : place.start], known.reshape(rules.players, -1), obs[:, place.stop :]], axis=1)

    @staticmethod
    def _state(out: dict[str, jax.Array]) -> State:
        return State(done=jnp.zeros_like(out["terminated"]), **{name: out[name] for name in State._fields[1:]})

    def _host_call(self, host: Callable[..., dict[str, Array]], axes: int) -> Any:
        """`host` as a function of JAX's arrays of `axes` axes for one game. Under `vmap` it gets all games at once.

        The callback is a pure one, which `vmap` can batch. The serial numbers of the states order the calls: a step
        needs the state of the call before, and refuses any other.
        """
        shapes = {name: jax.ShapeDtypeStruct(shape, dtype) for name, (shape, dtype) in self._returned.items()}

        def on_the_host(*given: jax.Array) -> dict[str, Array]:
            lead = given[0].shape[: given[0].ndim - axes]
            out = host(*(np.asarray(each).reshape(prod(lead), *each.shape[len(lead) :]) for each in given))
            return {name: out[name].reshape(lead + shapes[name].shape) for name in shapes}

        return jax.jit(lambda *given: jax.pure_callback(on_the_host, shapes, *given, vmap_method="broadcast_all"))

    def _reset(self, words: Array) -> dict[str, Array]:
        """The host's side of `reset`: halves of seeds, uint32 (N, 2)."""
        games = self._games(len(words))
        return self._dealt(games, {"words": words})

    def _deal(self, colors: Array, ranks: Array) -> dict[str, Array]:
        """The host's side of `reset_from_deck_of_pairs`: int32 (N, deck size) each.

        Raises:
            DeckError: a card that does not exist, or a deck that is not the variant's.
        """
        if ((colors < 0) | (colors >= self.variant.colors) | (ranks < 0) | (ranks >= self.variant.ranks)).any():
            expected = f"colors 0 to {self.variant.colors - 1}, ranks 0 to {self.variant.ranks - 1}"
            raise DeckError(f"a deck has a card that does not exist: expected {expected}")
        games = self._games(len(colors))
        return self._dealt(games, {"decks": (colors * self.variant.ranks + ranks).astype(np.uint8)})

    def _dealt(self, games: _Games, given: dict[str, Array]) -> dict[str, Array]:
        """The outputs of a reset with these arguments."""
        turn = games.env.reset_on_host(given)
        games.turns = np.zeros_like(games.turns)
        return self._numbered(games, turn)

    def _games(self, count: int) -> _Games:
        """The games of the resets of this many."""
        if count not in self._kept:
            self._kept[count] = self._make_games(count)
        return self._kept[count]

    def _step(self, serials: Array, actions: Array) -> dict[str, Array]:
        """The host's side of `step`: int32 (N,) each."""
        games = self._kept.get(len(serials))
        if games is None or not np.array_equal(serials, games.serials):
            raise StarmineError(
                f"the states of {len(serials)} games are not the newest of one reset: each state can be stepped once, "
                "with those that it was reset with. Under vmap each run needs its own key; a second reset of the same "
                "number of games needs another environment"
            )
        turn = games.env.step_on_host(actions)
        games.turns = np.where(turn.terminated, 0, games.turns + 1).astype(np.int32)
        return self._numbered(games, turn)

    def _numbered(self, games: _Games, turn: Turn) -> dict[str, Any]:
        """The outputs of a turn and what makes these states the newest."""
        games.serials = ((self._serial + np.arange(len(games.turns))) % 2**31).astype(np.int32)
        self._serial += len(games.turns)
        return {name: getattr(turn, name) for name in _TURN_OUTPUTS} | {"step": games.turns, "serial": games.serials}

    def __repr__(self) -> str:
        return f"HanabiJaxMARLEnv(variant={self.variant!r})"


def _our_names(variant: str | Variant, num_agents: int | None, overrides: dict[str, Any]) -> dict[str, Any]:
    """Parameters by JaxMARL's names as ours.

    Raises:
        TypeError: a parameter is given by both names.
    """
    if num_agents is not None:
        overrides = {"num_agents": num_agents, **overrides}
    for theirs, name in _NAMES.items():
        if theirs in overrides and name in overrides:
            raise TypeError(f"{theirs} and {name} are one parameter: expected one of them")
    ours = {_NAMES.get(name, name): value for name, value in overrides.items()}
    if "num_cards_of_rank" in overrides:
        ours["copies"] = [list(overrides["num_cards_of_rank"])] * ours.get(
            "colors", resolve_variant(variant, {}).colors
        )
    return ours


def _space_class(name: str, own: Any) -> Any:
    """JaxMARL's class of this name if JaxMARL is loaded, since its wrappers ask for it, else our own."""
    return getattr(sys.modules.get("jaxmarl.environments.spaces"), name, own)
