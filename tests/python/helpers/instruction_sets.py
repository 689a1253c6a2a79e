"""The sets of vector instructions, and which of them this processor has."""

import pytest

import starmine

VARIABLE = "STARMINE_SIMD"
SETS = ["portable", "avx2", "avx512"]


def has(name):
    """Whether this processor has the set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, name)
        try:
            starmine.Batch("standard", 1)
        except starmine.StarmineError:
            return False
        return True


AVAILABLE = [name for name in SETS if has(name)]
