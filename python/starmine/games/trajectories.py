"""Games as their decks and actions, from which everything else can be replayed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import (
    Batch,
    DeckError,
    IllegalActionError,
    StarmineError,
    State,
    Variant,
    _extra_outputs,
    _outcomes,
    _outputs,
    _Replay,
)
from starmine._util.equality import equal_by_value
from starmine._util.keywords import check_names
from starmine._util.numbers import check_number
from starmine.games.variants import card_texts

AT_ONCE = 4096  # games that are replayed side by side
OF_TURN = ("reward", "terminated")  # outputs of a turn; the others describe the position before it
EXTRA = tuple(_extra_outputs())  # outputs that depend on the observers, but not on the encoder
OUTPUTS = [name for name in _outputs() if name in OF_TURN or name in ("obs", "action_mask", "current_player", "score")]
OUTPUTS += EXTRA

OF_GAMES = ("action", "return_to_go", "game", "turn")  # outputs of a replay that a batch does not have
DEFAULT = ("obs", "action_mask", "action", "current_player", "reward", "return_to_go", "game", "turn")


def return_to_go(final_scores: NDArray[Any], game: NDArray[Any], score: NDArray[Any]) -> NDArray[np.float32]:
    """The points that turns and what follows them add: float32 (T,).

    Args:
        final_scores: (G,), of the games at their end.
        game: int64 (T,), the game of each turn.
        score: (T,), before each turn.
    """
    return np.take(final_scores, game, mode="clip").astype(np.float32) - score.astype(np.float32)


@equal_by_value
@dataclass(frozen=True, repr=False)
class Trajectories:
    """G games of T turns in all, as they were dealt and played.

    Attributes:
        variant: the rules.
        decks: uint8 (G, deck_size), the top card first, each card as its index `suit * ranks + rank`. Suit and rank
            count from 0; suits 0 to 4 are red, yellow, green, white and blue. There are `variant.colors` suits.
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
        return dict(zip(("decks", "start_players", "actions", "offsets"), self._arrays(), strict=True))

    def _arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
        return self.decks, self.start_players, self.actions, self.offsets

    def state(self, game: int, turn: int | None = None) -> State:
        """A game after some of its turns.

        Args:
            game: its index.
            turn: number of turns played, from 0 for the deal; None for all.

        Raises:
            StarmineError: there is no such game or turn.
            TypeError: one of them is not an integer.
            DeckError: the deck is not the variant's.
            IllegalActionError: an action is not legal. It is a `StarmineError`, as `DeckError` is.
        """
        check_number("game", game, 0, len(self) - 1)
        actions = self.actions[self.offsets[game] : self.offsets[game + 1]].tolist()
        if turn is not None:
            check_number("turn", turn, 0, len(actions))
        cards = card_texts(self.variant.colors, self.variant.ranks)
        for place in np.flatnonzero(self.decks[game] >= len(cards))[:1].tolist():
            card = self.decks[game][place]
            raise DeckError(f"deck[{place}]={card} is not a card of this variant: expected 0 to {len(cards) - 1}")
        deck = [cards[card] for card in self.decks[game].tolist()]
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
        """Play the games again, many at once, and collect an array for each output.

        `starmine.data.Dataset.replay` gives the same outputs of games on disk, of any number, in pieces.

        Args:
            outputs: of the position before a turn, "obs", "action_mask", "current_player", "score", "card_features",
                "marginals" and "own_hand", as a batch has them; of the turn, "reward", "terminated", "action"
                int64, "return_to_go" float32, the sum of the game's rewards from this turn on, "game" int64, its index,
                and "turn" int32, from 0. None for "obs", "action_mask", "action", "current_player", "reward",
                "return_to_go", "game" and "turn".
            **settings: `encoder`, `dtype`, `observers` and `num_threads`, as `Batch` takes them.

        Returns:
            An array (T, ...) for each of the outputs, and for no other name, in the order of `actions`: game after
            game, each from its deal to its last action.

        Raises:
            UnknownNameError: there is no such output, encoder or dtype.
            DeckError: a deck or a start player is not the variant's.
            StarmineError: a number is out of range, or an encoder, dtype or observers without an output that needs it.
            IllegalActionError: an action is not legal, or follows the end of its game; `rows` has the game's index.

        >>> import starmine
        >>> games = starmine.play_games(["smart", "smart"], games=8, record=True).trajectories
        >>> rows = games.replay(["obs", "reward"], dtype="bits")
        >>> rows["obs"].shape == (len(games.actions), 88)
        True
        """
        chosen = checked_outputs(outputs, [*OUTPUTS, *OF_GAMES])
        refuse_unused(chosen, **settings)
        needed = {"score", "reward"} if "return_to_go" in chosen else set()
        names = [name for name in OUTPUTS if name in chosen or name in needed]
        collected = self._collected(names, settings)
        return {name: collected[name] if name in collected else self._of_games(name, collected) for name in chosen}

    def _of_games(self, name: str, replayed: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """An output of `OF_GAMES`, given those of the batch; "return_to_go" needs "score" and "reward"."""
        game: NDArray[np.int64] = np.repeat(np.arange(len(self)), self.lengths)
        if name == "action":
            return self.actions.astype(np.int64)
        if name == "game":
            return game
        if name == "turn":
            return (np.arange(len(game)) - self.offsets[game]).astype(np.int32)
        if len(game) == 0:
            return np.zeros(0, np.float32)
        last = self.offsets[1:] - 1  # of a game without turns no row asks
        return return_to_go((replayed["score"] + replayed["reward"])[last], game, replayed["score"])

    def _collected(self, names: list[str], settings: dict[str, Any]) -> dict[str, NDArray[Any]]:
        """The outputs of a batch for all turns, in the order of `actions`."""
        collected: dict[str, NDArray[Any]] = {}
        if not names:
            self._check_actions()
            return {}
        if len(self.actions) == 0:
            extra = [name for name in EXTRA if name in names]
            buffers = Batch(self.variant, 1, extra_outputs=extra, **settings).allocate()
            return {name: buffers[name][:0] for name in names}
        for rows in self._rows(names, **settings):
            places = self.offsets[rows["game"]] + rows["turn"]
            for name in names:
                if name not in collected:
                    shape = (len(self.actions), *rows[name].shape[1:])
                    collected[name] = np.empty(shape, rows[name].dtype)
                collected[name][places] = rows[name]
        return collected

    def _rows(
        self,
        outputs: Sequence[str] | None = None,
        *,
        batch_size: int = AT_ONCE,
        encoder: str = "canonical",
        dtype: str = "float32",
        observers: str = "current",
        num_threads: int | None = None,
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Play up to `batch_size` games side by side and yield their turns, with the errors of `replay`.

        `outputs` are names of `OUTPUTS`; None for those of the default.
        Row i of n plays the games i, i + n, i + 2n and so on. Later rows are written to other memory.

        Yields:
            The outputs (R, ...) of R <= n games, with `action` int64 (R,), the action that was played, `game` int64
            (R,), its index, and `turn` int32 (R,), from 0. The last arrays are shorter: some rows end before others.
        """
        names = checked_outputs(outputs, OUTPUTS)
        refuse_unused(names, encoder=encoder, dtype=dtype, observers=observers)
        games = self._arrays()
        replay = _Replay(self.variant, *games, batch_size, names, encoder, dtype, observers, num_threads)
        return _rows(names, self, replay)

    def _check_actions(self) -> None:
        """Raise the error of the first game with an illegal action, if there is one."""
        *_, turns = _outcomes(self.variant, *self._arrays(), 1)
        for game in np.flatnonzero(turns < self.lengths).tolist():
            try:
                self.state(game)
            except IllegalActionError as error:
                named = IllegalActionError(f"game {game}, turn {turns[game]}: {error}")
                vars(named).update(vars(error), rows=[game])
                raise named from None

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


def checked_outputs(outputs: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The names of a replay's outputs, of those that are known; for None those of the default."""
    names = [name for name in DEFAULT if name in known] if outputs is None else list(outputs)
    check_names("output", names, known)
    return names


def refuse_unused(outputs: Sequence[str], **settings: Any) -> None:
    """Refuse settings of observations, other than the defaults, where no output depends on them.

    Raises:
        StarmineError: one of them would do nothing.
    """
    defaults = {"encoder": "canonical", "dtype": "float32", "observers": "current"}
    for name, default in defaults.items():
        value, users = settings.get(name, default), ["obs", *EXTRA] if name == "observers" else ["obs"]
        if value != default and not set(users) & set(outputs):
            needed = " or ".join(f'"{user}"' for user in users)
            raise StarmineError(f"{name}={value!r} without {needed} in outputs is not allowed: it would do nothing")


def _rows(names: Sequence[str], games: Trajectories, replay: _Replay) -> Iterator[dict[str, NDArray[Any]]]:
    """The rows of a replay. The core gives the outputs of a turn with those of the next position."""
    before, live = replay.step()
    while live:
        try:
            after, live_after = replay.step()
        except StarmineError:
            games._check_actions()
            raise
        rows = {name: (after if name in OF_TURN else before)[name] for name in names}
        rows |= {name: before[name] for name in ("action", "game", "turn")}
        if live < len(before["game"]):
            kept = np.flatnonzero(before["game"] >= 0)
            rows = {name: array[kept] for name, array in rows.items()}
        yield rows
        before, live = after, live_after
