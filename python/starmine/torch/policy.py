"""A torch module as a policy that plays whole games."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from inspect import Parameter, signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from starmine._core import ArrayError, StarmineError, Variant, VariantError, _extra_outputs
from starmine._util.arrays import Array, check_array
from starmine._util.keywords import check_names
from starmine._util.numbers import check_number
from starmine.games.draws import POLICY, draw, fractions
from starmine.games.identity import weights_checksum
from starmine.games.players import refuse_foreign
from starmine.games.turns import Turns
from starmine.policies.agent import Agent
from starmine.policies.files import PolicyFile
from starmine.torch.color_network import ColorNetwork
from starmine.torch.memory import Memory
from starmine.torch.network import ActorCritic, PolicyNetwork, SeatGRU


class ModulePolicy:
    """Plays with a torch module: `module(observations, action_mask)`.

    The module is called without gradients, with observations (K, D) and a bool mask (K, A) on its own device. Its
    `forward` takes these two arguments, even if it does not use the mask. It returns logits (K, A), a pair of logits
    and values, or legal actions, integers (K,). Logits of illegal actions are left out here. Call the module's `eval()`
    first if it has layers such as dropout or batch normalisation: in the mode of training they play other moves each
    time.

    An `ActorCritic`, such as `PolicyNetwork` and `ColorNetwork`, is called as in training. If it is recurrent, each
    seat of each game has a hidden state, which is zero when the game begins. Other recurrent modules are refused: a
    policy of your own, with `act_batch(turns)`, can keep their hidden states.

    `load_policy` returns a `ModulePolicy` for the files that PyTorch plays. It keeps the weights that were loaded,
    also in a pickle, if the file changes later.

    Args:
        module: the module.
        encoder: one of `starmine.encoders()`, whose observations it was trained on. None for the module's attribute
            `encoder`, if that is text, else "canonical". An `ActorCritic` has its own.
        cheats: needed for an encoder that shows the own hand; evaluations mark the policy.
        sampled: sample the legal actions by their logits; else the best legal one is played. The draws follow from the
            seed of the games, the game, the seat and the turn.
        seed: of other draws for the same games, 0 to 2**64 - 1.
        extra_outputs: names of more arrays that the module takes, as tensors and keyword arguments: "card_features",
            "public_marginals", "own_hand"; see `Turns`.
        recurrent: None to refuse modules that seem to have hidden states: by recurrent layers, further arguments of
            `forward`, or more results than logits and values. False says that the module has none.
        dtype: "bits" for a module that takes packed observations, uint8 (K, 8 * ceil(D / 64)), such as one that reads
            them with `ColorFeatures`. None for numbers of the dtype of the module's parameters.
        variant: the rules that it plays; games of other rules are refused. None for the module's attribute `variant`,
            if that is a `Variant`; else all variants of equal width are played, and evaluations say so.
        file: given by `load_policy`: the policy file that holds the module.

    Attributes:
        name: the path of the file; without a file the module's class.
        about: the notes of the file, such as steps and score.
        recurrent: whether it has a hidden state for each seat of each game.
        all_turns: whether it sees every turn of a game with each of its seats, also turns of other seats, as the
            recurrent agents of other libraries do. The hidden states of Starmine's networks change at own turns alone.

    Raises:
        StarmineError: `forward` does not take these arguments; the module is recurrent, but no `ActorCritic`;
            `encoder`, `dtype`, `extra_outputs` or `recurrent` contradicts an `ActorCritic`, or its parameters are not
            float32; or it is a policy of another library.
        VariantError: `variant` contradicts the module.
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
        dtype: str | None = None,
        variant: Variant | None = None,
        file: PolicyFile | None = None,
    ) -> None:
        refuse_foreign(module, "module")
        module = _network_of(module)
        check_names("output", extra_outputs, _extra_outputs())
        if dtype not in ("bits", None):
            expected = '"bits", or None for numbers of the dtype of the module\'s parameters'
            raise StarmineError(f"dtype={dtype!r} is not allowed: expected {expected}")
        self.module, self.version, self.file = module, getattr(module, "version", None), file
        self.name = type(module).__name__ if file is None else file.name
        self.about: dict[str, Any] = {} if file is None else file.about
        own_encoder, own_variant = getattr(module, "encoder", None), getattr(module, "variant", None)
        self.encoder = encoder if encoder is not None else own_encoder if isinstance(own_encoder, str) else "canonical"
        own_variant = own_variant if isinstance(own_variant, Variant) else None
        self.variant: Any = own_variant if variant is None else variant
        self.cheats, self.extra_outputs, self.sampled = cheats, tuple(extra_outputs), sampled
        self._seed = check_number("seed", seed, 0, 2**64 - 1)
        # Sampled moves of a file follow from the games alone.
        drawn = fractions(draw(self._seed, POLICY))
        self._shift = float(drawn[0]) if file is None else 0.0
        parameter = next(module.parameters(), None)
        self.device = torch.device("cpu") if parameter is None else parameter.device
        is_float = parameter is not None and parameter.is_floating_point()
        self._dtype = parameter.dtype if parameter is not None and is_float else torch.float32
        self._memory: Memory | None = None
        if isinstance(module, Agent):
            if self.encoder != module.encoder:
                raise StarmineError(f"encoder={encoder!r} is not allowed: the network's is {module.encoder!r}")
            for name, value, own in (
                ("dtype", dtype, module.dtype),
                ("extra_outputs", tuple(extra_outputs) or None, ()),
                ("recurrent", recurrent, module.state_width > 0),
            ):
                if value not in (None, own):
                    raise StarmineError(f"{name}={value!r} is not allowed: the network's is {own!r}")
            if self._dtype != torch.float32:
                raise StarmineError(f"the network's parameters are {self._dtype}: expected float32, as network.float()")
            if variant is not None and not variant._plays_alike(module.variant):
                raise VariantError(f"variant={variant} is not allowed: the network plays {module.variant}")
            self.dtype, self.all_turns = module.dtype, module.all_turns
            if module.state_width:
                self._memory = Memory(module.variant.players, module.state_width, self.device)
        else:
            _check_arguments(module, extra_outputs, recurrent)
            self.dtype = dtype or ("float32" if self.device.type == "cpu" else "uint8")
            self.all_turns = False
        self.recurrent, self._is_pure = self._memory is not None, recurrent is False

    @property
    def bot(self) -> str | None:
        """The text that loads the policy again, from its file and with its options; None without a file.

        `play_games` takes the text as a player, unless `load_foreign` was given options.
        """
        return None if self.file is None else self.file.text(self.file.name, self.sampled)

    @property
    def card(self) -> str:
        """The notes of its file in Markdown."""
        return PolicyFile(self.name, b"").card if self.file is None else self.file.card

    @property
    def checksum(self) -> str | None:
        """The SHA-256 of its file, or of the weights of a network of `starmine.torch`.

        None for other modules, because their code also determines the moves. None for subclasses, which may choose
        moves differently.
        """
        if type(self) is not ModulePolicy:
            return None
        if self.file is not None:
            return self.file.checksum
        return weights_checksum(self) if type(self.module) in (PolicyNetwork, ColorNetwork) else None

    def identity_text(self, module: str) -> str:
        """Text that identifies this player. `module` is text that identifies its module, such as a checksum."""
        if self.file is not None:
            return self.file.text(module, self.sampled)
        settings = {"encoder": self.encoder, "sampled": self.sampled, "seed": self._seed, "cheats": self.cheats}
        if isinstance(self.module, ActorCritic):
            settings |= {"variant": self.variant} | self.module.describe()
        elif self.dtype == "bits" or self.extra_outputs:
            settings |= {"bits": self.dtype == "bits", "extra_outputs": self.extra_outputs}
        return f"module: {module}; {settings}"

    def network(self) -> Any:
        """A copy of the module. For a policy file, a copy of its network.

        A network of another library takes that library's inputs.
        """
        return deepcopy(self.module if self.file is None else self.module.network)

    @torch.no_grad()
    def logits(
        self, observations: Array, memory: Array | None = None, seats: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Evaluate the network of a file, or an `ActorCritic`.

        Args:
            observations: uint8 (K, D), each 0 or 1, of its encoder.
            memory: float32 (K, width), hidden states; None for zeros, as before the first turn of a game.
            seats: integers (K,), the seats that observe; None for zeros. Only JaxMARL's PQN sees them.

        Returns:
            Logits or action values float32 (K, A) of all actions, legal or not; values float32 (K,), nan where the
            file has no head for them; and the hidden states after this turn, float32 (K, width).

        Raises:
            ArrayError: another type or shape, or an observation that is neither 0 nor 1.
        """
        agent: Any = self.module
        features, width = len(agent.variant.layout(self.encoder)), agent.state_width
        check_array("observations", observations, np.uint8, (None, features))
        if observations.size and observations.max() > 1:
            raise ArrayError(f"observations has a number {observations.max()}: expected 0 and 1")
        if self.dtype == "bits":
            packed = np.zeros((len(observations), 8 * -(-features // 64)), np.uint8)
            packed[:, : -(-features // 8)] = np.packbits(observations, axis=1, bitorder="little")
            observations = packed
        count = len(observations)
        before = np.zeros((count, width), np.float32) if memory is None else memory
        check_array("memory", before, np.float32, (count, width))
        at = np.zeros(count, np.int64) if seats is None else np.asarray(seats, np.int64)
        mask = np.ones((count, agent.variant.num_actions), np.bool_)
        given = (torch.from_numpy(array).to(self.device) for array in (observations, mask, before, at))
        scores, values, after = agent.turn(*given)
        return scores.cpu().numpy(), values.cpu().numpy(), after.cpu().numpy()

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
            StarmineError: the module returned neither logits (K, A) nor actions (K,), or more than logits and values;
                the logit of a legal action is nan or +inf; or a sampled policy got turns without `uniform`.
        """
        mask = torch.from_numpy(turns.action_mask).to(self.device)
        obs = torch.from_numpy(turns.obs).to(self.device)
        if isinstance(self.module, Agent):
            output: Any = self._scores(self.module, obs, mask, turns)
        else:
            extra = {name: torch.from_numpy(getattr(turns, name)).to(self.device) for name in self.extra_outputs}
            try:
                output = self.module(obs if self.dtype == "bits" else obs.to(self._dtype), mask, **extra)
            except RuntimeError as error:
                self._check_width(obs.shape[1], error)
                raise
        return self._actions(output, mask, turns.uniform).to("cpu", torch.int64).numpy()

    def _check_width(self, width: int, error: RuntimeError) -> None:
        """Raise an error of the module as one of the number of its inputs, if that is the cause."""
        layer = next((layer for layer in self.module.modules() if isinstance(layer, nn.Linear)), None)
        if layer is not None and layer.in_features != width and "shapes" in str(error) and self.dtype != "bits":
            expected, kind = f"{layer.in_features:,}", type(self.module).__name__
            packed = (width + 63) // 64 * 8
            hint = f'; dtype="bits" gives {packed} bytes' if layer.in_features == packed else ""
            found = f"{self.encoder!r} observations of these rules have {width:,}{hint}"
            raise StarmineError(f"{kind} expects {expected} inputs, and {found}") from error

    def _scores(self, agent: Agent, obs: Tensor, mask: Tensor, turns: Turns) -> Tensor:
        """The scores of an agent, whose hidden states go on."""
        seats = torch.from_numpy(turns.seat).to(self.device)
        if self._memory is None:
            return agent.turn(obs, mask, torch.zeros(len(obs), 0, device=self.device), seats)[0]
        places = self._memory.places(turns.game, turns.seat)
        scores, _, after = agent.turn(obs, mask, self._memory.states[places], seats)
        self._memory.states[places] = after
        return scores

    def _actions(self, output: Any, mask: Tensor, uniform: Array | None) -> Tensor:
        """The actions (K,) for the module's output, sampled by numbers (K,) from 0 to below 1."""
        if isinstance(output, tuple | list):
            if len(output) > 2 and not self._is_pure:
                raise StarmineError(
                    f"the module returned {len(output)} results: expected logits, or logits and values. "
                    "ModulePolicy(module, recurrent=False) says that none of them is a hidden state"
                )
            output = output[0]
        if not isinstance(output, Tensor):
            raise StarmineError(f"the module returned a {type(output)}: expected a tensor")
        if output.shape == mask.shape and output.is_floating_point():
            logits = output.float().masked_fill(~mask, -torch.inf)
            if not bool((logits < torch.inf).all()):
                raise StarmineError("the module returned nan or infinity as a logit: expected finite numbers")
            if self.sampled:
                return _sample(logits, uniform, self._shift)
            return self.module.best(output, mask) if isinstance(self.module, Agent) else logits.argmax(-1)
        is_integer = not (output.is_floating_point() or output.is_complex() or output.dtype == torch.bool)
        if output.shape == mask.shape[:1] and is_integer:
            return output
        raise StarmineError(
            f"the module returned {output.dtype} {tuple(output.shape)}: "
            f"expected logits {tuple(mask.shape)} or integer actions {tuple(mask.shape[:1])}"
        )

    def __eq__(self, other: object) -> bool:
        """Whether both have the same file and the same settings; without files whether they are the same object."""
        if not isinstance(other, ModulePolicy) or self.file is None or other.file is None:
            return self is other
        return self._settings() == other._settings()

    def __hash__(self) -> int:
        return id(self) if self.file is None else hash(self._settings())

    def _settings(self) -> tuple[str, tuple[str, ...], bool]:
        assert self.file is not None
        return self.file.checksum, self.file.options, self.sampled

    def __repr__(self) -> str:
        """The file or the module's class, and the encoder."""
        return f"ModulePolicy({self.bot or self.name}, encoder={self.encoder!r}, sampled={self.sampled})"


def _network_of(module: nn.Module) -> nn.Module:
    """The network of this package that `torch.compile` or a class of parallel training wraps; else the module."""
    inner: Any = module
    while isinstance(inner, nn.DataParallel | DistributedDataParallel) or type(inner).__name__ == "OptimizedModule":
        inner = inner._orig_mod if type(inner).__name__ == "OptimizedModule" else inner.module
    return inner if isinstance(inner, Agent) else module


def _sample(logits: Tensor, uniform: Array | None, shift: float) -> Tensor:
    """An action for each row, int64 (K,), drawn with the probabilities of its logits.

    Args:
        logits: float32 (K, A), -inf for actions that are not drawn.
        uniform: float64 (K,), the numbers of `Turns.uniform`.
        shift: is added to these numbers, modulo 1.

    Raises:
        StarmineError: there are no numbers to draw by.
    """
    if uniform is None:
        raise StarmineError(
            "turns without `uniform` are not allowed for a sampled policy: expected a number for each row"
        )
    bounds = logits.double().softmax(-1).cumsum(-1)
    drawn = torch.from_numpy((uniform + shift) % 1.0).to(bounds.device)[:, None] * bounds[:, -1:]
    # A product that is rounded up to the last bound chooses the last action that has a probability.
    last = (bounds < bounds[:, -1:]).sum(-1)
    return torch.minimum((bounds <= drawn).sum(-1), last)


def _check_arguments(module: nn.Module, extra_outputs: Sequence[str], recurrent: bool | None) -> None:
    """Refuse a module whose `forward` cannot be called as here, or that seems to have hidden states."""
    kind, cure = type(module).__name__, "ModulePolicy(module, recurrent=False) says that it has no hidden states"
    is_layer = (isinstance(layer, nn.RNNBase | nn.RNNCellBase | SeatGRU) for layer in module.modules())
    if recurrent or (recurrent is None and any(is_layer)):
        raise StarmineError(
            f"{kind} is recurrent, and would forget each turn: expected an object with act_batch(turns) that keeps its "
            f"hidden states. {cure}"
        )
    try:
        taken = signature(module.forward)
    except (TypeError, ValueError):  # of a module without Python code
        return
    further = [
        name
        for name, parameter in list(taken.parameters.items())[2:]
        if name not in extra_outputs and parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    ]
    try:
        taken.bind(None, None, **dict.fromkeys(extra_outputs))
        problem = f"it has the further arguments {', '.join(further)}" if further and recurrent is None else None
    except TypeError as error:
        problem, cure = str(error), "Expected a module whose forward takes these, which may call this module"
    if problem is not None:
        if wanted := tuple(name for name in taken.parameters if name in (*_extra_outputs(), *extra_outputs)):
            cure = f"Expected ModulePolicy(module, extra_outputs={wanted})"
        called = ", ".join(["observations", "action_mask", *(f"{name}=..." for name in extra_outputs)])
        raise StarmineError(
            f"{kind}.forward{taken} is not allowed: it is called as forward({called}), but {problem}. {cure}"
        )
