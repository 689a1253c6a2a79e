"""Who may hold a seat: bots by name, bots written in Python, policies and torch modules."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from starmine._core import (
    Move,
    SeatedBot,
    StarmineError,
    View,
    _check_bot,
    _unknown_name,
    bot,
    bots,
    encoders,
)
from starmine._core import variant as preset
from starmine.trained import TrainedPolicy

Array = NDArray[Any]
FILE = re.compile(r"(?!rules:|policy:|noisy:).*\.py(:[^:/\\]*)?")  # of a Python bot, as the command line has it


@runtime_checkable
class PythonBot(Protocol):
    """A bot written in Python.

    A class is instantiated for each game and seat, at the seat's first turn; an object plays all games.
    An optional method `end(state)` is called when a game of the bot has ended, with its `State`, the open table. An
    object that holds several seats is called once for each game.
    """

    def act(self, view: View) -> int | str | Move:
        """The move of the seat to act: an action id, a `Move`, or text such as "play 2"."""


@runtime_checkable
class Policy(Protocol):
    """Plays many games at once.

    An optional attribute `encoder`, one of `starmine.encoders()`, selects the observations; the default is "canonical".
    An encoder that shows the own hand needs the attribute `cheats`, True, by which evaluations mark the policy.
    An optional method `reset(games)` is called with the numbers of the games that begin, int64 (K,), so that a
    recurrent policy can clear their hidden states.
    """

    def act_batch(self, observations: Array, action_mask: Array, games: Array) -> Array:
        """Choose an action in each of K games.

        Args:
            observations: uint8 (K, D), each 0 or 1, of the seats to act.
            action_mask: bool (K, A), the legal actions.
            games: int64 (K,), the numbers of the games, from 0 in each call of `play_games`. A game keeps its number,
                so that a recurrent policy can find its hidden state. A policy that holds several seats plays all of
                them.

        Returns:
            The actions: integers (K,).
        """


Player: TypeAlias = str | TrainedPolicy | SeatedBot | type | PythonBot | Policy


def resolve_player(player: Any, place: str) -> Any:
    """Check a player and normalise it: to a bot's text, a `PythonBot` or a `Policy`.

    Args:
        player: as `play_games` takes it.
        place: of the argument, for messages.

    Raises:
        UnknownNameError: there is no such bot or encoder.
        StarmineError: the player is none of these, or sees its own hand and does not say so.
    """
    if isinstance(player, TrainedPolicy):
        player = player.bot
    if isinstance(player, SeatedBot):
        player = player.name
    if isinstance(player, str):
        refuse_file(player, place)
        _check_bot(player)
        return player
    if isinstance(player, Policy):
        policy_encoder(player, place)
        return player
    if callable(getattr(player, "act", None)):
        return player
    if is_module(player):
        from starmine.torch import ModulePolicy

        return ModulePolicy(player)
    raise StarmineError(
        f"{place}={player!r} is not allowed: expected a bot's name, a class or an object with act(view), "
        "an object with act_batch, or a torch module"
    )


def refuse_file(text: str, place: str) -> None:
    """Refuse a text that means a Python bot's file, which only some commands load.

    Raises:
        StarmineError: the text is such as `mybot.py` or `mybot.py:Student`.
    """
    if FILE.fullmatch(text):
        raise StarmineError(
            f"{place}={text!r} is not allowed: expected a bot's name. A Python bot is given as its class; the "
            "commands eval, play and generate take FILE.py:NAME, such as mybot.py:Student"
        )


def policy_encoder(policy: Policy, place: str) -> str:
    """The encoder of a policy's observations.

    Args:
        policy: whose attributes `encoder` and `cheats` say it.
        place: of the argument, for messages.

    Raises:
        UnknownNameError: there is no such encoder.
        StarmineError: the encoder shows the own hand, and the policy does not say that it cheats.
    """
    encoder = getattr(policy, "encoder", "canonical")
    if encoder not in encoders():
        raise _unknown_name("encoder", str(encoder), encoders())
    if shows_own_hand(encoder) and not cheats(policy):
        raise StarmineError(
            f"{place}={policy!r} has encoder={encoder!r}, which shows its own hand: expected another encoder, "
            "or the attribute cheats=True, by which evaluations mark it"
        )
    return str(encoder)


@cache
def shows_own_hand(encoder: str) -> bool:
    """Whether the observations of an encoder show the observer's own hand, which a `View` refuses."""
    try:
        preset("very-small").new_game(seed=0).view(0).encode(encoder)
    except StarmineError:
        return True
    return False


def cheats(player: Any) -> bool:
    """Whether a player, as `resolve_player` returns it, sees its own hand."""
    if isinstance(player, str):
        return player in bots() and not bot(player).is_player
    return getattr(player, "cheats", False) is True


def is_module(player: Any) -> bool:
    """Whether the player is a torch module; does not import torch."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(player).__mro__)


def policy_actions(policy: Policy, observations: Array, action_mask: Array, games: Array) -> Array:
    """The actions that a policy chooses, integers (K,), which may be illegal; see `Policy.act_batch`.

    Raises:
        StarmineError: the policy returned an array of another shape or dtype.
        Exception: whatever the policy raises.
    """
    chosen = np.asanyarray(policy.act_batch(observations, action_mask, games))
    if isinstance(chosen, np.ma.MaskedArray):
        raise StarmineError("actions are a masked array: expected one without a mask")
    if chosen.shape != games.shape or not np.issubdtype(chosen.dtype, np.integer):
        raise StarmineError(
            f"actions have shape {chosen.shape} and dtype {chosen.dtype}: expected integers ({len(games)},)"
        )
    return chosen
