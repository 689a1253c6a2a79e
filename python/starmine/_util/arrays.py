"""The type of an array of numpy whose dtype the docstring tells."""

from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
