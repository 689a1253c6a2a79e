"""TextArena: games by text with the interface of its environments, version 0.7.

>>> from starmine.adapters.textarena import HanabiTextArenaEnv
>>> env = HanabiTextArenaEnv()
>>> env.reset(num_players=2, seed=0)
>>> player, observation = env.get_observation()
>>> done, info = env.step("MOVE: play slot 0")
"""

from __future__ import annotations

import secrets
from typing import Any

from starmine.games.variants import resolve_variant
from starmine.text.game import TextGame
from starmine.text.prompt import PromptOptions

try:
    import textarena as ta
except ImportError as _missing:
    raise ImportError("starmine.adapters.textarena needs TextArena: pip install 'starmine[textarena]'") from _missing


class HanabiTextArenaEnv(ta.Env):
    """A game in which each seat is a player of TextArena. All players get the score as their reward.

    The prompt of a player is the rules. Before each of its turns it gets the table as a message. A reply without legal
    move is sent back; after more than `error_allowance` of them in a row the game ends, with the score so far.

    Args:
        variant: a preset's name; `reset` says the number of seats.
        options: of the prompts.
        error_allowance: unusable replies in a row after which a player is asked again.
        **overrides: parameters of the variant to change.

    Raises:
        UnknownNameError: there is no such preset.
        VariantError: a parameter of the variant out of range.
    """

    def __init__(
        self,
        variant: str = "standard",
        options: PromptOptions | None = None,
        error_allowance: int = 3,
        **overrides: Any,
    ) -> None:
        self.variant, self.overrides = variant, overrides
        self.options, self.error_allowance = options or PromptOptions(), error_allowance
        resolve_variant(variant, overrides)

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal the game of a seed; without one, that of a random seed."""
        rules = resolve_variant(self.variant, self.overrides | {"players": num_players})
        self.game = TextGame(rules, options=self.options, seed=secrets.randbits(32) if seed is None else seed)
        self.state = ta.TeamMultiPlayerState(num_players=num_players, seed=seed, error_allowance=self.error_allowance)
        self.state.reset(game_state={}, player_prompt_function=lambda player_id, game_state: self.game.rules)
        self._show_table()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the move that a reply names."""
        state, player = self.state, self.state.current_player_id
        state.add_observation(
            from_id=player, to_id=player, message=action, observation_type=ta.ObservationType.PLAYER_ACTION
        )
        found = self.game.play(action)
        if found.action is None:
            if state.set_invalid_move(reason=found.problem or ""):
                self._end(f"Player {player} named no legal move: {found.problem}")
        elif self.game.is_over:
            self._end(self.game.table())
        else:
            self._show_table()
        done, info = state.step()
        return done, info

    def _show_table(self) -> None:
        """Tell the seat to act how the game stands."""
        self.state.manually_set_current_player_id(self.game.seat)
        self.state.add_observation(
            to_id=self.game.seat, message=self.game.table(), observation_type=ta.ObservationType.GAME_BOARD
        )

    def _end(self, reason: str) -> None:
        score = self.game.state.score
        self.state.rewards = dict.fromkeys(range(self.state.num_players), score)
        for player in range(self.state.num_players):
            self.state.game_info[player]["reason"] = reason
        self.state.done = True
