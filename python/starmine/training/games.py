"""The games of a training run: self-play, or a weighted mixture of partners, some held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import Batch, StarmineError, Variant, _Player
from starmine.evaluation.matrix import HELD_OUT_MEAN, MEAN, SELF_PLAY
from starmine.games.endings import defeats
from starmine.games.identity import identity
from starmine.games.players import check_variant, resolve_player
from starmine.policies.load import POLICY_FILE
from starmine.policies.pools import Pool, pool
from starmine.training.script import ScriptArgs

Outputs: TypeAlias = dict[str, NDArray[Any]]
"""What `Batch.observe` and `Batch.step` return."""

LEARNER = "this policy"  # its name in the table


@dataclass
class PartnerArgs(ScriptArgs):
    """The arguments of training scripts whose learner can play with partners."""

    partners: str | None = None
    """who plays with the learner, such as smart=2,info,ippo-2p-small: bots, policies, policy files or folders of runs,
    with weights after "="; None for self-play"""
    hold_out: str | None = None
    """partners for the evaluation at the end only, such as fireflower,holmes"""


class Partner(NamedTuple):
    """Who may play with the learner.

    Attributes:
        name: for tables and logs.
        player: as `play_games` takes it. A policy's weights are read once, so its file may change during the run.
        weight: how often it is drawn, in relation to the others.
    """

    name: str
    player: Any
    weight: float = 1.0


def read_partners(
    variant: Variant, partners: str | None, hold_out: str | None = None
) -> tuple[list[Partner], list[Partner]]:
    """The partners that a script's arguments name, and those that training never meets.

    Args:
        variant: the rules that they play.
        partners: names with commas between them, such as "smart=2,info,ippo-2p-small"; a number after "=" is a weight,
            1 without. A name is one of `starmine.policies.pool(variant)`, a player's text, as `play_games` takes it,
            the path of a policy file, or the path of a run's folder, whose policy plays. None for no partners.
        hold_out: the same, without weights, for partners that training never meets.

    Raises:
        UnknownNameError: there is no such player.
        VariantError: a player does not play the variant.
        StarmineError: a weight is not a number above 0, a partner is given twice or has a name that the table needs, or
            a policy of another library is given that is not held out.
    """
    if partners is None and hold_out is None:
        return [], []
    known = pool(variant)
    met = [_weighted(entry, known) for entry in partners.split(",")] if partners is not None else []
    held_out = [_partner(entry, "hold_out", known) for entry in hold_out.split(",")] if hold_out is not None else []
    for partner in met:
        if not isinstance(partner.player, _Player):
            raise StarmineError(
                f"partners={partner.name!r} is a policy of another library, whose games no checkpoint holds: expected "
                "a bot or a policy of Starmine; any player can be held out"
            )
    seen: dict[str | None, str] = {}
    for index, partner in enumerate([*met, *held_out]):
        if isinstance(partner.player, _Player):
            Batch(variant, 1, partners={0: partner.player})  # refuses a player of other rules
        check_variant(partner.player, variant)
        found = identity(partner.player).text
        if partner.name in (LEARNER, MEAN, HELD_OUT_MEAN, SELF_PLAY):
            raise StarmineError(f"a partner has the name {partner.name!r}, which the table needs: expected another")
        if index >= len(met) and found in list(seen)[: len(met)]:
            raise StarmineError(
                f"{partner.name!r} is a partner and held out: expected it in partners or in hold_out, which training "
                "never meets"
            )
        if found in seen or partner.name in seen.values():
            raise StarmineError(
                f"the partner {partner.name!r} is given twice, or has the name of another: expected one"
            )
        seen[found] = partner.name
    return met, held_out


def _weighted(entry: str, known: Pool) -> Partner:
    """The partner of a text such as "smart=2"."""
    text, equals, number = entry.rpartition("=")
    try:
        weight = float(number) if equals else 1.0
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise StarmineError(f"partners={entry!r} has the weight {number!r}: expected a number above 0, as in smart=2")
    return _partner(text if equals else entry, "partners", known)._replace(weight=weight)


def _partner(entry: str, place: str, known: Pool) -> Partner:
    text, path = entry.strip(), Path(entry.strip())
    player = resolve_player(known.get(text, text), place)
    if text in known or ":" in text or not path.exists():
        return Partner(text, player)
    return Partner(path.resolve().parent.name if path.name == POLICY_FILE else path.stem, player)


class TrainingGames:
    """The games of a training run: self-play, or the learner in every seat and partners in all others.

    With partners the learner holds seat `k` in one part of the games, for each `k`; the parts have the same size, up to
    one game. Each other seat draws its partner anew in each episode. Calls are those of a `Batch`.

    Args:
        variant: the rules.
        num_envs: number of games, N, with partners at least one for each seat.
        partners: of the mixture; none for self-play.
        seed: of the games, see `training_seed`.
        **settings: more arguments of `Batch`.

    Attributes:
        batches: one for each seat that the learner holds; one batch in self-play.
        names: of the partners, in the order of "final_partner".

    Raises:
        StarmineError: fewer games than seats, or an argument that `Batch` refuses.
    """

    def __init__(
        self, variant: Variant, num_envs: int, partners: Sequence[Partner], seed: int, **settings: Any
    ) -> None:
        players = variant.players
        self._partners = partners
        self.names = [partner.name for partner in partners]
        if not partners:
            self.batches = [Batch(variant, num_envs, seed=seed, **settings)]
            return
        if num_envs < players:
            raise StarmineError(f"num_envs={num_envs} is not allowed with partners: expected a game for each seat")
        mixture = [(partner.player, partner.weight) for partner in partners]
        self.batches = [
            Batch(
                variant,
                (num_envs + seat) // players,
                seed=seed + (seat << 60),  # `training_seed` is below
                partners={other: mixture for other in range(players) if other != seat},
                **settings,
            )
            for seat in range(players)
        ]
        self._drawn = self._draws()

    def observe(self) -> Outputs:
        """The outputs of all games, without a step."""
        return _joined([batch.observe() for batch in self.batches])

    def step(self, actions: Any) -> Outputs:
        """Play a turn of the learner in all games.

        Args:
            actions: integers (N,).

        Returns:
            The outputs of a batch. With partners also "final_partner", int32 (N, players): for each game that ended in
            this step the index in the mixture of each seat's partner, -1 for the learner; -1 for all other games.
        """
        if not self._partners:
            return self.batches[0].step(actions)
        ends = np.cumsum([batch.num_envs for batch in self.batches])
        parts = [actions[end - batch.num_envs : end] for batch, end in zip(self.batches, ends, strict=True)]
        outputs = _joined([batch.step(part) for batch, part in zip(self.batches, parts, strict=True)])
        ended = outputs["terminated"]
        outputs["final_partner"] = np.where(ended[:, None], self._drawn, np.int32(-1))
        if ended.any():
            self._drawn = self._draws()
        return outputs

    def _draws(self) -> Any:
        return np.concatenate([batch._partners() for batch in self.batches])

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: the games, and the identities of the partners."""
        return {"batch": [batch.to_bytes() for batch in self.batches], "partners": self._identities()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the games of a checkpoint.

        Raises:
            StarmineError: the partners are not those that played.
        """
        if state["partners"] != self._identities():
            raise StarmineError("a partner is another one than that of the run: its weights have changed")
        self.batches = [Batch.from_bytes(data) for data in state["batch"]]
        if self._partners:
            self._drawn = self._draws()

    def _identities(self) -> list[str | None]:
        return [identity(partner.player).text for partner in self._partners]


def _joined(outputs: Sequence[Outputs]) -> Outputs:
    if len(outputs) == 1:
        return outputs[0]
    return {name: np.concatenate([part[name] for part in outputs]) for name in outputs[0]}


class FinishedGames:
    """The games that end during a rollout, for the log."""

    def __init__(self) -> None:
        self._ended: list[tuple[NDArray[Any], ...]] = []

    def add(self, outputs: dict[str, NDArray[Any]]) -> None:
        """Add the games that a step of a `Batch` or of `TrainingGames` ended, given the step's outputs."""
        ended = outputs["terminated"]
        partners = outputs.get("final_partner", np.empty((len(ended), 0), np.int32))
        self._ended.append((outputs["final_score"][ended], outputs["final_ending"][ended], partners[ended]))

    def means(self, lost_game_score: str, partners: Sequence[str] = ()) -> dict[str, float]:
        """Mean scores and the share of lost games; empty when no game ended.

        Args:
            lost_game_score: of the variant that was played, "zero" or "fireworks".
            partners: names, in the order of "final_partner".

        Returns:
            "score", where a lost game counts 0; "lost"; with "fireworks" also "kept", where a lost game keeps its
            points; and "score with NAME" of the games in which this partner had a seat.
        """
        if not any(len(scores) for scores, _, _ in self._ended):
            return {}
        kept, endings, held = (np.concatenate(column) for column in zip(*self._ended, strict=True))
        lost = np.isin(endings, defeats())
        score = kept if lost_game_score == "zero" else np.where(lost, 0, kept)
        means = {"score": float(score.mean())}
        if lost_game_score != "zero":
            means["kept"] = float(kept.mean())
        means["lost"] = float(lost.mean())
        for index, name in enumerate(partners):
            if (played := (held == index).any(1)).any():
                means[f"score with {name}"] = float(score[played].mean())
        return means
