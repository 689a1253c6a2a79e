"""A torch module as a policy that plays whole games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.utils.parametrizations import _SpectralNorm

from starmine._core import StarmineError, _extra_outputs
from starmine._util.arrays import Array
from starmine._util.keywords import check_names, wrong_type
from starmine._util.numbers import check_number
from starmine.games.draws import POLICY, draw, fractions
from starmine.games.identity import parameters_hash
from starmine.games.players import refuse_foreign
from starmine.games.turns import Turns
from starmine.policies.memory import Memory
from starmine.policies.sampling import sampled
from starmine.torch.color_network import ColorNetwork
from starmine.torch.network import ActorCritic, PolicyNetwork, SeatGRU

RECURRENT = ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")  # the layers' names in TorchScript


class ModulePolicy:
    """Plays with a torch module: `module(observations, action_mask)`.

    The module is called without gradients, with float32 observations (K, D) and a bool mask (K, A) on its own device.
    Its `forward` therefore takes two arguments, also if it has no use for the mask: illegal actions are left out here.
    It returns logits (K, A), a tuple that begins with them, or actions, integers (K,).

    An `ActorCritic`, such as `PolicyNetwork` and `ColorNetwork`, is called as in training. If it is recurrent, each
    seat of each game has a hidden state, which is zero when the game begins. Other modules with recurrent layers are
    refused: a policy of your own, with `act_batch(turns)`, can keep their hidden states.

    Args:
        module: the module, in the mode of `eval()` if its layers, such as dropout, have two modes.
        encoder: one of `starmine.encoders()`, whose observations it was trained on. None for the module's attribute
            `encoder`, if that is text, else "canonical". An `ActorCritic` has its own.
        cheats: needed for an encoder that shows the own hand; evaluations mark the policy.
        sampled: sample the legal actions by their logits; else the best legal one is played. The draws follow from the
            seed of the games, the game, the seat and the turn.
        seed: of other draws for the same games, 0 to 2**64 - 1.
        extra_outputs: names of more arrays that the module takes, as tensors and keyword arguments: "card_features",
            "marginals", "own_hand"; see `Turns`.
        recurrent: whether the module has hidden states that go from turn to turn; None to see it from the module. False
            says that recurrent layers run over something else, such as the cards of an observation.

    Raises:
        TypeError: `module` is not a torch module.
        StarmineError: `forward` does not take these arguments; a layer with two modes is in that of training; batch
            normalisation has no running statistics; the module has recurrent layers, is no `ActorCritic`, and
            `recurrent` is not False; `recurrent` contradicts the module, or `encoder` an `ActorCritic`; or the module
            is a policy of another library.
    """

    def __init__(
        self,
        module: nn.Module,
        encoder: str | None = None,
        sampled: bool = False,
        seed: int = 0,
        cheats: bool = False,
        *,
        extra_outputs: Sequence[str] = (),
        recurrent: bool | None = None,
    ) -> None:
        refuse_foreign(module, "module")
        if not isinstance(module, nn.Module):
            raise wrong_type("module", module, "a torch module")
        check_names("output", extra_outputs, _extra_outputs())
        _refuse_arguments(module, extra_outputs)
        own = getattr(module, "encoder", None)
        self.module, self.version = module, getattr(module, "version", None)
        self.encoder = encoder if encoder is not None else own if isinstance(own, str) else "canonical"
        self.cheats, self.extra_outputs = cheats, tuple(extra_outputs)
        self.sampled = sampled
        self._seed = seed
        self._shift = float(fractions(draw(check_number("seed", seed, 0, 2**64 - 1), POLICY))[0])
        parameter = next(module.parameters(), None)
        self.device = torch.device("cpu") if parameter is None else parameter.device
        self.dtype = "uint8" if self.device.type != "cpu" else "float32"
        self._refuse_training()
        self._memory: Memory | None = None
        self.variant = module.variant if isinstance(module, ActorCritic) else None
        if isinstance(module, ActorCritic):
            if self.encoder != module.encoder:
                raise StarmineError(f"encoder={encoder!r} is not allowed: the network's is {module.encoder!r}")
            self.dtype = "bits"
            if module.memory is not None:
                self._memory = Memory(module.players, module.state_width, self.device)
        _refuse_layers(module, recurrent=not isinstance(module, ActorCritic) and recurrent is not False)
        if recurrent is not None and recurrent is not (self._memory is not None):
            problem = "has no hidden states" if recurrent else "is recurrent"
            raise StarmineError(f"recurrent={recurrent} is not allowed: {type(module).__name__} {problem}")

    @property
    def content(self) -> str | None:
        """The SHA-256 of the weights of a network of `starmine.torch`; None for other modules, whose code counts."""
        if type(self.module) not in (PolicyNetwork, ColorNetwork) or type(self) is not ModulePolicy:
            return None
        return parameters_hash(self)

    def text_with(self, content: str) -> str:
        """What tells this player from others, given what tells its module from others."""
        settings = {"encoder": self.encoder, "sampled": self.sampled, "seed": self._seed, "cheats": self.cheats}
        if isinstance(self.module, ActorCritic):
            settings |= {"variant": self.variant} | self.module.described()
        return f"module: {content}; {settings}"

    def reset(self, games: Array, seats: Array) -> None:
        """Clear the hidden states of games that begin; see `starmine.games.Policy`."""
        if self._memory is not None:
            self._memory.clear(games, seats)

    def session(self) -> ModulePolicy:
        """The same policy with its own hidden states; see `starmine.games.Policy`. They share the module."""
        if self._memory is None:
            return self
        own = copy(self)
        own._memory = self._memory.new()
        return own

    @torch.no_grad()
    def act_batch(self, turns: Turns) -> Array:
        """Choose an action for each of K rows; see `starmine.games.Policy`.

        Args:
            turns: the rows.

        Returns:
            The actions, int64 (K,).

        Raises:
            StarmineError: the module returned neither logits (K, A) nor actions (K,), or a nan; or a layer with two
                modes is in that of training.
        """
        self._refuse_training()
        mask = torch.from_numpy(turns.action_mask).to(self.device)
        obs = torch.from_numpy(turns.obs).to(self.device)
        extra = {name: torch.from_numpy(getattr(turns, name)).to(self.device) for name in self.extra_outputs}
        if not isinstance(self.module, ActorCritic):
            output = self.module(obs.float(), mask, **extra)
        elif self._memory is None:
            output = self.module(self.module.read(obs), mask, **extra)
        else:
            output = self._remembering(self.module, obs, mask, turns)
        uniform = None if turns.uniform is None else (turns.uniform + self._shift) % 1.0
        return self.choose(output, mask, uniform).to("cpu", torch.int64).numpy()

    def _refuse_training(self) -> None:
        """Refuse layers that in the mode of training give other moves each time."""
        for layer, _, place in _layers(self.module):
            if layer.training and _has_two_modes(layer):
                raise StarmineError(
                    f"{type(self.module).__name__} is in the mode of training ({place}): call its eval() first"
                )

    def _remembering(self, network: ActorCritic, obs: Tensor, mask: Tensor, turns: Turns) -> Tensor:
        """The log probabilities of a recurrent network, whose hidden states go on."""
        assert self._memory is not None
        places = self._memory.places(turns.game, turns.seat)
        log_probs: Tensor
        log_probs, _, after = network(network.read(obs), mask, network.one_turn(self._memory.values[places]))
        self._memory.values[places] = after[:, 0]
        return log_probs

    def choose(self, output: Any, mask: Tensor, uniform: Array | None) -> Tensor:
        """The actions (K,) for the module's output, sampled by numbers (K,) from 0 to below 1."""
        output = output[0] if isinstance(output, tuple | list) else output
        if not isinstance(output, Tensor):
            raise StarmineError(f"the module returned a {type(output)}: expected a tensor")
        if output.shape == mask.shape and output.is_floating_point():
            logits = output.float().masked_fill(~mask, -torch.inf)
            if logits.isnan().any():
                raise StarmineError("the module returned nan as a logit: expected numbers")
            if self.sampled:
                return sampled(logits, uniform)
            return logits.argmax(-1)
        is_integer = not (output.is_floating_point() or output.is_complex() or output.dtype == torch.bool)
        if output.shape == mask.shape[:1] and is_integer:
            return output
        raise StarmineError(
            f"the module returned {output.dtype} {tuple(output.shape)}: "
            f"expected logits {tuple(mask.shape)} or integer actions {tuple(mask.shape[:1])}"
        )

    def __repr__(self) -> str:
        """The module's class and the encoder."""
        return f"ModulePolicy({type(self.module).__name__}, encoder={self.encoder!r}, sampled={self.sampled})"


