"""Arrays of numpy: the type of one whose dtype the docstring tells, and the check of one that a caller gives."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starmine._core import ArrayError

Array: TypeAlias = NDArray[Any]


def check_array(name: str, array: Any, dtype: type[np.generic], shape: tuple[int | None, int], of: str = "") -> None:
    """Refuse what is not an array of this dtype and shape; a length of None can be any.

    Raises:
        ArrayError: it is not.
    """
    if not isinstance(array, np.ndarray):
        raise ArrayError(f"{name} is a {type(array)}: expected a numpy array")
    if isinstance(array, np.ma.MaskedArray):
        raise ArrayError(f"{name} is a masked array: expected one without a mask")
    if array.dtype != dtype:
        raise ArrayError(f"{name} has dtype {array.dtype}: expected {np.dtype(dtype)}")
    rows, columns = shape
    if array.ndim != 2 or array.shape[1] != columns or rows not in (None, len(array)):
        expected = "K" if rows is None else rows
        raise ArrayError(f"{name} has shape {array.shape}: expected ({expected}, {columns}){of}")
