"""The forms of other libraries and sites: a module for each, imported when it is first used.

`jax`, `jaxmarl`, `pettingzoo` and `sb3` (Stable-Baselines3). Gymnasium's classes are `starmine.HanabiEnv` and
`starmine.HanabiVectorEnv`. A module whose library is missing raises an ImportError that names the extra to install.
`ah2ac2` and `hanab_live` let players of Starmine hold seats at tables of others.
"""

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules
from typing import Any as _Any

_ADAPTERS = tuple(sorted(module.name for module in _iter_modules(__path__)))


def __getattr__(name: str) -> _Any:
    """Import the adapter of a library when it is first used."""
    if name in _ADAPTERS:
        return _import_module(f"starmine.adapters.{name}")
    known = ", ".join(_ADAPTERS)
    raise AttributeError(f"module 'starmine.adapters' has no attribute {name!r}: expected one of {known}")
