"""The library pyarrow, imported where it is first needed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starmine._util.imports import library

_module = partial(library, needs="starmine.data needs pyarrow", extra="data")
pyarrow = partial(_module, "pyarrow")
pyarrow_parquet = partial(_module, "pyarrow.parquet")


def to_arrow(numbers: NDArray[Any]) -> Any:
    """Numbers (n,) as a `pyarrow.Array` of their type. `pyarrow.array` would import pandas, which takes a second."""
    pa = pyarrow()
    buffers = [None, pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def to_numpy(column: Any) -> NDArray[Any]:
    """The numbers of a `pyarrow.Array` without missing values, as a view. Its own `to_numpy` would import pandas."""
    dtype = np.dtype(column.type.to_pandas_dtype())
    if len(column) == 0:
        return np.empty(0, dtype)
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)
