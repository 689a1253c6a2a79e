"""JaxMARL's feed-forward IPPO for Hanabi in PyTorch: its network, inputs, loss and settings, to compare the two.

    python examples/jaxmarl_ippo.py --total-steps 5000000 --seed 1 --out runs/jaxmarl-ippo

Source: JaxMARL, baselines/IPPO/ippo_ff_hanabi.py and config/ippo_ff_hanabi.yaml, with 1e10 steps there. These settings
differ from `examples/ppo.py`:

- Every seat gives a sample of every turn. The waiting seats have the no-op as their only action, and a value.
- Discount and lambda count turns of the game, along the trajectory of one seat.
- Inputs are JaxMARL's: the canonical observation with V0 beliefs in the place of the cards that hints allow.
- Actor and critic have a hidden layer each on top of a shared one. Minibatches are whole trajectories of seats, with
  advantages normalised in each; changes of the value are clipped; the learning rate is constant.
- The reward is the change of the score, so a lost game takes back its points.

The output folder gets `STEPS.safetensors` after each fifth of the steps, with JaxMARL's names of tensors, so that
`starmine.load_policy` reads the policies of both sides alike, and `times.csv`.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

import starmine
from starmine.policies.foreign.observations import Inputs
from starmine.training import command_line, training_seed

EPOCHS, MINIBATCHES = 4, 4
LR = 5e-4
GAMMA, LAMBDA = 0.99, 0.95
CLIP = 0.2
VALUE_WEIGHT, ENTROPY_WEIGHT = 0.5, 0.01
GRAD_NORM = 0.5
WIDTH = 512
SAVES = 5


@dataclass
class Args:
    """Train one policy for all seats of Hanabi with JaxMARL's recipe of IPPO."""

    total_steps: int = 5_000_000
    """turns to train for, rounded down to whole updates"""
    players: int = 2
    num_envs: int = 1024
    """games played at once"""
    rollout: int = 128
    """turns of each game between two updates"""
    seed: int = 1
    """of the first weights, the games and the actions"""
    out: Path = Path("runs/jaxmarl_ippo")
    """output folder, which must not exist"""


class ActorCritic(nn.Module):
    """JaxMARL's network: a shared layer, and a hidden layer for each of actor and critic."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.embed = dense(inputs, WIDTH, 2**0.5)
        self.actor = nn.Sequential(dense(WIDTH, WIDTH, 2), nn.ReLU(), dense(WIDTH, actions, 0.01))
        self.critic = nn.Sequential(dense(WIDTH, WIDTH, 2), nn.ReLU(), dense(WIDTH, 1, 1))

    def forward(self, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities (..., A + 1), the no-op's last, and values (...)."""
        hidden = self.embed(inputs).relu()
        logits = self.actor(hidden) - 1e10 * ~mask
        return logits.log_softmax(-1), self.critic(hidden)[..., 0]

    def tensors(self) -> dict[str, Tensor]:
        """The weights by JaxMARL's names, as views."""
        layers: list[Any] = [self.embed, self.actor[0], self.actor[2], self.critic[0], self.critic[2]]
        found = {f"params,Dense_{place},kernel": layer.weight.detach().T for place, layer in enumerate(layers)}
        return found | {f"params,Dense_{place},bias": layer.bias.detach() for place, layer in enumerate(layers)}

    def save(self, path: Path) -> None:
        """Write the weights with JaxMARL's names."""
        save_file({name: tensor.contiguous() for name, tensor in self.tensors().items()}, path)


