"""Partners at a table: who plays the seats that no person holds."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from starmine._core import Move, StarmineError, State, Variant, bot, bots, make_bot
from starmine.players import Policy, cheats, policy_actions, policy_encoder, resolve_player


class Seat(Protocol):
    """A partner in one seat."""

    def choose(self, state: State) -> int:
        """The action id of the seat to act."""

    def begin(self) -> None:
        """Forget the game."""

    def choose_again(self, state: State) -> None:
        """Come to a turn that was played before some moves were taken back."""

    def end(self, state: State) -> None:
        """See the open table of a game that has ended."""


class _BotSeat:
    """A bot of the core, which knows the game from the view's history."""

    def __init__(self, name: str, variant: Variant, seat: int, seed: int) -> None:
        self._bot = make_bot(name, variant, seat, seed)
        self._seat = seat

    def choose(self, state: State) -> int:
        return self._bot.act(state.view(self._seat))

    def begin(self) -> None:
        """Nothing: each view holds the whole game."""

    def choose_again(self, state: State) -> None:
        """Nothing: each view holds the whole game."""

    def end(self, state: State) -> None:
        """Nothing: these bots do not learn."""


class _OpenSeat:
    """A bot that sees all hands, its own included."""

    def __init__(self, name: str, variant: Variant, seat: int, seed: int) -> None:
        variant.new_game(seed=0).suggest(name)  # refuses a variant that the bot does not play
        self._name, self._seed = name, seed

    def choose(self, state: State) -> int:
        return state.suggest(self._name, self._seed)

    def begin(self) -> None:
        """Nothing: the state holds the whole game."""

    def choose_again(self, state: State) -> None:
        """Nothing: the state holds the whole game."""

    def end(self, state: State) -> None:
        """Nothing: these bots do not learn."""


class _PythonSeat:
    """A `PythonBot`: a class, of which each game gets an object, or an object."""

    def __init__(self, player: Any, seat: int) -> None:
        self._player, self._seat = player, seat
        self._own: Any = None
        self.begin()

    def begin(self) -> None:
        self._own = self._player() if isinstance(self._player, type) else self._player

    def choose(self, state: State) -> int:
        move: int | str | Move = self._own.act(state.view(self._seat))
        return state.variant.action(move) if isinstance(move, str | Move) else int(move)

    def choose_again(self, state: State) -> None:
        self.choose(state)  # the bot may keep a memory of its own; its answer does not count

    def end(self, state: State) -> None:
        if callable(getattr(self._own, "end", None)):
            self._own.end(state.copy())


class _PolicySeat:
    """A `Policy`, which plays this one game."""

    def __init__(self, policy: Any, seat: int) -> None:
        self._policy, self._seat = policy, seat
        self._encoder = policy_encoder(policy, f"players[{seat}]")
        self._game = np.zeros(1, dtype=np.int64)

    def begin(self) -> None:
        if callable(getattr(self._policy, "reset", None)):
            self._policy.reset(self._game)

    def choose(self, state: State) -> int:
        observations = state.encode(self._seat, self._encoder)[None]
        return int(policy_actions(self._policy, observations, state.legal_action_mask()[None], self._game)[0])

    def choose_again(self, state: State) -> None:
        self.choose(state)  # a recurrent policy sees the turn again; its answer does not count

    def end(self, state: State) -> None:
        """Nothing: policies are not told."""


def seat_of(player: Any, variant: Variant, seat: int, seed: int) -> Seat:
    """A partner of anything that `play_games` takes as a player.

    Args:
        player: a bot's text, a policy, a `PythonBot` or a torch module.
        variant: the rules.
        seat: that it holds.
        seed: of a bot's random choices.

    Raises:
        UnknownNameError: there is no such bot or encoder.
        VariantError: the bot does not play the variant.
        StarmineError: the player is none of these.
    """
    resolved = resolve_player(player, f"players[{seat}]")
    if isinstance(resolved, str):
        return (_OpenSeat if cheats(resolved) else _BotSeat)(resolved, variant, seat, seed)
    return _PolicySeat(resolved, seat) if isinstance(resolved, Policy) else _PythonSeat(resolved, seat)


def name_of(player: Any) -> str:
    """What a player is called at the table."""
    if isinstance(player, str):
        return player
    kind = player if isinstance(player, type) else type(player)
    return str(getattr(player, "bot", None) or getattr(player, "name", None) or kind.__name__)


def advice(name: str, state: State, seat: int) -> int:
    """What a bot would do in a seat that is to act.

    Raises:
        UnknownNameError: there is no such bot.
        VariantError: the bot does not play the variant.
        StarmineError: the bot sees all hands, or another seat is to act.
    """
    if name in bots() and not bot(name).is_player:
        raise StarmineError(f"bot={name!r} sees all hands: expected one that sees what this seat sees")
    return make_bot(name, state.variant, seat).act(state.view(seat))
