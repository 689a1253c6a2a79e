"""The turns of a data set in blocks of many games, shuffled, and split among readers.

The games of an epoch form one sequence: the row groups in a random order, and in each of them the games in
theirs. Each reader, such as a worker of a rank, takes an equal part of it. A reader cuts its part into windows of a few
row groups, shuffles the games of a window, and replays them in blocks. The turns of a block are shuffled, too, by an
order that the blocks of a window share, since they have different games. All orders are functions of the seed, the
epoch and the part, so that any block can be made again.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import StarmineError
from starmine.data.colors import color_permutations, permute_colors
from starmine.data.dataset import Dataset
from starmine.data.prefetch import ahead
from starmine.games.games import Games
from starmine.games.replay import AT_ONCE, ReplayedTurns, ReplaySettings, Rows

GROUPS_IN_A_WINDOW = 4
GAMES_IN_A_BLOCK = 2 * AT_ONCE
_GROUPS, _GAMES, _WINDOW, _TURNS, _COLORS = range(5)  # what is drawn, as part of a seed


@dataclass(frozen=True)
class Part:
    """A share of an epoch: one of `parts`, numbered from 0."""

    epoch: int
    part: int
    parts: int


# Games of a row group: its place, and which of its games in the order of the epoch.
Piece: TypeAlias = tuple[int, slice]


@dataclass(frozen=True)
class Window:
    """Games of a few row groups, in memory.

    Attributes:
        games: all games of the row groups.
        index: int64, their indices in the data set.
        order: int64, the positions in `games` of those to replay, in their order.
    """

    games: Games
    index: NDArray[np.int64]
    order: NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """The turns of some games, to be used until the next block is asked for: the arrays are written again.

    Attributes:
        window: number of the window, from 0.
        number: of the block in the window, from 0.
        turns: the turns of its games.
        order: int64, the order in which to use them.
    """

    window: int
    number: int
    turns: ReplayedTurns
    order: NDArray[np.int64]


@dataclass(frozen=True)
class TurnOrder:
    """How the turns of a data set are ordered.

    Attributes:
        data: the games.
        replay: how games become rows.
        shuffle: whether rows are mixed; otherwise games and turns come in their order.
        seed: of all orders and colours.
        permute_colors: whether each game gets other colours in each epoch.
    """

    data: Dataset
    replay: ReplaySettings
    shuffle: bool
    seed: int
    permute_colors: bool

    @property
    def games_at_once(self) -> int:
        """The number of games in a block."""
        seats = self.data.variant.players if self.replay.batch["observers"] == "all" else 1
        return GAMES_IN_A_BLOCK // seats

    def windows(self, part: Part) -> list[list[Piece]]:
        """The row groups of each window of a part."""
        groups = self.data.row_groups()
        places = self._order(len(groups), part.epoch, _GROUPS)
        sizes = np.array([groups[place].games for place in places.tolist()], np.int64)
        stops = np.cumsum(sizes)
        first, stop = (len(self.data) * number // part.parts for number in (part.part, part.part + 1))
        pieces = []
        for place, begin, end in zip(places.tolist(), (stops - sizes).tolist(), stops.tolist(), strict=True):
            if max(first, begin) < min(stop, end):
                pieces.append((place, slice(max(first, begin) - begin, min(stop, end) - begin)))
        width = GROUPS_IN_A_WINDOW if self.shuffle else 1
        return [pieces[start : start + width] for start in range(0, len(pieces), width)]

    def blocks(self, part: Part, window: int = 0, number: int = 0) -> Generator[Block, None, None]:
        """The blocks of a part in their order, from this one of this window on."""
        windows, made = self.windows(part), 0
        rooms: list[Rows] = [{}, {}]  # one is in use while the other one is written
        read = (self._read(pieces, part.epoch) for pieces in windows[window:])
        for place, games in enumerate(ahead(read), window):
            drawn = (part.epoch, part.part, part.parts, place)
            chosen = games.order[self._order(len(games.order), *drawn, _WINDOW)]
            starts = np.arange(0, len(chosen), self.games_at_once)
            most = int(np.add.reduceat(games.games.lengths[chosen], starts).max())  # turns of a block
            order = self._order(most, *drawn, _TURNS)
            for start in range(number * self.games_at_once, len(chosen), self.games_at_once):
                block = start // self.games_at_once
                at_once = chosen[start : start + self.games_at_once]
                turns = self._turns(games, at_once, part.epoch, rooms[made % 2])
                made += 1
                yield Block(place, block, turns, order[order < len(turns)] if self.shuffle else turns.in_order())
            number = 0

    def _order(self, count: int, *drawn: int) -> NDArray[np.int64]:
        """The numbers below `count`: shuffled by the seed and the numbers `drawn`, or in order."""
        if not self.shuffle:
            return np.arange(count)
        return np.random.default_rng([self.seed, *drawn]).permutation(count)

    def _read(self, pieces: list[Piece], epoch: int) -> Window:
        groups = self.data.row_groups()
        tables = [self.data.read(place, optional=False) for place, _ in pieces]
        index, order, held = [], [], 0
        for place, games in pieces:
            group = groups[place]
            index.append(group.first + np.arange(group.games))
            order.append(held + self._order(group.games, epoch, _GAMES, place)[games])
            held += group.games
        return Window(Games.concatenate(tables), np.concatenate(index), np.concatenate(order))

    def _turns(self, window: Window, chosen: NDArray[np.int64], epoch: int, room: Rows) -> ReplayedTurns:
        if self.shuffle:
            chosen = chosen[balanced(window.games.lengths[chosen])]
        games, index = window.games[chosen], window.index[chosen]
        if self.permute_colors:
            seed = np.random.SeedSequence([self.seed, epoch, _COLORS]).generate_state(1, np.uint64)[0]
            permutations = color_permutations(games.variant, int(seed), index)
            games = permute_colors(games, permutations)
        try:
            return ReplayedTurns.of(self.replay, games, index, room)
        except StarmineError as error:
            raise StarmineError(f"a game among {index.min()} to {index.max()} of {self.data!r}: {error}") from error


def balanced(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """An order of games, two for each row of a replay, in which all rows end at about the same time.

    Args:
        lengths: int64 (G,), numbers of turns.

    Returns:
        int64 (G,): the shorter half, the shortest first; then the longer half, the longest first.
    """
    order = np.argsort(lengths, kind="stable")
    half = -(-len(order) // 2)
    return np.concatenate([order[:half], order[half:][::-1]])
