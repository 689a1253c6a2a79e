"""Who may hold a seat: bots by name, bots written in Python, policies and torch modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from starmine._core import (
    Move,
    SeatedBot,
    StarmineError,
    View,
    _extra_outputs,
    _Player,
    encoders,
    shows_own_hand,
)
from starmine._util.arrays import Array
from starmine._util.imports import look_up
from starmine._util.keywords import check_names
from starmine.games.failures import error_text
from starmine.games.player_texts import Noisy, player_of_text
from starmine.games.turns import Turns
from starmine.policies.load import TrainedPolicy

DTYPES = ["uint8", "float32", "float16", "bits"]  # of a policy's observations


@runtime_checkable
class PythonBot(Protocol):
    """A bot written in Python: any class or object with a method `act(view)`; it need not inherit from this class.

    If it is a class, `play_games` makes one object for each game and seat, at the seat's first turn. If it is an
    object, this plays all games.

    Optional methods:
        end(state): called after a game's last turn, with the game's `State`, in which all cards are visible. An object
            that plays several seats of a game gets one call for the game. Environments do not call it.
        act_views(views, games): only for objects. It is called instead of `act`, for all games in which the object is
            to act. `views` is a list of views, `games` a list of the games' indices, as `Turns.game`. It returns a list
            with one entry for each view: a move as `act` returns it, or an exception object, which abandons that game,
            or a `concurrent.futures.Future` of one of these. Other games go on until the future is done.
    """

    def act(self, view: View) -> int | str | Move:
        """The move of the seat to act.

        Args:
            view: what this seat may see.

        Returns:
            An action id, 0 to `variant.num_actions - 1`; a `Move`; or its text, such as "play 2", "discard 0",
            "hint +1 red" or "hint +1 rank 3". Slots count from 0, the oldest card; +1 is the next seat.
        """


@runtime_checkable
class Policy(Protocol):
    """A player of many games at once: any object with a method `act_batch`; it need not inherit from this class.

    An object may play several seats: each row that it gets names its game and its seat. Instead of an object, a class
    or a function without arguments can be given: it is called once for each seat, so that each seat has its own object.

    Optional attributes:
        encoder: one of `starmine.encoders()`, of the observations; the default is "canonical".
        dtype: of the observations: "uint8" (the default), "float32", "float16" or "bits".
        extra_outputs: a tuple of "card_features", "public_marginals" and "own_hand": additional arrays of `Turns`.
        all_turns: True for a policy that observes every turn of a game, as the recurrent agents of off-belief learning
            and SAD do. At each turn, whoever plays it, the policy gets a row for each of its seats. The turns of a game
            come in their order. The action that it returns for a seat that is not to act is ignored.
        variant: the `Variant` that the policy plays; games of other rules are refused.
        cheats: True for a policy that may see its own hand, by its encoder or by "own_hand"; evaluations mark it.

    Optional methods:
        reset(games, seats): called when games begin: in game `games[k]` the policy holds seat `seats[k]`; int64 (K,)
            each. A recurrent policy clears the hidden states of these pairs.
        session(): returns an object with the same weights and its own hidden states. Each user of the policy, such
            as an environment or a call of `play_games`, asks for one. An object with `reset` must have this method.
            The objects of a class or a function belong to one user anyway.

    A policy that draws its actions by chance should draw by `turns.uniform`, so that it plays the same games again.
    """

    def act_batch(self, turns: Turns) -> Array:
        """Choose an action for each of K rows.

        Args:
            turns: what the seats see.

        Returns:
            The actions: integers (K,).
        """


class Factory:
    """Makes the objects of a player that was given as a class or a function without arguments.

    A policy's object plays all games of one seat, a bot's object one game.

    Attributes:
        make: the class or function.
        example: the first object; it is also the first that is handed out.
        makes_bots: whether the objects are bots; else they are policies.
        cheats: whether the objects see their own hand.
    """

    def __init__(self, make: Callable[[], Any], place: str) -> None:
        self.make, self.place = make, place
        self.example = self._make()
        self.makes_bots = not is_policy(self.example)
        self.cheats = cheats(self.example)
        self._unused = [self.example]

    def __call__(self) -> Any:
        """An object that nobody else has."""
        return self._unused.pop() if self._unused else self._make()

    def _make(self) -> Any:
        try:
            made = self.make()
        except Exception as error:
            message = f"{self.place}={self.make!r} cannot be made: {error_text(error)}"
            raise StarmineError(message) from error
        is_player = is_policy(made) or is_bot(made) or is_module(made)
        if not is_player or isinstance(made, type | SeatedBot):
            raise StarmineError(
                f"{self.place}={self.make!r} made {made!r}: expected an object with act(view) or act_batch(turns), "
                "or a torch module"
            )
        if is_policy(made):
            policy_inputs(made, self.place)
            return made
        return resolve_player(made, self.place)

    def __repr__(self) -> str:
        """The class or function."""
        return repr(self.make)


# The libraries whose policies must be wrapped, by package, with a method that only their policies have.
FOREIGN = {
    "stable_baselines3": ("Stable-Baselines3", "predict"),
    "tianshou": ("Tianshou", "compute_action"),
    "ray": ("RLlib", "forward_inference"),
}

Player: TypeAlias = str | TrainedPolicy | SeatedBot | _Player | type | PythonBot | Policy | Callable[[], Any]
"""Who can hold a seat, as `play_games` lists it."""


def resolve_player(player: Any, place: str) -> Any:
    """Check a player and normalise it: to a `_Player`, a `PythonBot` or its class, a `Policy`, or a `Factory`.

    The file of a policy is read here and never again: a `_Player` carries its weights.

    Args:
        player: as `play_games` takes it.
        place: of the argument, for messages.

    Raises:
        UnknownNameError: there is no such bot, encoder, dtype or output.
        StarmineError: the player is none of these, its methods take other arguments, or it sees its own hand and does
            not say so.
    """
    if isinstance(player, TrainedPolicy | SeatedBot):
        return player._player
    if isinstance(player, str):
        return player_of_text(player, place)
    if isinstance(player, _Player | Factory | Noisy):
        return player
    refuse_foreign(player, place)
    if isinstance(player, type):
        return player if is_bot(player) and not is_policy(player) else Factory(player, place)
    if is_policy(player):
        policy_inputs(player, place)
        if hasattr(player, "reset") and not hasattr(player, "session"):
            raise StarmineError(
                f"{place}={player!r} has reset() but no session(): expected both, or a class or function that makes it"
            )
        return player
    if is_bot(player):
        return player
    if is_module(player):
        policy = look_up("module_policy")(player)
        policy_inputs(policy, place)
        return policy
    if callable(player) and misfit(player, 0) is None:
        return Factory(player, place)
    expected = (
        "a bot's name, a class or an object with act(view), an object with act_batch(turns), a torch module, or a "
        "class or function without arguments that makes one of these"
    )
    if callable(player) and misfit(player, 1) is None:
        expected += "; a function of messages plays as starmine.text.ChatPlayer(it)"
    raise StarmineError(f"{place}={player!r} is not allowed: expected {expected}")


def refuse_foreign(player: Any, place: str) -> None:
    """Refuse a policy of another library, or its class: it takes other arguments than a torch module that plays.

    Raises:
        StarmineError: it is one, and has no method by which it could play here.
    """
    kind = player if isinstance(player, type) else type(player)
    if is_policy(player) or is_bot(player):
        return
    packages = {base.__module__.partition(".")[0] for base in kind.__mro__}
    for package, (library, method) in FOREIGN.items():
        if package in packages and callable(getattr(player, method, None)):
            raise StarmineError(
                f"{place} is a {kind.__name__} of {library}: wrap it in an object with act_batch(turns), as "
                "docs/integrations.md does"
            )


def is_policy(player: Any) -> bool:
    """Whether a player, or the objects of a class, are policies."""
    return callable(getattr(player, "act_batch", None))


def is_bot(player: Any) -> bool:
    """Whether a player, or the objects of a class, are bots written in Python."""
    return callable(getattr(player, "act", None))


def misfit(function: Callable[..., Any], number: int) -> inspect.Signature | None:
    """The signature of a function that does not take exactly `number` positional arguments, else None."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a compiled function
        return None
    parameters = list(signature.parameters.values())
    positional = [it for it in parameters if it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD)]
    needed = sum(it.default is it.empty for it in positional)
    takes_rest = any(it.kind is it.VAR_POSITIONAL for it in parameters)
    needs_names = any(it.kind is it.KEYWORD_ONLY and it.default is it.empty for it in parameters)
    # Arguments with defaults count, unless the function is called without any.
    fits = len(positional) == number or number == 0 or (takes_rest and len(positional) < number)
    fits = fits and needed <= number
    return None if fits and not needs_names else signature


