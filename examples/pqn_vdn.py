"""PQN for Hanabi: Q-learning without replay memory and target network, from hundreds of games at once.

    python examples/pqn_vdn.py                          # two players, three minutes of training
    python examples/pqn_vdn.py --mixing none            # without the values of the waiting seats
    python examples/pqn_vdn.py --players 4 --minutes 60 --out runs/four
    python examples/pqn_vdn.py --minutes 180 --resume   # go on with the run in runs/pqn_vdn
    python examples/pqn_vdn.py --partners smart,info    # a best response to a mixture

One network plays all seats, epsilon-greedily. After each short rollout it learns the rollout's Q(lambda) returns in a
few epochs and discards it; layer normalisation keeps this stable (Gallici et al., "Simplifying deep temporal difference
learning", 2024). The reward is the team's, and so is the value:

- `--mixing vdn` (value decomposition networks; the default, as in JaxMARL's baseline): the team's value is the sum of
  one value for each seat, of that seat's observation. The acting seat contributes the value of its action, and each
  waiting seat that of a no-op, its only action. The sum is trained. The best action depends on the acting seat's part
  alone, so playing needs only its observation. The waiting seats see what the acting seat cannot, above all its own
  cards; the price is a forward pass for each seat.
- `--mixing none`: the team's value is the value of the acting seat's action, and the return of a turn bootstraps from
  the best action of the seat that acts next, of its own observation.

With `--partners`, see `examples/ppo.py`, nothing is mixed and a sample is a turn of the policy. Observations are stored
as packed bits and unpacked for the network.

Output folder, stopping and resuming are those of `examples/ppo.py`; a resumed run needs the same budget, in steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import starmine
from starmine.envs import points_lost
from starmine.games import Games, Player
from starmine.torch import CardFeatures, PolicyNetwork, unpack_bits
from starmine.training import (
    FinishedGames,
    OnUpdate,
    Outputs,
    PartnerArgs,
    Run,
    Schedule,
    TrainingGames,
    anneal,
    check_finite,
    command_line,
    explore,
    network_player,
    prepare_torch,
    progress_games,
    read_partners,
    show_game,
    training_seed,
    write_partner_table,
)

MEASURES = ("loss", "value", "gradient_norm")


@dataclass
class Args(PartnerArgs):
    """Train one policy for all seats of Hanabi with PQN."""

    variant: str = "standard"
    """one of starmine.variants()"""
    players: int = 2
    encoder: str = "canonical"
    """one of starmine.encoders()"""
    lost_game_score: Literal["fireworks", "zero"] = "fireworks"
    """score of a lost game in training; evaluation counts it zero"""
    lost_game_penalty: float = 1.0
    """subtracted in training from the reward of the turn that loses a game"""

    out: Path = Path("runs/pqn_vdn")
    """output folder; an earlier run in it is moved to NAME.1"""

    num_envs: int = 512
    """games played at once"""
    rollout: int = 8
    """turns of each game between two updates"""
    epochs: int = 2
    minibatch: int = 256
    """turns in a minibatch"""
    lr: float = 5e-4
    lr_schedule: Schedule = "linear"
    """of the learning rate, to lr_end over the budget"""
    lr_end: float = 0.0
    gamma: float = 0.99
    q_lambda: float = 0.8
    """weight of longer returns, lambda"""
    mixing: Literal["vdn", "none"] = "vdn"
    """the team's value: the sum of all seats' values, or that of the acting seat"""
    epsilon: float = 0.1
    """share of random actions at the start"""
    epsilon_end: float = 0.01
    epsilon_steps: int = 500_000
    """turns over which the share goes linearly to epsilon_end"""
    grad_norm: float = 10.0
    hidden: tuple[int, ...] = (256, 256)
    """widths of the hidden layers"""
    card_features: bool = True
    """append to the observation how probably each card is playable, and dead"""

    eval_every: int = 20
    """updates between two greedy evaluations"""

    @property
    def seats(self) -> int:
        """The number of seats whose values make up the team's value."""
        return self.players if self.mixing == "vdn" and self.partners is None else 1


# The arguments that a resumed run cannot change.
FIXED = (
    *("variant", "players", "partners", "encoder", "lost_game_score", "num_envs"),
    *("mixing", "hidden", "card_features"),
)


