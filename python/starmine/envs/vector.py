"""Thousands of games as one Gymnasium vector environment."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from starmine._core import (
    ArrayError,
    Batch,
    IllegalActionError,
    StarmineError,
    State,
    Variant,
    _outputs,
)
from starmine._util.arrays import Array
from starmine._util.copies import CopiedWhole
from starmine._util.imports import look_up
from starmine._util.keywords import BATCH_OPTIONS, check_options
from starmine._util.numbers import check_number
from starmine._util.render_modes import usable_modes
from starmine.envs.layout import Layout
from starmine.envs.partners import PartneredBatch, resolve_partners
from starmine.envs.rewards import Rewards
from starmine.envs.states import FollowedGames
from starmine.games.players import Player
from starmine.games.seeds import OwnSeed, integer_seed
from starmine.games.variants import resolve_variant

MOST_DRAWN = 64  # games of an environment with a render mode

# Added to the error of an illegal action, which is what a first loop without masks runs into.
ON_ILLEGAL_ACTIONS = (
    'An action must be one of the action mask, such as env.action_space.sample(info["action_mask"]) in Gymnasium; '
    'with illegal_action="terminate" another one ends its game as a lost game instead.'
)

# `step` returns these by themselves. All other outputs of the batch are in info, each with the key of its mask;
# those named `final_` tell of the episode that ended.
_RETURNED = ("obs", "reward", "terminated", "truncated")
_INFO = [(name, f"_{name}") for name in _outputs() if name not in _RETURNED and not name.startswith("final_")]
_FINAL_INFO = [(name, f"_{name}") for name in _outputs() if name.startswith("final_")]


def observation_box(batch: Batch) -> Box:
    """The observation space of one game of a batch."""
    elements = 8 * -(-len(batch.layout) // 64) if batch.dtype == "bits" else len(batch.layout)
    shape = (elements,) if batch.observers == "current" else (batch.variant.players, elements)
    dtype = np.dtype("uint8" if batch.dtype == "bits" else batch.dtype)
    return Box(0, 255 if batch.dtype == "bits" else 1, shape, dtype.type)


def given_game(variant: Variant, deck: Any, start_player: Any) -> State | None:
    """The game that the options of one game deal; None without options.

    Args:
        variant: the rules.
        deck: the cards or their texts, the top card first; None for random ones.
        start_player: a seat; None for that of `variant.new_game(deck=deck)`.

    Raises:
        DeckError: a deck that is not the variant's, or a start player that is not a seat.
        StarmineError: a start player without a deck.
    """
    if deck is None and start_player is None:
        return None
    return variant.new_game(0 if deck is None else None, deck, start_player)


def given_decks(games: Sequence[State]) -> tuple[Array, Array]:
    """The decks, uint8 (N, deck_size), and the start players, uint8 (N,), of new games, as `Batch.reset` takes them."""
    decks = [[card.suit * game.variant.ranks + card.rank for card in game.deck] for game in games]
    return np.array(decks, dtype=np.uint8), np.array([game.current_player for game in games], dtype=np.uint8)


def check_render_mode(mode: str | None, num_envs: int, has_partners: bool) -> None:
    """Refuse a render mode that does not exist or that the other arguments do not allow."""
    if mode not in (None, "rgb_array"):
        raise StarmineError(f"render_mode={mode!r} is not allowed: expected None or 'rgb_array'")
    if mode is not None and has_partners:
        raise StarmineError(f"render_mode={mode!r} is not allowed with partners: expected None")
    if mode is not None and operator.index(num_envs) > MOST_DRAWN:
        raise StarmineError(f"num_envs={num_envs} is not allowed with a render mode: expected 1 to {MOST_DRAWN}")


class MaskedActions(MultiDiscrete):  # type: ignore[type-arg,unused-ignore]
    """One action for each of N games; `sample` takes the action mask of `info` as it is."""

    def sample(self, mask: Any = None, probability: Any = None) -> Array:
        """Draw an action for each game, uniformly.

        Args:
            mask: bool or int8 (N, A), the actions to draw from; a game without any gets action 0. A tuple of N
                arrays, as Gymnasium's own `MultiDiscrete` takes it, is accepted too.
            probability: as in `MultiDiscrete`.

        Returns:
            int64 (N,).

        Raises:
            ArrayError: a mask of another shape or dtype.
        """
        if mask is None or isinstance(mask, tuple) or probability is not None:
            return super().sample(mask, probability)
        shape = (len(self.nvec), int(self.nvec[0]))
        if not isinstance(mask, np.ndarray) or mask.shape != shape or mask.dtype not in (np.bool_, np.int8):
            given = f"{mask.dtype} {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
            raise ArrayError(f"mask is {given}: expected a bool or int8 array {shape}")
        # Greater than 0 wherever the mask is, so that the largest is never one that is masked out.
        chosen: Array = ((1.0 - self.np_random.random(shape)) * (mask != 0)).argmax(axis=1)
        return chosen


class HanabiVectorEnv(CopiedWhole, VectorEnv[Array, Array, Array]):
    """Many games of one variant, stepped together.

    Without partners each step plays one turn in every game. The seat whose turn it is acts, so one policy plays all
    seats.
    An observation is relative to the seat that observes: the seat to act, or with observers="all" the seat of its row.
    All seats share one reward. By default it is the change of the score, as in the Hanabi Learning Environment (HLE),
    so that an episode's return is its final score. A lost game scores 0, so its last reward takes back all points.
    Learning is easier with `reward="fireworks", lost_game_penalty=1.0`.

    Args:
        num_envs: number of games N, at least 1.
        variant: a `Variant`, or a text as `starmine.variant` takes it.
        encoder: one of `starmine.encoders()`; its observations have D features.
        dtype: "float32", "float16", "uint8", or "bits" for packed uint8 rows of
            8 * ceil(D / 64) bytes (`np.unpackbits(row, bitorder="little")[:D]`).
        observers: "current" for the rows of the seat to act (N, D), or "all" for the rows of every
            seat (N, players, D), by seat index.
        autoreset_mode: when an ended game is replaced by a new one: "SameStep", "NextStep", "Disabled", or
            a member of Gymnasium's `AutoresetMode`.
        illegal_action: "raise" to refuse the whole step, or "terminate" to end that game as a lost
            game.
        reward: "score" for the change of the score, or "fireworks" for the points added to the fireworks, which a lost
            game keeps. `score` and `final_score` in info follow the variant's rules in both cases.
        lost_game_penalty: points, 0 or more, that are subtracted from the last reward of a lost game.
        partners: the seats that the learner does not play, each with its partner, such as `{1: "smart"}`; see below.
        extra_outputs: names of additional entries of info: "card_features", "public_marginals", "own_hand".
        num_threads: threads that share the games; None for one per 1,024 games, at most one per core.
        seed: 0 to 2**64 - 1, in use until `reset` gives another; None for a random one. If no seed was ever given,
            another process that resets a copy, such as a worker of a `DataLoader`, draws its own.
        render_mode: "rgb_array" lets `render` draw the games; it is refused with more than 64 games or with partners.
            None draws nothing.
        **overrides: parameters of the variant to change, such as `players=4`.

    Attributes:
        rewards: what the games reward. With `reward="fireworks"` a training loop may raise `rewards.lost_points_share`
            between steps, from 0 to 1: the share of its points that a lost game loses.

    A partner is one of these:

    - any text that `play_games` takes: a bot's name, the name of a trained policy, such as `ippo-2p-small`, which
      is about three times as fast as `ippo-2p`, or a policy file;
    - the result of `starmine.load_policy` or `starmine.make_bot`;
    - a `starmine.games.Policy`: an object with `act_batch(turns)`, or a class or function that makes one for each seat;
    - a `starmine.games.PythonBot`: an object with `act(view)`, such as a `starmine.text.ChatPlayer`, or a class that
      makes one for each game;
    - a torch module, which is called as `module(observations, action_mask)`; see `starmine.torch.ModulePolicy`.
    - a list of these, one of which is drawn for each episode. Its elements may be pairs (partner, weight):
      `{1: [("smart", 2), ("iggi", 1)]}` draws `smart` in two episodes of three. A partner alone has weight 1.

    With partners a step plays the learner's turn and the partners' turns up to the learner's next turn. Its reward is
    the sum of the rewards of these turns. Points that partners make before the learner's first turn belong to the
    reward of the learner's first step in the episode, since a reset has no reward. An episode that ends before the
    learner's first turn is skipped. A policy or module is called once for all games in which it is to act.

    Info. Each entry is an array over the games. Each has a bool mask (N,), such as `_score` for `score`. That of a
    `final_` entry marks the games that ended in this step. The others mark all games, and after a reset with
    "reset_mask" the games that were dealt:
        action_mask: bool (N, A), the legal actions of the seat to act.
        current_player: int32 (N,), the seat to act.
        score: int32 (N,), the score so far.
        illegal_action: bool (N,), whether an illegal action ended the game in this step.
        final_score: int32 (N,), the score of the games that ended in this step, else 0.
        final_length: int32 (N,), the number of turns of these games, else 0.
        final_ending: int8 (N,), how these games ended: code k stands for `starmine.endings()[k - 1]`; else 0.
        partner: only with partners, int32 (N, players), who plays each seat in this episode: an index into
            `env.partners[seat]`, or -1 for the learner.
        final_partner: only with partners, int32 (N, players), `partner` of the episodes that ended in this step, else
            -1.
        card_features, public_marginals, own_hand: only if requested, (N, ...), or (N, players, ...) with
            observers="all": as in `HanabiEnv`; `starmine.Batch` has the details.
        final_obs, final_info: only with "SameStep" and only if a game ended, in Gymnasium's form.

    Raises:
        UnknownNameError: there is no such preset, encoder, dtype, mode, reward, bot or extra output.
        VariantError: a parameter of the variant out of range, or partners that do not play the variant.
        StarmineError: a number out of range, a render mode that is refused, or partners that leave the learner no turn.
        TypeError: there is no such argument.

    Example:
        >>> import numpy as np, starmine
        >>> env = starmine.HanabiVectorEnv(num_envs=3, players=2)
        >>> obs, info = env.reset(seed=0)
        >>> actions = [np.flatnonzero(mask)[0] for mask in info["action_mask"]]
        >>> obs, reward, terminated, truncated, info = env.step(actions)
        >>> obs.shape, reward.shape
        ((3, 658), (3,))
    """

    def __init__(
        self,
        num_envs: int = 1,
        variant: str | Variant = "standard",
        *,
        encoder: str = "canonical",
        dtype: str = "float32",
        observers: str = "current",
        autoreset_mode: str | AutoresetMode = "SameStep",
        illegal_action: str = "raise",
        reward: str = "score",
        lost_game_penalty: float = 0.0,
        partners: Mapping[int, Player | Sequence[Player | tuple[Player, float]]] | None = None,
        extra_outputs: Sequence[str] = (),
        num_threads: int | None = None,
        seed: int | None = None,
        render_mode: str | None = None,
        **overrides: Any,
    ) -> None:
        check_render_mode(render_mode, num_envs, bool(partners))
        self.variant = resolve_variant(variant, overrides)
        self.rewards = Rewards(self.variant, reward, lost_game_penalty)
        batch_partners, python, self._partners = resolve_partners(partners)
        self._batch = Batch(
            self.rewards.rules,
            num_envs,
            encoder=encoder,
            dtype=dtype,
            observers=observers,
            autoreset_mode=autoreset_mode,
            illegal_action=illegal_action,
            partners=batch_partners,
            extra_outputs=extra_outputs,
            num_threads=num_threads,
            seed=seed,
        )
        self._games = PartneredBatch(self._batch, python) if python else self._batch
        self._drawn = self._batch._partners() if self._partners else None
        self._deals = True  # whether the last call ended or dealt episodes
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(self._batch.autoreset_mode)
        self.metadata = {
            "render_modes": usable_modes(("rgb_array",)),
            "render_fps": 1,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode = render_mode
        self._followed = None if render_mode is None else FollowedGames(self.variant, self._batch)
        self.single_observation_space = observation_box(self._batch)
        self.single_action_space = Discrete(self.variant.num_actions)
        self._info_outputs = _INFO + [(name, f"_{name}") for name in self._batch.extra_outputs]
        self._own_seed = OwnSeed(seed)
        self._started = False
        self._keeps_last = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._all = np.ones(num_envs, dtype=bool)

    @cached_property
    def observation_space(self) -> Box:  # type: ignore[override]
        """The space of all observations. It is made on first use, since its bounds are large."""
        space = batch_space(self.single_observation_space, self.num_envs)
        assert isinstance(space, Box)
        return space

    @cached_property
    def action_space(self) -> MaskedActions:  # type: ignore[override]
        """The space of all actions. `sample(info["action_mask"])` draws a legal action for each game."""
        return MaskedActions(np.full(self.num_envs, self.variant.num_actions, dtype=np.int64))

    @property
    def layout(self) -> Layout:
        """The named sections of an observation."""
        return self._batch.layout

    @property
    def partners(self) -> dict[int, tuple[Any, ...]]:
        """The partners of each seat as they were given, without weights; `info["partner"]` has indices into them."""
        return dict(self._partners)

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("this environment is closed: expected an open one")

    def reset(
        self,
        *,
        seed: int | Sequence[int] | Array | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Deal games anew.

        Args:
            seed: an integer seeds the batch, so that game i in episode k follows from (seed, i, k); N
                integers seed each game; None deals each game's next episode.
            options: a dict. "reset_mask", bool (N,), deals only the games of this mask anew. "decks", uint8
                (N, deck_size), and "start_players", uint8 (N,), are those of `Batch.reset`.

        Returns:
            The observations and info of all games.

        Raises:
            UnknownNameError: another option; the message has the nearest.
            ArrayError: a mask, seeds, decks or start players of another shape or dtype, or an empty mask.
            DeckError: a deck that is not the variant's, or a start player that is not a seat.
            StarmineError: a seed out of range, decks for a batch with partners, or, as in `step`, a partner that fails.
            TypeError: a seed that is not an integer, or options that are not a dict.
            ResetNeeded: a partner failed in an earlier call, and "reset_mask" is given.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        decks, start_players, mask = check_options(options, BATCH_OPTIONS).values()
        seed = integer_seed(seed)
        out = self._deal(self._own_seed.of_reset(seed) if mask is None else seed, mask, decks, start_players)
        if isinstance(seed, int):
            super().reset(seed=seed)
        info = self._info(out, self._all if mask is None else mask)
        self._add_partners(info, out["terminated"], is_step=False)
        return out["obs"], info

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Play one turn in every game.

        Args:
            actions: N action ids, 0 to `variant.num_actions - 1`, as `HanabiEnv.step` takes them: a numpy array of any
                integer type, an object with DLPack, or a sequence. With "NextStep" a game that ended in the last step
                is dealt anew: its action is ignored and its reward is 0. With "Disabled" such a game has no legal
                action: reset it first, with the option "reset_mask".

        Returns:
            Observations (N, D) or (N, players, D), rewards float32 (N,), terminated bool (N,), truncated
            bool (N,), info. The arrays are new; later steps do not change them.

        Raises:
            IllegalActionError: an action that the rules refuse, or with "Disabled" a game that is over. `count` is the
                number of such actions, `rows` the first 100 of their games. No game has moved.
            StarmineError: a partner chose an illegal move or raised an exception, which is the cause. Reset the
                environment then.
            ArrayError: actions of another shape or dtype.
            ResetNeeded: `reset` has not been called, or a partner failed in an earlier call.
            ClosedEnvironmentError: the environment is closed.
        """
        self._check_open()
        out = self._play(actions)
        info = self._info(out, self._all)
        terminated = out["terminated"]
        self._add_partners(info, terminated, is_step=True)
        final_obs = self._batch._final_obs() if self._keeps_last else None
        if final_obs is not None:
            self._add_final(info, terminated, final_obs)
        return out["obs"], out["reward"], terminated, out["truncated"], info

    def _deal(self, seed: Any, mask: Any, decks: Any, start_players: Any = None) -> dict[str, Array]:
        """The outputs of a reset."""
        out = self._games.reset(seed, mask, decks, start_players)
        self.rewards.reset(out, mask)
        self._started = True
        if self._followed:
            self._followed.reset(seed, mask, decks, start_players)
        return out

    def _play(self, actions: Any) -> dict[str, Array]:
        """The outputs of a step."""
        if not self._started:
            raise ResetNeeded("this environment has not been reset: call reset first")
        try:
            out = self._games.step(actions)
        except IllegalActionError as error:
            error.add_note(ON_ILLEGAL_ACTIONS)
            raise
        if self._followed:
            self._followed.step(actions, out["terminated"], out["illegal_action"])
        self.rewards.step(out, shows_lost=not self._keeps_last)
        return out

    def _observe(self) -> dict[str, Array]:
        """The outputs without a step or a reset."""
        out = self._batch.observe()
        self.rewards.reset(out, np.zeros(self.num_envs, dtype=bool))
        return out

    def to_svg(self, columns: int | None = None, theme: str = "light") -> str:
        """All games in one picture, as SVG text.

        In every autoreset mode, a game that ended in the last step is drawn as its last turn left it, although with
        "SameStep" its observations are already those of the next episode.

        Args:
            columns: number of pictures in each row of the grid; None for a grid that is about square.
            theme: "light" or "dark".

        Raises:
            StarmineError: `columns` is below 1, or the environment was made without a render mode.
            ResetNeeded: `reset` has not been called.
        """
        columns = None if columns is None else check_number("columns", columns, 1)
        svg: str = look_up("draw_grid")([state.to_svg(theme=theme) for state in self._states()], columns)
        return svg

    def render(self) -> tuple[Array, ...]:
        """A picture of each game, uint8 (height, width, 3), as `to_svg` draws it.

        Raises:
            StarmineError: the environment was made without a render mode.
            ResetNeeded: `reset` has not been called.
            ImportError: resvg-py or Pillow is missing, the extra `pictures`.
        """
        rgb_of = look_up("rgb_of_svg")
        return tuple(rgb_of(state.to_svg()) for state in self._states())

    def _states(self) -> list[State]:
        """The games that are drawn, with what no seat may see."""
        if self._followed is None:
            raise StarmineError("render_mode=None keeps no board: expected 'rgb_array'")
        if not self._started:
            raise ResetNeeded("there is no game yet: call reset first")
        return self._followed.shown

    def _info(self, out: dict[str, Array], present: Array) -> dict[str, Any]:
        """The outputs of the games that are `present`, those of ended games with the mask of these.

        Each mask is a separate array.
        """
        info: dict[str, Any] = {}
        for name, key in self._info_outputs:
            info[name], info[key] = out[name], present.copy()
        for name, key in _FINAL_INFO:
            info[name], info[key] = out[name], out["terminated"].copy()
        return info

    def _add_partners(self, info: dict[str, Any], terminated: Array, is_step: bool) -> None:
        """Adds who plays with the learner, and who did in the episodes that ended."""
        if self._drawn is None:
            return
        before, deals = self._drawn, not is_step or bool(terminated.any())
        if deals or self._deals:  # in this call, or in the mode "NextStep" after the last one
            self._drawn = self._batch._partners()
        self._deals = deals
        info["partner"], info["_partner"] = self._drawn.copy(), info["_score"].copy()
        info["final_partner"] = np.where(terminated[:, None], before, np.int32(-1))
        info["_final_partner"] = terminated.copy()

    @staticmethod
    def _add_final(info: dict[str, Any], terminated: Array, final_obs: Array) -> None:
        """Adds what Gymnasium's "SameStep" mode has for the games that ended."""
        final_info = {name.removeprefix("final_"): info[name].copy() for name, _ in _FINAL_INFO}
        final_info["illegal_action"] = info["illegal_action"].copy()
        if "final_partner" in info:
            final_info["partner"] = info["final_partner"].copy()
        info["final_obs"], info["_final_obs"] = final_obs, terminated.copy()
        info["final_info"] = {**final_info, **{f"_{name}": terminated.copy() for name in final_info}}
        info["_final_info"] = terminated.copy()

    def __repr__(self) -> str:
        """The number of games and the variant."""
        return f"HanabiVectorEnv(num_envs={self.num_envs}, variant={self.variant!r})"
