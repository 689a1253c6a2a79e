"""Hanabi as an environment for reinforcement learning: a Rust core, thousands of games at once."""

from importlib.metadata import version as _version

from starmine import registration as _registration
from starmine._core import (
    ArrayError,
    Batch,
    BusyError,
    Card,
    DeckError,
    Event,
    IllegalActionError,
    Knowledge,
    Layout,
    NotationError,
    Section,
    SerializationError,
    StarmineError,
    State,
    UnknownNameError,
    Variant,
    VariantError,
    View,
    encoders,
    endings,
    variant,
    variants,
)
from starmine.env import HanabiEnv
from starmine.vector import HanabiVectorEnv

__version__ = _version("starmine")

_registration.register()

__all__ = [
    "ArrayError",
    "Batch",
    "BusyError",
    "Card",
    "DeckError",
    "Event",
    "HanabiEnv",
    "HanabiVectorEnv",
    "IllegalActionError",
    "Knowledge",
    "Layout",
    "NotationError",
    "Section",
    "SerializationError",
    "StarmineError",
    "State",
    "UnknownNameError",
    "Variant",
    "VariantError",
    "View",
    "encoders",
    "endings",
    "variant",
    "variants",
]
