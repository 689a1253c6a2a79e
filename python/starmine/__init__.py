"""Hanabi as an environment for reinforcement learning: a Rust core, thousands of games at once."""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import Any as _Any

from starmine import registration as _registration
from starmine._core import (
    ArrayError,
    Batch,
    BotKind,
    BusyError,
    Card,
    DeckError,
    Event,
    IllegalActionError,
    Knowledge,
    Layout,
    Move,
    NotationError,
    RuleKind,
    SeatedBot,
    Section,
    SerializationError,
    StarmineError,
    State,
    UnknownNameError,
    Variant,
    VariantError,
    View,
    bot,
    bots,
    encoders,
    endings,
    make_bot,
    policies,
    rule,
    rules,
    variants,
)
from starmine.env import HanabiEnv
from starmine.evaluation import Evaluation, Pairing, evaluate
from starmine.look.attached import attach as _attach
from starmine.outcomes import defeats
from starmine.play import play_games
from starmine.played import BotError, Failure, Games, RecordedGames
from starmine.players import Policy, PythonBot
from starmine.presets import variant
from starmine.searching import HandBelief, SearchedAction, SearchResult, search
from starmine.trained import TrainedPolicy, load_policy
from starmine.trajectories import Trajectories, replay
from starmine.turns import Turns
from starmine.vector import HanabiVectorEnv

__version__ = _version("starmine")

_attach()
_registration.register()
_registration.register_with_pettingzoo()

_ROOMS = ("adapters", "data", "hle", "look", "text", "torch", "training")  # which need more, or which few users need


def __getattr__(name: str) -> _Any:
    """Import a room of the package when it is first used, such as `starmine.data` or `starmine.torch`."""
    if name in _ROOMS:
        return _import_module(f"starmine.{name}")
    raise AttributeError(f"module 'starmine' has no attribute {name!r}")


__all__ = [
    "ArrayError",
    "Batch",
    "BotError",
    "BotKind",
    "BusyError",
    "Card",
    "DeckError",
    "Evaluation",
    "Event",
    "Failure",
    "Games",
    "HanabiEnv",
    "HanabiVectorEnv",
    "HandBelief",
    "IllegalActionError",
    "Knowledge",
    "Layout",
    "Move",
    "NotationError",
    "Pairing",
    "Policy",
    "PythonBot",
    "RecordedGames",
    "RuleKind",
    "SearchResult",
    "SearchedAction",
    "SeatedBot",
    "Section",
    "SerializationError",
    "StarmineError",
    "State",
    "TrainedPolicy",
    "Trajectories",
    "Turns",
    "UnknownNameError",
    "Variant",
    "VariantError",
    "View",
    "bot",
    "bots",
    "defeats",
    "encoders",
    "endings",
    "evaluate",
    "load_policy",
    "make_bot",
    "play_games",
    "policies",
    "replay",
    "rule",
    "rules",
    "search",
    "variant",
    "variants",
]
