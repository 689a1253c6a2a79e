"""What tells a player from every other: content, never a path, a name or a count."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Any

from starmine._core import _Player
from starmine.games.player_texts import Noisy
from starmine.games.players import Factory, is_module, type_name

UNKNOWN = "a Python object needs an attribute version to be recognised"


@dataclass(frozen=True)
class Identity:
    """The identity of a player.

    Attributes:
        text: of a bot its text, in which the SHA-256 of a policy's file stands in the place of its path or name; of a
            player in Python "python: ", its type and its version. Two players of equal texts play the same, in one
            version of this package. None if the identity is unknown.
        checksum: the SHA-256 of a policy's file or of a network's weights; of another player in Python that of its
            text. None for bots without weights, and if it is unknown.
        problem: why the identity is unknown; else empty.
    """

    text: str | None
    checksum: str | None
    problem: str = ""


def identity(player: Any) -> Identity:
    """The identity of a player, by which evaluations and data sets tell whether two players are the same.

    | player | identity |
    |---|---|
    | a bot or a policy of the core | its text, with the SHA-256 of weights |
    | a policy that PyTorch plays, but not a subclass | the SHA-256 of its weights, and its settings |
    | another object, class or function | its type and its attribute `version`, text or an integer; unknown without |

    A command line gives a player of a Python file the SHA-256 of this file as its version, unless it has one. The
    identity of an object with a version also has the weights of the torch modules that it is or has as attributes.

    Args:
        player: as `resolve_player` returns it.
    """
    if isinstance(player, _Player):
        if (weights := player.weights) is None:
            return Identity(player.text, None)
        checksum = sha256(weights).hexdigest()
        return Identity(player.text_with(checksum), checksum)
    if isinstance(player, Noisy):
        inner = identity(player.player)
        return inner if inner.text is None else Identity(player.text_of(inner.text), inner.checksum)
    # A subclass or a wrapper may play otherwise than the weights say: the class itself has to have the method.
    own = getattr(player, "checksum", None) if "identity_text" in vars(type(player)) else None
    if isinstance(own, str):
        return Identity(player.identity_text(own), own)
    made, parameters = player.make if isinstance(player, Factory) else player, weights_checksum(player)
    version = getattr(made, "version", None)
    if isinstance(version, str | int):
        text = f"python: {type_name(made)}, version {version}"
        if parameters is not None:
            text = f"{text}, {', '.join(map(type_name, modules_of(player)))}, {parameters}"
        if hasattr(player, "identity_text"):
            text = player.identity_text(text)
        return Identity(text, parameters or sha256(text.encode()).hexdigest())
    return Identity(None, parameters, UNKNOWN)


def modules_of(player: Any) -> list[Any]:
    """The torch modules that a player, or the first object that a factory made, is or has as attributes."""
    player = player.player if isinstance(player, Noisy) else player
    player = player.example if isinstance(player, Factory) else player
    return [held for held in (player, *getattr(player, "__dict__", {}).values()) if is_module(held)]


def weights_checksum(player: Any) -> str | None:
    """The SHA-256 of the parameters of a player's torch modules, which may change at any time; None without modules."""
    if not (modules := modules_of(player)):
        return None
    import torch

    digest = sha256()
    for name, value in chain.from_iterable(module.state_dict().items() for module in modules):
        digest.update(f"{name} ".encode())
        if isinstance(value, torch.Tensor):
            numbers = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
            digest.update(f"{value.dtype} {tuple(value.shape)} ".encode() + numbers)
    return digest.hexdigest()
