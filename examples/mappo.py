"""MAPPO for Hanabi on one page: PPO whose critic sees all hands in training (Yu et al., 2022).

    python examples/mappo.py                # two players, 3.3 million turns, some minutes on two cores
    python examples/mappo.py --players 4    # slower: the critic reads four seats in each turn

The settings of the algorithm are constants. The script is `ppo_minimal.py` with a critic of its own. The environment
shows every turn to all seats. One seat acts, the others are idle: `acting` masks them out of the loss of the policy.
The critic learns from all seats. It reads what a seat sees and this seat's own cards, so it knows all hands. The policy
never reads own cards, so it plays without the critic.
"""

from __future__ import annotations

from pathlib import Path

if __name__ == "__main__":
    print("loading PyTorch", flush=True)

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.nn.functional import one_hot

import starmine
from starmine.torch import ColorNetwork
from starmine.training import training_seed

NUM_ENVS = 1024  # games played at once
STEPS = 16  # turns of each game in a rollout
EPOCHS = 2  # passes over a rollout
MINIBATCH = 512  # turns
LR = 7e-4
GAMMA, LAMBDA = 0.999, 0.9  # discount of a turn, weight of longer returns
CLIP = 0.2  # largest change of a probability ratio that is rewarded
VALUE_WEIGHT, ENTROPY_WEIGHT = 0.25, 0.05  # of the loss
GRAD_NORM = 0.5


