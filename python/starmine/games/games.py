"""Games in memory: what was dealt and played, what came of it, and who sat where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import (
    ArrayError,
    DeckError,
    StarmineError,
    State,
    Variant,
    _take_actions,
)
from starmine._util.equality import equal_by_value
from starmine._util.numbers import check_number
from starmine.games.outcomes import outcomes
from starmine.games.replay import ReplaySettings
from starmine.games.roster import UNKNOWN, Roster, merge_rosters
from starmine.games.scores import ScoredGames, with_error
from starmine.games.variants import card_texts

Choice: TypeAlias = int | slice | Sequence[int] | NDArray[Any]  # of games

# The columns with a number, a text or a row for each game, and their dtypes. Those of OPTIONAL may be None.
COLUMNS: dict[str, Any] = {
    "decks": np.uint8,
    "start_players": np.uint8,
    "scores": np.int32,
    "fireworks": np.int32,
    "endings": np.uint8,
    "players": np.int16,
    "number": np.uint64,
    "seed": np.uint64,
    "index": np.uint64,
    "episode": np.uint64,
    "names": np.object_,
    "failures": np.object_,
}
DEAL = ("seed", "index", "episode")
TEXTS = ("names", "failures")
OPTIONAL = (*DEAL, *TEXTS)
OF_TURNS = ("search_values", "search_errors")  # columns of float32 with a number for each turn and action, or None


@equal_by_value
@dataclass(frozen=True, repr=False)
class Games(ScoredGames):
    """G games of T turns in all.

    `games[3]`, `games[:20]` and `games[games.scores == 25]` are `Games`, too. `starmine.data.Dataset` has the
    outcomes, the means and `state` of games on disk.

    Attributes:
        variant: the rules.
        decks: uint8 (G, deck_size), the top card first, each card as its index `suit * ranks + rank`. Suit and rank
            count from 0; suits 0 to 4 are red, yellow, green, white and blue. There are `variant.colors` suits.
        start_players: uint8 (G,), the seats that started.
        actions: uint8 (T,), the action ids, game after game.
        offsets: int64 (G + 1,); game g has the actions `actions[offsets[g]:offsets[g + 1]]`.
        scores: int32 (G,), by the variant's rules: the sum of a game's rewards. If `scores`, `fireworks` or `endings`
            is not given, all three are counted by playing the games again.
        fireworks: int32 (G,), the sum of the fireworks, whatever the ending.
        endings: uint8 (G,), code k stands for `starmine.endings()[k - 1]`; 0 for a game without an ending.
        players: int16 (G, P), for each of the P seats a row of `roster`.
        roster: a tuple of `RosterPlayer`s, who have a `name`; if they are not known, a single "unknown".
        number: uint64 (G,), the number of each game in its source; 0, 1, ... if it is not given.
        seed: uint64 (G,), of the decks: `variant.new_game(seed, game=index, episode=episode)` deals a game. None for
            games that this package did not deal.
        index: uint64 (G,), which game of the seed, or None.
        episode: uint64 (G,), which episode of this game, or None.
        names: texts (G,), names that the source gave the games, "" for none; None if no game has one.
        failures: texts (G,), why a game was given up, "" for other games; None if no player failed.
        search_values: float32 (T, A), for each action the mean score of its roll-outs, if a search chose the move of
            this turn; `nan` for an action that was not searched. `play_games` and `generate` keep it if bots hold all
            seats and one of them is a search, such as "search: smart". Else None.
        search_errors: float32 (T, A), the standard errors of these means, or None.
        suits: what the source called the suits, such as hanab.live's ("red", "yellow", "green", "blue", "purple");
            empty if they have our names.

    Raises:
        ArrayError: a column has another shape or a number that its dtype does not hold, `offsets` are not the ranges of
            `actions`, or `players` has a row that `roster` has not.
        IllegalActionError: a game whose outcome is counted breaks the rules; `rows` has its index.
        DeckError: a deck that is counted is not the variant's.
    """

    variant: Variant
    decks: NDArray[np.uint8]
    start_players: NDArray[np.uint8]
    actions: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    scores: NDArray[np.int32] = None  # type: ignore[assignment]
    fireworks: NDArray[np.int32] = None  # type: ignore[assignment]
    endings: NDArray[np.uint8] = None  # type: ignore[assignment]
    players: NDArray[np.int16] = None  # type: ignore[assignment]
    roster: Roster = UNKNOWN
    number: NDArray[np.uint64] = None  # type: ignore[assignment]
    seed: NDArray[np.uint64] | None = None
    index: NDArray[np.uint64] | None = None
    episode: NDArray[np.uint64] | None = None
    names: NDArray[np.object_] | None = None
    failures: NDArray[np.object_] | None = None
    search_values: NDArray[np.float32] | None = None
    search_errors: NDArray[np.float32] | None = None
    suits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Count the outcomes where they are not given, and bring all columns to their dtypes."""
        games, turns, seats = len(self.decks), len(self.actions), self.variant.players
        columns = {name: getattr(self, name) for name in COLUMNS}
        shapes = {"decks": (games, self.variant.deck_size), "players": (games, seats)}
        for name in ("decks", "start_players"):
            self._set(name, columns.pop(name), COLUMNS[name], shapes.get(name, (games,)))
        self._set("actions", np.ascontiguousarray(self.actions), np.uint8, (turns,))
        self._set("offsets", np.ascontiguousarray(self.offsets), np.int64, (games + 1,))
        ends = self.offsets
        if ends[0] != 0 or ends[-1] != turns or (ends[1:] < ends[:-1]).any():
            raise ArrayError(
                f"offsets are no ranges of the {turns} actions: expected ascending numbers from 0 to {turns}"
            )
        if any(columns[name] is None for name in ("scores", "fireworks", "endings")):
            counted = outcomes(self, 1)
            counted.refuse(self)
            columns |= {name: getattr(counted, name) for name in ("scores", "fireworks", "endings")}
        if columns["players"] is None:
            columns["players"] = np.zeros((games, seats), np.int16)
        if columns["number"] is None:
            columns["number"] = np.arange(games, dtype=np.uint64)
        for name, column in columns.items():
            if column is not None:
                self._set(name, column, COLUMNS[name], shapes.get(name, (games,)))
        if games and not (self.players.min() >= 0 and self.players.max() < len(self.roster)):
            raise ArrayError(f"players has a row that is not in the roster: expected 0 to {len(self.roster) - 1}")
        for name, column in self.of_turns().items():
            self._set(name, column, np.float32, (turns, self.variant.num_actions))

    def _set(self, name: str, column: Any, dtype: Any, shape: tuple[int, ...]) -> None:
        array = np.asarray(column)
        if array.shape != shape:
            raise ArrayError(f"{name} has shape {array.shape}: expected {shape}")
        is_integer = np.issubdtype(array.dtype, np.integer) and np.issubdtype(dtype, np.integer)
        try:
            cast = array.astype(dtype, copy=False, casting="unsafe" if is_integer or not array.size else "same_kind")
        except TypeError as error:
            raise ArrayError(f"{name} has dtype {array.dtype}: expected {np.dtype(dtype)}") from error
        if is_integer and (cast != array).any():
            raise ArrayError(f"{name} has a number that {np.dtype(dtype)} does not hold")
        object.__setattr__(self, name, cast)

    def played(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
        """The arrays `decks`, `start_players`, `actions` and `offsets`. They suffice to replay the games."""
        return self.decks, self.start_players, self.actions, self.offsets

    def of_turns(self) -> dict[str, NDArray[np.float32]]:
        """The columns `search_values` and `search_errors` by name; a column that is None is left out."""
        return {name: getattr(self, name) for name in OF_TURNS if getattr(self, name) is not None}

    def _columns(self) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.object_] | None]:
        return self.scores, self.endings, self.failures

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of turns of each game: int64 (G,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        """Number of games."""
        return len(self.decks)

    def __getitem__(self, games: Choice) -> Games:
        """Some of the games: one, a slice, or those of indices or a mask, as numpy selects them.

        Raises:
            IndexError: there is no such game.
        """
        held = {name: getattr(self, name) for name in COLUMNS}
        if isinstance(games, slice) and games.step in (None, 1):
            first, stop, _ = games.indices(len(self))
            stop = max(first, stop)
            chosen: Any = slice(first, stop)
            offsets = self.offsets[first : stop + 1]
            turns: Any = slice(offsets[0], offsets[-1])
            actions, offsets = self.actions[turns], offsets - offsets[0]
        else:
            chosen = chosen_indices(games, len(self))
            actions = _take_actions(self.actions, self.offsets, chosen)
            offsets = np.concatenate([[0], np.cumsum(self.lengths[chosen])])
            turns = places_of_turns(self.offsets, chosen) if self.of_turns() else None
        columns: dict[str, Any] = {name: None if each is None else each[chosen] for name, each in held.items()}
        columns |= {name: column[turns] for name, column in self.of_turns().items()}
        return replace(self, **columns, actions=actions, offsets=offsets)

    @staticmethod
    def concatenate(parts: Sequence[Games]) -> Games:
        """The games of several, in their order.

        A column that is None in one of the parts is None in the result, except that games without `names` or
        `failures` get "". Suits that are not the same everywhere are left out.

        Raises:
            StarmineError: there are none, or their rules differ.
        """
        if not parts or any(part.variant != parts[0].variant for part in parts):
            raise StarmineError("only games of the same rules can be joined, and of one part at least")
        if len(parts) == 1:
            return parts[0]
        roster, rows = merge_rosters([part.roster for part in parts])
        columns: dict[str, Any] = {}
        for name in (*COLUMNS, *OF_TURNS):
            held = [getattr(part, name) for part in parts]
            if name in TEXTS and any(column is not None for column in held):
                empty = [np.full(len(part), "", np.object_) for part in parts]
                held = [other if column is None else column for column, other in zip(held, empty, strict=True)]
            columns[name] = None if any(column is None for column in held) else np.concatenate(held)
        columns["players"] = np.concatenate([of[part.players] for of, part in zip(rows, parts, strict=True)])
        lengths = np.concatenate([part.lengths for part in parts])
        return Games(
            parts[0].variant,
            actions=np.concatenate([part.actions for part in parts]),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            roster=roster,
            suits=common_suits([part.suits for part in parts]),
            **columns,
        )

    def state(self, game: int, turn: int | None = None) -> State:
        """A game after some of its turns.

        Args:
            game: its index.
            turn: number of turns played, from 0 for the deal; None for all.

        Raises:
            StarmineError: there is no such game or turn.
            DeckError: the deck is not the variant's.
            IllegalActionError: an action is not legal. It is a `StarmineError`, as `DeckError` is.
        """
        game = check_number("game", game, 0, len(self) - 1)
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

    def replay(
        self,
        outputs: Sequence[str] | None = None,
        encoder: str = "canonical",
        dtype: str = "float32",
        observers: str = "current",
        num_threads: int | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Play the games again, many at once, and collect an array for each output.

        `starmine.data.Dataset.replay` gives the same outputs of games on disk, of any number, in pieces.

        Args:
            outputs: of the position before a turn, "obs", "action_mask", "current_player" int32, "score" int32,
                "card_features", "public_marginals" and "own_hand", as a batch has them; of the turn, "reward" float32,
                "terminated" bool, "action" int64, "return_to_go" float32, the sum of the game's rewards from this turn
                on, "turn" int32, from 0, "game" int64, the game's index, "number" int64, its `number`, and "player"
                int16, the row in `roster` of the player who acts. None for "obs", "action_mask", "action",
                "current_player", "reward", "return_to_go", "game" and "turn".
            encoder: of the observations, as `Batch` takes it.
            dtype: of the observations, as `Batch` takes it.
            observers: "current" for the seat to act, "all" for every seat.
            num_threads: of the replay; None for one for each 1,024 games that are replayed side by side.

        Returns:
            An array (T, ...) for each of the outputs, and for no other name, in the order of `actions`: game after
            game, each from its deal to its last action.

        Raises:
            UnknownNameError: there is no such output, encoder or dtype.
            DeckError: a deck or a start player is not the variant's.
            StarmineError: a number is out of range, or `encoder`, `dtype` or `observers` is given and no output uses
                it.
            IllegalActionError: an action is not legal, or follows the end of its game; `rows` has the game's index.

        >>> import starmine
        >>> games = starmine.play_games(["smart", "smart"], games=8)
        >>> rows = games.replay(["obs", "reward"], dtype="bits")
        >>> rows["obs"].shape == (len(games.actions), 88)
        True
        """
        settings = {"encoder": encoder, "dtype": dtype, "observers": observers, "num_threads": num_threads}
        replay = ReplaySettings.of(outputs, **settings)
        replay.check(self.variant)
        return replay.rows(self)

    def __repr__(self) -> str:
        """Number of games, mean score and its standard error."""
        games = "1 game" if len(self) == 1 else f"{len(self):,} games"
        return f"<{games}: mean score {with_error(self.mean, self.standard_error, digits=3)}>"


def common_suits(suits: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What all games call the suits; empty where they differ."""
    return suits[0] if len(set(suits)) == 1 else ()


def chosen_indices(games: Choice, count: int) -> NDArray[np.int64]:
    """The indices of the games that numpy would select among `count`, by an index, a slice, indices or a mask.

    They are int64 (K,).
    """
    if isinstance(games, slice):
        return np.arange(*games.indices(count))
    given = np.asanyarray(games)
    if isinstance(given, np.ma.MaskedArray):
        raise IndexError("games is a masked array: expected one without a mask")
    if given.dtype == np.bool_:
        if given.shape != (count,):
            raise IndexError(f"games is a mask of shape {given.shape}: expected {(count,)}")
        return np.flatnonzero(given)
    if given.size == 0:
        return np.empty(0, np.int64)
    if given.ndim > 1 or not np.issubdtype(given.dtype, np.integer):
        raise IndexError(f"games has shape {given.shape} and dtype {given.dtype}: expected indices, a slice or a mask")
    wrong = (given < -count) | (given >= count)
    if wrong.any():
        raise IndexError(f"there is no game {given[wrong].flat[0] if given.ndim else given}: there are {count}")
    chosen = np.atleast_1d(given).astype(np.int64)
    return np.where(chosen < 0, chosen + count, chosen)


def places_of_turns(offsets: NDArray[np.int64], games: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Where the turns of some games, given their indices (K,), stand among those of all: int64, game after game."""
    starts, lengths = offsets[games], offsets[1:][games] - offsets[games]
    shifts = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shifts, lengths) + np.arange(lengths.sum())