@dataclass(frozen=True)
class PolicyInputs:
    """What a policy wants to see: its attributes of these names; see `Policy`."""

    encoder: str = "canonical"
    dtype: str = "uint8"
    extra_outputs: tuple[str, ...] = ()
    all_turns: bool = False


def policy_inputs(policy: Any, place: str) -> PolicyInputs:
    """Check a policy, an object with `act_batch`, and read what it wants to see. `place` names it in messages.

    Raises:
        UnknownNameError: there is no such encoder, dtype or output.
        StarmineError: `act_batch` or `reset` take other arguments, an attribute has a value that is not allowed, or the
            policy would see its own hand and does not say that it cheats.
    """
    for name, number, expected in (
        ("act_batch", 1, "act_batch(turns), whose argument is a starmine.Turns"),
        ("reset", 2, "reset(games, seats)"),
    ):
        method = getattr(policy, name, None)
        signature = misfit(method, number) if callable(method) else None
        if signature is not None:
            raise StarmineError(f"{place}={policy!r} has {name}{signature}: expected {expected}")
    encoder, dtype = getattr(policy, "encoder", "canonical"), getattr(policy, "dtype", "uint8")
    check_names("encoder", [encoder], encoders())
    check_names("dtype", [dtype], DTYPES)
    extra_outputs = getattr(policy, "extra_outputs", ())
    check_names("output", extra_outputs, _extra_outputs())
    if not cheats(policy):
        shown = f"encoder={encoder!r}" if shows_own_hand(encoder) else None
        shown = "extra_outputs with 'own_hand'" if "own_hand" in extra_outputs else shown
        if shown:
            raise StarmineError(
                f"{place}={policy!r} has {shown}, which shows its own hand: expected other observations, "
                "or the attribute cheats=True, by which evaluations mark it"
            )
    return PolicyInputs(
        str(encoder), str(dtype), tuple(map(str, extra_outputs)), bool(getattr(policy, "all_turns", False))
    )


