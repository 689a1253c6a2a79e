"""Partners that are Python objects, in the seats of a batch that the learner does not play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from starmine._core import Batch, SeatedBot, _ExternalPartner
from starmine._util.arrays import Array
from starmine.envs.states import DealtSeeds
from starmine.games.mixtures import weigh
from starmine.games.player_texts import Noisy
from starmine.games.players import (
    is_bot,
    is_module,
    is_policy,
    refuse_foreign,
    resolve_player,
)
from starmine.games.seats import PythonPlayers, sees_every_turn
from starmine.policies.load import TrainedPolicy


def resolve_partners(partners: Any) -> tuple[Any, dict[int, list[Any]], dict[int, tuple[Any, ...]]]:
    """The partners as a batch takes them, the Python players among them, and all of them as they were given.

    Args:
        partners: a mapping from seats to partners, or to sequences of partners or of pairs (partner, weight). Whatever
            is no partner is left to the batch, which refuses it.

    Returns:
        The partners for the batch; by seat the Python players, with None for bots, or nothing without Python players;
        and by seat the partners that were given, without their weights.

    Raises:
        UnknownNameError: a policy has an encoder, dtype or output that does not exist.
        StarmineError: a policy sees its own hand and does not say so, or its methods take other arguments.
    """
    if not isinstance(partners, Mapping):
        return partners, {}, {}
    given = {seat: tuple(partner for partner, _ in weigh(choices)) for seat, choices in partners.items()}
    partners = {seat: loaded(choices, f"partners[{seat}]") for seat, choices in partners.items()}
    python = {
        seat: [python_player(partner, f"partners[{seat}]") for partner, _ in weigh(choices)]
        for seat, choices in partners.items()
    }
    policies = [player for players in python.values() for player in players if player is not None]
    if not policies:
        return partners, {}, given  # the batch reads them as they are
    outside = _ExternalPartner()
    resolved = {
        seat: [
            (partner if player is None else outside, weight)
            for (partner, weight), player in zip(weigh(choices), python[seat], strict=True)
        ]
        for seat, choices in partners.items()
    }
    return resolved, python, given


def loaded(partner: Any, place: str) -> Any:
    """A partner, or the partners of a seat, with the players that texts name in the place of the texts."""
    if isinstance(partner, str):
        return resolve_player(partner, place)
    if type(partner) in (list, tuple):
        return type(partner)(_loaded_part(part, place) for part in partner)
    return partner


def _loaded_part(part: Any, place: str) -> Any:
    """A partner of a seat's sequence, or a pair of a partner and its weight."""
    if type(part) is tuple and len(part) == 2:
        return loaded(part[0], place), part[1]
    return resolve_player(part, place) if isinstance(part, str) else part


def python_player(partner: Any, place: str) -> Any:
    """A player written in Python, if a partner is one; None for whatever the batch reads itself."""
    if isinstance(partner, Noisy):
        return partner
    refuse_foreign(partner, place)
    is_python = is_module(partner) or is_policy(partner) or is_bot(partner) or callable(partner)
    if isinstance(partner, TrainedPolicy | SeatedBot) or not is_python:
        return None
    return resolve_player(partner, place)


class PartneredBatch:
    """A batch that waits for partners that are Python objects: its steps and resets end at the learner's turns.

    The calls are those of `Batch` that an environment makes. Each partner is asked once for all games that wait for it,
    until every game waits for the learner or is over.

    Args:
        batch: with the partners of `resolve_partners`.
        players: by seat the Python players, as `resolve_partners` returns them.
    """

    def __init__(self, batch: Batch, players: Mapping[int, Sequence[Any]]) -> None:
        self.batch = batch
        seats, games = batch.variant.players, batch.num_envs
        entries = [player for seat in sorted(players) for player in players[seat]]
        self._players = PythonPlayers(entries, games, batch)
        self._every_turn = any(map(sees_every_turn, entries))
        self._seeds, self._episodes = DealtSeeds(batch), batch.episodes
        # By seat, and by the partner's index in the mixture (the last is the learner): the number of the player, or -1.
        self._holders = np.full((seats, 1 + max(map(len, players.values()))), -1, dtype=np.int64)
        numbers = iter(self._players.holders.tolist())
        for seat in sorted(players):
            self._holders[seat, : len(players[seat])] = [next(numbers) for _ in players[seat]]
        self._is_learner = np.array([seat not in players for seat in range(seats)])
        self._is_broken = False

    def reset(
        self,
        seed: Any = None,
        reset_mask: Array | None = None,
        decks: Array | None = None,
        start_players: Array | None = None,
    ) -> dict[str, Array]:
        """Deal games anew, as `Batch.reset` does, and let the partners play up to the learner's turns.

        Raises:
            ResetNeeded: a partner has failed, and a mask leaves some games as they were.
            StarmineError: as `Batch.reset`, or a partner raised an exception, which is the cause, chose an illegal move
                or ends every game.
        """
        if self._is_broken and reset_mask is not None:
            raise ResetNeeded(_BROKEN)
        self.batch.reset(seed, reset_mask, decks, start_players)
        self._seeds.reset(seed, reset_mask)
        self._is_broken = True
        self._tell_begun(np.ones(self.batch.num_envs, bool) if reset_mask is None else reset_mask)
        self._players.play(self._waiting, self._answer)
        self._is_broken = False
        return self.batch.observe()

    def step(self, actions: Any) -> dict[str, Array]:
        """Play one turn of the learner in every game, then the partners' turns up to its next one.

        Raises:
            IllegalActionError: an action of the learner that is not legal; no game has moved.
            ResetNeeded: a partner failed in an earlier call.
            StarmineError: a partner raised an exception, which is the cause, chose an illegal move or ends every game.
                The games have to be reset then.
        """
        if self._is_broken:
            raise ResetNeeded(_BROKEN)
        # Some partners also see the learner's turn. It is shown once the actions are known to be legal.
        to_act = self.batch._to_act()
        seen = self._players.look(to_act) if self._every_turn else []
        self.batch._begin_step(actions)
        self._is_broken = True
        if seen:
            self._players.show(to_act, seen)
        self._tell_begun(self.batch.episodes != self._episodes)
        self._players.play(self._waiting, self._answer)
        self._is_broken = False
        return self.batch._end_step()

    def _waiting(self) -> Array:
        """The seats of partners to act; -1 in games that wait for the learner or are over."""
        to_act = self.batch._to_act()
        return np.where(self._is_learner[to_act], -1, to_act)

    def _answer(self, actions: Array, moving: Array) -> None:
        """Play turns of partners, and tell them of the episodes that begin."""
        self.batch._answer(actions, moving, self._every_turn)
        self._tell_begun(self.batch.episodes != self._episodes)

    def _tell_begun(self, games: Array) -> None:
        """Tell the partners that episodes begin in the games of a mask."""
        self._episodes = self.batch.episodes
        if games.any():
            holders = self._holders[np.arange(len(self._holders)), self.batch._partners()[games]]
            self._players.begin(np.flatnonzero(games), self._seeds.seeds[games], self._seeds.deals[games], holders)


_BROKEN = "a partner failed in an earlier call: call reset, for all games, first"
