"""JaxMARL's recipe of PQN-VDN for Hanabi with the learner of `examples/pqn_vdn.py`, to compare the two.

    python benchmarks/jaxmarl_pqn.py --total-steps 5000000 --seed 1 --out runs/jaxmarl-pqn

Source: JaxMARL, baselines/QLearning/pqn_vdn_ff.py and config/alg/pqn_vdn_ff_hanabi.yaml, with 1e10 steps there. The
network has JaxMARL's first weights and inputs, except for the one-hot seat: V0 beliefs stand in the place of the cards
that hints allow. The loss is half of JaxMARL's, and so is the limit of the gradient's norm.

The output folder gets `STEPS.safetensors` after each fifth of the steps, with JaxMARL's names of tensors, and
`times.csv`, as that of `examples/jaxmarl_ippo.py`.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from safetensors.torch import save_file
from torch import Tensor, nn

sys.path.append(str(Path(__file__).parents[1] / "examples"))

import pqn_vdn

import starmine
from starmine.policies.foreign.observations import with_v0_beliefs
from starmine.training import command_line

SAVES = 5


@dataclass
class Args:
    """Train one policy for all seats of Hanabi with JaxMARL's recipe of PQN-VDN."""

    total_steps: int = 5_000_000
    """turns to train for, rounded down to whole updates"""
    num_envs: int = 1024
    """games played at once, and turns of an update"""
    seed: int = 1
    """of the first weights, the games and the actions"""
    out: Path = Path("runs/jaxmarl_pqn")
    """output folder, which must not exist"""


class QNetwork(pqn_vdn.QNetwork):
    """The network with JaxMARL's inputs, first weights and epsilon."""

    def __init__(self, args: pqn_vdn.Args, variant: starmine.Variant) -> None:
        self.variant = variant
        super().__init__(args, variant)
        for layer in self.modules():
            if isinstance(layer, nn.LayerNorm):
                layer.eps = 1e-6
        # Flax's "lecun_normal": the deviation of a normal distribution cut at 2 is .88 of that of the whole.
        layers = [layer for layer in self.modules() if isinstance(layer, nn.Linear)]
        for layer in layers:
            deviation = layer.in_features**-0.5 / 0.87962566
            nn.init.trunc_normal_(layer.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
            nn.init.zeros_(layer.bias)

    def inputs(self, obs: Tensor) -> Tensor:
        """The observations with V0 beliefs."""
        return with_v0_beliefs(self.variant, obs)

    def tensors(self) -> dict[str, Tensor]:
        """The weights by JaxMARL's names, as views."""
        linear = [layer for layer in self.trunk if isinstance(layer, nn.Linear)]
        norms = [layer for layer in self.trunk if isinstance(layer, nn.LayerNorm)]
        weights = [layer.weight for layer in linear] + [self.heads.weight[:-1], self.heads.weight[-1:]]
        biases = [layer.bias for layer in linear] + [self.heads.bias[:-1], self.heads.bias[-1:]]
        found = {f"Dense_{place},kernel": weight.detach().T for place, weight in enumerate(weights)}
        found |= {f"Dense_{place},bias": bias.detach() for place, bias in enumerate(biases)}
        found |= {f"LayerNorm_{place},scale": norm.weight.detach() for place, norm in enumerate(norms)}
        return found | {f"LayerNorm_{place},bias": norm.bias.detach() for place, norm in enumerate(norms)}

    def save(self, path: Path) -> None:
        """Write the weights with JaxMARL's names, and zeros for the inputs of the one-hot seat."""
        tensors = self.tensors()
        tensors["Dense_0,kernel"] = nn.functional.pad(tensors["Dense_0,kernel"], (0, 0, 0, self.variant.players))
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


def recipe(args: Args) -> pqn_vdn.Args:
    """JaxMARL's settings as those of the example script."""
    return pqn_vdn.Args(
        total_steps=args.total_steps,
        seed=args.seed,
        num_envs=args.num_envs,
        rollout=1,
        epochs=1,
        minibatch=args.num_envs,
        lr=3e-4,
        lr_schedule="constant",
        gamma=0.99,
        q_lambda=0.0,
        epsilon=0.01,
        epsilon_end=0.001,
        epsilon_steps=args.total_steps // 10,
        grad_norm=0.5 / 2,
        hidden=(512, 512, 512),
        card_features=False,
        lost_game_score="zero",
        lost_game_penalty=0.0,
    )


def main(args: Args) -> None:
    """Train, and save the policy after each fifth of the steps."""
    args.out.mkdir(parents=True)
    config = asdict(args) | {"script": "benchmarks/jaxmarl_pqn.py", "version": starmine.__version__}
    (args.out / "config.json").write_text(json.dumps(config, default=str), encoding="utf-8")
    with patch.object(pqn_vdn, "QNetwork", QNetwork):
        pqn = pqn_vdn.PQN(recipe(args))
    network: Any = pqn.network
    start, updates = time.perf_counter(), args.total_steps // args.num_envs
    saved_after = {round(updates * part / SAVES) for part in range(1, SAVES + 1)}
    with (args.out / "times.csv").open("w", encoding="utf-8") as times:
        print("steps,seconds", file=times, flush=True)
        for update in range(1, updates + 1):
            pqn.update(update / updates, (update - 1) * args.num_envs)
            if update in saved_after:
                steps = update * args.num_envs
                print(f"{steps},{time.perf_counter() - start:.1f}", file=times, flush=True)
                network.save(args.out / f"{steps}.safetensors")


if __name__ == "__main__":
    command_line(main, Args)
