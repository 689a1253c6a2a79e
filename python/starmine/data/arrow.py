"""The library pyarrow, imported where it is first needed."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pyarrow() -> ModuleType:
    """The module `pyarrow`."""
    try:
        import pyarrow
    except ImportError as missing:
        raise ImportError("starmine.data needs pyarrow: pip install 'starmine[data]'") from missing
    return pyarrow  # type: ignore[no-any-return]


def pyarrow_parquet() -> ModuleType:
    """The module `pyarrow.parquet`."""
    pyarrow()
    from pyarrow import parquet

    return parquet  # type: ignore[no-any-return]


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
