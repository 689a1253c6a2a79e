"""Gymnasium with text: observations are prompts and actions are replies of a language model.

>>> from starmine.adapters.gymnasium_text import HanabiTextEnv
>>> env = HanabiTextEnv(players=2, partners={1: "smart"})
>>> prompt, info = env.reset(seed=0)
>>> prompt, reward, terminated, truncated, info = env.step("MOVE: play slot 0")
>>> info["outcome"]
'move'
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Text

from starmine._core import StarmineError, Variant
from starmine.games.seeds import game_seed
from starmine.games.variants import resolve_variant
from starmine.text.game import TextGame
from starmine.text.prompt import PromptOptions

MOST_CHARACTERS = 100_000  # of an observation or an action


class HanabiTextEnv(gymnasium.Env[str, str]):
    """One game, played by text.

    An observation is the rules and the table as the seat to act sees it. The reward is the change of the score. After a
    reply that names no legal move the same seat is asked again, and the observation begins with what was wrong.

    Args:
        variant: a `Variant`, or a preset's name.
        partners: by seat the texts of bots, such as "smart". The other seats are played by the actions.
        options: of the prompts.
        replies: unusable replies in a row that truncate the episode, at least 1.
        **overrides: parameters of the variant to change, such as `players=4`.

    Info:
        outcome: "move", "unreadable" or "illegal" for the last reply; None after a reset.
        seat: the seat to act.
        score: so far.

    Raises:
        StarmineError: an argument out of range.
        UnknownNameError: there is no such preset or bot.
        VariantError: a parameter of the variant out of range.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        variant: str | Variant = "standard",
        *,
        partners: Mapping[int, str] | None = None,
        options: PromptOptions | None = None,
        replies: int = 3,
        **overrides: Any,
    ) -> None:
        if replies < 1:
            raise StarmineError(f"replies={replies} is not allowed: expected at least 1")
        self.variant = resolve_variant(variant, overrides)
        self.partners, self.options, self.replies = dict(partners or {}), options or PromptOptions(), replies
        TextGame(self.variant, self.partners, self.options)  # refuses what is not allowed
        self.observation_space = Text(MOST_CHARACTERS, charset=string.printable)
        self.action_space = Text(MOST_CHARACTERS, min_length=0, charset=string.printable)
        self._game: TextGame | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Deal a game.

        Args:
            seed: of the deck; None for another one.
            options: none are known.
        """
        super().reset(seed=seed)
        given = game_seed(seed)
        deck_seed = int(self.np_random.integers(2**63)) if given is None else given
        self._game = TextGame(self.variant, self.partners, self.options, deck_seed)
        return self._observation(), self._info(None)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play the move that a reply names.

        Raises:
            ResetNeeded: there is no game, or it is over.
        """
        game = self._game
        if game is None or game.is_over or game.unusable >= self.replies:
            raise ResetNeeded("there is no game to play: call reset first")
        before = game.state.score
        found = game.play(action)
        if found.action is None:
            outcome = "illegal" if found.illegal else "unreadable"
            truncated = game.unusable >= self.replies
            return f"{found.problem}\n\n{self._observation()}", 0.0, False, truncated, self._info(outcome)
        return self._observation(), float(game.state.score - before), game.is_over, False, self._info("move")

    def _observation(self) -> str:
        assert self._game is not None
        return f"{self._game.rules}\n\n{self._game.table()}"

    def _info(self, outcome: str | None) -> dict[str, Any]:
        assert self._game is not None
        return {"outcome": outcome, "seat": self._game.seat, "score": self._game.state.score}
