"""Partners that are Python objects, in the seats of a batch that the learner does not play."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from starmine._core import Batch, SeatedBot, StarmineError
from starmine.language import actions_text
from starmine.players import Policy, is_module, policy_actions, policy_encoder, resolve_player
from starmine.trained import TrainedPolicy

Array = NDArray[Any]
Partner: TypeAlias = str | TrainedPolicy | SeatedBot | Policy | Callable[..., Any]  # torch modules are callable

MAX_DEALS = 1000  # in a row that the partners may end before the learner's first turn, as in the core


def resolve_partners(partners: Any) -> tuple[Any, list[Policy]]:
    """The partners as a batch takes them, and the objects among them.

    Args:
        partners: a mapping from seats to partners or sequences of them. Whatever is no partner is left to the batch,
            which refuses it.

    Returns:
        The partners, with "outside: n" for object n, and the objects.

    Raises:
        UnknownNameError: an object has an encoder that does not exist.
        StarmineError: an object sees its own hand and does not say so.
    """
    objects: list[Policy] = []
    numbers: dict[int, int] = {}  # of the objects, by their identity: an object in several seats is one partner

    def named(holder: Any, place: str) -> Any:
        if isinstance(holder, SeatedBot):
            return holder.name
        if isinstance(holder, str) or not (isinstance(holder, Policy) or is_module(holder)):
            return holder
        if id(holder) not in numbers:
            numbers[id(holder)] = len(objects)
            objects.append(resolve_player(holder, place))
        return f"outside: {numbers[id(holder)]}"

    if not isinstance(partners, Mapping):
        return partners, objects
    resolved = {}
    for seat, holders in partners.items():
        place = f"partners[{seat}]"
        is_list = isinstance(holders, Sequence) and not isinstance(holders, str | bytes)
        resolved[seat] = [named(holder, place) for holder in holders] if is_list else named(holders, place)
    return resolved, objects


class PartneredBatch:
    """A batch that waits for partners that are Python objects: its steps and resets end at the learner's turns.

    The calls are those of `Batch` that an environment makes. Each partner is called once for all games that wait for
    it, until every game waits for the learner or is over.

    Args:
        batch: with the partners of `resolve_partners`.
        policies: the objects.
    """

    def __init__(self, batch: Batch, policies: Sequence[Policy]) -> None:
        self.batch, self.policies = batch, list(policies)
        self._encoders = [policy_encoder(policy, "partners") for policy in policies]
        games = batch.num_envs
        self._all = np.ones(games, dtype=bool)
        self._acted = np.zeros(games, dtype=bool)  # games in which the learner has had a turn
        self._over = np.zeros(games, dtype=bool)  # games that the next step deals anew ("NextStep")
        self._owed = np.zeros(games, dtype=np.float32)  # rewards before the learner's first turn
        self._skipped = np.zeros(games, dtype=np.int64)  # deals in a row that ended before that turn
        self._final: Array | None = None
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
            StarmineError: as `Batch.reset`, or a partner chose an illegal move or ends every game.
            Exception: whatever a partner raises.
        """
        if self._is_broken and reset_mask is not None:
            raise ResetNeeded(_BROKEN)
        self.batch.reset(seed, reset_mask, decks, start_players)
        dealt = self._all if reset_mask is None else reset_mask
        self._over &= ~dealt
        self._skipped[dealt] = 0
        self._final, self._is_broken = None, True
        self._begin(dealt)
        self._play_partners({"reward": np.zeros_like(self._owed)})
        self._is_broken = False
        return self.batch.observe()

    def step(self, actions: Any) -> dict[str, Array]:
        """Play one turn of the learner in every game, then the partners' turns up to its next one.

        Raises:
            IllegalActionError: an action of the learner that is not legal; no game has moved.
            ResetNeeded: a partner failed in an earlier call.
            StarmineError: a partner chose an illegal move or ends every game.
            Exception: whatever a partner raises. The games have to be reset then, as after a `StarmineError`.
        """
        if self._is_broken:
            raise ResetNeeded(_BROKEN)
        result = self.batch._step_some(actions, self._all)
        dealt = self._over
        self._over = np.zeros_like(dealt)
        self._final, self._is_broken = None, True
        if dealt.any():
            self._begin(dealt)
        self._acted = ~dealt
        self._skipped[self._acted] = 0
        shown = {name: np.zeros_like(array) for name, array in result.items()}
        shown["reward"] += self._owed
        self._owed[:] = 0
        self._add(result, shown)
        self._play_partners(shown)
        self._is_broken = False
        return self.batch.observe() | shown

    def _final_obs(self) -> Array | None:
        """`Batch._final_obs` of the last step."""
        return self._final

    def _begin(self, games: Array) -> None:
        """Begin an episode in the games of a mask."""
        self._acted[games], self._owed[games] = False, 0
        numbers = np.flatnonzero(games)
        for policy in self.policies:
            if callable(getattr(policy, "reset", None)):
                policy.reset(numbers)  # type: ignore[attr-defined]

    def _play_partners(self, shown: dict[str, Array]) -> None:
        """Let the partners play until every game waits for the learner or is over."""
        while True:
            waiting = self.batch._waiting()
            moving = waiting >= 0
            if not moving.any():
                return
            actions = np.zeros(len(waiting), dtype=np.int64)
            for number in np.unique(waiting[moving]).tolist():
                games = np.flatnonzero(waiting == number)
                actions[games] = self._ask(number, games)
            self._add(self.batch._step_some(actions, moving), shown)

    def _ask(self, number: int, games: Array) -> Array:
        """The actions of a partner in the games that wait for it."""
        policy = self.policies[number]
        observations, masks = self.batch._encode(games.tolist(), self._encoders[number])
        chosen = policy_actions(policy, observations, masks, games)
        is_action = (chosen >= 0) & (chosen < masks.shape[1])
        is_legal = is_action & masks[np.arange(len(games)), np.where(is_action, chosen, 0)]
        if not is_legal.all():
            row = int(is_legal.argmin())
            raise StarmineError(
                f"partner {policy!r} chose {chosen[row]} in game {games[row]}, which is not legal: "
                f"expected one of {actions_text(self.batch.variant, masks[row])}"
            )
        return chosen

    def _add(self, result: dict[str, Array], shown: dict[str, Array]) -> None:
        """Add what happened in a turn to what a step shows, and begin the episodes that follow those that ended.

        What happens before the learner's first turn of an episode is not shown: its rewards are owed, and an episode
        that ends is dealt anew.
        """
        ended, acted = result["terminated"], self._acted.copy()
        shown["reward"] += np.where(acted, result["reward"], 0)
        self._owed += np.where(acted, 0, result["reward"])
        if not ended.any():
            return
        keeps = self.batch.autoreset_mode == "SameStep"
        told, skipped = ended & acted, ended & ~acted
        for name in shown.keys() - {"reward"}:
            shown[name][told] = result[name][told]
        if keeps and told.any():
            self._keep_final(told)
        self._skipped[skipped] += 1
        if (self._skipped >= MAX_DEALS).any():
            raise StarmineError(
                f"the partners ended {MAX_DEALS:,} deals of game {self._skipped.argmax()} in a row before the "
                "learner's first turn: expected partners that leave the learner a turn"
            )
        if keeps:
            self._begin(ended)
            return
        self._over |= told & (self.batch.autoreset_mode == "NextStep")
        if skipped.any():
            self.batch.reset(None, skipped)
            self._begin(skipped)

    def _keep_final(self, told: Array) -> None:
        """Keep the last observations of the games of a mask."""
        if self._final is None:
            self._final = np.full(len(told), None, dtype=object)
        for game, row in zip(*self.batch.final_observations(), strict=True):
            if told[game]:
                self._final[game] = row


_BROKEN = "a partner failed in an earlier call: call reset, for all games, first"
