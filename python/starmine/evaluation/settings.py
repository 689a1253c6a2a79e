"""What an evaluation plays: who meets whom, in which seats and on which decks."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._core import Variant
from starmine.games.games import Games
from starmine.games.identity import Identity
from starmine.games.roster import Roster, RosterPlayer

Cell = tuple[int, int]  # a player and its partner, by index


@dataclass(frozen=True)
class Settings:
    """What determines the results.

    A stored evaluation is resumed only with the same settings, except that players may be added, and that
    `hold_out`, `methods` and `assumed` may change.

    Attributes:
        version: of starmine, since bots may change between versions.
        variant: the rules.
        players: a description of each player by its name, for people to read: the bot's text, or the type of a Python
            bot or policy. Partners are included.
        identities: of the players, by name.
        games: games of each pairing.
        seed: of the decks.
        cheaters: names of the players that see their own hand.
        evaluated: names of the players that play with the partners, or with each other.
        partners: names of the partners; none in the square matrix, where every player plays with every other.
        hold_out: names of the partners that are marked as held out.
        methods: the players of each training method by its name; they differ in their training seed.
        assumed: names of the torch modules that do not say which rules they play.
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
    assumed: tuple[str, ...] = ()

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

    @cached_property
    def roster(self) -> Roster:
        """The players, as the games name them."""
        return tuple(RosterPlayer.of(name, known) for name, known in self.identities.items())

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON can represent them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["variant"] = self.variant.parameters()
        values["identities"] = {name: identity.text for name, identity in self.identities.items()}
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain

    def seat(self, cell: Cell, index: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The seat of the player of a pairing in games of some indices: int64 (G,). Its partner has all others.

        Game i of N has the player in seat i * players // N. In self-play, and with two players, it is always seat 0:
        with two players, seat 1 belongs to the pairing with the roles reversed.
        """
        if self.variant.players == 2 or cell[0] == cell[1]:
            return np.zeros(len(index), np.int64)
        return index.astype(np.int64) * self.variant.players // self.games

    def cells_of(self, games: Games) -> NDArray[np.int64]:
        """The pairing of each game: int64 (G, 2), the index of the player and of its partner.

        The roster of the games may have fewer players than the evaluation.
        """
        names = list(self.players)
        rows = np.array([names.index(player.name) for player in games.roster], np.int64)
        seats = rows[games.players]
        assert games.index is not None
        place = self.seat((0, 1), games.index)  # in self-play all seats have one player
        game = np.arange(len(games))
        return np.stack([seats[game, place], seats[game, (place + 1) % self.variant.players]], axis=1)