def dense(inputs: int, outputs: int, gain: float) -> nn.Linear:
    """A linear layer with orthogonal weights and zero biases."""
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class IPPO:
    """The games, the network, and the rollout: tensors (rollout, actors, ...), an actor being a seat of a game."""

    def __init__(self, args: Args) -> None:
        torch.manual_seed(args.seed)
        self.env = starmine.HanabiVectorEnv(args.num_envs, players=args.players, observers="all", dtype="uint8")
        self.obs, self.info = self.env.reset(seed=training_seed(args.seed))
        self.variant, actors = self.env.variant, args.num_envs * args.players
        self.seats = torch.arange(args.players).repeat(args.num_envs)
        self.actions = self.variant.num_actions + 1
        inputs = Inputs().width(self.variant)
        self.network = ActorCritic(inputs, self.actions)
        self.optimizer = torch.optim.Adam(self.network.parameters(), LR, eps=1e-5)

        shape = (args.rollout, actors)
        self.inputs = torch.zeros(*shape, inputs)
        self.mask = torch.zeros(*shape, self.actions, dtype=torch.bool)
        self.action = torch.zeros(shape, dtype=torch.int64)
        self.log_prob, self.value, self.reward, self.done = (torch.zeros(shape) for _ in range(4))

    def read(self) -> tuple[Tensor, Tensor]:
        """The inputs (actors, W) and the legal actions (actors, A + 1) of the next turn."""
        obs = torch.from_numpy(self.obs).flatten(0, 1)
        acts = self.seats == torch.from_numpy(self.info["current_player"]).repeat_interleave(self.variant.players)
        legal = torch.from_numpy(self.info["action_mask"]).repeat_interleave(self.variant.players, 0)
        return Inputs().rows(self.variant, obs, self.seats), torch.cat([legal & acts[:, None], ~acts[:, None]], 1)

    @torch.no_grad()
    def collect(self) -> Tensor:
        """Play a rollout; returns the values (actors,) after its last turn."""
        for step in range(len(self.inputs) + 1):
            inputs, mask = self.read()
            log_probs, value = self.network(inputs, mask)
            if step == len(self.inputs):
                break
            action = torch.multinomial(log_probs.exp(), 1)[:, 0]
            self.inputs[step], self.mask[step], self.action[step], self.value[step] = inputs, mask, action, value
            self.log_prob[step] = log_probs.gather(1, action[:, None])[:, 0]
            played = action.view(-1, self.variant.players).numpy()
            played = np.take_along_axis(played, self.info["current_player"][:, None], 1)[:, 0]
            self.obs, reward, terminated, _, self.info = self.env.step(played)
            for kept, given in ((self.reward, reward), (self.done, terminated)):
                kept[step] = torch.from_numpy(given).float().repeat_interleave(self.variant.players)
        last_value: Tensor = value
        return last_value

    def advantages(self, last_value: Tensor) -> Tensor:
        """Generalised advantage estimates (rollout, actors)."""
        found = torch.zeros_like(self.value)
        advantage, next_value = torch.zeros_like(last_value), last_value
        for step in reversed(range(len(found))):
            goes_on = 1 - self.done[step]
            difference = self.reward[step] + GAMMA * next_value * goes_on - self.value[step]
            found[step] = advantage = difference + GAMMA * LAMBDA * goes_on * advantage
            next_value = self.value[step]
        return found

    def learn(self, advantage: Tensor) -> None:
        """Make epochs of clipped updates on the rollout."""
        target = advantage + self.value
        for _ in range(EPOCHS):
            for actors in torch.randperm(advantage.shape[1]).chunk(MINIBATCHES):
                log_probs, value = self.network(self.inputs[:, actors], self.mask[:, actors])
                log_prob = log_probs.gather(2, self.action[:, actors, None])[..., 0]
                old_value, goal = self.value[:, actors], target[:, actors]
                clipped = old_value + (value - old_value).clamp(-CLIP, CLIP)
                value_loss = torch.max((value - goal).square(), (clipped - goal).square()).mean() / 2

                ratio, gain = (log_prob - self.log_prob[:, actors]).exp(), advantage[:, actors]
                gain = (gain - gain.mean()) / (gain.std(correction=0) + 1e-8)
                gain = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
                loss = VALUE_WEIGHT * value_loss - gain - ENTROPY_WEIGHT * entropy
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), GRAD_NORM)
                self.optimizer.step()


def main(args: Args) -> None:
    """Train, and save the policy after each fifth of the steps."""
    args.out.mkdir(parents=True)
    config = asdict(args) | {"script": "examples/jaxmarl_ippo.py", "version": starmine.__version__}
    (args.out / "config.json").write_text(json.dumps(config, default=str), encoding="utf-8")
    ippo, start, per_update = IPPO(args), time.perf_counter(), args.rollout * args.num_envs
    updates = args.total_steps // per_update
    saved_after = {round(updates * part / SAVES) for part in range(1, SAVES + 1)}
    with (args.out / "times.csv").open("w", encoding="utf-8") as times:
        print("steps,seconds", file=times, flush=True)
        for update in range(1, updates + 1):
            last_value = ippo.collect()
            ippo.learn(ippo.advantages(last_value))
            print(f"{update * per_update},{time.perf_counter() - start:.1f}", file=times, flush=True)
            if update in saved_after:
                ippo.network.save(args.out / f"{update * per_update}.safetensors")


if __name__ == "__main__":
    command_line(main, Args)
