"""What policy files have in common: the header of a safetensors file, and what it says of a network of Starmine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starmine._core import SerializationError

if TYPE_CHECKING:
    from torch import Tensor

KEY = "starmine"  # of the metadata: the JSON text that describes a network of Starmine
PLAIN, COLORS = 1, 2  # formats of the description: of a `PolicyNetwork`, of a `ColorNetwork`


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


def refuse_about(name: str, described: Mapping[str, Any]) -> None:
    """Refuse notes that are no JSON object.

    Raises:
        SerializationError: they are not.
    """
    if not isinstance(described.get("about", {}), dict):
        found = f'"about" in its metadata is {described["about"]!r}: expected an object'
        raise SerializationError(f"policy={name!r} is not a valid policy: {found}")


def notes(name: str, about: Mapping[str, Any]) -> str:
    """The notes of a policy's file in Markdown."""
    return "\n".join([f"# {name}", "", *(f"- {note}: {value}" for note, value in about.items()), ""])


def policy_text(source: str, options: list[str]) -> str:
    """The text by which players are given that loads a policy: "policy: FILE; OPTION; ...".

    A path that the text would cut is written as a JSON string.
    """
    is_plain = ";" not in source and not source.startswith('"') and source == source.strip()
    named = source if is_plain else json.dumps(source, ensure_ascii=False).replace(";", "\\u003b")
    return "; ".join([f"policy: {named}", *options])
