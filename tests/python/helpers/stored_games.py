"""Played games with all columns, for the tests of stored games."""

from dataclasses import replace

import numpy as np

import starmine
from starmine.data.files import write_file
from starmine.data.metadata import Metadata
from starmine.games import RosterPlayer


def played_table(games=50, variant=None, seed=0, first=0, players=None, search_values=False):
    """Games of rule-based or random players with all columns, and as many players as seats."""
    variant = variant or starmine.Variant()
    players = players or ["random"] * variant.players
    played = starmine.play_games(players, games=games, seed=seed, variant=variant, first_game=first)
    shape = len(played.actions), variant.num_actions
    return replace(
        played,
        players=(np.arange(games)[:, None] + np.arange(variant.players)).astype(np.int16) % variant.players,
        roster=tuple(RosterPlayer(f"player {seat}") for seat in range(variant.players)),
        search_values=np.arange(np.prod(shape), dtype=np.float32).reshape(shape) if search_values else None,
    )


def described(table, **values):
    """Metadata of games."""
    return Metadata(table.variant, table.roster, **values)


def store(path, table, **values):
    """Write a file of games and return its path."""
    write_file(path, described(table, **values), table)
    return path
