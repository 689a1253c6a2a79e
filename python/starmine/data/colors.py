"""Permutation of the colours of whole games.

Suits with equal numbers of copies are interchangeable by the rules: where the suits of a game's cards and the colours
that its actions name are permuted alike, the game stays legal, turn for turn, with the same rewards. Observations,
masks and actions of the permuted game are therefore exact, whatever the encoder.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import ArrayError, Variant
from starmine._util.numbers import check_number
from starmine.games.draws import GOLDEN, splitmix64
from starmine.games.games import DEAL, OF_TURNS, Games


def permute_colors(games: Games, permutations: NDArray[np.integer[Any]]) -> Games:
    """The games with other colours: a card or a hint of suit s gets suit `permutations[game, s]`.

    No seed deals these decks, and searched values are of other actions: `seed`, `index`, `episode`, `search_values` and
    `search_errors` are None.

    Args:
        games: G games.
        permutations: integers (G, colors), as `color_permutations` draws them; or (colors,), one for all games.

    Raises:
        ArrayError: a row is no permutation, or maps a suit to one with other copies.
    """
    variant = games.variant
    colors, ranks = variant.colors, variant.ranks
    chosen = np.asarray(permutations)
    chosen = np.broadcast_to(chosen, (len(games), colors)) if chosen.shape == (colors,) else chosen
    _check(chosen, variant, len(games))
    suits: Any = chosen.astype(np.uint8)
    # One row of each table a game, so that a card and an action cost one look-up each.
    cards: NDArray[np.uint8] = (suits[:, :, None] * np.uint8(ranks) + np.arange(ranks, dtype=np.uint8)).reshape(
        len(games), colors * ranks
    )
    base, named = action_colors(variant)
    ids = np.where(named >= 0, base + suits[:, named], base).astype(np.uint8)
    game = np.repeat(np.arange(len(games)), games.lengths)
    lost: dict[str, Any] = dict.fromkeys((*DEAL, *OF_TURNS))
    return dataclasses.replace(
        games,
        decks=np.take_along_axis(cards, games.decks.astype(np.intp), axis=1),
        actions=ids.ravel()[game * variant.num_actions + games.actions],
        **lost,
    )


def color_permutations(variant: Variant, seed: int, games: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """Draw a permutation of the suits for each game, for `permute_colors`.

    Suits are exchanged only if they have equal numbers of copies of each rank. All permutations of this kind are
    equally likely.

    Args:
        variant: the rules. A suit stays in its place if no other suit has the same numbers of copies, as the
            multicoloured one.
        seed: from 0 to 2**64 - 1.
        games: integers (G,), numbers of the games. A permutation is a function of the seed and this number.

    Returns:
        uint8 (G, colors). Suit s of game g becomes suit `permutations[g, s]`.

    Raises:
        StarmineError: another seed.
        TypeError: the seed is not an integer, or `games` has no integers.
    """
    seed = check_number("seed", seed, 0, 2**64 - 1)
    games = np.asarray(games)
    if games.ndim != 1 or not np.issubdtype(games.dtype, np.integer):
        raise TypeError(f"games has shape {games.shape} and dtype {games.dtype}: expected integers (G,)")
    numbers = splitmix64(games.astype(np.uint64) ^ splitmix64(np.array([seed], np.uint64)))
    suits = np.arange(variant.colors, dtype=np.uint64)
    keys = splitmix64(numbers[:, None] + suits * GOLDEN)
    permutations = np.tile(np.arange(variant.colors, dtype=np.uint8), (len(games), 1))
    for group in interchangeable(variant):
        permutations[:, group] = np.array(group, np.uint8)[np.argsort(keys[:, group], axis=1, kind="stable")]
    return permutations


def interchangeable(variant: Variant) -> list[list[int]]:
    """The suits in groups of equal numbers of copies."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for suit, copies in enumerate(variant.copies):
        groups.setdefault(tuple(copies), []).append(suit)
    return list(groups.values())


def action_colors(variant: Variant) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What colours the actions name.

    Returns:
        base: int64 (A,), the action's id less the colour that it names.
        named: int64 (A,), the colour that a hint or an announced play names, or -1.
    """
    moves = [variant.move(action) for action in range(variant.num_actions)]
    colors = [move.announced if move.color is None else move.color for move in moves]
    named = np.array([-1 if color is None else color for color in colors])
    return np.arange(len(moves)) - np.maximum(named, 0), named


def _check(permutations: NDArray[np.integer[Any]], variant: Variant, games: int) -> None:
    shape = (games, variant.colors)
    if permutations.shape != shape or not np.issubdtype(permutations.dtype, np.integer):
        given = f"shape {permutations.shape} and dtype {permutations.dtype}"
        raise ArrayError(f"permutations has {given}: expected integers {shape}")
    wrong = (np.sort(permutations, axis=1) != np.arange(variant.colors)).any(axis=1)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ArrayError(f"permutations[{row}] is {permutations[row].tolist()}: expected a permutation of the suits")
    copies = np.array(variant.copies)
    wrong = (copies[permutations] != copies).any(axis=(1, 2))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ArrayError(f"permutations[{row}] is {permutations[row].tolist()}: it mixes suits of different copies")
