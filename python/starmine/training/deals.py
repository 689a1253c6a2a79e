"""Decks that a learner deals itself."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from starmine._core import Variant


def draw_deals(
    variant: Variant, games: int, generator: torch.Generator | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Draw decks uint8 (games, deck_size) and start players uint8 (games,).

    Args:
        variant: the rules.
        games: number of games.
        generator: of the draws; None for torch's default generator.
    """
    copies = np.array(variant.copies).ravel()
    cards = np.repeat(np.arange(len(copies), dtype=np.uint8), copies)
    order = torch.rand(games, len(cards), dtype=torch.float64, generator=generator).argsort(dim=1, stable=True)
    seats = variant.players if variant.random_start_player else 1
    return cards[order.numpy()], torch.randint(seats, (games,), generator=generator).numpy().astype(np.uint8)
