"""Partners at a table: who plays the seats that no person holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from starmine._core import SeatedBot, StarmineError, State, Variant, View, _Player, make_bot
from starmine.games.actions import action_id
from starmine.games.players import cheats, resolve_player
from starmine.games.table import Fault, Moves, PythonPlayers


def _choice(player: _Player, variant: Variant, seat: int, seed: int, game: int) -> Callable[[State], int]:
    """How a bot of the core chooses in one seat. It needs no memory: a state holds the whole game."""
    if not cheats(player):
        make_bot(player, variant, seat)  # refuses a variant that the bot does not play
        return lambda state: SeatedBot._restored(player, variant, seat, seed, (game, state)).act(state.view(seat))
    variant.new_game(seed=0).suggest(player)  # refuses a variant that the bot does not play
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
        self._python = PythonPlayers(python, self._state, _raise, self._view)
        self._python.numbers_by_seat = self._python.numbers[None]

    def begin(self) -> None:
        """Forget the game, and begin one."""
        self._python.forget()
        self._python.begin(np.zeros(1, np.int64), np.array([self._seed], np.uint64), np.array([self._game], np.uint64))

    def choose(self, state: State) -> int:
        """Show a turn of a partner, and return its action id."""
        seat, shown = state.current_player, self.see(state)
        moves = shown()
        if seat in self._bots:
            return self._bots[seat](state)
        for _, _, move in moves.bots:
            return action_id(state.variant, move)
        return int(moves.actions[0])

    def see(self, state: State) -> Callable[[], Moves]:
        """What the partners see of a turn of anybody. The result is called once the turn is sure to be played."""
        self._state = self._python.games = state
        to_act = np.array([state.current_player])
        asked = self._python.look(to_act)
        return lambda: self._python.take(to_act, asked)

    def _view(self, game: int) -> View:
        """The view of the seat to act."""
        return self._state.view(self._state.current_player)

    def end(self, state: State) -> None:
        """Show the open table of a game that has ended."""
        self._python.end(0, lambda game: state)


def _raise(failed: Fault) -> None:
    """Raise what a player raised, or what is wrong with its move."""
    if failed.move is None:
        raise failed.error
    raise StarmineError(f"chose {failed.move}, {failed.error}")


def name_of(player: Any) -> str:
    """What a player is called at the table."""
    if isinstance(player, str):
        return player
    kind = player if isinstance(player, type) else type(player)
    return str(getattr(player, "bot", None) or getattr(player, "name", None) or kind.__name__)


def advice(name: str, state: State, seat: int) -> int:
    """What a bot would do in a seat that is to act."""
    player = _Player(name)
    if player.cheats:
        raise StarmineError(f"bot={name!r} sees all hands: expected one that sees what this seat sees")
    return make_bot(player, state.variant, seat).act(state.view(seat))
