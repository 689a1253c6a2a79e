"""PPO for Hanabi on one page: the rollout, its advantages, the loss, the optimiser and an evaluation.

    python examples/ppo_minimal.py    # two players, 3.3 million turns, some minutes on two cores

There are no options: change the constants. `examples/ppo.py` is the same algorithm with schedules, checkpoints,
partners and GPUs.

A sample is one turn, with the observation of the seat that plays it. One network plays all seats. The reward is the
team's, so the value after a turn is the value of the next seat's observation.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    print("loading PyTorch", flush=True)

import torch
from torch import Tensor, nn

import starmine
from starmine.torch import ColorNetwork

NUM_ENVS = 1024  # games played at once
STEPS = 16  # turns of each game in a rollout
EPOCHS = 2  # passes over a rollout
MINIBATCH = 512  # turns
LR = 7e-4
GAMMA, LAMBDA = 0.999, 0.9  # discount of a turn, weight of longer returns
CLIP = 0.2  # largest change of a probability ratio that is rewarded
VALUE_WEIGHT, ENTROPY_WEIGHT = 0.25, 0.05  # of the loss
GRAD_NORM = 0.5


class PPO:
    """The games, the network, and the rollout: tensors (STEPS, NUM_ENVS, ...)."""

    def __init__(self, num_envs: int = NUM_ENVS) -> None:
        torch.manual_seed(1)
        # A lost game keeps its points and costs one, which is easier to learn from than a return of 0.
        self.env = starmine.HanabiVectorEnv(num_envs, dtype="bits", reward="fireworks", lost_game_penalty=1.0)
        self.network = ColorNetwork(self.env.variant)
        self.network.fuse_kernels()  # faster on a CPU
        self.optimizer = torch.optim.Adam(self.network.parameters(), LR, eps=1e-5)
        self.bits, self.info = self.env.reset(seed=1)

        shape = (STEPS, num_envs)
        self.inputs = torch.zeros(*shape, self.network.color_features.length)
        self.mask = torch.zeros(*shape, self.env.variant.num_actions, dtype=torch.bool)
        self.action = torch.zeros(shape, dtype=torch.int64)
        self.log_prob, self.value, self.reward, self.terminated = (torch.zeros(shape) for _ in range(4))

    @torch.no_grad()
    def collect(self) -> tuple[Tensor, list[int]]:
        """Play a rollout; returns the values (NUM_ENVS,) after its last turn, and the scores of games that ended."""
        scores: list[int] = []
        for step in range(STEPS + 1):
            inputs, mask = self.network.read(self.bits), torch.from_numpy(self.info["action_mask"])
            log_probs, value, _ = self.network(inputs, mask)
            if step == STEPS:
                break
            action = torch.multinomial(log_probs.exp(), 1)[:, 0]
            self.inputs[step], self.mask[step], self.action[step], self.value[step] = inputs, mask, action, value
            self.log_prob[step] = log_probs.gather(1, action[:, None])[:, 0]
            self.bits, reward, terminated, _, self.info = self.env.step(action)
            self.reward[step], self.terminated[step] = torch.from_numpy(reward), torch.from_numpy(terminated)
            scores += self.info["final_score"][terminated].tolist()
        return value, scores

    def advantages(self, last_value: Tensor) -> Tensor:
        """Generalised advantage estimates (STEPS, NUM_ENVS) of the rollout (Schulman et al., 2016)."""
        found = torch.zeros_like(self.value)
        advantage, next_value = torch.zeros_like(last_value), last_value
        for step in reversed(range(STEPS)):
            discount = GAMMA * (1 - self.terminated[step])  # after an ended game, the column has a new one
            difference = self.reward[step] + discount * next_value - self.value[step]
            found[step] = advantage = difference + LAMBDA * discount * advantage
            next_value = self.value[step]
        return found

    def learn(self, advantage: Tensor) -> None:
        """Make epochs of clipped updates on the rollout."""
        returns = (advantage + self.value).flatten()
        advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
        inputs, mask, action = self.inputs.flatten(0, 1), self.mask.flatten(0, 1), self.action.flatten()
        old_log_prob = self.log_prob.flatten()
        for _ in range(EPOCHS):
            for rows in torch.split(torch.randperm(len(returns)), MINIBATCH):
                log_probs, value, _ = self.network(inputs[rows], mask[rows])
                ratio = (log_probs.gather(1, action[rows][:, None])[:, 0] - old_log_prob[rows]).exp()
                clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                gain = torch.min(ratio * advantage[rows], clipped * advantage[rows]).mean()
                entropy = -(log_probs.exp() * log_probs).sum(1).mean()
                error = (value - returns[rows]).square().mean()
                loss = VALUE_WEIGHT * error - gain - ENTROPY_WEIGHT * entropy
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), GRAD_NORM)
                self.optimizer.step()


def main(updates: int = 200, num_envs: int = NUM_ENVS, games: int = 1000) -> ColorNetwork:
    """Train, print the mean score of each tenth update's games, evaluate; returns the network, which can be saved."""
    ppo = PPO(num_envs)
    for update in range(1, updates + 1):
        last_value, scores = ppo.collect()
        ppo.learn(ppo.advantages(last_value))
        if update % 10 == 0 and scores:
            print(f"update {update:3}, {update * STEPS * num_envs:9,} turns: score {sum(scores) / len(scores):5.2f}")
    # `evaluate` plays the likeliest action of each turn, on decks that no default of training deals.
    print(starmine.evaluate({"PPO": ppo.network}, games, variant=ppo.env.variant))
    return ppo.network


if __name__ == "__main__":
    if sys.argv[1:]:
        raise SystemExit("ppo_minimal.py has no options: change its constants, or take ppo.py")
    Path("runs").mkdir(exist_ok=True)
    main().save("runs/ppo_minimal.safetensors")
