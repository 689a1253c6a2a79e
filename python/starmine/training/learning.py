"""What learners share: first weights, drawn actions, schedules, averages and checks of their numbers."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

import torch
from torch import Tensor, nn

from starmine._core import StarmineError
from starmine._util.keywords import check_names
from starmine._util.numbers import is_number
from starmine.games.player_texts import own_policy
from starmine.torch import ActorCritic
from starmine.training.evaluation import scored_zero
from starmine.training.script import DivergedError, TrainingError


def by_device(args: Any, device: torch.device, defaults: Mapping[str, Mapping[str, Any]]) -> Any:
    """The arguments as they are on a device: with its type, its defaults in place of None, and no "auto".

    Args:
        args: a dataclass with the fields `device`, and `dtype`, a `Precision`.
        device: that the script runs on.
        defaults: by type of the device the values of the fields that may be None.
    """
    changes = {name: value for name, value in defaults[device.type].items() if getattr(args, name) is None}
    dtype = str(matmul_dtype(args.dtype, device)).removeprefix("torch.")
    return replace(args, device=device.type, dtype=dtype, **changes)


def begin_with(network: ActorCritic, policy: str, argument: str = "start") -> dict[str, Any]:
    """Give a network the weights of a policy.

    Args:
        network: of the same rules and form as the policy's. What a lost game scores may differ.
        policy: the text of a trained policy, as `play_games` takes it: its name, its file, or the folder of a run.
        argument: the name of the script's argument that gave it, for errors.

    Returns:
        What the policy's file tells of its training, such as its "method".

    Raises:
        TrainingError: the policy has other rules or another network.
        StarmineError: the text names no policy of Starmine.
    """
    trained = own_policy(policy, argument)
    own, others = form(network), form(trained.network())
    different = [f"{name}={value!r}, not {own.get(name)!r}" for name, value in others.items() if own.get(name) != value]
    if different:
        raise TrainingError(f"{argument}={policy!r} is not allowed: it has {', '.join(different)}")
    network.load_state_dict(trained.network().state_dict())
    return dict(trained.about)


def form(network: ActorCritic) -> dict[str, object]:
    """What two networks must share for their weights to be exchanged."""
    return {"variant": scored_zero(network.variant), "encoder": network.encoder, **network.describe()}


def explore(action: Tensor, mask: Tensor, epsilon: Tensor | float) -> Tensor:
    """The actions, each replaced with a probability by a uniformly random legal one.

    Args:
        action: integers (N,).
        mask: bool (N, A), the legal actions.
        epsilon: the probability, 0 to 1: one for each action, float (N,), or one for all.

    Raises:
        StarmineError: the one probability is not a number from 0 to 1.
    """
    if not isinstance(epsilon, Tensor) and not is_number(epsilon, 0, 1):
        raise StarmineError(f"epsilon={epsilon!r} is not allowed: expected a number from 0 to 1")
    random = torch.rand(mask.shape, device=mask.device).masked_fill(~mask, -1).argmax(1)
    return torch.where(torch.rand(len(action), device=mask.device) < epsilon, random, action)


def sample_actions(log_probs: Tensor) -> Tensor:
    """Actions int64 (N,), each drawn by its row of natural log probabilities, float (N, A).

    This is the Gumbel-max trick: minus the logarithm of exponential noise is Gumbel noise.
    """
    return (log_probs - torch.empty_like(log_probs).exponential_().log()).argmax(1)


def anneal(start: float, end: float, fraction: float, hold: float = 0.0) -> float:
    """The value of a hyperparameter when a fraction of the budget is spent: first constant, then linear.

    Args:
        start: the value until `hold`.
        end: the value at fraction 1 and beyond.
        fraction: the spent part of the budget, at least 0.
        hold: the part of the budget with a constant value, 0 to 1.
    """
    if fraction >= 1:
        return end
    return start if fraction <= hold else end + (start - end) * (1 - fraction) / (1 - hold)


def doubling_schedule(size: int, end: int | None, fraction: float) -> int:
    """A size, such as a minibatch's, that is doubled after equal parts of the budget.

    Args:
        size: at fraction 0.
        end: the upper bound of the size, at least `size`; None to stay at `size`.
        fraction: the spent part of the budget, at least 0.

    Raises:
        StarmineError: the end is below the size.
    """
    if end is not None and end < size:
        raise StarmineError(
            f"a size that grows from {size} to {end} is not allowed: expected an end of at least {size}"
        )
    doublings = 0 if end is None else int(math.log2(end / size))
    return size << min(int((doublings + 1) * fraction), doublings)


def flat_weights(network: nn.Module) -> nn.Parameter:
    """Move a network's weights into one tensor, and their gradients into another. The parameters become views of them.

    An optimizer step and the norm of the gradient then take one call instead of one for each layer.

    Args:
        network: of float weights, all on one device.

    Returns:
        The weights, a parameter (W,), with a gradient of zeros. Clear it by `.grad.zero_()`; never set it to None.
    """
    parameters = list(network.parameters())
    flat = nn.Parameter(torch.cat([parameter.detach().flatten() for parameter in parameters]))
    flat.grad = torch.zeros_like(flat)
    sizes = [parameter.numel() for parameter in parameters]
    pieces = zip(parameters, torch.split(flat.detach(), sizes), torch.split(flat.grad, sizes), strict=True)
    for parameter, weights, gradient in pieces:
        parameter.data = weights.view_as(parameter)
        parameter.grad = gradient.view_as(parameter)
    return flat


class Muon(torch.optim.Optimizer):
    """Muon for the matrices of hidden layers: momentum whose singular values are all brought near 1.

    The method is that of Jordan et al. (https://kellerjordan.github.io/posts/muon/), with Nesterov momentum, five
    Newton-Schulz steps, and no weight decay. `torch.optim.Muon` has two limits: it reads the learning rate as a Python
    number, which a CUDA graph never reads anew, and it always multiplies in bfloat16, which takes 17 times as long as
    float32 on a processor without instructions for it.

    Args:
        matrices: parameters (rows, columns), each with a gradient.
        lr: the learning rate, a tensor () that may change. A matrix with more rows than columns learns at
            sqrt(rows / columns) times this rate.
        dtype: of the matrix products.
        momentum: decay of the average of the gradients, 0 to 1.
    """

    def __init__(self, matrices: Sequence[Tensor], lr: Tensor, dtype: torch.dtype, momentum: float = 0.95) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum})
        self.dtype = dtype
        for matrix in matrices:
            self.state[matrix]["momentum"] = torch.zeros_like(matrix)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Change the matrices by their gradients, and clear these gradients."""
        for group in self.param_groups:
            lr, decay = group["lr"], group["momentum"]
            for matrix in group["params"]:
                momentum = self.state[matrix]["momentum"].lerp_(matrix.grad, 1 - decay)
                direction = orthogonalised(matrix.grad.lerp(momentum, decay), self.dtype)
                rows, columns = matrix.shape
                matrix.sub_(direction * (lr * max(1, rows / columns) ** 0.5))
                matrix.grad.zero_()


def orthogonalised(matrix: Tensor, dtype: torch.dtype) -> Tensor:
    """A matrix with the same singular vectors and all singular values near 1, by five Newton-Schulz steps.

    Args:
        matrix: float32 (rows, columns).
        dtype: of the products.
    """
    is_tall = matrix.shape[0] > matrix.shape[1]
    wide = (matrix.T if is_tall else matrix).to(dtype)
    wide = wide / (wide.norm() + 1e-7)  # no singular value is above 1
    for _ in range(5):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=-4.7750, alpha=2.0315), wide, beta=3.4445)
    return (wide.T if is_tall else wide).to(matrix.dtype)


