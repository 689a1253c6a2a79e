"""A policy of another library that holds seats."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING

import numpy as np
import torch

from starmine._core import ArrayError, StarmineError, Variant
from starmine._util.arrays import Array
from starmine.policies.foreign.networks import R2D2, Actor, QNetwork
from starmine.policies.foreign.observations import Inputs
from starmine.policies.memory import Memory
from starmine.policies.sampling import sampled

if TYPE_CHECKING:
    from starmine.games.turns import Turns


class ForeignPolicy:
    """A policy that another library trained. It can hold seats wherever a `starmine.games.Policy` can.

    A recurrent one sees every turn of a game with each of its seats, also turns of other seats, as in its training.
    `load_policy` makes it.

    Attributes:
        name: the file's path.
        format: the library and its network; a key of `starmine.policies.foreign.FORMATS`.
        variant: the rules that the network fits.
        encoder: "canonical"; the network's own inputs are computed from these observations.
        recurrent: whether it has a hidden state for each seat.
        sampled: whether it samples its moves; else it plays the best one by the agent's own formula.
        content: SHA-256 of the file.
        settings: the options other than the defaults. `content` and `settings` are the player's identity.
    """

    encoder = "canonical"
    dtype = "uint8"
    extra_outputs = ()

    def __init__(
        self,
        name: str,
        format: str,
        network: Actor | QNetwork | R2D2,
        variant: Variant,
        inputs: Inputs,
        sampled: bool,
        content: str,
        settings: list[str],
    ) -> None:
        """Made by `load_policy`."""
        self.name, self.format, self.variant = name, format, variant
        self.sampled, self.content, self.settings = sampled, content, settings
        self.recurrent = self.all_turns = network.width > 0
        self._network = network.eval().requires_grad_(False)
        self._inputs = inputs
        self._memory = Memory(variant.players, network.width, torch.device("cpu"))

    def session(self) -> ForeignPolicy:
        """The same policy with its own hidden states; see `starmine.games.Policy`."""
        own = copy(self)
        own._memory = self._memory.new()
        return own

    @property
    def text(self) -> str:
        """The file and the settings. Without settings of `load_foreign`, `play_games` takes the text as a player."""
        return self.text_with(self.name)

    def text_with(self, source: str) -> str:
        """The text with another source, such as the file's checksum, in the place of its path."""
        return "; ".join([f"policy: {source}", *self.settings])

    def network(self) -> torch.nn.Module:
        """A copy of the torch module, which takes the agent's own inputs."""
        return deepcopy(self._network)

    @torch.no_grad()
    def logits(
        self, observations: Array, memory: Array | None = None, seats: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Evaluate the network.

        Args:
            observations: uint8 (K, D), canonical ones, each 0 or 1.
            memory: float32 (K, width), hidden states; None for zeros, as before the first turn of a game.
            seats: integers (K,), the seats that observe; None for zeros. Only JaxMARL's PQN sees them.

        Returns:
            Logits or action values float32 (K, A) of all actions, legal or not; values float32 (K,), nan where the
            file has no head for them; and the hidden states after this turn, float32 (K, width).

        Raises:
            ArrayError: another shape.
        """
        obs = self._checked(observations)
        before = np.zeros((len(obs), self._network.width), np.float32) if memory is None else memory
        if before.shape != (len(obs), self._network.width):
            raise ArrayError(f"memory has shape {before.shape}: expected ({len(obs)}, {self._network.width})")
        at = np.zeros(len(obs), np.int64) if seats is None else np.asarray(seats, np.int64)
        scores, values, after = self._evaluate(obs, torch.from_numpy(before), at)
        return scores[:, :-1].numpy(), values.numpy(), after.numpy()

    def _checked(self, obs: Array) -> Array:
        width = len(self.variant.layout())
        if obs.ndim != 2 or obs.shape[1] != width:
            raise ArrayError(
                f"policy {self.name!r} got observations {obs.shape}: expected (K, {width}), "
                f"those of {self.variant.players} players"
            )
        return obs

    def _evaluate(self, obs: Array, memory: torch.Tensor, seats: Array) -> tuple[torch.Tensor, ...]:
        rows = self._inputs.rows(self.variant, torch.from_numpy(obs), torch.from_numpy(seats))
        outputs: tuple[torch.Tensor, ...] = self._network(rows, memory)
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
            StarmineError: the game is not that of the policy, or the network's outputs are not finite.
        """
        obs = self._checked(turns.obs)
        places = self._memory.places(turns.game, turns.seat)
        scores, _, after = self._evaluate(obs, self._memory.values[places], turns.seat)
        self._memory.values[places] = after
        if not bool(torch.isfinite(scores).all()):
            raise StarmineError(f"policy {self.name!r} gave scores that are not finite")
        scores, legal = scores[:, :-1], torch.from_numpy(turns.action_mask)
        if self.sampled:
            acts = legal.any(1)
            logits = scores.masked_fill(~legal & acts[:, None], -torch.inf)
            return sampled(logits, turns.uniform).numpy()
        if isinstance(self._network, R2D2):
            best = ((1 + scores - scores.min(-1, keepdim=True).values) * legal).argmax(-1)
        else:
            best = scores.masked_fill(~legal, -torch.inf).argmax(-1)
        return best.numpy()

    def __repr__(self) -> str:
        return f"<ForeignPolicy {self.name!r}: {self.format}, {self.variant.players} players>"
