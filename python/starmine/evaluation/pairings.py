"""Who meets whom in an evaluation, and in which seats."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant
from starmine.games.identity import Identity

Cell = tuple[int, int]  # a player and its partner, by index


@dataclass(frozen=True)
class Settings:
    """What determines the results; a stored evaluation is resumed only with equal settings.

    Attributes:
        version: of starmine, since bots may change between versions.
        variant: the rules.
        players: by name the bot, or the type of a Python bot or a policy, for people to read; the partners, too.
        identities: of the players, by name.
        games: games of each pairing.
        seed: of the decks.
        cheaters: names of the players that see their own hand.
        evaluated: names of the players that play with the partners, or with each other.
        partners: names of the partners; none in the square matrix, where every player plays with every other.
        hold_out: names of the partners that are marked as held out.
        methods: by name the players that are seeds of a method.
    """

    version: str
    variant: Variant
    players: dict[str, str]
    identities: dict[str, Identity]
    games: int
    seed: int
    cheaters: tuple[str, ...]
    evaluated: tuple[str, ...]
    partners: tuple[str, ...] = ()
    hold_out: tuple[str, ...] = ()
    methods: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def cells(self) -> frozenset[Cell]:
        """The pairings of the evaluation, by index: players with partners, self-play, and seeds of a method."""
        names = list(self.players)
        pairs = {(name, name) for name in names} | {
            (one, other) for one in self.evaluated for other in self.partners or self.evaluated
        }
        if self.variant.players == 2:
            pairs |= {(other, one) for one in self.evaluated for other in self.partners}
        for seeds in self.methods.values():
            pairs |= {(one, other) for one in seeds for other in seeds}
        return frozenset((names.index(one), names.index(other)) for one, other in pairs)

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON can represent them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["variant"] = self.variant.parameters()
        values["identities"] = {name: identity.text for name, identity in self.identities.items()}
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain


def stretches(players: int, games: int, with_itself: bool) -> list[tuple[int, int, int]]:
    """Consecutive games in which the player holds the same seat: (seat, first game, end).

    Game i of N has the player in seat i * players // N. In self-play, and with two players, it is always seat 0: with
    two players, seat 1 belongs to the pairing with the roles reversed.
    """
    if players == 2 or with_itself:
        return [(0, 0, games)]
    borders = [-(-seat * games // players) for seat in range(players + 1)]
    return [(seat, borders[seat], borders[seat + 1]) for seat in range(players)]


def pairings_of(players: NDArray[np.int16]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The player and the partner of each game, int64 (G,), of the players in its seats (G, P)."""
    seats = players.astype(np.int64)
    if seats.shape[1] == 2:
        return seats[:, 0], seats[:, 1]
    partner = np.median(seats, axis=1).astype(np.int64)  # it holds all seats but one, at least two of three
    return seats.sum(axis=1) - (seats.shape[1] - 1) * partner, partner
