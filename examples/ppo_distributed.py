"""PPO for Hanabi in several processes, which play games of their own and average their gradients.

    torchrun --standalone --nproc-per-node 4 examples/ppo_distributed.py      # with the options of examples/ppo.py

The algorithm is that of `examples/ppo.py`. All processes have the same weights. Each plays `--num-envs` games, has
minibatches of `--minibatch` turns of them, and with `--device cuda` its own GPU. The first process evaluates and writes
the output folder. `--resume` needs the same number of processes.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from ppo import PPO, Args, train

from starmine.training import OnUpdate, command_line, process_group, rank, training_seed


class GradientMean:
    """Replaces the gradient by its mean over all processes, at the end of each backward pass."""

    def __init__(self, ppo: PPO) -> None:
        self.gradient, parameters = ppo.weights.grad, list(ppo.policy.parameters())
        self.count = self.missing = len(parameters)
        for parameter in parameters:
            parameter.register_post_accumulate_grad_hook(self.arrived)  # type: ignore[no-untyped-call]

    def arrived(self, parameter: torch.Tensor) -> None:
        """Count the parameters' gradients, which are views of one tensor; average it after the last."""
        self.missing -= 1
        if self.missing == 0 and self.gradient is not None:
            dist.all_reduce(self.gradient)
            self.gradient /= dist.get_world_size()
            self.missing = self.count


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results, together with torchrun's other processes."""
    with process_group(args.device):
        ppo = PPO(args)
        if dist.is_initialized():
            GradientMean(ppo)
        if rank() > 0:
            torch.manual_seed(training_seed(args.seed))  # the same weights in all processes, but other actions
        train("ppo_distributed", ppo, on_update)


if __name__ == "__main__":
    command_line(main, Args)
