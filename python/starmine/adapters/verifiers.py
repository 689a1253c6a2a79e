"""`verifiers` (Prime Intellect), version 0.1: an environment whose rollouts are games of Hanabi.

>>> from starmine.adapters.verifiers import load_environment
>>> env = load_environment(games=8, partners={1: "smart"})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starmine._core import StarmineError, Variant
from starmine.games.variants import resolve_variant
from starmine.text.game import TextGame
from starmine.text.prompt import PromptOptions

try:
    import verifiers as vf
    from datasets import Dataset

    _Base = vf.MultiTurnEnv
except (ImportError, AttributeError) as _missing:  # version 0.4 has another interface
    raise ImportError("starmine.adapters.verifiers needs verifiers: pip install 'starmine[verifiers]'") from _missing


class HanabiVerifiersEnv(_Base):  # type: ignore[misc, valid-type]
    """A rollout is a game. Each turn is asked by itself: the rules as system message, the table as user message.

    So the prompt of a seat never holds what another seat saw. The reward is the score as a share of the maximum.

    Args:
        variant: a `Variant`, or a preset's name.
        games: number of examples, each with its deck.
        partners: by seat the texts of bots, such as "smart"; the model holds the other seats.
        options: of the prompts.
        seed: of the decks.
        replies: unusable replies in a row that end a rollout, at least 1.
        overrides: parameters of the variant to change, such as `{"players": 3}`.
        **settings: of `verifiers.MultiTurnEnv`.
    """

    def __init__(
        self,
        variant: str | Variant = "standard",
        *,
        games: int = 100,
        partners: Mapping[int, str] | None = None,
        options: PromptOptions | None = None,
        seed: int = 0,
        replies: int = 3,
        overrides: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if games < 1 or replies < 1:
            raise StarmineError(f"games={games}, replies={replies} is not allowed: expected at least 1")
        self.variant = resolve_variant(variant, dict(overrides or {}))
        self.partners, self.options, self.replies = dict(partners or {}), options or PromptOptions(), replies
        rows = [
            {"prompt": self._messages(self._game(seed, game)), "answer": "", "info": {"seed": seed, "game": game}}
            for game in range(games)
        ]
        rubric = vf.Rubric(funcs=[score_share])
        for metric in (score, lost, unusable_replies):
            rubric.add_metric(metric)
        super().__init__(dataset=Dataset.from_list(rows), rubric=rubric, **settings)

    def _game(self, seed: int, game: int) -> TextGame:
        return TextGame(self.variant, self.partners, self.options, seed, game)

    def _messages(self, game: TextGame, problem: str | None = None) -> list[dict[str, str]]:
        table = game.table() if problem is None else f"{problem}\n\n{game.table()}"
        return [{"role": "system", "content": game.rules}, {"role": "user", "content": table}]

    async def setup_state(self, state: Any) -> None:
        """Deal the game of the example."""
        info = state["info"]
        state["hanabi"], state["unusable"] = self._game(info["seed"], info["game"]), 0

    async def get_prompt_messages(self, state: Any) -> Any:
        """The prompt of the next turn, without those of earlier turns."""
        if not state["trajectory"]:
            return state["prompt"]
        return await self.env_response(state["trajectory"][-1]["completion"], state)

    async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
        """Play the move of the last message, and the partners' turns."""
        game = state["hanabi"]
        found = game.play(_text(messages[-1]))
        state["unusable"] += found.action is None
        if game.is_over or game.unusable >= self.replies:
            said = game.table() if game.is_over else f"The game is given up: {found.problem}"
            state["final_env_response"] = [{"role": "user", "content": said}]
            return state["final_env_response"]
        return self._messages(game, found.problem)


def _text(message: Any) -> str:
    content = message["content"] if message is not None else ""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else getattr(part, "text", None) for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def score_share(state: Any) -> float:
    """The score as a share of the maximum."""
    game = state["hanabi"].state
    return float(game.score / game.variant.max_score)


def score(state: Any) -> float:
    """The score."""
    return float(state["hanabi"].state.score)


def lost(state: Any) -> float:
    """1 for a lost game."""
    return float(state["hanabi"].state.ending == "lost")


def unusable_replies(state: Any) -> float:
    """The number of replies without a legal move."""
    return float(state["unusable"])


def load_environment(**settings: Any) -> HanabiVerifiersEnv:
    """The environment, as `verifiers.load_environment` calls it; the arguments are those of `HanabiVerifiersEnv`."""
    return HanabiVerifiersEnv(**settings)
