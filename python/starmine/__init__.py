"""Hanabi as an environment for reinforcement learning: a Rust core, thousands of games at once.

The names below are those of the quick start. All other names are in the subpackages, such as `starmine.games`,
`starmine.data`, `starmine.text` and `starmine.torch`.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import Any as _Any

from starmine import games as games
from starmine import policies as policies
from starmine._core import (
    ArrayError,
    Batch,
    BusyError,
    Card,
    DeckError,
    Event,
    IllegalActionError,
    Knowledge,
    Move,
    NotationError,
    SerializationError,
    StarmineError,
    State,
    UnknownNameError,
    Variant,
    VariantError,
    View,
    bots,
    encoders,
    endings,
    make_bot,
    variants,
)
from starmine._util.imports import register as _register
from starmine.envs import HanabiEnv, HanabiVectorEnv
from starmine.envs import registration as _registration
from starmine.evaluation import evaluate
from starmine.games import BotError, Games, Turns, defeats, play_games, search
from starmine.games.pictures import attach as _attach
from starmine.games.variants import variant
from starmine.policies import load_policy

__version__ = _version("starmine")

# What subpackages need of subpackages above them.
_register(
    draw_position="starmine.look.svg:to_svg",
    draw_grid="starmine.look.svg:grid_svg",
    rgb_of_svg="starmine.look.png:rgb_of",
    module_policy="starmine.torch:ModulePolicy",
    color_network="starmine.torch:ColorNetwork",
    plain_network="starmine.torch:PolicyNetwork",
)
_attach()
_registration.register()
_registration.register_with_pettingzoo()

# Subpackages that need extras, or that few users need.
_LAZY_SUBPACKAGES = ("adapters", "data", "hle", "look", "text", "torch", "training")
_SUBPACKAGES = ("envs", "evaluation", "games", "policies", *_LAZY_SUBPACKAGES)


def __getattr__(name: str) -> _Any:
    """Import a subpackage when it is first used, such as `starmine.data` or `starmine.torch`."""
    if name in _LAZY_SUBPACKAGES:
        return _import_module(f"starmine.{name}")
    raise AttributeError(f"module 'starmine' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names and subpackages."""
    return sorted({*__all__, *_SUBPACKAGES, "__version__"})


__all__ = [
    "ArrayError",
    "Batch",
    "BotError",
    "BusyError",
    "Card",
    "DeckError",
    "Event",
    "Games",
    "HanabiEnv",
    "HanabiVectorEnv",
    "IllegalActionError",
    "Knowledge",
    "Move",
    "NotationError",
    "SerializationError",
    "StarmineError",
    "State",
    "Turns",
    "UnknownNameError",
    "Variant",
    "VariantError",
    "View",
    "bots",
    "defeats",
    "encoders",
    "endings",
    "evaluate",
    "load_policy",
    "make_bot",
    "play_games",
    "search",
    "variant",
    "variants",
]