Network = TypeVar("Network", bound=nn.Module)


class WeightAverage(Generic[Network]):
    """A copy of a network whose weights are an exponential moving average of the network's.

    Early updates weigh more than 1 - decay, so that the first weights are soon forgotten: update n, from 0, has the
    weight max(1 - decay, 9 / (n + 10)).

    Args:
        network: the network, of which the copy is made.
        weights: what `flat_weights(network)` returned.
        decay: from 0, for the network itself, to below 1.

    Raises:
        StarmineError: another decay.

    Attributes:
        network: the copy, to evaluate and to ship.
    """

    def __init__(self, network: Network, weights: Tensor, decay: float) -> None:
        if not is_number(decay, 0, 1) or decay == 1:
            raise StarmineError(f"decay={decay!r} is not allowed: expected a number from 0 to below 1")
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.decay, self._theirs, self._own = decay, weights, flat_weights(self.network).requires_grad_(False)
        self._updates = torch.zeros((), device=weights.device)  # a tensor, so that a CUDA graph counts as well

    @torch.no_grad()
    def update(self) -> None:
        """Take the network's present weights into the average."""
        self._own.lerp_(self._theirs, (9 / (self._updates + 10)).clamp(min=1 - self.decay))
        self._updates += 1

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"network": self.network.state_dict(), "updates": int(self._updates)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.network.load_state_dict(state["network"])
        self._updates.fill_(state["updates"])


Precision: TypeAlias = Literal["auto", "float32", "bfloat16"]


def matmul_dtype(precision: Precision, device: torch.device) -> torch.dtype:
    """The dtype of matrix products.

    Args:
        precision: "auto" is bfloat16 where the device multiplies it, else float32. A processor that has to emulate
            bfloat16 takes many times longer than for float32.
        device: of the network.

    Raises:
        UnknownNameError: there is no such precision.
    """
    check_names("dtype", [precision], get_args(Precision))
    if precision == "auto":
        precision = "bfloat16" if multiplies_bfloat16(device) else "float32"
    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether a device has instructions for products of bfloat16."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def check_finite(measures: Tensor, names: Sequence[str], module: nn.Module) -> None:
    """Stop a run that has diverged, before its next checkpoint.

    Args:
        measures: (minibatches, len(names)), such as the losses of an update.
        names: of the columns, for the message.
        module: what was trained.

    Raises:
        DivergedError: a measure or a weight is not finite.
    """
    for minibatch, column in (~measures.isfinite()).nonzero().tolist():
        problem = f"{names[column]} is {measures[minibatch, column]}"
        raise DivergedError(f"{problem} in minibatch {minibatch + 1} of {len(measures)}")
    for name, parameter in module.named_parameters():
        if not parameter.isfinite().all():
            raise DivergedError(f"a weight of {name} is not finite")
