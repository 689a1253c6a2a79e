"""Two controls of what a network by colour gains from: the symmetry without the features, and the features without it.

    python benchmarks/ablation.py --control raw-colors --total-steps 4000000 --seed 1 --out runs/raw-colors-1
    python benchmarks/ablation.py --control flat-exact --total-steps 4000000 --seed 1 --out runs/flat-exact-1

They are options of no product, so that they are written here, on top of examples/ppo.py, and their policies are not
saved. The scores of their last evaluation go into `scores.json`, which docs/update_baselines.py reads.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor, nn

sys.path.append(str(Path(__file__).parents[1] / "examples"))

import itertools

from ppo import PPO, Args, main

from starmine.torch import ActorCritic, ColorFeatures, ColorNetwork, HiddenState
from starmine.torch.network import orthogonal
from starmine.training import evaluate_policy, network_player

GAMES = 10_000
DERIVED = ("card_flags", "unseen", "dead", "critical")  # sections of a colour's row; in the rest: all flags


@dataclass
class ControlArgs(Args):
    """Train a control with PPO."""

    control: Literal["raw-colors", "flat-exact"] = "raw-colors"
    """the symmetric network on what hints allow, without counts and flags; or hidden layers on the exact features"""


class Unsaved(ActorCritic):
    """A network without a policy file."""

    def save(self, path: str | os.PathLike[str], **about: Any) -> None:
        """Write the scores over the decks of seed 0 instead, as a kept run tells them."""
        facts: dict[str, Any] = {"about": about}
        for how in ("greedy", "sampled"):
            act = network_player(self, GAMES, sampled=how == "sampled")
            scores = evaluate_policy(act, self.variant, GAMES, seed=0)
            facts[how] = {"games": GAMES, "perfect": scores.perfect.mean(), "lost": scores.lost.mean()}
            for name, values in (("score", scores.score), ("kept", scores.kept)):
                facts[how] |= {name: values.mean(), f"{name}_error": values.std(ddof=1) / GAMES**0.5}
        Path(path).with_name("scores.json").write_text(json.dumps(facts, default=float), encoding="utf-8")


class RawColors(Unsaved, ColorNetwork):
    """The symmetric network without derived features: own cards by what hints allow, all kinds alike."""

    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The features without those that are computed from counts."""
        features, found = self.color_features, super().read(bits).clone()
        rows = found[:, : features.colors * len(features.row)].view(len(found), features.colors, len(features.row))
        for section in features.row:
            if section.name in DERIVED:
                rows[..., section.slice] = 0
            elif section.name == "own":
                allowed = (rows[..., section.slice] > 0).float().view(*rows.shape[:2], *section.shape)
                kinds = allowed.sum((1, 3), keepdim=True).clamp(min=1)
                rows[..., section.slice] = (allowed / kinds).flatten(2)
        start = found.shape[1] - len(features.rest)
        for section in features.rest:
            if section.name in ("own_flags", "flags"):
                found[:, start + section.slice.start : start + section.slice.stop] = 0
        return found


class FlatExact(Unsaved):
    """Hidden layers of 256 and 256 over the exact features of all colours side by side."""

    def __init__(self, variant: Any, encoder: str, matmul_dtype: torch.dtype) -> None:
        super().__init__(variant, encoder, 0, matmul_dtype)
        self.color_features, self.memory = ColorFeatures(variant, encoder), None
        sizes = (self.color_features.length, 256, 256)
        layers = [orthogonal(nn.Linear(*pair), 2**0.5) for pair in itertools.pairwise(sizes)]
        self.trunk = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))
        self.heads = orthogonal(nn.Linear(256, variant.num_actions + 1), 0.01)

    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The features (n, length)."""
        return self.color_features.read(bits)

    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits (n, A), values (n,), and the hidden states as they were."""
        x, values = self.remember(self.trunk(inputs), hidden_state)
        heads = self.heads(x).float()
        return heads[:, :-1], heads[:, -1], values


class Control(PPO):
    """PPO with one of the networks."""

    def new_network(self, dtype: torch.dtype) -> ActorCritic:
        """The network, before its first update."""
        rules = (self.variant, self.args.encoder)
        assert isinstance(self.args, ControlArgs)
        return RawColors(*rules, matmul_dtype=dtype) if self.args.control == "raw-colors" else FlatExact(*rules, dtype)


if __name__ == "__main__":
    main(tyro.cli(ControlArgs), Control)
