"""Reads the tensors of other libraries' policy files, and tells these files from our own."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from starmine._core import SerializationError
from starmine.policies.files import KEY, finite, header, safetensors, without_wrappers

if TYPE_CHECKING:
    from torch import Tensor

# The formats that `load_policy` reads, each with the tensors by which it is recognised.
FORMATS = {
    "obl": "OBL, public LSTM (torch: priv_net.0.weight; JaxMARL's port: params,priv_net_dense_0,kernel)",
    "sad": "SAD, VDN, IQL and other-play, R2D2 with an LSTM (torch: net.0.weight, lstm.weight_ih_l0)",
    "feed-forward": "off-belief-learning's network without memory (torch: net.0.weight, fc_a.weight)",
    "jaxmarl-actor": "JaxMARL's IPPO and MAPPO, feed-forward or GRU (safetensors: params,Dense_0,kernel)",
    "jaxmarl-q": "JaxMARL's PQN-VDN (safetensors: Dense_0,kernel, LayerNorm_0,scale)",
    "ah2ac2": "AH2AC2's clones of people (safetensors: Dense_0,kernel, ScanLstmCellWithHiddenStateReset_0,hi,kernel)",
}

# Tensors that choose no move: heads of auxiliary tasks and of values, and numbers of inputs that are not normalised.
NOT_PLAYED = ("pred", "fc_v", "BatchNorm_0,")
TORCH_STARTS = (b"PK\x03\x04", b"\x80\x02")  # of torch.save: a zip archive, or a pickle before torch 1.6
AS_MODULE = "a network of your own is given as a torch module (docs/training_loop.md)"
SAD_NAMES = {"net.0.weight", "fc_a.weight"}


def is_foreign(data: bytes) -> bool:
    """Whether a file has a network of another library: a torch file, or safetensors that Starmine did not write."""
    if data.startswith(TORCH_STARTS):
        return True
    found = header(data)
    metadata = found.get("__metadata__")
    return bool(found) and not (isinstance(metadata, dict) and KEY in metadata)


class Read(dict[str, Any]):
    """Tensors by name. `left` has the tensors that no layer has read so far."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        super().__init__(tensors)
        self.left = set(tensors)

    def __getitem__(self, name: str) -> Any:
        self.left.discard(name)
        return super().__getitem__(name)


def refuse_unread(*tensors: Read) -> None:
    """Refuse a file with tensors that its network does not have, and that may change its moves.

    Raises:
        ValueError: there are some.
    """
    left = sorted(name for each in tensors for name in each.left if not name.startswith(NOT_PLAYED))
    if left:
        raise ValueError(f"it has the tensors {', '.join(left[:3])}, which this network has not")


def lstm_scopes(names: Iterable[str]) -> list[str]:
    """The names of AH2AC2's LSTM cells, in their order; jax-aht names them after flax's class."""
    scopes = (name.removesuffix(",hi,kernel") for name in names if name.endswith(",hi,kernel"))
    return sorted(scope for scope in scopes if scope.startswith(("ScanLstmCell", "OptimizedLSTMCell")))


def refuse_sb3(data: bytes, name: str) -> None:
    """Refuse a file of Stable-Baselines3, which needs its library and has no rules of a game.

    Raises:
        SerializationError: it is one.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            is_sb3 = "_stable_baselines3_version" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):  # of another library, or damaged
        return
    if is_sb3:
        advice = "load it there, and wrap the model as docs/integrations.md does"
        raise SerializationError(f"policy={name!r} is a file of Stable-Baselines3: {advice}")


def read_tensors(data: bytes, name: str) -> dict[str, Tensor]:
    """The tensors of a file in float32, without a prefix that all of their names have, and without target networks.

    A torch file is read without running its pickled code.

    Raises:
        SerializationError: the file is damaged, holds something else than numbers, or a number is not finite.
    """
    try:
        found = _torch_tensors(data) if data.startswith(TORCH_STARTS) else safetensors(data)
    except Exception as error:  # torch raises many kinds for a damaged file
        told = " ".join(str(error).split())[:200]
        raise SerializationError(f"policy={name!r} cannot be read: {told}") from error
    # JaxMARL, and an agent that was saved whole, have a prefix; jax-aht has slashes.
    found = {key.replace("/", ","): tensor for key, tensor in found.items()}
    found = dict(without_wrappers(found))
    short = {key: key.removeprefix("params,").removeprefix("batch_stats,").removeprefix("online_net.") for key in found}
    tensors = {short[key]: tensor for key, tensor in found.items() if not key.startswith("target_net.")}
    return finite(name, tensors)


def _torch_tensors(data: bytes) -> dict[str, Tensor]:
    import torch

    found: Any = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    if not isinstance(found, dict) or not all(isinstance(value, torch.Tensor) for value in found.values()):
        raise ValueError(f"it holds a {type(found).__name__}: expected a state dict of tensors; {AS_MODULE}")
    return found