def _refuse_arguments(module: nn.Module, extra_outputs: Sequence[str]) -> None:
    """Refuse a module whose `forward` cannot be called as here."""
    try:
        taken = signature(module.forward)
    except (TypeError, ValueError):  # of a module without Python code
        return
    try:
        taken.bind(None, None, **dict.fromkeys(extra_outputs))
    except TypeError as error:
        called = ", ".join(["observations", "action_mask", *(f"{name}=..." for name in extra_outputs)])
        wanted = tuple(name for name in taken.parameters if name in _extra_outputs())
        cure = "a module whose forward takes these, which may call this module"
        if set(wanted) - set(extra_outputs):
            cure = f"ModulePolicy(module, extra_outputs={wanted})"
        raise StarmineError(
            f"{type(module).__name__}.forward{taken} is not allowed: it is called as forward({called}) ({error}). "
            f"Expected {cure}"
        ) from None


def _has_two_modes(layer: nn.Module) -> bool:
    """Whether a layer computes something else in the mode of training."""
    if isinstance(layer, _DropoutNd):
        return layer.p > 0
    if isinstance(layer, nn.RReLU):
        return layer.lower < layer.upper
    if isinstance(layer, _NormBase):
        return layer.track_running_stats
    # Attention and recurrent layers have the rate of their dropout. TorchScript does not show what a layer does.
    rate = getattr(layer, "dropout", None)
    return (isinstance(rate, float) and rate > 0) or isinstance(layer, _SpectralNorm | torch.jit.ScriptModule)