class QNetwork(nn.Module):
    """The values of all actions and of the no-op: a state value plus an advantage for each (dueling heads)."""

    def __init__(self, args: Args, variant: starmine.Variant) -> None:
        super().__init__()
        layout = variant.layout(args.encoder)
        self.features = len(layout)
        self.card_features = CardFeatures(layout) if args.card_features else None
        with torch.no_grad():
            inputs = self.inputs(torch.zeros(1, self.features)).shape[1]
        layers: list[nn.Module] = []
        for fan_in, fan_out in zip((inputs, *args.hidden), args.hidden, strict=False):
            layers += [nn.Linear(fan_in, fan_out), nn.LayerNorm(fan_out), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.heads = nn.Linear(args.hidden[-1], variant.num_actions + 2)
        nn.init.orthogonal_(self.heads.weight, 0.01)
        nn.init.zeros_(self.heads.bias)

    def inputs(self, obs: Tensor) -> Tensor:
        """The trunk's input (n, inputs) for unpacked observations (n, features)."""
        return obs if self.card_features is None else torch.cat([obs, self.card_features(obs)], 1)

    def forward(self, obs: Tensor) -> Tensor:
        """Values (n, seats, A + 1), the no-op's last, of unpacked observations (n, seats, features)."""
        heads = self.heads(self.trunk(self.inputs(obs.flatten(0, 1))))
        advantage = heads[:, :-1] - heads[:, :-1].mean(1, keepdim=True)
        values: Tensor = (heads[:, -1:] + advantage).view(*obs.shape[:2], -1)
        return values

    @torch.no_grad()
    def infer(self, bits: NDArray[np.uint8]) -> Tensor:
        """The values of packed observations (n, seats, bytes); FloatingPointError where they are not finite."""
        values = self.forward(unpack_bits(bits, self.features))
        if not torch.isfinite(values.sum()):
            raise FloatingPointError("the network's output is not finite")
        return values

    @torch.no_grad()
    def to_policy(self, args: Args, variant: starmine.Variant) -> PolicyNetwork:
        """A `PolicyNetwork` whose logits are the values of the actions, which can be saved and play anywhere."""
        policy = PolicyNetwork(variant, args.encoder, args.hidden, card_features=args.card_features, layer_norm=True)
        weights = {f"trunk.{name}": weight for name, weight in self.trunk.state_dict().items()}
        for name, weight in self.heads.state_dict().items():
            advantages, value = weight[:-1], weight[-1:]
            weights[f"heads.{name}"] = torch.cat([advantages[:-1] - advantages.mean(0) + value, value])
        policy.load_state_dict(weights)
        return policy


def best(values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The best legal actions (n,) and the team's values (n,) of them.

    Args:
        values: (n, seats, A + 1), the acting seat first.
        mask: legal actions of the acting seat, bool (n, A).
    """
    action = values[:, 0, :-1].masked_fill(~mask, -torch.inf).argmax(1)
    return action, team_value(values, action)


def team_value(values: Tensor, action: Tensor) -> Tensor:
    """The team's value (n,): that of the acting seat's action, plus those of the other seats' no-ops."""
    return values[:, 0].gather(1, action[:, None])[:, 0] + values[:, 1:, -1].sum(1)


def q_lambda_returns(
    reward: Tensor, terminated: Tensor, value: Tensor, last_value: Tensor, gamma: float, q_lambda: float
) -> Tensor:
    """The Q(lambda) returns (steps, games) of a rollout.

    A return bootstraps from the next turn's return with weight lambda, and from its best action's value with the rest.
    `value` (steps, games) and `last_value` (games,), after the last turn, are those of the best actions.
    """
    returns, following, best_value = torch.zeros_like(value), last_value, last_value
    for step in reversed(range(len(reward))):
        ahead = q_lambda * following + (1 - q_lambda) * best_value
        returns[step] = following = reward[step] + gamma * ahead * ~terminated[step]
        best_value = value[step]
    return returns


def actor_first(obs: NDArray[np.uint8], current_player: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Observations of all seats (n, players, bytes), reordered to begin with the acting seat."""
    order = (current_player[:, None] + np.arange(obs.shape[1])) % obs.shape[1]
    return np.take_along_axis(obs, order[:, :, None], 1)


class PQN:
    """The network, its optimizer, its games and the rollout that it learns from.

    Attributes:
        obs: packed observations, uint8 (steps, games, seats, bytes), the acting seat first.
        action: int64 (steps, games).
        value, reward: float32 (steps, games); the value is the team's, of the best action.
        terminated: bool (steps, games), whether the game ended with the turn.
    """

    def __init__(self, args: Args) -> None:
        self.args = args
        prepare_torch(args)
        self.variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        self.partners, self.held_out = read_partners(self.variant, args.partners, args.hold_out)
        settings: dict[str, Any] = {"seed": training_seed(args.seed), "encoder": args.encoder, "dtype": "bits"}
        settings["observers"] = "current" if args.seats == 1 else "all"
        self.games = TrainingGames(self.variant, args.num_envs, self.partners, **settings)
        self.network = QNetwork(args, self.variant)
        self.optimizer = torch.optim.RAdam(self.network.parameters(), args.lr)
        shape = (args.rollout, args.num_envs)
        self.obs = torch.empty(args.rollout, *self.observations(self.games.observe()).shape, dtype=torch.uint8)
        self.action, self.terminated = torch.empty(shape, dtype=torch.int64), torch.empty(shape, dtype=torch.bool)
        self.value, self.reward = torch.empty(shape), torch.empty(shape)

    def update(self, fraction: float, steps: int) -> dict[str, float]:
        """Collect a rollout and learn from it; returns measures for the log.

        Args:
            fraction: the spent part of the budget, for the learning rate.
            steps: turns played so far, for epsilon.
        """
        args = self.args
        lr = anneal(args.lr_schedule, args.lr, args.lr_end, fraction)
        epsilon = anneal("linear", args.epsilon, args.epsilon_end, steps / max(1, args.epsilon_steps))
        self.optimizer.param_groups[0]["lr"] = lr
        returns, measures = self.collect(epsilon)
        return measures | self.learn(returns.flatten()) | {"lr": lr, "epsilon": epsilon}

    def observations(self, outputs: Outputs) -> NDArray[np.uint8]:
        """Those of the seats whose values are summed (n, seats, bytes), the acting seat first."""
        obs = outputs["obs"]
        return obs[:, None] if self.args.seats == 1 else actor_first(obs, outputs["current_player"])

    def collect(self, epsilon: float) -> tuple[Tensor, dict[str, float]]:
        """Fill the rollout epsilon-greedily; returns its returns and the scores of the games that ended."""
        args, outputs, finished = self.args, self.games.observe(), FinishedGames()
        for step in range(args.rollout + 1):
            obs, mask = self.observations(outputs), torch.from_numpy(outputs["action_mask"])
            action, value = best(self.network.infer(obs), mask)
            if step == args.rollout:
                break
            action = explore(action, mask, epsilon)
            outputs = self.games.step(action)
            reward = outputs["reward"] - points_lost(outputs, args.lost_game_penalty)
            self.obs[step], self.action[step], self.value[step] = torch.from_numpy(obs), action, value
            self.reward[step], self.terminated[step] = map(torch.from_numpy, (reward, outputs["terminated"]))
            finished.add(outputs)
        returns = q_lambda_returns(self.reward, self.terminated, self.value, value, args.gamma, args.q_lambda)
        return returns, finished.means(args.lost_game_score, self.games.names)

    def learn(self, returns: Tensor) -> dict[str, float]:
        """Fit the team's values to the returns (steps * games,) in minibatches; returns the means of their measures."""
        args, obs, action, found = self.args, self.obs.flatten(0, 1), self.action.flatten(), []
        for _ in range(args.epochs):
            for rows in torch.split(torch.randperm(len(returns)), args.minibatch):
                seen = unpack_bits(obs.index_select(0, rows), self.network.features)
                value = team_value(self.network(seen), action[rows])
                loss = (value - returns[rows]).square().mean() / 2
                self.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                norm = nn.utils.clip_grad_norm_(self.network.parameters(), args.grad_norm)
                self.optimizer.step()
                found.append(torch.stack([loss, value.mean(), norm]).detach())
        measures = torch.stack(found)
        check_finite(measures, MEASURES, self.network)
        return dict(zip(MEASURES, measures.mean(0).tolist(), strict=True))

    def policy(self) -> PolicyNetwork:
        """The network as a policy."""
        return self.network.to_policy(self.args, self.variant)

    def evaluate(self, player: Player, games: int) -> Games:
        """Play games with the partners of training, if any."""
        return progress_games(player, self.variant, games, self.partners)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        network, optimizer = self.network.state_dict(), self.optimizer.state_dict()
        return {"network": network, "optimizer": optimizer, "process": self.games.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.games.load_state_dict(state["process"])


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    pqn = PQN(args)
    with Run("pqn_vdn", args, pqn, FIXED, on_update=on_update) as run:
        while run.begin_update():
            measures = pqn.update(run.fraction, run.steps)
            if run.is_due(args.eval_every):
                measures["greedy"] = pqn.evaluate(network_player(pqn.policy()), args.eval_games).mean
            run.end_update(measures, steps=args.rollout * args.num_envs)
        if run.finished:
            report(pqn, run)


def report(pqn: PQN, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, count, network = pqn.args, pqn.args.final_games, pqn.policy()
    player = network_player(network)
    partner = pqn.partners[0].player if pqn.partners else None
    show_game(player, pqn.variant, replay=args.out / "game.html", partner=partner)
    games = {"random policy": pqn.evaluate("random", count), "greedy policy": pqn.evaluate(player, count)}
    method = "PQN" if args.seats == 1 else "PQN-VDN"
    title = f"{method} with {args.partners or 'itself'}, {args.variant}, {args.players} players"
    run.report(games, title=title, method=method, network=network)
    table, partners = args.out / "partners.csv", (pqn.partners, pqn.held_out)
    write_partner_table(table, player, pqn.variant, count, *partners)


if __name__ == "__main__":
    command_line(main, Args)
