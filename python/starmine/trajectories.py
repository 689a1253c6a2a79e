"""Games as their decks and actions, from which everything else can be replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, IllegalActionError, StarmineError, State, Variant, _outputs, _unknown_name

AT_ONCE = 4096  # games that are replayed together
LETTERS = "RYGWBM"  # of the suits, in every edition
OF_TURN = ("reward", "terminated")  # outputs of a turn; the others describe the position before it
OUTPUTS = [name for name in _outputs() if name in OF_TURN or name in ("obs", "action_mask", "current_player", "score")]


@dataclass(frozen=True, repr=False)
class Trajectories:
    """G games of T turns in all, as they were dealt and played.

    Attributes:
        variant: the rules.
        decks: uint8 (G, deck_size), for each card suit * ranks + rank, the top card first.
        start_players: uint8 (G,), the seats that started.
        actions: uint8 (T,), game after game.
        offsets: int64 (G + 1,); game g has the actions `actions[offsets[g]:offsets[g + 1]]`.
    """

    variant: Variant
    decks: NDArray[np.uint8]
    start_players: NDArray[np.uint8]
    actions: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """Number of games."""
        return len(self.decks)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of turns of each game: int64 (G,)."""
        return np.diff(self.offsets)

    def __getitem__(self, games: int | slice | Sequence[int] | NDArray[Any]) -> Trajectories:
        """Some of the games: one, a slice, or those of indices or a mask, as numpy selects them.

        Raises:
            IndexError: there is no such game.
        """
        if isinstance(games, slice) and games.step in (None, 1):
            first, stop, _ = games.indices(len(self))
            offsets = self.offsets[first : max(first, stop) + 1]
            actions = self.actions[offsets[0] : offsets[-1]]
            decks, starts = self.decks[first:stop], self.start_players[first:stop]
            return Trajectories(self.variant, decks, starts, actions, offsets - offsets[0])
        chosen = np.atleast_1d(np.arange(len(self))[games])
        return Trajectories(
            self.variant,
            self.decks[chosen],
            self.start_players[chosen],
            self.actions[ragged_places(self.offsets, chosen)],
            np.concatenate([[0], np.cumsum(self.lengths[chosen])]).astype(np.int64),
        )

    @staticmethod
    def concatenate(parts: Sequence[Trajectories]) -> Trajectories:
        """The games of several, in their order.

        Raises:
            StarmineError: there are none, or their rules differ.
        """
        if not parts or any(part.variant != parts[0].variant for part in parts):
            raise StarmineError("only games of the same rules can be joined, and of one part at least")
        lengths = np.concatenate([part.lengths for part in parts])
        return Trajectories(
            parts[0].variant,
            np.concatenate([part.decks for part in parts]),
            np.concatenate([part.start_players for part in parts]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        )

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {
            "decks": self.decks,
            "start_players": self.start_players,
            "actions": self.actions,
            "offsets": self.offsets,
        }

    def state(self, game: int, turn: int | None = None) -> State:
        """A game after some of its turns.

        Args:
            game: its index.
            turn: number of turns played, from 0 for the deal; None for all.

        Raises:
            StarmineError: there is no such game or turn.
            DeckError: the deck is not the variant's.
            IllegalActionError: an action is not legal.
        """
        if not 0 <= game < len(self):
            raise StarmineError(f"game={game} is not allowed: expected 0 to {len(self) - 1}")
        actions = self.actions[self.offsets[game] : self.offsets[game + 1]].tolist()
        if turn is not None and not 0 <= turn <= len(actions):
            raise StarmineError(f"turn={turn} is not allowed: expected 0 to {len(actions)}")
        ranks = self.variant.ranks
        deck = [f"{LETTERS[card // ranks]}{card % ranks + 1}" for card in self.decks[game].tolist()]
        state = self.variant.new_game(deck=deck, start_player=int(self.start_players[game]))
        for action in actions[:turn]:
            state.apply(action)
        return state

    def observations(self, **settings: Any) -> NDArray[Any]:
        """What the seat to act, or every seat, saw before each turn.

        Args:
            **settings: `encoder`, `dtype`, `observers` and `num_threads`, as `Batch` takes them.

        Returns:
            The observations (T, D), or (T, players, D) with `observers="all"`.

        Raises:
            As `replay`.
        """
        return self.replay(["obs"], **settings)["obs"]

    def replay(self, outputs: Sequence[str] | None = None, **settings: Any) -> dict[str, NDArray[Any]]:
        """Play the games again, many at once, and collect what a batch gives for each turn.

        Args:
            outputs: names of a batch's outputs: those of the position before the turn, such as "obs", "action_mask",
                "current_player" and "score"; and those of the turn itself, "reward" and "terminated". None for "obs",
                "action_mask", "current_player" and "reward".
            **settings: `encoder`, `dtype`, `observers` and `num_threads`, as `Batch` takes them.

        Returns:
            An array (T, ...) for each output, in the order of `actions`.

        Raises:
            UnknownNameError: there is no such output, encoder or dtype.
            DeckError: a deck is not the variant's.
            StarmineError: an action is not legal, or a game ends before its last action.
        """
        names = ("obs", "action_mask", "current_player", "reward") if outputs is None else outputs
        for name in names:
            if name not in OUTPUTS:
                raise _unknown_name("output", str(name), OUTPUTS)
        if len(self) == 0:
            buffers = Batch(self.variant, 1, **settings).allocate()
            return {name: buffers[name][:0] for name in names}
        collected: dict[str, NDArray[Any]] = {}
        for first in range(0, len(self), AT_ONCE):
            self._replay_some(slice(first, first + AT_ONCE), names, settings, collected)
        return collected

    def _replay_some(
        self, games: slice, names: Sequence[str], settings: dict[str, Any], collected: dict[str, NDArray[Any]]
    ) -> None:
        """Replay neighbouring games and write what was asked for into the arrays, which are made by the first call."""
        starts, lengths = self.offsets[:-1][games], self.lengths[games]
        batch = Batch(self.variant, len(lengths), **settings)
        buffers = batch.reset(decks=self.decks[games], start_players=self.start_players[games])
        for name in names:
            shape = (len(self.actions), *buffers[name].shape[1:])
            collected.setdefault(name, np.empty(shape, buffers[name].dtype))
        for turn in range(lengths.max(initial=0)):
            live = np.flatnonzero(lengths > turn)
            places = starts[live] + turn
            for name in names:
                if name not in OF_TURN:
                    collected[name][places] = buffers[name][live]
            actions = buffers["action_mask"].argmax(axis=1)  # any legal one in games that have ended
            actions[live] = self.actions[places]
            try:
                batch.step_into(actions, **buffers)
            except IllegalActionError as error:
                game = games.start + error.rows[0]
                raise StarmineError(f"game {game}, turn {turn}: action {error.actions[0]} is not legal") from error
            for name in names:
                if name in OF_TURN:
                    collected[name][places] = buffers[name][live]
            early = live[buffers["terminated"][live] & (lengths[live] > turn + 1)]
            if len(early):
                game = games.start + early[0]
                raise StarmineError(f"game {game} ends after {turn + 1} turns: it has {lengths[early[0]]} actions")

    def __repr__(self) -> str:
        """Number of games and turns."""
        return f"<Trajectories of {len(self)} games, {len(self.actions)} turns: {self.variant}>"


def ragged_places(offsets: NDArray[np.int64], games: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Where the turns of some games stand among those of all.

    Args:
        offsets: int64 (G + 1,), where each game begins.
        games: integers (K,), indices of games.

    Returns:
        The places, int64, game after game.
    """
    starts, lengths = offsets[games], offsets[1:][games] - offsets[games]
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(lengths.sum())