def _layers(module: nn.Module) -> Iterator[tuple[nn.Module, str, str]]:
    """The layers of a module, their classes' names, and "layer NAME is a CLASS"."""
    for name, layer in module.named_modules():
        kind = str(getattr(layer, "original_name", type(layer).__name__))  # of a layer in TorchScript
        yield layer, kind, f"{f'layer {name!r}' if name else 'the module'} is a {kind}"


def _refuse_layers(module: nn.Module, recurrent: bool) -> None:
    """Refuse batch normalisation over the games of a call and, if `recurrent`, layers that would forget each turn."""
    for layer, kind, place in _layers(module):
        if kind.startswith("BatchNorm") or isinstance(layer, _BatchNorm):
            if getattr(layer, "running_mean", layer) is None:
                raise StarmineError(
                    f"{place} without running statistics: what it computes for a game depends on the other games of "
                    "the call. Expected track_running_stats=True, or another layer"
                )
        elif recurrent and (kind in RECURRENT or isinstance(layer, nn.RNNBase | nn.RNNCellBase | SeatGRU)):
            raise StarmineError(
                f"{type(module).__name__} is recurrent ({place}), and would forget each "
                "turn: expected an object with act_batch(turns) that keeps its hidden states, "
                "or ModulePolicy(module, recurrent=False) if the layer does not run over turns"
            )
