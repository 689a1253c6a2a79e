"""The games of a training run: self-play, or a weighted mixture of partners, some held out."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from starmine._core import Batch, StarmineError, Variant, _Player
from starmine._util.numbers import check_number
from starmine.envs.rewards import Rewards
from starmine.evaluation.matrix import HELD_OUT_MEAN, MEAN, SELF_PLAY
from starmine.games.endings import defeats
from starmine.games.identity import identity
from starmine.games.mixtures import parse_mixture
from starmine.games.player_texts import short_name
from starmine.games.players import resolve_player
from starmine.policies.variant_check import check_variant
from starmine.training.distributed import rank
from starmine.training.threads import own_cores

MAX_GROUPS = 16
LEARNER = "this policy"  # its name in the table

# Of the games that measure a run's progress, the first seed that `training_seed` refuses. Final evaluations have
# `starmine.games.seeds.EVALUATION_SEED`: a run that is chosen by its progress is not evaluated on the same decks.
PROGRESS_SEED = 2**32


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
        partners: players' texts, as `play_games` takes them, with commas between them, such as
            "smart=2,piers,ippo-2p-small"; a number after "=" is a weight, 1 without. None for no partners.
        hold_out: the same for partners that training never meets, whose weights do not count.

    Raises:
        UnknownNameError: there is no such player.
        VariantError: a player does not play the variant.
        StarmineError: a weight is not a number above 0, a player or a name is given twice, or a policy that PyTorch
            plays is given that is not held out.
    """
    met, held_out = _players_in(partners, "partners"), _players_in(hold_out, "hold_out")
    for name, player, _ in met:
        if not isinstance(player, _Player):
            raise StarmineError(
                f"partners={name!r} is a policy that PyTorch plays, whose games no checkpoint holds: expected "
                "a bot, or a policy whose network is a ColorNetwork without recurrence; any player can be held out"
            )
    for _, player, _ in [*met, *held_out]:
        check_variant(player, variant)
    names: list[str | None] = [LEARNER, MEAN, HELD_OUT_MEAN, SELF_PLAY, *(name for name, _, _ in [*met, *held_out])]
    for many in (names, [identity(player).text for _, player, _ in [*met, *held_out]]):
        if twice := [one for one in many if many.count(one) > 1]:
            raise StarmineError(
                f"{twice[0]!r} is twice among the partners, those that are held out and the means of the table: "
                "expected each once"
            )
    return met, held_out


def _players_in(text: str | None, place: str) -> list[Partner]:
    players = [] if text is None else parse_mixture(text, place)
    return [Partner(short_name(player), resolve_player(player, place), weight) for player, weight in players]


