"""The library pyarrow, imported where it is first needed."""

from __future__ import annotations

from types import ModuleType


def pyarrow() -> ModuleType:
    """The module `pyarrow`.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import pyarrow
    except ImportError as missing:
        raise ImportError("starmine.data needs pyarrow: pip install 'starmine[data]'") from missing
    return pyarrow  # type: ignore[no-any-return]


def pyarrow_parquet() -> ModuleType:
    """The module `pyarrow.parquet`.

    Raises:
        ImportError: it is not installed.
    """
    pyarrow()
    from pyarrow import parquet

    return parquet  # type: ignore[no-any-return]
