"""Tables of played games, for the tests of stored games."""

import numpy as np

import starmine
from starmine.data.files import write_file
from starmine.data.metadata import Metadata
from starmine.data.table import GameTable


def played_table(games=50, variant=None, seed=0, first=0, players=None, search_values=False):
    """Games of rule-based or random players with all columns."""
    variant = variant or starmine.Variant()
    players = players or ["random"] * variant.players
    results = starmine.play_games(players, games=games, seed=seed, variant=variant, first_game=first, record=True)
    numbers = np.arange(first, first + games, dtype=np.uint64)
    shape = len(results.trajectories.actions), variant.num_actions
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) if search_values else None
    return GameTable(
        trajectories=results.trajectories,
        game=numbers,
        seed=np.full(games, seed, np.uint64),
        index=numbers,
        episode=np.zeros(games, np.uint64),
        scores=results.scores.astype(np.uint8),
        fireworks=results.fireworks.astype(np.uint8),
        endings=results.endings.astype(np.uint8),
        players=(np.arange(games)[:, None] + np.arange(variant.players)).astype(np.int16) % variant.players,
        search_values=values,
    )


def described(table, **values):
    """Metadata of a table, with a player for each seat."""
    players = [{"name": f"player {seat}", "hash": None} for seat in range(table.variant.players)]
    return Metadata(table.variant, players, **values)


def store(path, table, **values):
    """Write a file of games and return its path."""
    write_file(path, described(table, **values), table)
    return path


def same_games(one, other):
    """Whether two tables hold equal columns."""
    arrays = [{**table.trajectories.to_dict(), **vars(table)} for table in (one, other)]
    names = set(arrays[0]) - {"trajectories"}
    return one.variant == other.variant and all(np.array_equal(*(held[name] for held in arrays)) for name in names)