def available_cores() -> int:
    """The processor's cores for this process, shared with the other processes that torchrun started here."""
    return max(1, own_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def training_seed(seed: int) -> int:
    """The seed of this process's training games, apart from those of all other processes and of evaluations.

    Seed 0 deals the decks of the published tables, 2**32 those of `progress_games`, and a seed between 2**32 and 2**40
    those of `starmine eval`; nothing trains on these.

    Args:
        seed: of the training run, 1 to 2**32 - 1.

    Raises:
        TypeError: the seed is not an integer.
        StarmineError: another seed.
    """
    seed = operator.index(seed)
    if not 1 <= seed < PROGRESS_SEED:
        why = "evaluations deal the decks of other seeds"
        raise StarmineError(f"seed={seed} is not allowed in training: expected 1 to {PROGRESS_SEED - 1:,}; {why}")
    return seed + (rank() << 40)


class TrainingGames:
    """The games of a training run: self-play, or the learner in every seat and partners in all others.

    The games are stepped in groups, each in its own thread: while the network evaluates one group, the processor
    steps the others. With partners the learner holds seat `k` in one part of each group, for each `k`; the parts have
    the same size, up to one game. Each other seat draws its partner anew in each episode.

    Args:
        variant: the rules.
        num_envs: number of games, N, a multiple of the number of groups; with partners each group has a game for each
            seat.
        partners: of the mixture; none for self-play.
        seed: of the run, 1 to 2**32 - 1; the games have the seed that `training_seed` makes of it.
        encoder: of the observations.
        groups: number of groups.
        device: of the tensors that the groups return.
        lost_game_penalty: as in `HanabiVectorEnv` with `reward="fireworks"`: subtracted from the last reward of a
            lost game, which keeps its points.
        extra_outputs: what the groups return besides, see `Batch`.

    Attributes:
        groups: the `GameGroup`s.
        names: of the partners, by index in the mixture.
        finished: the `FinishedGames` since they were last taken by `take_finished`. A game is added when `receive`
            returns its last step.
        rewards: the `Rewards` of all groups. A new `rewards.lost_points_share` counts from the next `receive` on.

    Raises:
        TypeError: the seed is not an integer.
        StarmineError: the numbers of games and groups do not fit, or another seed.
    """

    __slots__ = ("_partners", "_threads", "finished", "groups", "names", "rewards")  # no misspelt attribute is set

    def __init__(
        self,
        variant: Variant,
        num_envs: int,
        partners: Sequence[Partner],
        seed: int,
        *,
        encoder: str = "canonical",
        groups: int = 1,
        device: torch.device | None = None,
        lost_game_penalty: float = 0.0,
        extra_outputs: Sequence[str] = (),
    ) -> None:
        seed = training_seed(seed)
        self.names = [partner.name for partner in partners]
        self.finished, self.rewards = FinishedGames(), Rewards(variant, "fireworks", lost_game_penalty)
        self._partners = partners
        num_envs = check_number("num_envs", num_envs, 1)
        if not 1 <= groups <= MAX_GROUPS:
            raise StarmineError(f"groups={groups} is not allowed: expected 1 to {MAX_GROUPS}")
        if num_envs % groups:
            raise StarmineError(f"num_envs={num_envs} is not allowed with groups={groups}: expected a multiple of it")
        size, seats = num_envs // groups, range(variant.players)
        if partners and size < len(seats):
            raise StarmineError(
                f"num_envs={num_envs} is not allowed with partners and groups={groups}: expected a game for each seat "
                "in each group"
            )
        mixture = [(partner.player, partner.weight) for partner in partners]
        # With partners one batch for each seat that the learner holds, else one batch.
        held = [(size + seat) // len(seats) if partners else size * (seat == 0) for seat in seats]
        self._threads = max(1, available_cores() // groups) if groups > 1 else None
        self.groups = []
        for group in range(groups):
            batches = [
                Batch(
                    self.rewards.rules,
                    count,
                    encoder=encoder,
                    dtype="bits",
                    seed=seed + (seat << 60) + (group << 56),  # the seed is below 2**56
                    partners={other: mixture for other in seats if other != seat} if partners else None,
                    extra_outputs=extra_outputs,
                    num_threads=self._threads,
                )
                for seat, count in enumerate(held)
                if count
            ]
            columns = slice(group * size, (group + 1) * size)
            self.groups.append(GameGroup(self, batches, columns, device or torch.device("cpu")))

    def take_finished(self) -> FinishedGames:
        """The games that ended since the last call, in the steps that were received."""
        finished, self.finished = self.finished, FinishedGames()
        return finished

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: the games, and the identities of the partners.

        Raises:
            StarmineError: a step has begun, and its outputs were not received: the state would lack them.
        """
        for group in self.groups:
            group.check_received("state_dict")
        batches = [batch.to_bytes() for group in self.groups for batch in group.batches]
        return {"batch": batches, "partners": self._identities()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the games of a checkpoint.

        Raises:
            StarmineError: the partners are not those that played, or there are other groups.
        """
        if state["partners"] != self._identities():
            raise StarmineError("a partner is another one than that of the run: its weights have changed")
        batches = [Batch.from_bytes(data, num_threads=self._threads) for data in state["batch"]]
        own = [batch.num_envs for group in self.groups for batch in group.batches]
        if [batch.num_envs for batch in batches] != own:
            raise StarmineError(f"groups={len(self.groups)} is another number of groups than the run's")
        for group in self.groups:
            count = len(group.batches)
            group.load(batches[:count])
            batches = batches[count:]

    def _identities(self) -> list[str | None]:
        return [identity(partner.player).text for partner in self._partners]


class GameGroup:
    """Games that are stepped together. After each `send` comes a `receive`.

    Attributes:
        batches: with partners one for each seat that the learner holds.
        columns: the places of these games among all games of the run.
    """

    ON_DEVICE = ("obs", "action_mask", "reward", "terminated", "current_player")
    ON_HOST = ("final_score", "final_ending")

    def __init__(self, games: TrainingGames, batches: list[Batch], columns: slice, device: torch.device) -> None:
        self.batches, self.columns = batches, columns
        self._games, self._device = games, device
        count, pinned = columns.stop - columns.start, device.type == "cuda"
        arrays = batches[0].allocate()
        on_device = (*self.ON_DEVICE, *batches[0].extra_outputs)
        # Page-locked memory, which a GPU reads and writes while the processor goes on.
        host = {
            name: torch.zeros(
                count, *arrays[name].shape[1:], dtype=torch.from_numpy(arrays[name]).dtype, pin_memory=pinned
            )
            for name in (*on_device, *self.ON_HOST)
        }
        self._host = {name: host[name] for name in on_device}
        self._outputs = {name: tensor.to(device, copy=True) for name, tensor in self._host.items()}
        self._arrays: dict[str, NDArray[Any]] = {name: tensor.numpy() for name, tensor in host.items()}
        self._action = torch.zeros(count, dtype=torch.int64, pin_memory=pinned)
        self._thread = ThreadPoolExecutor(1)
        self._step: Future[None] | None = None
        self.load(batches)

    def load(self, batches: list[Batch]) -> None:
        """Go on with these games; the next `receive` returns their present positions."""
        self.receive()
        self.batches = batches
        for batch, rows in self._rows():
            for name, values in batch.observe().items():
                if name in self._arrays:
                    self._arrays[name][rows] = values
        self._drawn = self._draws()
        self._copy_to_device()

    def receive(self) -> dict[str, Tensor]:
        """Wait for the step that `send` has begun.

        Returns:
            Tensors on the device, of the n games of the group: "obs", the packed bits, uint8 (n, B); "action_mask",
            bool (n, A); "reward", float32 (n,), by `TrainingGames.rewards`; "terminated", bool (n,);
            "current_player", int32 (n,); and the extra outputs. They are valid until the next `receive`, and do not
            change before it.
        """
        step, self._step = self._step, None
        if step is not None:
            step.result()  # or its error
            self._count_ended()
            self._copy_to_device()
        return self._outputs

    def check_received(self, call: str) -> None:
        """Check that the outputs of the last step were received.

        Raises:
            StarmineError: they were not.
        """
        if self._step is not None:
            raise StarmineError(f"a step of these games has begun: expected receive before the next {call}")

    def send(self, action: Tensor) -> None:
        """Begin a step with the actions int64 (n,), a tensor on the device.

        Raises:
            StarmineError: a step has begun already, and its outputs were not received.
        """
        self.check_received("send")
        self._action.copy_(action, non_blocking=self._device.type == "cuda")
        copied = torch.cuda.Event() if self._device.type == "cuda" else None  # type: ignore[no-untyped-call]
        if copied is not None:
            copied.record(torch.cuda.current_stream(self._device))
        self._step = self._thread.submit(self._play, copied)

    def _copy_to_device(self) -> None:
        for name, tensor in self._host.items():
            self._outputs[name].copy_(tensor, non_blocking=self._device.type == "cuda")

    def _play(self, copied: torch.cuda.Event | None) -> None:
        """Play the actions, in the group's thread, as soon as they are copied."""
        if copied is not None:
            copied.synchronize()  # the device has then also read the outputs of the last step
        action, outputs = self._action.numpy(), self._arrays
        for batch, rows in self._rows():
            batch.step_into(action[rows], **{name: array[rows] for name, array in outputs.items()})

    def _count_ended(self) -> None:
        """Add the games that ended to the finished ones, and change the rewards to those of `TrainingGames.rewards`."""
        games, outputs, ended = self._games, self._arrays, self._arrays["terminated"]
        if ended.any():
            # Before the scores of lost games are put to 0.
            games.finished.add(outputs["final_score"][ended], outputs["final_ending"][ended], self._drawn[ended])
            games.rewards.step(outputs)
            self._drawn = self._draws()

    def _rows(self) -> Iterator[tuple[Batch, slice]]:
        """The batches and their places among the games of the group."""
        start = 0
        for batch in self.batches:
            yield batch, slice(start, start + batch.num_envs)
            start += batch.num_envs

    def _draws(self) -> NDArray[np.int32]:
        """For each game the index in the mixture of each seat's partner (n, players), -1 for the learner."""
        if not self._games.names:
            return np.empty((self.columns.stop - self.columns.start, 0), np.int32)
        return np.concatenate([batch._partners() for batch in self.batches])


class FinishedGames:
    """The games that end during a rollout, for the log."""

    def __init__(self) -> None:
        self._ended: list[tuple[NDArray[Any], ...]] = []

    def add(self, scores: NDArray[Any], endings: NDArray[Any], partners: NDArray[Any] | None = None) -> None:
        """Add n games.

        Args:
            scores: the points of their fireworks, integers (n,): "final_score" of a batch that plays `Rewards.rules`.
            endings: "final_ending", integers (n,).
            partners: for each seat the index of its partner, integers (n, players), -1 for the learner.
        """
        self._ended.append((scores, endings, np.empty((len(scores), 0), np.int32) if partners is None else partners))

    def means(self, partners: Sequence[str] = ()) -> dict[str, float]:
        """Mean scores and the share of lost games; empty when no game ended.

        Args:
            partners: their names, by index.

        Returns:
            "score", where a lost game counts 0; "kept", where a lost game keeps its points; "lost"; and
            "score with NAME" of the games in which this partner had a seat.
        """
        if not any(len(scores) for scores, _, _ in self._ended):
            return {}
        kept, endings, held = (np.concatenate(column) for column in zip(*self._ended, strict=True))
        lost = np.isin(endings, defeats())
        score = np.where(lost, 0, kept)
        means = {"score": float(score.mean()), "kept": float(kept.mean()), "lost": float(lost.mean())}
        for index, name in enumerate(partners):
            if (played := (held == index).any(1)).any():
                means[f"score with {name}"] = float(score[played].mean())
        return means
