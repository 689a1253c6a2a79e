"""What policy files have in common: the header of a safetensors file, and what it says of a network of Starmine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from starmine._core import SerializationError

if TYPE_CHECKING:
    from torch import Tensor

KEY = "starmine"  # of the metadata: the JSON text that describes a network of Starmine
PLAIN, COLORS = 1, 2  # formats of the description: of a `PolicyNetwork`, of a `ColorNetwork`
WRAPPERS = ("_orig_mod.", "module.")  # before the names of the weights of a module that is wrapped
BELIEF = "weights"  # the name in the description of the `belief` of a `ColorNetwork`


def header(data: bytes) -> dict[str, Any]:
    """The header of a safetensors file; empty for other contents."""
    size = int.from_bytes(data[:8], "little")
    if not 2 <= size <= min(len(data) - 8, 1 << 20):
        return {}
    return _object(data[8 : 8 + size])


def description(data: bytes) -> dict[str, Any]:
    """What a policy file of Starmine says of its network; empty for other contents."""
    metadata = header(data).get("__metadata__")
    text = metadata.get(KEY) if isinstance(metadata, dict) else None
    return _object(text) if isinstance(text, str) else {}


def plays_through_torch(data: bytes) -> bool:
    """Whether a file, or its first bytes, is of a network of Starmine that PyTorch plays, not the core."""
    described = description(data)
    return described.get("format") == PLAIN or (
        described.get("format") == COLORS and described.get("recurrent") is True
    )


def _object(text: str | bytes) -> dict[str, Any]:
    """The JSON object of a text; empty for other texts."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def safetensors(data: bytes) -> dict[str, Tensor]:
    """The tensors of a safetensors file.

    Raises:
        ValueError: the file is damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(data)
    except SafetensorError as error:
        raise ValueError(error) from error


def without_wrappers(tensors: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The tensors of a network without the prefixes of `torch.compile` and of classes of parallel training."""
    for prefix in WRAPPERS:
        if tensors and all(name.startswith(prefix) for name in tensors):
            return without_wrappers({name.removeprefix(prefix): tensor for name, tensor in tensors.items()})
    return tensors


def finite(name: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors in float32.

    Raises:
        SerializationError: a tensor holds something else than finite numbers.
    """
    import torch

    for key, tensor in tensors.items():
        if not tensor.is_floating_point() or not bool(torch.isfinite(tensor).all()):
            raise SerializationError(f"policy={name!r} is not a valid policy: {key} holds numbers that are not finite")
    return {key: tensor.float() for key, tensor in tensors.items()}


@dataclass(frozen=True)
class PolicyFile:
    """The file that a policy was loaded from, as it was then.

    Attributes:
        name: the file's path.
        data: the file's contents.
        format: "starmine", or the library and its network, a key of `starmine.policies.foreign.FORMATS`.
        about: notes from when Starmine saved it, such as steps and score; empty for other files.
        options: of `load_foreign`, as texts, where they are not the defaults.
    """

    name: str
    data: bytes = field(repr=False)
    format: str = "starmine"
    about: dict[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse notes that are no JSON object.

        Raises:
            SerializationError: they are not.
        """
        if not isinstance(self.about, dict):
            found = f'"about" in its metadata is {self.about!r}: expected an object'
            raise SerializationError(f"policy={self.name!r} is not a valid policy: {found}")

    @cached_property
    def checksum(self) -> str:
        """The SHA-256 of the contents."""
        return sha256(self.data).hexdigest()

    @property
    def card(self) -> str:
        """The notes in Markdown."""
        return "\n".join([f"# {self.name}", "", *(f"- {note}: {value}" for note, value in self.about.items()), ""])

    def text(self, source: str, sampled: bool) -> str:
        """The text of a player, with a source such as the path or the checksum, and with its options."""
        return policy_text(source, ["sampled"] * sampled + [*self.options])


def policy_text(source: str, options: Sequence[str]) -> str:
    """The text by which players are given that loads a policy: "policy: FILE; OPTION; ...".

    A path that the text would cut is written as a JSON string.
    """
    is_plain = ";" not in source and not source.startswith('"') and source == source.strip()
    named = source if is_plain else json.dumps(source, ensure_ascii=False).replace(";", "\\u003b")
    return "; ".join([f"policy: {named}", *options])
