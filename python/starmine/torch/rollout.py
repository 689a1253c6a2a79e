"""The samples of a rollout, with packed observations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from starmine._core import ArrayError, StarmineError
from starmine._util.equality import equal_by_value
from starmine.torch.unpack import DTYPES, packed_length, unpack_bits


@equal_by_value
@dataclass(frozen=True)
class Minibatch:
    """n samples of a `RolloutBuffer`.

    Attributes:
        rows: int64 (n,), indices of the samples, `step * num_envs + game`: with it, select from tensors of your own,
            such as flattened advantages.
        obs: the features (n, D), or (n, seats, D), in the dtype asked for; or the packed observations uint8
            (n, 8 * ceil(D / 64)), or (n, seats, ...).
        action_mask: bool (n, A).
        action: int64 (n,).
        log_prob: float32 (n,), of the action when it was chosen.
        value: float32 (n,), the value estimate at that time.
    """

    rows: Tensor
    obs: Tensor
    action_mask: Tensor
    action: Tensor
    log_prob: Tensor
    value: Tensor


class RolloutBuffer:
    """The samples of a rollout, for PPO and similar algorithms; observations stay packed, one bit a feature.

    A sample of 658 features and 20 actions takes 129 bytes: 88 for the observation, which would be 2,632 in float32, 20
    for the mask, and 21 for the rest.

    Args:
        steps: steps of a rollout, T.
        num_envs: games, N.
        num_features: D: the layout's length.
        num_actions: A.
        seats: number of seats if observations of all seats are stored (`observers="all"`); else None.
        device: of the tensors.

    Attributes:
        obs: uint8 (T, N, 8 * ceil(D / 64)), or (T, N, seats, 8 * ceil(D / 64)).
        action_mask: bool (T, N, A).
        action: int64 (T, N).
        log_prob, value, reward: float32 (T, N).
        terminated: bool (T, N), whether the game ended in this step.
        filled: number of steps added since the last `clear`.

    Raises:
        StarmineError: a size below 1.

    Example:
        >>> import starmine, starmine.torch, torch
        >>> batch = starmine.Batch("standard", 4, dtype="bits", seed=0)
        >>> rollout = starmine.torch.RolloutBuffer(8, 4, len(batch.layout), batch.variant.num_actions)
        >>> now = batch.observe()
        >>> for _ in range(8):
        ...     action = now["action_mask"].argmax(1)
        ...     log_prob, value = torch.zeros(4), torch.zeros(4)  # of your policy
        ...     after = batch.step(action)
        ...     rollout.add(
        ...         obs=now["obs"], action_mask=now["action_mask"], action=action, log_prob=log_prob,
        ...         value=value, reward=after["reward"], terminated=after["terminated"],
        ...     )
        ...     now = after
        >>> advantage = rollout.advantages(last_value=torch.zeros(4), gamma=0.99, gae_lambda=0.95)
        >>> [tuple(minibatch.obs.shape) for minibatch in rollout.minibatches(20)]
        [(20, 658), (12, 658)]
    """

    def __init__(
        self,
        steps: int,
        num_envs: int,
        num_features: int,
        num_actions: int,
        *,
        seats: int | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        sizes = {"steps": steps, "num_envs": num_envs, "num_features": num_features, "num_actions": num_actions}
        _check_sizes(sizes | ({} if seats is None else {"seats": seats}))
        self.num_features = num_features
        self.filled = 0
        of_seats = () if seats is None else (seats,)
        times = (steps, num_envs)

        def empty(dtype: torch.dtype, *shape: int) -> Tensor:
            return torch.empty((*times, *shape), dtype=dtype, device=device)

        self.obs = empty(torch.uint8, *of_seats, packed_length(num_features))
        self.action_mask = empty(torch.bool, num_actions)
        self.action = empty(torch.int64)
        self.log_prob, self.value, self.reward = (empty(torch.float32) for _ in range(3))
        self.terminated = empty(torch.bool)

    def __len__(self) -> int:
        """Number of samples: the steps added, times N."""
        return self.filled * self.obs.shape[1]

    def clear(self) -> None:
        """Discard all steps."""
        self.filled = 0

    def add(
        self, *, obs: Any, action_mask: Any, action: Any, log_prob: Any, value: Any, reward: Any, terminated: Any
    ) -> None:
        """Add a step of all games. Tensors may be on any device, arrays are numpy's; all are copied.

        Args:
            obs: uint8 (N, 8 * ceil(D / 64)), or (N, seats, 8 * ceil(D / 64)): the packed observations.
            action_mask: bool (N, A): the legal actions.
            action: integers (N,): the actions taken.
            log_prob: floats (N,): their log probabilities.
            value: floats (N,): the value estimates before the actions.
            reward: numbers (N,): the rewards of the actions.
            terminated: bool (N,): whether the actions ended the games.

        Raises:
            ArrayError: an array of another shape or dtype; nothing has been added.
            StarmineError: the buffer is full.
        """
        steps = len(self.obs)
        if self.filled == steps:
            raise StarmineError(f"the buffer has all of its {steps} steps: expected clear() before another")
        given = {
            "obs": obs,
            "action_mask": action_mask,
            "action": action,
            "log_prob": log_prob,
            "value": value,
            "reward": reward,
            "terminated": terminated,
        }
        rows = {name: getattr(self, name)[self.filled] for name in given}
        tensors = {name: _fitting(name, given[name], rows[name]) for name in given}
        for name, row in rows.items():
            row.copy_(tensors[name])
        self.filled += 1

    def advantages(self, last_value: Any, gamma: float, gae_lambda: float) -> Tensor:
        """Generalised advantage estimates (Schulman et al., 2016) of the steps added.

        Args:
            last_value: floats (N,): the value estimates after the last step; ignored where the game ended in it.
            gamma: the discount of a step.
            gae_lambda: the weight of longer returns.

        Returns:
            float32 (filled, N). The returns are the sum of these and `value` of the same steps.

        Raises:
            ArrayError: a last value of another shape or dtype.
        """
        following, filled = _fitting("last_value", last_value, self.value[0]), self.filled
        # float64: temporal differences are small differences of large numbers.
        reward, discount = self.reward[:filled].double(), gamma * (1 - self.terminated[:filled].float())
        advantage = torch.zeros(filled + 1, *following.shape, device=self.value.device)
        for step in reversed(range(filled)):
            error = reward[step] + discount[step] * following - self.value[step]
            advantage[step] = error + gae_lambda * discount[step] * advantage[step + 1]
            following = self.value[step]
        return advantage[:-1]

    def minibatches(
        self, size: int, *, generator: torch.Generator | None = None, dtype: torch.dtype | None = torch.float32
    ) -> Iterator[Minibatch]:
        """Iterate over all samples once, in random order.

        Args:
            size: samples in a minibatch; the last one may have fewer.
            generator: of the order; None for torch's default generator on the CPU.
            dtype: of the features: `torch.float32`, `bfloat16`, `float16` or `uint8`; None to leave them packed.

        Raises:
            StarmineError: a size below 1, or no samples.
            ArrayError: another dtype.
        """
        order = self._order(len(self), {"size": size}, generator, dtype)
        return (self._minibatch(rows, dtype) for rows in torch.split(order, size))

    def sequences(
        self, games: int, *, generator: torch.Generator | None = None, dtype: torch.dtype | None = torch.float32
    ) -> Iterator[Minibatch]:
        """Iterate over all samples once, in sequences for recurrent networks.

        A sequence is a column of the buffer: all steps of one of the N environments, in order of time. It may contain
        parts of several games. A minibatch of B sequences has filled * B samples, step after step:
        `rows.view(-1, B)` has a sequence in each column, and `rows[:B]` are the indices of the environments.

        The buffer stores no hidden states and no seats. Keep the hidden states before the first step, (N, players,
        width), and `current_player` and the starts of games of all steps, (filled, N), in tensors of your own:
        `HiddenState(first[rows[:B]], seat.flatten()[rows].view(-1, B), start.flatten()[rows].view(-1, B))` is the
        network's input. `examples/ppo_recurrent.py` of the repository trains this way with a buffer of its own.

        Args:
            games: sequences in a minibatch; the last one may have fewer.
            generator: of the order of the sequences; None for torch's default generator on the CPU.
            dtype: of the features: `torch.float32`, `bfloat16`, `float16` or `uint8`; None to leave them packed.

        Raises:
            StarmineError: a number of sequences below 1, or no samples.
            ArrayError: another dtype.
        """
        num_envs = self.obs.shape[1]
        order = self._order(num_envs, {"games": games}, generator, dtype)
        starts = num_envs * torch.arange(self.filled, device=order.device)[:, None]
        return (self._minibatch((starts + columns).flatten(), dtype) for columns in torch.split(order, games))

    def _order(
        self, count: int, sizes: dict[str, int], generator: torch.Generator | None, dtype: torch.dtype | None
    ) -> Tensor:
        _check_sizes(sizes)
        if not self.filled:
            raise StarmineError("the buffer is empty: expected add() before its samples")
        if dtype is not None and dtype not in DTYPES:
            raise ArrayError(f"dtype={dtype} is not allowed: expected one of {', '.join(map(str, DTYPES))}")
        where = "cpu" if generator is None else generator.device
        return torch.randperm(count, generator=generator, device=where).to(self.obs.device)

    def _minibatch(self, rows: Tensor, dtype: torch.dtype | None) -> Minibatch:
        def chosen(samples: Tensor) -> Tensor:
            return samples.flatten(0, 1).index_select(0, rows)  # copies whole rows, unlike an index in brackets

        packed = chosen(self.obs)
        return Minibatch(
            rows,
            obs=packed if dtype is None else unpack_bits(packed, self.num_features, dtype),
            action_mask=chosen(self.action_mask),
            action=chosen(self.action),
            log_prob=chosen(self.log_prob),
            value=chosen(self.value),
        )

    def __repr__(self) -> str:
        """The sizes and the number of steps added."""
        steps, num_envs = self.obs.shape[:2]
        return f"RolloutBuffer(steps={steps}, num_envs={num_envs}, filled={self.filled}, device={self.obs.device})"


def _check_sizes(sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise StarmineError(f"{name}={size} is not allowed: expected at least 1")


def _fitting(name: str, given: Any, row: Tensor) -> Tensor:
    """The array as a tensor of the row's shape, with a dtype that the row can store."""
    if isinstance(given, np.ma.MaskedArray):
        raise ArrayError(f"{name} is a masked array: expected one without a mask, such as {name}.filled(...)")
    if isinstance(given, np.ndarray) and not given.flags.writeable:
        given = given.copy()
    try:
        tensor = torch.as_tensor(given).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ArrayError(f"{name} cannot be read as a tensor: {error}") from error
    exact = row.dtype in (torch.uint8, torch.bool)
    fits = not exact and tensor.dtype != torch.bool and torch.can_cast(tensor.dtype, row.dtype)
    if tensor.dtype != row.dtype and not fits:
        expected = row.dtype if exact else ("integers" if row.dtype == torch.int64 else "numbers")
        raise ArrayError(f"{name} has dtype {tensor.dtype}: expected {expected}")
    if tensor.shape != row.shape:
        raise ArrayError(f"{name} has shape {tuple(tensor.shape)}: expected {tuple(row.shape)}")
    return tensor.to(row.device)
