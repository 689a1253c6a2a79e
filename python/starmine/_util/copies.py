"""Copies of environments."""

from __future__ import annotations

from copy import deepcopy
from typing import Self


class CopiedWhole:
    """An object whose shallow copy would share its games: `copy.copy` copies it whole, as `copy.deepcopy` does."""

    def __copy__(self) -> Self:
        return deepcopy(self)
