"""One game as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Discrete

from starmine._core import ArrayError, Batch, IllegalActionError, Move, StarmineError, State, Variant
from starmine._util.arrays import Array
from starmine._util.copies import CopiedWhole
from starmine._util.imports import look_up
from starmine._util.keywords import GAME_OPTIONS, check_options
from starmine._util.render_modes import RENDER_MODES, usable_modes
from starmine.envs.layout import Layout
from starmine.envs.rewards import Rewards
from starmine.envs.vector import (
    ON_ILLEGAL_ACTIONS,
    given_decks,
    given_game,
    observation_box,
)
from starmine.games.actions import hle_advice
from starmine.games.seeds import OwnSeed, game_seed
from starmine.games.variants import resolve_variant


class HanabiEnv(CopiedWhole, gymnasium.Env[Array, np.int64]):
    """One game, for tests, tools and looking at games. Each step is a turn of the seat to act.

    `HanabiVectorEnv` is the fast class: it steps thousands of games in the time of a few steps of this one.

    Args:
        variant: a `Variant`, or a text as `starmine.variant` takes it.
        encoder: one of `starmine.encoders()`; its observations have D features.
        dtype: "float32", "float16", "uint8" or "bits", as in `HanabiVectorEnv`.
        observers: "current" for the row of the seat to act (D,), or "all" (players, D).
        illegal_action: "raise", or "terminate" to end the game as a lost game.
        reward: "score" for the change of the score, or "fireworks" for the points added to the fireworks, which a lost
            game keeps. The `score` in info follows the variant's rules in both cases.
        lost_game_penalty: points, 0 or more, that are subtracted from the last reward of a lost game.
        extra_outputs: names of additional entries of info: "card_features", "public_marginals", "own_hand".
        seed: 0 to 2**64 - 1, in use until `reset` gives another; None for a random one. If no seed was ever given,
            another process that resets a copy, such as a worker of a `DataLoader`, draws its own.
        render_mode: "ansi" makes `render` return the board as text, "rgb_array" as a picture, "human" prints it after
            each turn, None does none of these.
        **overrides: parameters of the variant to change, such as `players=4`.

    Attributes:
        rewards: what the games reward. With `reward="fireworks"` a training loop may raise `rewards.lost_points_share`
            between steps, from 0 to 1: the share of its points that a lost game loses.

    Info, the same keys in every step, with numpy's types:
        action_mask: int8 (A,), 1 where the action is legal, the form that `action_space.sample` takes.
        current_player: int32, the seat to act.
        score: int32, the score so far.
        illegal_action: bool, whether an illegal action ended the game.
        ending: int8, how the game ended: code k stands for `starmine.endings()[k - 1]`; 0 until it ends.
        card_features: only if requested, float32 (players, hand_size, 3): for each card whether it is playable, dead
            (it can never be played) and critical (still needed, and the last copy). 0 or 1 for visible cards,
            probabilities for the observer's own cards. As in `public_marginals`, the observer's hand is first.
        public_marginals: only if requested, float32 (players, hand_size, colors * ranks), the public beliefs, unlike
            `View.marginals`: the probability of each card in each slot by the hints and by the cards that were played
            or discarded.
        own_hand: only if requested, int8 (hand_size,), the observer's own cards, `suit * ranks + rank` with suit and
            rank from 0; -1 for no card.

    The observer is the seat to act. With observers="all" the extra outputs have a first axis of seats.

    Raises:
        UnknownNameError: there is no such preset, encoder, dtype, reward or extra output.
        VariantError: a parameter of the variant out of range.
        StarmineError: a number or a render mode that is not allowed.
        TypeError: there is no such argument.

    Example:
        >>> import starmine
        >>> env = starmine.HanabiEnv(players=2)
        >>> obs, info = env.reset(seed=0)
        >>> action = env.action_space.sample(info["action_mask"])
        >>> obs, reward, terminated, truncated, info = env.step(action)
        >>> obs.shape
        (658,)
    """

    metadata = {"render_modes": usable_modes(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        variant: str | Variant = "standard",
        *,
        encoder: str = "canonical",
        dtype: str = "float32",
        observers: str = "current",
        illegal_action: str = "raise",
        reward: str = "score",
        lost_game_penalty: float = 0.0,
        extra_outputs: Sequence[str] = (),
        seed: int | None = None,
        render_mode: str | None = None,
        **overrides: Any,
    ) -> None:
        if render_mode not in (None, *RENDER_MODES):
            expected = "None, 'ansi', 'human' or 'rgb_array'"
            raise StarmineError(f"render_mode={render_mode!r} is not allowed: expected {expected}")
        self.variant = resolve_variant(variant, overrides)
        self.render_mode = render_mode
        self.rewards = Rewards(self.variant, reward, lost_game_penalty)
        self._batch = Batch(
            self.rewards.rules,
            1,
            encoder=encoder,
            dtype=dtype,
            observers=observers,
            autoreset_mode="Disabled",
            illegal_action=illegal_action,
            extra_outputs=extra_outputs,
            num_threads=1,
            seed=seed,
        )
        self.observation_space = observation_box(self._batch)
        self.action_space = Discrete(self.variant.num_actions)
        self._own_seed = OwnSeed(seed)
        self._state: State | None = None
        self._waiting: list[int] = []  # the actions that `_state` has not seen
        self._mask: Array | None = None
        self._forfeited = False

    @property
    def layout(self) -> Layout:
        """The named sections of an observation."""
        return self._batch.layout

    @property
    def state(self) -> State:
        """A copy of the game as a `State`, in which all cards are visible, also those that no seat may see.

        The state does not contain an illegal action that ended the game.

        Raises:
            ResetNeeded: `reset` has not been called.
        """
        return self._current_state().copy()

    def action_masks(self) -> Array:
        """The mask of `info`, int8 (A,), under the name that sb3-contrib's MaskablePPO calls.

        Raises:
            ResetNeeded: `reset` has not been called.
        """
        if self._mask is None:
            raise ResetNeeded("this environment has not been reset: call reset first")
        return self._mask.copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Deal a new game.

        Args:
            seed: an integer deals the first episode of that seed; None deals the next episode.
            options: a dict. "deck" is the deck to deal: a list of `Card` or of their texts, such as "R1" for red 1, the
                top card first. "start_player" is the seat that starts this deck.

        Returns:
            The observation, of the shape and dtype of `observation_space`, and info.

        Raises:
            UnknownNameError: another option; the message has the nearest.
            DeckError: a deck that is not the variant's, or a start player that is not a seat.
            StarmineError: a seed out of range, or a start player without a deck.
            TypeError: a seed that is not an integer, or options that are not a dict.
        """
        deck, start_player = check_options(options, GAME_OPTIONS).values()
        seed = game_seed(seed)
        game = given_game(self.variant, deck, start_player)
        used = self._own_seed.of_reset(seed)
        out = self._batch.reset(used) if game is None else self._batch.reset(used, None, *given_decks([game]))
        self.rewards.reset(out, None)
        super().reset(seed=seed)
        self._state, self._waiting, self._forfeited = game, [], False
        info = self._info(out)
        self._render_human()
        return out["obs"][0], info

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Play one turn.

        Args:
            action: an action id, 0 to `variant.num_actions - 1`, as an integer or an array of one; a `Move`, or text
                such as "play 2". The ids are those of discards by slot, of plays by slot, of colour hints, of rank
                hints and, with timed display, of plays that announce a colour, in this order;
                `variant.action_meaning(action)` describes an id. After the end of the game no action is legal.

        Returns:
            The observation as in `reset`, reward, terminated, truncated, info.

        Raises:
            IllegalActionError: an action that the rules refuse; nothing has moved. With illegal_action="terminate" it
                is raised only when the game is over.
            ArrayError: an action that is none of these.
            StarmineError: a text or a `Move` that the variant does not have.
            ResetNeeded: `reset` has not been called.
        """
        if self._mask is None:
            raise ResetNeeded("this environment has not been reset: call reset first")
        if isinstance(action, str | Move):
            action = self.variant.action(action)
        chosen = np.asanyarray(action)  # the batch refuses a masked array
        if chosen.size != 1 or chosen.dtype.kind not in "iu":
            has = f"has shape {chosen.shape} and dtype {chosen.dtype}"
            given = f"is a {type(action).__name__}" if chosen.dtype.kind == "O" else has
            expected = f"expected a single integer, a Move or text such as 'play 2'{hle_advice(action)}"
            raise ArrayError(f"action {given}: {expected}")
        try:
            out = self._batch.step(chosen.reshape(1))
        except IllegalActionError as error:
            error.add_note(ON_ILLEGAL_ACTIONS)
            raise
        self.rewards.step(out, shows_lost=True)
        self._forfeited = bool(out["illegal_action"][0])
        if not self._forfeited:
            self._waiting.append(int(chosen.item()))
        info = self._info(out)
        self._render_human()
        return out["obs"][0], float(out["reward"][0]), bool(out["terminated"][0]), False, info

    def _info(self, out: dict[str, Array]) -> dict[str, Any]:
        mask = out["action_mask"][0].astype(np.int8)
        self._mask = mask.copy()
        info: dict[str, Any] = {
            "action_mask": mask,
            "current_player": out["current_player"][0],
            "score": out["score"][0],
            "illegal_action": out["illegal_action"][0],
            "ending": out["final_ending"][0],
        }
        for name in self._batch.extra_outputs:
            info[name] = out[name][0]
        return info

    def _current_state(self) -> State:
        """The game, which is dealt and played only once somebody looks at it."""
        if self._mask is None:
            raise ResetNeeded("there is no game yet: call reset first")
        if self._state is None:
            self._state = self.variant.new_game(seed=self._batch.seed, episode=int(self._batch.episodes[0]))
        for action in self._waiting:
            self._state.apply(action)
        self._waiting = []
        return self._state

    def _board(self) -> str:
        state = self._current_state()
        return f"{state}\nover: lost by an illegal action" if self._forfeited else str(state)

    def _render_human(self) -> None:
        if self.render_mode == "human":
            print(self._board() + "\n")

    def render(self) -> Any:
        """The board: as text with render mode "ansi", as a picture with "rgb_array", uint8 (height, width, 3).

        None with "human", which prints each turn.

        Raises:
            StarmineError: the environment was made without a render mode.
            ResetNeeded: `reset` has not been called.
            ImportError: a picture needs resvg-py and Pillow, the extra `pictures`.
        """
        if self.render_mode is None:
            raise StarmineError("render_mode=None keeps no board: expected 'ansi', 'human' or 'rgb_array'")
        if self.render_mode == "rgb_array":
            return look_up("rgb_of_svg")(self._current_state().to_svg())
        return self._board() if self.render_mode == "ansi" else None
