"""Stored games as shuffled minibatches of tensors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from starmine._core import StarmineError
from starmine._util.copies import CopiedWhole
from starmine._util.keywords import check_names
from starmine._util.numbers import check_number
from starmine.data.dataset import Dataset
from starmine.data.decks import evaluation_decks
from starmine.data.files import Paths
from starmine.data.prefetch import ahead
from starmine.data.shuffle import Part, TurnOrder
from starmine.games.replay import ReplaySettings, Rows
from starmine.torch.unpack import unpack_bits


class TensorRows(dict[str, Tensor]):
    """A minibatch: by name a tensor of rows for each output."""


def _refuse_batches(minibatches: Sequence[TensorRows], **_: Any) -> NoReturn:
    """Refuse to make a batch of minibatches."""
    raise StarmineError(
        f"DataLoader(batch_size={len(minibatches)}) is not allowed: a GamesDataset makes the batches itself. "
        "Expected batch_size=None"
    )


default_collate_fn_map[TensorRows] = _refuse_batches

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "uint8": torch.uint8,
    "bits": None,
}
STATE = ("epoch", "position", "part", "data", "order")  # what a state has
_START = (0, 0, 0)  # window, block, row
WATCHED = 1000  # games that are compared with those of evaluations


class GamesDataset(CopiedWhole, IterableDataset[TensorRows]):
    """Minibatches of turns of stored games, each turn once an epoch.

    A `DataLoader` of it needs `batch_size=None`: `DataLoader(GamesDataset("games"), batch_size=None, num_workers=2)`.
    Each item is a minibatch: a dictionary with a tensor of n rows, one row for each turn, for each output. By default
    these are "obs" (n, D), "action_mask" bool (n, A), "action" int64 (n,), "current_player", "reward", "return_to_go",
    "game" and "turn"; `starmine.data.Dataset.replay` describes all outputs and has their dtypes.

    Mixing: the order of the row groups is drawn for each epoch. The games of four row groups, at most 262,144 games in
    files of this package, are shuffled together. They are replayed in blocks, and all turns of a block are shuffled. A
    block has 4,096 games; with `observers="all"`, 4,096 divided by the number of seats. A minibatch of 4,096 rows
    therefore has about one turn from each game of a block, from early in the game to late. No two blocks share a game.
    Two blocks are in memory; with "public_marginals" of two players they take 0.5 GB.

    Each worker of each rank reads its own share of the games. The shares differ by at most one game; the numbers of
    turns, and of minibatches, differ a little more. The class does not equalise them: if all ranks must take the same
    number of steps, as with DistributedDataParallel, agree on a number and stop there.

    The order of the turns is a function of the data set, the seed, the epoch and the numbers of workers and ranks,
    under one version of numpy. `state_dict` returns the place in this order: after `load_state_dict` the minibatches
    are the same, to the bit, as without the interruption. A plain `DataLoader` with workers cannot be resumed in this
    way, since the workers run ahead and it does not save their states. torchdata's `StatefulDataLoader` saves them.

    It warns if some of the first 1,000 games have decks of evaluations, see `starmine.data.evaluation_decks`.

    Args:
        data: a `Dataset`, also a view of one, or the path of one.
        batch_size: rows of a minibatch. The last minibatch of each worker may be shorter.
        encoder: of the observations, one of `starmine.encoders()`.
        dtype: of the observations: "float32", "bfloat16", "float16", "uint8", or "bits" for packed rows, which
            `starmine.torch.unpack_bits` unpacks on any device.
        observers: "current" for the seat to act, "all" for every seat.
        outputs: names as `Dataset.replay` takes them; None for its first eight.
        shuffle: whether to mix; otherwise games and turns come in their order.
        seed: of the order and the colours, from 0.
        permute_colors: whether each game is shown in other colours in each epoch; exact, see
            `starmine.data.permute_colors`.
        drop_last: whether to leave out a shorter last minibatch.
        pin_memory: whether the tensors lie in pinned memory; None: if CUDA is available. Tensors of workers never do;
            the `DataLoader` can pin them (its `pin_memory`).
        rank: of this process; None for its rank in torch.distributed, or 0 if that is not initialized.
        world_size: number of processes that share the games; None as for `rank`. Both are given, or neither.
        num_threads: of the replay; further threads read and replay ahead.

    Raises:
        UnknownNameError: there is no such output, encoder, dtype or observer.
        TypeError: a number is not an integer.
        StarmineError: a number is out of its range; an encoder, dtype or observers without an output that they are
            for; or memory is to be pinned where there is no CUDA device.
        FileNotFoundError, DamagedFileError: as `Dataset`.
        ImportError: pyarrow is not installed.
    """

    def __init__(
        self,
        data: Dataset | Paths,
        batch_size: int = 4096,
        *,
        encoder: str = "canonical",
        dtype: str = "float32",
        observers: str = "current",
        outputs: Sequence[str] | None = None,
        shuffle: bool = True,
        seed: int = 0,
        permute_colors: bool = False,
        drop_last: bool = False,
        pin_memory: bool | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        num_threads: int = 1,
    ) -> None:
        super().__init__()
        check_names("dtype", [dtype], DTYPES)
        self.data = data if isinstance(data, Dataset) else Dataset(data)
        self.batch_size = check_number("batch_size", batch_size, 1)
        self.rank, self.world_size = _place(rank, world_size)
        if pin_memory and not torch.cuda.is_available():
            raise StarmineError("pin_memory=True is not allowed: there is no CUDA device")
        self._dtype, self._drop_last = DTYPES[dtype], drop_last
        self._pin_memory = torch.cuda.is_available() if pin_memory is None else pin_memory
        settings = {"encoder": encoder, "dtype": dtype, "observers": observers, "num_threads": num_threads}
        replay = ReplaySettings.of(outputs, **settings)
        replay = replace(replay, batch=replay.batch | {"dtype": "bits"})  # unpacked to `dtype` in each minibatch
        replay.check(self.data.variant)
        self._blocks = TurnOrder(self.data, replay, shuffle, check_number("seed", seed, 0), permute_colors)
        self._features = len(self.data.variant.layout(encoder))
        first = self.data.read(0, optional=False)[:WATCHED] if len(self.data) else None
        if first is not None and (count := int(evaluation_decks(first).sum())):
            warnings.warn(
                f"{count:,} of the first {len(first):,} games of {self.data} have decks of evaluations: a policy that "
                "learns from them has seen the decks that it is evaluated on",
                stacklevel=2,
            )
        # Shared with the workers of a DataLoader, so that those that stay alive learn of a new epoch.
        self._epoch: Tensor = torch.zeros((), dtype=torch.int64)
        self._epoch.share_memory_()  # type: ignore[no-untyped-call]
        self._position, self._resumed = _START, False
        self._part: tuple[int, int] | None = None  # number and count of the parts, once it is known

    @property
    def epoch(self) -> int:
        """The epoch of the next iteration, 0 at first. Only `set_epoch` and `load_state_dict` change it."""
        return int(self._epoch)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration, and so its order. Call it before each epoch.

        If `load_state_dict` restored a place in another epoch, that place is forgotten.

        Raises:
            StarmineError: a negative number.
        """
        check_number("epoch", epoch, 0)
        if epoch != self.epoch:
            self._position, self._resumed = _START, False
        self._epoch.fill_(epoch)

    def __iter__(self) -> Iterator[TensorRows]:
        """The minibatches of the epoch, or the rest of them after `load_state_dict`.

        Raises:
            StarmineError: a game breaks the rules, or the state is of another worker or rank.
            FileNotFoundError, DamagedFileError: as `Dataset.read`.
        """
        number, parts = self._reader()
        if self._resumed and self._part not in (None, (number, parts)):
            raise StarmineError(f"the state is of reader {self._part}: expected {(number, parts)}, (number, count)")
        position = self._position if self._resumed else _START
        self._part, self._position, self._resumed = (number, parts), position, False
        return self._minibatches(Part(self.epoch, number, parts), position)

    def _minibatches(self, part: Part, position: tuple[int, int, int]) -> Iterator[TensorRows]:
        window, number, row = position
        pieces: list[Rows] = []
        missing = self.batch_size
        for block in ahead(self._blocks.blocks(part, window, number)):
            while row < len(block.order):
                chosen = block.order[row : row + missing]
                pieces.append(block.turns.rows(chosen))
                missing -= len(chosen)
                row += len(chosen)
                place = (block.window, block.number, row)
                if missing == 0:
                    self._position = place
                    yield self._tensors(pieces)
                    pieces, missing = [], self.batch_size
            row = 0
        if pieces and not self._drop_last:
            self._position = place
            yield self._tensors(pieces)

    def _tensors(self, pieces: list[Rows]) -> TensorRows:
        """A minibatch of rows that come in one or several pieces."""
        pinned, tensors = self._pin_memory and get_worker_info() is None, TensorRows()
        for name, first in pieces[0].items():
            array = first if len(pieces) == 1 else np.concatenate([piece[name] for piece in pieces])
            if name == "obs" and self._dtype is not None:
                out = torch.empty((*array.shape[:-1], self._features), dtype=self._dtype, pin_memory=pinned)
                tensors[name] = unpack_bits(array, self._features, out=out)
            else:
                tensors[name] = torch.from_numpy(array).pin_memory() if pinned else torch.from_numpy(array)
        return tensors

    # --- State -----------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The place after the latest minibatch, with the epoch, the data set and the settings that decide the order.

        It is a dictionary of plain numbers and text. Each worker has its own state, which `StatefulDataLoader` keeps.
        """
        data = {"content": self.data.fingerprint, "name": str(self.data)}
        place = {"epoch": self.epoch, "position": list(self._position), "part": self._part}
        return {**place, "data": data, "order": self._order()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue after the minibatch at which the state was taken.

        Raises:
            StarmineError: the state is of another data set, or of other settings that decide the order, or none that
                `state_dict` returned.
        """
        missing = [name for name in STATE if name not in state] if isinstance(state, Mapping) else STATE
        if missing:
            raise StarmineError(f"the state has no {', '.join(missing)}: expected one that state_dict returned")
        data, order = ({**state[name]} if isinstance(state[name], Mapping) else {} for name in ("data", "order"))
        if data.get("content") != self.data.fingerprint:
            given = f"{data.get('name')} (fingerprint {str(data.get('content'))[:16]})"
            expected = f"{self.data} (fingerprint {self.data.fingerprint[:16]})"
            raise StarmineError(f"the state is of another data set, {given}: expected {expected}")
        ours = self._order()
        wrong = [name for name, value in ours.items() if order.get(name) != value]
        if wrong:
            told = ", ".join(f"{name}={order.get(name)!r}, expected {ours[name]!r}" for name in wrong)
            raise StarmineError(f"the state does not fit: {told}")
        window, block, row = (check_number("position", number, 0) for number in state["position"])
        epoch, part = check_number("epoch", state["epoch"], 0), state["part"]
        self._epoch.fill_(epoch)
        self._part = None if part is None else tuple(part)
        self._position, self._resumed = (window, block, row), True

    def _order(self) -> dict[str, Any]:
        """What decides the order of the rows, besides the data set."""
        blocks = self._blocks
        return {
            "seed": blocks.seed,
            "shuffle": blocks.shuffle,
            "permute_colors": blocks.permute_colors,
            "games_at_once": blocks.games_at_once,
            "batch_size": self.batch_size,
        }

    def _reader(self) -> tuple[int, int]:
        """The number of this reader among those of all ranks and workers, and how many they are."""
        worker = get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        return self.rank * workers + number, self.world_size * workers


def _place(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """The rank of this process and the number of processes."""
    for name, value, other in (("rank", rank, world_size), ("world_size", world_size, rank)):
        if value is not None and other is None:
            needed = "world_size" if name == "rank" else "rank"
            why = "several processes would read the same share"
            raise StarmineError(f"{name}={value} without {needed} is not allowed: {why}. Expected both or neither")
    known = dist.is_available() and dist.is_initialized()
    count = (dist.get_world_size() if known else 1) if world_size is None else check_number("world_size", world_size, 1)
    number = (dist.get_rank() if known else 0) if rank is None else check_number("rank", rank, 0)
    if number >= count:
        raise StarmineError(f"rank={number} is not allowed: expected at most {count - 1}, since world_size is {count}")
    return number, count
