"""One game that is played by text, for the interfaces of other libraries."""

from __future__ import annotations

from collections.abc import Mapping

from starmine._core import SeatedBot, StarmineError, Variant, make_bot
from starmine.text.prompt import PromptOptions, given_options, rules_prompt, table_prompt
from starmine.text.replies import Reply, parse_reply


class TextGame:
    """A game in which replies of text move, and bots may hold some of the seats.

    Args:
        variant: the rules.
        partners: by seat the texts of bots, such as "smart"; the other seats play by text.
        options: of the prompts.
        seed: of the decks; the game is that of `Variant.new_game(seed, game=game)`.
        game: its number.

    Attributes:
        state: the game.
        rules: the system message.
        unusable: number of the last replies in a row that named no legal move.

    Raises:
        StarmineError: a seat does not exist, or no seat plays by text.
        UnknownNameError: there is no such bot.
    """

    def __init__(
        self,
        variant: Variant,
        partners: Mapping[int, str] | None = None,
        options: PromptOptions | None = None,
        seed: int = 0,
        game: int = 0,
    ) -> None:
        self.options = given_options(options)
        self.state = variant.new_game(seed=seed, game=game)
        self.rules = rules_prompt(variant, self.options)
        self.unusable = 0
        self._bots: dict[int, SeatedBot] = {}
        for seat, bot in (partners or {}).items():
            if seat not in range(variant.players):
                raise StarmineError(f"partners has seat {seat!r}: expected 0 to {variant.players - 1}")
            self._bots[seat] = make_bot(bot, variant, seat)
        if len(self._bots) == variant.players:
            raise StarmineError("partners hold all seats: expected a seat that plays by text")
        self._play_bots()

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.state.is_terminal

    @property
    def seat(self) -> int:
        """The seat to act."""
        return self.state.current_player

    def table(self) -> str:
        """The table as the seat to act sees it; of a game that is over the score and how it ended."""
        if self.is_over:
            return f"The game is over ({self.state.ending}). The score is {self.state.score}."
        return table_prompt(self.state.view(self.seat), self.options)

    def play(self, reply: object) -> Reply:
        """Play the move that a reply names, and the bots' turns that follow; nothing if it names no legal move."""
        found = parse_reply(reply, self.state.view(self.seat))
        self.unusable += 1
        if found.action is not None:
            self.unusable = 0
            self.state.apply(found.action)
            self._play_bots()
        return found

    def _play_bots(self) -> None:
        while not self.is_over and self.seat in self._bots:
            self.state.apply(self._bots[self.seat].act(self.state.view(self.seat)))
