"""PPO for Hanabi: one policy plays all seats and learns from thousands of games at once.

    python examples/ppo.py                          # two players, three minutes of training
    python examples/ppo.py --players 4 --minutes 60 --out runs/four
    python examples/ppo.py --minutes 180 --resume   # go on with the run in runs/ppo
    python examples/ppo.py --partners smart=2,info,ippo-2p-small --hold-out fireflower,holmes

The algorithm stands here from top to bottom: the games, a rollout, its advantages, the loss and the optimiser.
`starmine.training` has the rest: the run's folder, its checkpoints and log, scores and evaluation.
`examples/ppo_recurrent.py` adds hidden states, and `examples/ppo_distributed.py` trains in several processes.

A sample is one turn, with the observation of the seat that plays it. A trajectory is one game: the reward is the
team's, and the value after a turn is that of the next seat's observation. Observations are stored as packed bits and
read once for all epochs.

With `--partners` the policy learns a best response to a mixture of partners. It holds each seat in an equal part of the
games. Each other seat draws its partner in each episode. The batch plays the partners' turns, so that a sample, and a
turn of `--total-steps`, is a turn of the policy. At the end `partners.csv` gets the scores with each partner, also with
those of `--hold-out`, which training never meets.

The output folder gets `log.jsonl` with a line for each update, TensorBoard's event files, `learning_curve.png`,
`policy.safetensors` at the end, and `checkpoint.pt` after each update, with the one before it beside it. Ctrl-C stops
after the update in progress; a killed run loses at most that update. `--resume` continues either to the same bits as an
uninterrupted run, given the same machine, CPU, thread count and options. Schedules depend on the budget, so they need
the same one, in steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

import starmine
from starmine.envs import points_lost
from starmine.games import Games, Player
from starmine.torch import ActorCritic, ColorNetwork, PolicyNetwork
from starmine.training import (
    FinishedGames,
    OnUpdate,
    Outputs,
    PartnerArgs,
    Precision,
    Run,
    Schedule,
    TrainingGames,
    WeightAverage,
    anneal,
    begin_with,
    check_finite,
    command_line,
    doubled,
    flat_weights,
    local_device,
    matmul_dtype,
    network_player,
    prepare_torch,
    progress_games,
    read_partners,
    sample_actions,
    show_game,
    training_seed,
    write_partner_table,
)

MEASURES = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "gradient_norm")


@dataclass
class Args(PartnerArgs):
    """Train one policy for all seats of Hanabi with PPO."""

    variant: str = "standard"
    """one of starmine.variants()"""
    players: int = 2
    encoder: str = "canonical"
    """one of starmine.encoders()"""
    lost_game_score: Literal["fireworks", "zero"] = "fireworks"
    """score of a lost game in training; evaluation counts it zero"""
    lost_game_penalty: float = 1.0
    """subtracted in training from the reward of the turn that loses a game"""
    points_taken: float = 1.0
    """share of its points that a lost game takes back at the end of the budget, linear from none; at 1, training ends
    with the score as it counts"""

    out: Path = Path("runs/ppo")
    """output folder; an earlier run in it is moved to NAME.1"""
    start: str | None = None
    """begin with the weights of a policy, one of starmine.policies.shipped() or a file, instead of random ones"""

    num_envs: int = 1024
    """games played at once"""
    rollout: int = 16
    """turns of each game between two updates"""
    epochs: int = 2
    minibatch: int = 512
    """turns in a minibatch"""
    minibatch_end: int | None = None
    """turns in the last minibatches, reached by doublings after equal parts of the budget; None for the same"""
    lr: float = 7e-4
    lr_schedule: Schedule = "linear"
    """of the learning rate, to lr_end over the budget"""
    lr_end: float = 4e-4
    gamma: float = 0.999
    gae_lambda: float = 0.9
    clip: float = 0.2
    entropy_weight: float = 0.05
    entropy_schedule: Schedule = "constant"
    """of the entropy's weight, to entropy_end over the budget"""
    entropy_end: float = 0.0
    value_weight: float = 0.25
    grad_norm: float = 0.5
    average: float = 0.995
    """decay of the moving average of the weights, which is evaluated and saved; 0 for the last weights"""
    network: Literal["colors", "plain"] = "colors"
    """weights that all colours share, with exact card features; or hidden layers over the bits of the observation"""
    hidden: tuple[int, ...] = (96, 256)
    """widths of a colour's tower and of the trunk; for a plain network of the hidden layers"""
    card_features: bool = True
    """append to the observation of a plain network how probably each card is playable, and dead"""
    device: Literal["cpu", "cuda"] = "cpu"
    """of the network"""
    dtype: Precision = "auto"
    """of the matrix products; "auto" is bfloat16 where the device multiplies it, else float32"""

    eval_every: int = 40
    """updates between two greedy evaluations"""


# The arguments that a resumed run cannot change.
FIXED = (
    *("variant", "players", "partners", "encoder", "lost_game_score", "num_envs", "device"),
    *("network", "hidden", "card_features"),
)


