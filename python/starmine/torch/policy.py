"""A torch module as a policy that plays whole games."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray

from starmine._core import StarmineError

Array = NDArray[Any]


class ModulePolicy:
    """Plays with a feed-forward torch module: `module(observations, action_mask)`.

    The module is called without gradients, with float32 observations (K, D) and a bool mask (K, A) on its own device.
    It returns logits (K, A), a tuple that begins with them, or actions, integers (K,).

    Args:
        module: the module; call its `eval()` first if it has dropout or batch normalisation.
        encoder: one of `starmine.encoders()`, whose observations it was trained on.
        cheats: needed for an encoder that shows the own hand; evaluations mark the policy.
        sample: sample the legal actions by their logits; else the best legal one is played.
        seed: of the sampling.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        encoder: str = "canonical",
        sample: bool = False,
        seed: int = 0,
        cheats: bool = False,
    ) -> None:
        self.module = module
        self.encoder, self.cheats = encoder, cheats
        self.sample = sample
        parameter = next(module.parameters(), None)
        self.device = torch.device("cpu") if parameter is None else parameter.device
        self.generator = torch.Generator(self.device).manual_seed(seed)

    def act_batch(self, observations: Array, action_mask: Array, games: Array) -> Array:
        """Choose an action in each of K games; see `starmine.Policy`.

        Args:
            observations: uint8 (K, D), each 0 or 1.
            action_mask: bool (K, A), the legal actions.
            games: int64 (K,), ignored.

        Returns:
            The actions, int64 (K,).

        Raises:
            StarmineError: the module returned neither logits (K, A) nor actions (K,), or a nan.
        """
        with torch.no_grad():
            features = torch.from_numpy(observations).to(self.device, torch.float32)
            mask = torch.from_numpy(action_mask).to(self.device)
            chosen = self.choose(self.module(features, mask), mask)
        return chosen.to("cpu", torch.int64).numpy()

    def choose(self, output: Any, mask: torch.Tensor) -> torch.Tensor:
        """The actions (K,) for the module's output."""
        output = output[0] if isinstance(output, tuple | list) else output
        if not isinstance(output, torch.Tensor):
            raise StarmineError(f"the module returned a {type(output)}: expected a tensor")
        if output.shape == mask.shape and output.is_floating_point():
            logits = output.float().masked_fill(~mask, -torch.inf)
            if logits.isnan().any():
                raise StarmineError("the module returned nan as a logit: expected numbers")
            if self.sample:
                return torch.multinomial(logits.softmax(-1), 1, generator=self.generator)[:, 0]
            return logits.argmax(-1)
        if output.shape == mask.shape[:1] and not output.is_floating_point():
            return output
        raise StarmineError(
            f"the module returned {output.dtype} {tuple(output.shape)}: "
            f"expected logits {tuple(mask.shape)} or integer actions {tuple(mask.shape[:1])}"
        )

    def __repr__(self) -> str:
        """The module's class and the encoder."""
        return f"ModulePolicy({type(self.module).__name__}, encoder={self.encoder!r}, sample={self.sample})"