class MAPPO:
    """The games, both networks, and the rollout: tensors (STEPS, NUM_ENVS, ...), by seats (STEPS, NUM_ENVS, P, ...)."""

    def __init__(self, num_envs: int = NUM_ENVS, players: int = 2, seed: int = 1) -> None:
        torch.manual_seed(seed)
        self.env = starmine.HanabiVectorEnv(
            num_envs,
            players=players,
            dtype="bits",
            observers="all",
            extra_outputs=["own_hand"],
            reward="fireworks",
            lost_game_penalty=1.0,
        )
        variant = self.env.variant
        self.policy = ColorNetwork(variant)
        self.policy.fuse_kernels()  # faster on a CPU
        self.cards = variant.colors * variant.ranks
        self.seen = self.policy.color_features.length
        width = self.seen + variant.hand_size * (self.cards + 1)
        self.critic = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
        self.parameters = [*self.policy.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, LR, eps=1e-5)
        self.bits, self.info = self.env.reset(seed=training_seed(seed))  # uint8 (NUM_ENVS, P, bytes)

        turns, seats = (STEPS, num_envs), (STEPS, num_envs, players)
        self.world = torch.zeros(*seats, width)
        self.acting = torch.zeros(seats, dtype=torch.bool)
        self.value = torch.zeros(seats)
        self.mask = torch.zeros(*turns, variant.num_actions, dtype=torch.bool)
        self.action = torch.zeros(turns, dtype=torch.int64)
        self.log_prob, self.reward, self.terminated = (torch.zeros(turns) for _ in range(3))

    def worlds(self) -> Tensor:
        """What the critic sees (NUM_ENVS, P, width): the observation of each seat, then its own cards, one-hot."""
        seen = self.policy.read(self.bits.reshape(-1, self.bits.shape[-1]))
        own = torch.from_numpy(self.info["own_hand"]).long() + 1  # (NUM_ENVS, P, hand size); -1 was an empty slot
        return torch.cat([seen.view(*own.shape[:2], -1), one_hot(own, self.cards + 1).flatten(2)], 2)

    @torch.no_grad()
    def collect(self) -> tuple[Tensor, list[int]]:
        """Play a rollout; returns the values (NUM_ENVS, P) after its last turn, and the scores of games that ended."""
        scores: list[int] = []
        for step in range(STEPS + 1):
            world = self.worlds()
            value = self.critic(world)[..., 0]
            if step == STEPS:
                break
            seat, mask = self.info["current_player"], torch.from_numpy(self.info["action_mask"])
            seats = np.arange(self.env.variant.players)
            acting = torch.from_numpy(seats == seat[:, None])  # (NUM_ENVS, P): one seat of each game
            log_probs, _, _ = self.policy(world[acting][:, : self.seen], mask)
            action = torch.multinomial(log_probs.exp(), 1)[:, 0]
            self.world[step], self.acting[step], self.value[step], self.mask[step] = world, acting, value, mask
            self.action[step], self.log_prob[step] = action, log_probs.gather(1, action[:, None])[:, 0]
            self.bits, reward, terminated, _, self.info = self.env.step(action)
            self.reward[step], self.terminated[step] = torch.from_numpy(reward), torch.from_numpy(terminated)
            scores += self.info["final_score"][terminated].tolist()
        return value, scores

    def advantages(self, last_value: Tensor) -> Tensor:
        """Generalised advantage estimates (STEPS, NUM_ENVS, P): every seat has the reward of the team in every turn."""
        found = torch.zeros_like(self.value)
        advantage, next_value = torch.zeros_like(last_value), last_value
        for step in reversed(range(STEPS)):
            discount = GAMMA * (1 - self.terminated[step, :, None])  # after an ended game, the column has a new one
            difference = self.reward[step, :, None] + discount * next_value - self.value[step]
            found[step] = advantage = difference + LAMBDA * discount * advantage
            next_value = self.value[step]
        return found

    def learn(self, advantage: Tensor) -> None:
        """Make epochs of clipped updates: the policy learns from the seats that act, the critic from all seats."""
        returns = (advantage + self.value).flatten(0, 1)
        world, acting, mask = self.world.flatten(0, 1), self.acting.flatten(0, 1), self.mask.flatten(0, 1)
        advantage = advantage.flatten(0, 1)[acting]  # (turns,), of the seat that acts
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        action, old_log_prob = self.action.flatten(), self.log_prob.flatten()
        for _ in range(EPOCHS):
            for rows in torch.split(torch.randperm(len(returns)), MINIBATCH):
                seats = world[rows]
                log_probs, _, _ = self.policy(seats[acting[rows]][:, : self.seen], mask[rows])
                ratio = (log_probs.gather(1, action[rows][:, None])[:, 0] - old_log_prob[rows]).exp()
                clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
                gain = torch.min(ratio * advantage[rows], clipped * advantage[rows]).mean()
                entropy = -(log_probs.exp() * log_probs).sum(1).mean()
                error = (self.critic(seats)[..., 0] - returns[rows]).square().mean()
                loss = VALUE_WEIGHT * error - gain - ENTROPY_WEIGHT * entropy
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.parameters, GRAD_NORM)
                self.optimizer.step()


def main(
    updates: int = 200, num_envs: int = NUM_ENVS, games: int = 1000, players: int = 2, seed: int = 1
) -> ColorNetwork:
    """Train, print the mean score of each tenth update's games, and evaluate.

    Args:
        updates: each of `STEPS` turns in every game.
        num_envs: games played at once.
        games: of the evaluation.
        players: seats, 2 to 5.
        seed: of the weights and the decks, 1 to 2**32 - 1: evaluations deal the decks of other seeds.

    Returns:
        The policy, which can be saved.
    """
    mappo = MAPPO(num_envs, players, seed)
    for update in range(1, updates + 1):
        last_value, scores = mappo.collect()
        mappo.learn(mappo.advantages(last_value))
        if update % 10 == 0 and scores:
            print(f"update {update:3}, {update * STEPS * num_envs:9,} turns: score {sum(scores) / len(scores):5.2f}")
    # `evaluate` plays the likeliest action of each turn, on decks that no default of training deals.
    print(starmine.evaluate({"MAPPO": mappo.policy}, games, variant=mappo.env.variant))
    return mappo.policy


if __name__ == "__main__":
    trained = tyro.cli(main)
    Path("runs").mkdir(exist_ok=True)
    trained.save("runs/mappo.safetensors")
