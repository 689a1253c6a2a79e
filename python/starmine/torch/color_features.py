"""The inputs of a `ColorNetwork`: observations as rows of numbers by colour, computed on the observation's device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from starmine._core import StarmineError, Variant, _ColorFeatures
from starmine._util.keywords import check_names
from starmine.torch.unpack import unpack_bits

BELIEFS = ("slots", "hands")

_ARRAYS = {torch.float32: np.float32, torch.float16: np.float16, torch.bfloat16: np.uint16}  # numpy has no bfloat16


class ColorFeatures:
    """Observations as one row of numbers for each colour, all with the same layout, and one row for everything else.

    A colour's row has the colour's visible cards, the probability of each of its cards in each slot of the own hand,
    the hints, the height of its stack and the copies that are left. The cards in all hands also have three flags:
    playable, dead (it can never be played) and critical (the last copy, still needed); those of own cards are
    probabilities. A permutation of the colours permutes the rows of the colours and leaves the rest as it is. With p
    players, hands of h cards and r ranks, the row of a colour has:

    - `cards` (p-1, h, r), `card_flags` (p-1, h, 3): the visible cards of the colour, and their flags
    - `own` (h, r): the probability of each card of the colour in each own slot
    - `plausible` (p-1, h, r), `hinted` (p, h): the cards that hints to others allow; whether the colour was hinted
    - `firework`, `dead`, `critical`, (r) each: height, one-hot; which cards are dead, and critical
    - `discarded`, `unseen`, (r) each: copies, as shares of the card's copies
    - `last_color` (1), `last_card` (r): what the last turn hinted; the last card played or discarded
    - `announced` (1): timed display only, whether the last turn announced the colour
    - `copies` (r): only if the suits differ, the copies of each card

    The row of the rest has:

    - `own_flags` (h, 3): the probabilities that each own card is playable, dead, critical
    - `flags` (p-1, h, 3), `card_ranks` (p-1, h, r): the flags and the ranks of the visible cards
    - `hinted_ranks` (p, h, r): the hinted ranks, the own hand first
    - the sections of the observation that have no colours

    Args:
        variant: the rules.
        encoder: of the observations: "canonical", or another one with the section "knowledge", which has the hints to
            each card.
        belief: how the probabilities of own cards are computed. "slots" treats each slot by itself: a card that its
            hints allow has a probability in proportion to its unseen copies. "hands" counts the possible hands: the
            exact marginals that `View.marginals` returns.

    Attributes:
        colors: number of colours C.
        row: the `Layout` of a colour's row, F numbers, which names the sections.
        rest: the `Layout` of the row for everything else, R numbers.
        length: C * F + R.

    Raises:
        UnknownNameError: there is no such encoder, or `belief` is another text.
        StarmineError: the encoder lacks a section that the features need.

    >>> import starmine, starmine.torch
    >>> batch = starmine.Batch("standard", 4, dtype="bits", seed=0)
    >>> features = starmine.torch.ColorFeatures(batch.variant)
    >>> features.read(batch.observe()["obs"]).shape == (4, features.length)
    True
    """

    def __init__(self, variant: Variant, encoder: str = "canonical", belief: str = "slots") -> None:
        check_names("belief", [belief], BELIEFS)
        self._core, self._arguments = _ColorFeatures(variant, encoder, belief), (variant, encoder, belief)
        self.colors, self.row, self.rest = self._core.colors, self._core.row, self._core.rest
        self.length = self.colors * len(self.row) + len(self.rest)
        self._tables: dict[torch.device, _Tables] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles."""
        return ColorFeatures, self._arguments

    def read(self, bits: Tensor | NDArray[np.uint8], dtype: torch.dtype = torch.float32) -> Tensor:
        """The features of packed observations, computed where the observations are.

        The core computes them on the CPU, and torch operations on any other device: there is no copy to the CPU and no
        synchronisation. Tests compare the two on the CPU, where they are equal to the bit. With `belief="hands"` the
        core computes them on the CPU for every device.

        Args:
            bits: uint8 (..., 8 * ceil(D / 64)), a tensor on any device or a numpy array.
            dtype: `torch.float32`, `float16` or `bfloat16`; the features are rounded once.

        Returns:
            The features (..., length) on the device of `bits`: the C rows of the colours, then the rest.

        Raises:
            ArrayError: `bits` has another dtype or shape.
            StarmineError: another dtype is asked for.
        """
        if dtype not in _ARRAYS:
            raise StarmineError(f"dtype={dtype} is not allowed: expected one of {', '.join(map(str, _ARRAYS))}")
        if isinstance(bits, Tensor) and not bits.is_cpu and self._arguments[2] == "slots":
            return self._read_with_torch(bits).to(dtype)
        packed = bits if isinstance(bits, np.ndarray) else bits.cpu().numpy()
        array = np.empty((*packed.shape[:-1], self.length), _ARRAYS[dtype])
        self._core.write(np.ascontiguousarray(packed), array, torch.get_num_threads())
        features = torch.from_numpy(array)
        features = features.view(dtype) if dtype is torch.bfloat16 else features
        return features if isinstance(bits, np.ndarray) else features.to(bits.device)

    def _read_with_torch(self, bits: Tensor) -> Tensor:
        """The features in float32, with `belief="slots"`, by torch operations on the device of `bits`."""
        if bits.device not in self._tables:
            self._tables[bits.device] = _Tables(*self._arguments[:2], bits.device)
        tables = self._tables[bits.device]
        observations = unpack_bits(bits, tables.features).reshape(-1, tables.features)
        return _features(observations, tables).view(*bits.shape[:-1], self.length)


