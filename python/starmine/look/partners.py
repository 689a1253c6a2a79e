"""Partners at a table: who plays the seats that no person holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from starmine._core import SeatedBot, StarmineError, State, Variant, View, _Player, make_bot
from starmine._util.arrays import Array
from starmine.games.players import cheats, resolve_player
from starmine.games.seats import PythonPlayers
from starmine.policies.variant_check import check_variant


def _choice(player: _Player, variant: Variant, seat: int, seed: int, game: int) -> Callable[[State], int]:
    """How a bot of the core chooses in one seat. It needs no memory: a state holds the whole game."""
    check_variant(player, variant)
    if not cheats(player):
        return lambda state: SeatedBot._restored(player, variant, seat, seed, (game, state)).act(state.view(seat))
    return lambda state: state.suggest(player, seed)


class Partners:
    """The partners in the seats of one game.

    Args:
        players: for each seat what `play_games` takes as a player, or None for a person.
        variant: the rules.
        seed: of the deck and of the players' random choices.
        game: the index of the game, which these follow from, too.
    """

    def __init__(self, players: Sequence[Any], variant: Variant, seed: int, game: int = 0) -> None:
        resolved = [
            None if player is None else resolve_player(player, f"players[{seat}]")
            for seat, player in enumerate(players)
        ]
        self._bots = {
            seat: _choice(player, variant, seat, seed, game)
            for seat, player in enumerate(resolved)
            if isinstance(player, _Player)
        }
        python = [None if isinstance(player, _Player) else player for player in resolved]
        self._seed, self._game = seed, game
        self._state = variant.new_game(seed=0)
        self._python = PythonPlayers(python, 1, self)

    @property
    def variant(self) -> Variant:
        """The rules."""
        return self._state.variant

    def begin(self) -> None:
        """Forget the game, and begin one."""
        only, seed, deal = np.zeros(1, np.int64), np.array([self._seed], np.uint64), np.array([self._game], np.uint64)
        self._python.begin(only, seed, deal, self._python.holders)

    def choose(self, state: State) -> int:
        """Show a turn of a partner, and return its action id."""
        seat, self._state = state.current_player, state
        if seat not in self._bots:
            return self._python.act(seat)
        self.show(state)
        return self._bots[seat](state)

    def show(self, state: State) -> None:
        """Show a turn of the person or of a bot to the partners that see every turn."""
        self._state = state
        self._python.show(np.array([state.current_player]))

    def end(self, state: State) -> None:
        """Show the open table of a game that has ended."""
        self._python.end(0, lambda game: state.copy())

    def _rows(self, games: Array, seats: Array, wanted: tuple[str, str, list[str]]) -> dict[str, Array]:
        """What seats see, as the Python players ask for it."""
        return self._state._rows(games, seats, wanted)

    def _view(self, game: int) -> View:
        """The view of the seat to act."""
        return self._state.view(self._state.current_player)


def advice(name: str, state: State, seat: int) -> int:
    """What a bot would do in a seat that is to act."""
    player = _Player(name)
    if player.cheats:
        raise StarmineError(f"bot={name!r} sees all hands: expected one that sees what this seat sees")
    return make_bot(player, state.variant, seat).act(state.view(seat))
