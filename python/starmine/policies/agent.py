"""What `ModulePolicy` needs of a network of this package or of a policy file. Imported with torch alone."""

from __future__ import annotations

from torch import Tensor, inf, nn

from starmine._core import Variant

Outputs = tuple[Tensor, Tensor, Tensor]


class Agent(nn.Module):
    """A network that plays turn by turn, with a hidden state for each seat of each game.

    Attributes:
        variant: the rules that it plays.
        encoder: of its observations.
        dtype: of its observations, "bits" or "uint8".
        state_width: numbers in a hidden state; 0 without recurrence.
        all_turns: whether the hidden state of a seat also changes at the turns of other seats.
    """

    variant: Variant
    encoder = "canonical"
    dtype = "bits"
    state_width = 0
    all_turns = False

    def turn(self, obs: Tensor, mask: Tensor, memory: Tensor, seats: Tensor) -> Outputs:
        """Evaluate one turn of K seats.

        Args:
            obs: observations (K, D), or packed ones, uint8 (K, 8 * ceil(D / 64)), as `dtype` says.
            mask: bool (K, A), the legal actions.
            memory: float32 (K, state_width), the hidden states before this turn.
            seats: int64 (K,), the seats that observe.

        Returns:
            Scores of the actions, float32 (K, A); values, float32 (K,), nan where the file has no head for them; and
            the hidden states after this turn, float32 (K, state_width).
        """
        raise NotImplementedError

    def best(self, scores: Tensor, mask: Tensor) -> Tensor:
        """The best legal actions, int64 (K,)."""
        return scores.masked_fill(~mask, -inf).argmax(-1)
