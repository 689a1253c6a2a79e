"""PPO for Hanabi in several processes, which play different games and average their gradients.

    torchrun --standalone --nproc-per-node 4 examples/ppo_distributed.py      # with the options of examples/ppo.py

The algorithm is that of `examples/ppo.py`. All processes have the same weights. Each process plays `--num-envs` games
and normalises its own advantages. An update of the weights takes `--minibatch` turns of each process. On a machine with
GPUs each process has its own. The first process evaluates and writes the output folder. `--resume` needs the same
number of processes.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from ppo import PPO, Args, train
from torch import Tensor

from starmine.torch import Graphed
from starmine.training import OnUpdate, command_line, process_group, rank, training_seed


class DistributedPPO(PPO):
    """PPO whose gradient is the mean over all processes. It is computed in one CUDA graph and applied in another."""

    def __init__(self, given: Args) -> None:
        super().__init__(given)
        self.gradient = Graphed(self.compute_gradient, self.device)
        self.apply = Graphed(self.apply_gradient, self.device)
        self.learn_minibatch = self.learn_together

    def learn_together(self, chosen: Tensor) -> Tensor:
        """Learn from a minibatch of each process; returns the `MEASURES` of this process."""
        measures, gradient = self.gradient(chosen), self.weights.grad
        assert gradient is not None
        dist.all_reduce(gradient)
        gradient /= dist.get_world_size()
        return torch.cat([measures, self.apply()])


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results, together with torchrun's other processes."""
    with process_group(args.device):
        ppo = DistributedPPO(args) if dist.is_initialized() else PPO(args)
        if rank() > 0:
            torch.manual_seed(training_seed(args.seed))  # the same weights in all processes, but other actions
        train("ppo_distributed", ppo, on_update)


if __name__ == "__main__":
    command_line(main, Args)