# The sections of an observation that no colour is part of.
_COPIED = (
    *("short_hands", "deck_size", "information_tokens", "life_tokens", "last_player", "last_type", "last_target"),
    *("last_rank", "last_touched", "last_slot", "last_added", "last_regained"),
)


class _Tables:
    """What `_features` needs of the rules, on one device.

    Attributes:
        features: D, the number of features of an observation.
        sections: the sections of an observation by name.
        copies: float32 (C, R), the copies of each card.
        share: float32 (C, R), the inverse of the copies.
        kind_of_copy: float32 (copies of all cards, C * R), one-hot: the card of each bit of the section "discards".
        up_to: float32 (R, R), 1 where the column's rank is at most the row's. A product with it sums over ranks, faster
            on a GPU than `cumsum`.
        row_of_copies: float32 (C, R), the section "copies" of a colour's row; None where all colours have the same.
    """

    def __init__(self, variant: Variant, encoder: str, device: torch.device) -> None:
        layout = variant.layout(encoder)
        self.features, self.sections = len(layout), {part.name: (part.slice, part.shape) for part in layout.sections}
        copies = torch.tensor(variant.copies, dtype=torch.float32).expand(variant.colors, variant.ranks).contiguous()
        kinds = torch.arange(copies.numel()).repeat_interleave(copies.flatten().long())
        self.copies, self.share = copies.to(device), (1 / copies).to(device)
        self.kind_of_copy = one_hot(kinds, copies.numel()).float().to(device)
        self.up_to = torch.ones(variant.ranks, variant.ranks, device=device).tril()
        same_copies = bool((copies == copies[0]).all())
        self.row_of_copies = None if same_copies else (copies / copies.max()).to(device)


def _features(observations: Tensor, tables: _Tables) -> Tensor:
    """The features float32 (N, length) of unpacked observations, float32 (N, D).

    Sums of probabilities are taken card by card, as the core takes them, so that they are rounded alike. All other sums
    are of small integers, which are exact in any order.
    """
    count = len(observations)
    colors, ranks = tables.copies.shape
    kinds = colors * ranks

    def section(name: str) -> Tensor:
        place, shape = tables.sections[name]
        return observations[:, place].view(count, *shape)

    hands = section("hands")  # (N, P - 1, H, C, R)
    players, hand_size = hands.shape[1] + 1, hands.shape[2]
    plausible, hinted, hinted_ranks = torch.split(section("knowledge"), [kinds, colors, ranks], 3)
    plausible = plausible.reshape(count, players, hand_size, colors, ranks)
    fireworks = section("fireworks")  # (N, C, R): one-hot height, all 0 when empty

    played = fireworks @ tables.up_to
    following = torch.cat([1 - played[:, :, :1], played[:, :, :-1] - played[:, :, 1:]], 2)  # the next of each stack
    discarded = (section("discards") @ tables.kind_of_copy).view(count, colors, ranks)
    left = tables.copies - discarded
    missing = (left == 0).float() * (1 - played)
    unreachable = missing @ tables.up_to.T  # how many are missing up to each card
    dead = (played + unreachable).clamp(max=1)
    playable = following * (1 - dead)
    critical = (left == 1).float() * (1 - dead)
    sets = torch.stack([playable, dead, critical], 3)  # (N, C, R, 3)
    unseen = (left - played - hands.sum((1, 2))).clamp(min=0)

    weight = plausible[:, 0] * unseen[:, None]
    own = weight / weight.sum((2, 3), keepdim=True).clamp(min=1)  # (N, H, C, R)
    own_flags = torch.zeros(count, hand_size, 3, device=observations.device)
    for probability, members in zip(own.flatten(2).unbind(2), sets.flatten(1, 2).unbind(1), strict=True):
        own_flags += probability[:, :, None] * members[:, None]
    card_flags = (hands[..., None] * sets[:, None, None]).sum(4)  # (N, P - 1, H, C, 3)

    rows = [
        hands.permute(0, 3, 1, 2, 4),
        card_flags.permute(0, 3, 1, 2, 4),
        own.permute(0, 2, 1, 3),
        plausible[:, 1:].permute(0, 3, 1, 2, 4),
        hinted.permute(0, 3, 1, 2),
        *(fireworks, discarded * tables.share, unseen * tables.share, dead, critical),
        *(section("last_color"), section("last_card")),
    ]
    if "last_announced" in tables.sections:
        rows.append(section("last_announced"))
    if tables.row_of_copies is not None:
        rows.append(tables.row_of_copies.expand(count, -1, -1))
    rest = [own_flags, card_flags.sum(3), hands.sum(3), hinted_ranks]
    rest += [section(name) for name in _COPIED if name in tables.sections]
    # Without -1, which has no meaning for the shape of zero observations.
    by_color = torch.cat([part.reshape(count, colors, part.shape[2:].numel()) for part in rows], 2)
    return torch.cat([by_color.flatten(1), *(part.reshape(count, part.shape[1:].numel()) for part in rest)], 1)