class PPO:
    """The policy, its optimizer, its games and the rollout that it learns from.

    Attributes:
        inputs: of the network (steps, games, ...).
        mask: bool (steps, games, A), the legal actions.
        action: int64 (steps, games).
        log_prob, value, reward: float32 (steps, games); the first two as they were when the action was sampled.
        terminated: bool (steps, games), whether the game ended with the turn.
    """

    def __init__(self, args: Args) -> None:
        self.args = args
        prepare_torch(args)
        self.device = local_device(args.device)
        dtype = matmul_dtype(args.dtype, self.device)
        self.resolved: dict[str, Any] = {"dtype": str(dtype).removeprefix("torch.")}  # for `config.json`

        # The games: "obs" are the packed bits of the seat to act.
        self.variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        self.partners, self.held_out = read_partners(self.variant, args.partners, args.hold_out)
        settings: dict[str, Any] = {"seed": training_seed(args.seed), "encoder": args.encoder, "dtype": "bits"}
        self.games = TrainingGames(self.variant, args.num_envs, self.partners, **settings)

        # The network, and the moving average of its weights.
        policy: ActorCritic
        if args.network == "colors":
            policy = ColorNetwork(self.variant, args.encoder, args.hidden, matmul_dtype=dtype)
        else:
            policy = PolicyNetwork(self.variant, args.encoder, args.hidden, False, args.card_features, dtype)
        self.policy = policy.to(self.device)
        if args.start is not None:
            self.resolved["start"] = begin_with(self.policy, args.start)
        self.policy.fuse_kernels()
        self.average = WeightAverage(self.policy, args.average)
        self.weights = flat_weights(self.policy)
        self.optimizer = torch.optim.Adam([self.weights], args.lr, eps=1e-5, fused=True)
        doubled(args.minibatch, args.minibatch_end, 0)  # refuses sizes that do not fit

        # The rollout.
        shape = (args.rollout, args.num_envs)
        inputs, _ = self.read(self.games.observe())
        self.inputs = inputs.new_empty(args.rollout, *inputs.shape)
        self.mask = torch.empty(*shape, self.variant.num_actions, dtype=torch.bool, device=self.device)
        self.action = torch.empty(shape, dtype=torch.int64, device=self.device)
        self.log_prob, self.value, self.reward = (torch.empty(shape, device=self.device) for _ in range(3))
        self.terminated = torch.empty(shape, dtype=torch.bool, device=self.device)

    def update(self, fraction: float) -> dict[str, float]:
        """Collect a rollout and learn from it; returns measures for the log.

        Args:
            fraction: the spent part of the budget, for the schedules.
        """
        args = self.args
        lr = anneal(args.lr_schedule, args.lr, args.lr_end, fraction)
        entropy_weight = anneal(args.entropy_schedule, args.entropy_weight, args.entropy_end, fraction)
        minibatch = doubled(args.minibatch, args.minibatch_end, fraction)
        self.optimizer.param_groups[0]["lr"] = lr
        last_value, scores = self.collect(args.points_taken * fraction)
        measures = self.learn(self.advantages(last_value), minibatch, entropy_weight)
        return scores | measures | {"lr": lr, "entropy_weight": entropy_weight}

    def read(self, outputs: Outputs) -> tuple[Tensor, Tensor]:
        """The network's inputs (N, ...) and the legal actions (N, A) of the next turn."""
        obs, mask = (torch.from_numpy(outputs[name]).to(self.device) for name in ("obs", "action_mask"))
        return self.policy.read(obs), mask

    @torch.no_grad()
    def collect(self, points_taken: float) -> tuple[Tensor, dict[str, float]]:
        """Play a rollout; returns the values (N,) after its last turn, and the scores of the games that ended.

        Args:
            points_taken: share of its points that a lost game takes back.
        """
        args, outputs, finished = self.args, self.games.observe(), FinishedGames()
        for step in range(args.rollout + 1):
            inputs, mask = self.read(outputs)
            log_probs, value, _ = self.policy(inputs, mask)
            if not torch.isfinite(log_probs.sum() + value.sum()):
                raise FloatingPointError("the network's output is not finite")
            if step == args.rollout:
                break
            action = sample_actions(log_probs)
            outputs = self.games.step(action.cpu())
            reward = outputs["reward"] - points_lost(outputs, args.lost_game_penalty, points_taken)
            self.inputs[step], self.mask[step], self.action[step], self.value[step] = inputs, mask, action, value
            self.log_prob[step] = pick(log_probs, action)
            self.reward[step] = torch.from_numpy(reward)
            self.terminated[step] = torch.from_numpy(outputs["terminated"])
            finished.add(outputs)
        return value, finished.means(args.lost_game_score, self.games.names)

    def advantages(self, last_value: Tensor) -> Tensor:
        """Generalised advantage estimates (steps, games) of the rollout (Schulman et al., 2016).

        Args:
            last_value: the values (games,) after the last turn; they count where the game goes on.
        """
        # float64: temporal differences are small differences of large numbers.
        reward, discount = self.reward.double(), self.args.gamma * (1 - self.terminated.float())
        advantage, following = torch.zeros(len(reward) + 1, *last_value.shape, device=self.device), last_value
        for step in reversed(range(len(reward))):
            difference = reward[step] + discount[step] * following - self.value[step]
            advantage[step] = difference + self.args.gae_lambda * discount[step] * advantage[step + 1]
            following = self.value[step]
        return advantage[:-1]

    def learn(self, advantage: Tensor, minibatch: int, entropy_weight: float) -> dict[str, float]:
        """Make epochs of clipped updates on the rollout; returns the means of the minibatches' measures."""
        args, found = self.args, []
        returns, old_value = (advantage + self.value).flatten(), self.value.flatten()
        advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
        inputs, mask, action = (part.flatten(0, 1) for part in (self.inputs, self.mask, self.action))
        old_log_prob = self.log_prob.flatten()
        for _ in range(args.epochs):
            for rows in torch.split(torch.randperm(len(returns)).to(self.device), minibatch):
                log_probs, value, _ = self.policy(inputs.index_select(0, rows), mask.index_select(0, rows))
                log_ratio = pick(log_probs, action[rows]) - old_log_prob[rows]
                ratio, gain = log_ratio.exp(), advantage[rows]
                gain = torch.min(ratio * gain, ratio.clamp(1 - args.clip, 1 + args.clip) * gain).mean()
                entropy = -(log_probs.exp() * log_probs).sum(1).mean()
                value_loss = self.value_loss(value, returns[rows])
                loss = args.value_weight * value_loss - gain - entropy_weight * entropy

                self.optimizer.zero_grad(set_to_none=False)
                loss.backward()
                norm = nn.utils.clip_grad_norm_(self.weights, args.grad_norm)
                self.optimizer.step()
                self.average.update()

                kl, clipped = (ratio - 1 - log_ratio).mean(), ((ratio - 1).abs() > args.clip).float().mean()
                found.append(torch.stack([-gain, value_loss, entropy, kl, clipped, norm]).detach())
        measures = torch.stack(found).cpu()
        check_finite(measures, MEASURES, self.policy)
        explained = 1 - (returns - old_value).var() / returns.var().clamp(min=1e-8)
        return dict(zip(MEASURES, measures.mean(0).tolist(), strict=True)) | {"explained_variance": explained.item()}

    def value_loss(self, value: Tensor, returns: Tensor) -> Tensor:
        """The mean squared error of the values (n,) of a minibatch."""
        return (value - returns).square().mean()

    def evaluate(self, player: Player, games: int) -> Games:
        """Play games with the partners of training, if any."""
        return progress_games(player, self.variant, games, self.partners)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        policy, average, optimizer = (part.state_dict() for part in (self.policy, self.average, self.optimizer))
        return {"policy": policy, "average": average, "optimizer": optimizer, "process": self.games.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.policy.load_state_dict(state["policy"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.games.load_state_dict(state["process"])


def pick(log_probs: Tensor, action: Tensor) -> Tensor:
    """The log probability (N,) of each row's action."""
    return log_probs.gather(1, action[:, None])[:, 0]


def main(args: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    train("ppo", PPO(args), on_update)


def train(program: str, ppo: PPO, on_update: OnUpdate | None = None) -> None:
    """Make updates until the budget is spent, then report."""
    args = ppo.args
    with Run(program, args, ppo, FIXED, resolved=ppo.resolved, on_update=on_update) as run:
        while run.begin_update():
            measures = ppo.update(run.fraction)
            if run.is_due(args.eval_every):
                measures["greedy"] = ppo.evaluate(network_player(ppo.average.network), args.eval_games).mean
            run.end_update(measures, steps=args.rollout * args.num_envs)
        if run.finished:
            report(ppo, run)


def report(ppo: PPO, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, count, network = ppo.args, ppo.args.final_games, ppo.average.network
    player = network_player(network)
    method, others, partner = "IPPO", "", None
    if args.partners is not None:
        method, others = f"PPO, a best response to {args.partners}", f" with {args.partners}"
        partner = ppo.partners[0].player
    show_game(player, ppo.variant, replay=args.out / "game.html", partner=partner)
    games = {
        "random policy": ppo.evaluate("random", count),
        "drawn actions": ppo.evaluate(network_player(network, sampled=True), count),
        "greedy policy": ppo.evaluate(player, count),
    }
    title = f"PPO{others}, {args.variant}, {args.players} players"
    run.report(games, title=title, method=method, network=network)
    table, partners = args.out / "partners.csv", (ppo.partners, ppo.held_out)
    write_partner_table(table, player, ppo.variant, count, *partners)


if __name__ == "__main__":
    command_line(main, Args)
