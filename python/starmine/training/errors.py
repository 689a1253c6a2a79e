"""What ends a training run early."""

from __future__ import annotations

from starmine._core import StarmineError


class TrainingError(StarmineError):
    """A training run cannot begin, go on or be saved; the message is one line that says why."""


class DivergedError(TrainingError):
    """The numbers of a training run are no longer finite, so that it was stopped before they were saved."""
