"""Detection of diverged training."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn


def check_finite(measures: Tensor, names: Sequence[str], module: nn.Module) -> None:
    """Stop a run that has diverged, before its next checkpoint.

    Args:
        measures: (minibatches, len(names)), such as the losses of an update.
        names: of the columns, for the message.
        module: what was trained.

    Raises:
        FloatingPointError: a measure or a weight is not finite.
    """
    for minibatch, column in (~measures.isfinite()).nonzero().tolist():
        found = f"{names[column]} is {measures[minibatch, column]}"
        raise FloatingPointError(f"{found} in minibatch {minibatch + 1} of {len(measures)}")
    for name, parameter in module.named_parameters():
        if not parameter.isfinite().all():
            raise FloatingPointError(f"a weight of {name} is not finite")
