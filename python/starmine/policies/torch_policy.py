"""Policies that PyTorch plays, as players: all networks except Starmine's networks by colour without hidden states."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from starmine._core import ArrayError, StarmineError, Variant
from starmine._util.arrays import Array, check_array
from starmine.policies.files import notes, policy_text
from starmine.policies.memory import Memory
from starmine.policies.sampling import sampled

if TYPE_CHECKING:
    from starmine.games.turns import Turns

Outputs = tuple[Tensor, Tensor, Tensor]


class Agent(nn.Module):
    """What a `TorchPolicy` plays by: the network of a file, with its inputs.

    A subclass has the methods `forward` and, for moves by another formula than the greatest score, `best`.

    Args:
        network: the network.
        width: numbers in a hidden state; 0 without recurrence.

    Attributes:
        encoder: of the observations.
        dtype: of the observations, "uint8" or "bits".
        all_turns: whether the hidden state of a seat also changes at the turns of other seats.
    """

    encoder = "canonical"
    dtype = "uint8"
    all_turns = False

    def __init__(self, network: nn.Module, width: int) -> None:
        super().__init__()
        self.network, self.width = network, width

    def forward(self, obs: Tensor, memory: Tensor, seats: Tensor) -> Outputs:
        """Evaluate the network.

        Args:
            obs: observations (K, D), or packed ones, uint8 (K, 8 * ceil(D / 64)), as `dtype` says.
            memory: float32 (K, width), the hidden states before this turn.
            seats: int64 (K,), the seats that observe.

        Returns:
            Scores of all actions, float32 (K, A); values, float32 (K,), nan where the file has no head for them; and
            the hidden states after this turn, float32 (K, width).
        """
        raise NotImplementedError

    def best(self, scores: Tensor, legal: Tensor) -> Tensor:
        """The best legal actions, int64 (K,)."""
        return scores.masked_fill(~legal, -torch.inf).argmax(-1)


class TorchPolicy:
    """A trained policy that PyTorch plays, in all games at once.

    It can hold seats wherever a `starmine.games.Policy` can.

    `load_policy` makes it for the files of other libraries, and for Starmine's own files with a `PolicyNetwork` or a
    recurrent `ColorNetwork`. It plays the weights that were loaded, whatever its file holds later; so does a pickle.

    Attributes:
        name: the file's path.
        format: the library and its network, a key of `starmine.policies.foreign.FORMATS`; "starmine" for Starmine's.
        variant: the rules that it plays.
        encoder: of its observations.
        recurrent: whether it has a hidden state for each seat.
        all_turns: whether it sees every turn of a game with each of its seats, also turns of other seats, as the
            recurrent agents of other libraries do. The hidden states of Starmine's networks change at own turns alone.
        sampled: whether it samples its moves; else it plays the best one by the agent's own formula.
        about: notes from when Starmine saved it, such as steps and score; empty for other files.
        data: the contents of the file.
        content: SHA-256 of the file.
        settings: the options other than the defaults. `content` and `settings` are the player's identity.
    """

    extra_outputs = ()

    def __init__(
        self,
        name: str,
        data: bytes,
        content: str,
        format: str,
        agent: Agent,
        variant: Variant,
        sampled: bool,
        settings: list[str],
        about: dict[str, Any] | None = None,
    ) -> None:
        """Made by `load_policy`."""
        self.name, self.data, self.content, self.format = name, data, content, format
        self.variant, self.sampled, self.settings, self.about = variant, sampled, settings, about or {}
        self.encoder, self.dtype, self.all_turns = agent.encoder, agent.dtype, agent.all_turns
        self.recurrent = agent.width > 0
        self._agent = agent
        self._memory = Memory(variant.players, agent.width, torch.device("cpu"))

    def session(self) -> TorchPolicy:
        """The same policy with its own hidden states; see `starmine.games.Policy`."""
        own = copy(self)
        own._memory = self._memory.new()
        return own

    @property
    def bot(self) -> str:
        """The file and the settings. Without settings of `load_foreign`, `play_games` takes the text as a player."""
        return policy_text(self.name, self.settings)

    def text_with(self, source: str) -> str:
        """The text with another source, such as the file's checksum, in the place of its path."""
        return policy_text(source, self.settings)

    @property
    def card(self) -> str:
        """A list of its notes in Markdown."""
        return notes(self.name, self.about)

    def network(self) -> Any:
        """A copy of the torch module: an `ActorCritic`, or of another library one that takes the agent's own inputs."""
        return deepcopy(self._agent.network)

    @torch.no_grad()
    def logits(
        self, observations: Array, memory: Array | None = None, seats: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Evaluate the network.

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
        obs, width = self._checked(observations), self._agent.width
        before = np.zeros((len(obs), width), np.float32) if memory is None else memory
        check_array("memory", before, np.float32, (len(obs), width))
        at = np.zeros(len(obs), np.int64) if seats is None else np.asarray(seats, np.int64)
        scores, values, after = self._evaluate(obs, torch.from_numpy(before), at)
        return scores.numpy(), values.numpy(), after.numpy()

    def _checked(self, observations: Array) -> Array:
        """Observations as the agent takes them, of unpacked ones.

        Raises:
            ArrayError: they are not uint8 (K, D), or an element is neither 0 nor 1.
        """
        features = len(self.variant.layout(self.encoder))
        check_array(
            "observations", observations, np.uint8, (None, features), f", those of {self.variant.players} players"
        )
        if observations.size and observations.max() > 1:
            row, column = map(int, np.argwhere(observations > 1)[0])
            found = f"observations has {observations[row, column]} at ({row}, {column})"
            raise ArrayError(f"{found}: expected 0 or 1")
        if self.dtype == "uint8":
            return observations
        packed = np.zeros((len(observations), 8 * -(-features // 64)), np.uint8)
        packed[:, : -(-features // 8)] = np.packbits(observations, axis=1, bitorder="little")
        return packed

    def _evaluate(self, obs: Array, memory: Tensor, seats: Array) -> Outputs:
        outputs: Outputs = self._agent(torch.from_numpy(obs), memory, torch.from_numpy(seats))
        return outputs

    def reset(self, games: Array, seats: Array) -> None:
        """Clear the hidden states of games that begin."""
        self._memory.clear(games, seats)

    @torch.no_grad()
    def act_batch(self, turns: Turns) -> Array:
        """Choose an action for each of K rows.

        Args:
            turns: what the seats see; see `starmine.Turns`.

        Returns:
            The actions, int64 (K,).

        Raises:
            StarmineError: the network's outputs are not finite.
        """
        places = self._memory.places(turns.game, turns.seat)
        scores, _, after = self._evaluate(turns.obs, self._memory.values[places], turns.seat)
        self._memory.values[places] = after
        if not bool(torch.isfinite(scores).all()):
            raise StarmineError(f"policy {self.name!r} gave scores that are not finite")
        legal = torch.from_numpy(turns.action_mask)
        if self.sampled:
            acts = legal.any(1)
            logits = scores.masked_fill(~legal & acts[:, None], -torch.inf)
            return sampled(logits, turns.uniform).numpy()
        return self._agent.best(scores, legal).numpy()

    def __eq__(self, other: object) -> bool:
        """Whether both have the same file and the same settings."""
        if not isinstance(other, TorchPolicy):
            return NotImplemented
        return (self.content, self.settings) == (other.content, other.settings)

    def __hash__(self) -> int:
        return hash((self.content, *self.settings))

    def __repr__(self) -> str:
        """The text, the format and the variant."""
        return f"<TorchPolicy {self.bot!r}: {self.format}, {self.variant}>"