def cheats(player: Any) -> bool:
    """Whether a player, as `resolve_player` returns it, sees its own hand."""
    return getattr(player, "cheats", False) is True


def text_of(player: Any) -> str | None:
    """The text that loads a player, as `resolve_player` returns it, again; None for players in Python."""
    if isinstance(player, Noisy):
        text = text_of(player.player)
        return None if text is None else player.text_of(text)
    if isinstance(player, _Player):
        return player.text
    # Only a `ModulePolicy` itself: a subclass or wrapper of one may play other moves.
    text = player.bot if {"bot", "identity_text"} <= vars(type(player)).keys() else None
    return text if isinstance(text, str) else None


def type_name(player: Any) -> str:
    """The qualified name of a player's type; of a class or a function that makes players its own."""
    kind = player if isinstance(player, type) or inspect.isfunction(player) else type(player)
    return f"{kind.__module__}.{kind.__qualname__}"


def player_name(player: Any) -> str:
    """What a player is called, in tables, in files and on pages: its text, else its attribute `name`, else its class.

    Args:
        player: as a user gives it. A function that makes players has its own name.
    """
    player = player._player if isinstance(player, TrainedPolicy | SeatedBot) else player
    text = player if isinstance(player, str) else text_of(player)
    name = getattr(player, "name", None) if text is None else text
    return name if isinstance(name, str) else type_name(player).rpartition(".")[2]


def is_module(player: Any) -> bool:
    """Whether the player is a torch module; does not import torch."""
    return any(kind.__module__.startswith("torch.nn") for kind in type(player).__mro__)
