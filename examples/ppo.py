"""PPO for Hanabi: one policy plays all seats and learns from thousands of games at once.

    python examples/ppo.py                          # two players, three minutes of training
    python examples/ppo.py --players 4 --minutes 60 --out runs/four
    python examples/ppo.py --minutes 180 --resume   # go on with the run in runs/ppo
    python examples/ppo.py --partner smart          # a best response to a bot
    torchrun --nproc-per-node 4 examples/ppo.py     # processes that average their gradients

A sample is one turn, with the observation of the seat that plays it. A trajectory is one game: the reward is the
team's, and the value after a turn is that of the next seat's observation. With a partner the policy plays seat 0 and
the environment plays the bot's turns, so that a sample is a turn of the policy. Observations are stored as packed bits
and read once for all epochs.

The output folder gets `log.jsonl` with a line for each update, TensorBoard's event files, `learning_curve.png`,
`policy.safetensors` at the end, and `checkpoint.pt` after each update, with the one before it beside it. Ctrl-C stops
after the update in progress; a killed run loses at most that update. `--resume` continues either to the same bits as an
uninterrupted run, given the same machine, CPU, thread count and options. Schedules depend on the budget, so they need
the same one, in steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

import starmine
from starmine.envs.rewards import taken_back
from starmine.torch import ActorCritic, ColorNetwork, Minibatch, PolicyNetwork, RolloutBuffer
from starmine.training import (
    Act,
    FinishedGames,
    OnUpdate,
    Outputs,
    Precision,
    Run,
    Schedule,
    Scores,
    ScriptArgs,
    WeightAverage,
    anneal,
    average_gradients,
    batch_state,
    begin_with,
    check_finite,
    command_line,
    doubled,
    evaluate_policy,
    flat_weights,
    infer,
    local_device,
    matmul_dtype,
    network_player,
    partner_seats,
    process_group,
    random_policy,
    rank,
    resumed_batch,
    sample_actions,
    show_game,
    training_seed,
)

MEASURES = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "gradient_norm")


@dataclass
class Args(ScriptArgs):
    """Train one policy for all seats of Hanabi with PPO."""

    variant: str = "standard"
    """one of starmine.variants()"""
    players: int = 2
    partner: str | None = None
    """one of starmine.bots(), in all seats but the first; None for self-play"""
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
    """games that each process plays at once"""
    rollout: int = 16
    """turns of each game between two updates"""
    epochs: int = 2
    minibatch: int = 512
    """turns in a minibatch, in each process"""
    minibatch_end: int | None = None
    """turns in the last minibatches, reached by doublings after equal parts of the budget; None for the same"""
    lr: float = 7e-4
    lr_schedule: Schedule = "linear"
    """of the learning rate, to lr_end over the budget"""
    lr_end: float = 4e-4
    gamma: float = 0.999
    gae_lambda: float = 0.9
    clip: float = 0.2
    normalise_over: Literal["rollout", "minibatch"] = "rollout"
    """the set of advantages that is normalised"""
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
    weights: Literal["slots", "hands"] = "slots"
    """how a network by colour weighs the own cards: each by itself, or exactly, all together"""
    card_features: bool = True
    """append to the observation of a plain network how probably each card is playable, and dead"""
    device: Literal["cpu", "cuda"] = "cpu"
    """of the network; with torchrun each process takes a GPU of its own"""
    dtype: Precision = "auto"
    """of the matrix products; "auto" is bfloat16 where the device multiplies it, else float32"""

    eval_every: int = 40
    """updates between two greedy evaluations"""


# The arguments that a resumed run cannot change.
FIXED = (
    *("variant", "players", "partner", "encoder", "lost_game_score", "num_envs", "device"),
    *("network", "hidden", "weights", "card_features"),
)


class PPO:
    """The policy, its optimizer, its games and the rollout that it learns from."""

    program, recurrent = "ppo", False

    def __init__(self, args: Args) -> None:
        self.args = args
        torch.manual_seed(args.seed)
        self.device = local_device(args.device)
        self.variant = starmine.variant(args.variant, players=args.players, lost_game_score=args.lost_game_score)
        self.partners = partner_seats(args.partner, args.players)
        seed = training_seed(args.seed)  # each process plays other games
        settings: dict[str, Any] = {"encoder": args.encoder, "dtype": "bits", "partners": self.partners}
        self.batch = starmine.Batch(self.variant, args.num_envs, seed=seed, **settings)
        dtype = matmul_dtype(args.dtype, self.device)
        self.resolved: dict[str, Any] = {"dtype": str(dtype).removeprefix("torch.")}  # for `config.json`
        self.policy = self.new_network(dtype).to(self.device)
        if args.start is not None:
            self.resolved["start"] = begin_with(self.policy, args.start)
        if rank() > 0:
            torch.manual_seed(seed)  # the same weights in all processes, but other actions
        self.policy.fuse_kernels()
        self.average = WeightAverage(self.policy, args.average)
        self.weights = flat_weights(self.policy)
        self.optimizer = torch.optim.Adam([self.weights], args.lr, eps=1e-5, fused=True)
        self.minibatch = doubled(args.minibatch, args.minibatch_end, 0)
        features, actions = self.policy.features, self.variant.num_actions
        self.rollout = RolloutBuffer(args.rollout, args.num_envs, features, actions, device=self.device)
        inputs = self.policy.read(torch.from_numpy(self.batch.observe()["obs"]).to(self.device))
        self.inputs = inputs.new_empty(args.rollout, *inputs.shape)  # the network's, of each sample of the rollout

    def new_network(self, dtype: torch.dtype) -> ActorCritic:
        """The network, before its first update."""
        args, rules = self.args, (self.variant, self.args.encoder, self.args.hidden)
        if args.network == "colors":
            return ColorNetwork(*rules, weights=args.weights, recurrent=self.recurrent, matmul_dtype=dtype)
        return PolicyNetwork(*rules, self.recurrent, args.card_features, dtype)

    def update(self, fraction: float) -> dict[str, float]:
        """Collect a rollout and learn from it; returns measures for the log.

        Args:
            fraction: the spent part of the budget, for the schedules.
        """
        args = self.args
        lr = anneal(args.lr_schedule, args.lr, args.lr_end, fraction)
        entropy_weight = anneal(args.entropy_schedule, args.entropy_weight, args.entropy_end, fraction)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.minibatch = doubled(args.minibatch, args.minibatch_end, fraction)
        advantage, measures = self.collect(args.points_taken * fraction)
        return measures | self.learn(advantage, entropy_weight) | {"lr": lr, "entropy_weight": entropy_weight}

    def collect(self, points_taken: float) -> tuple[Tensor, dict[str, float]]:
        """Fill the rollout and read it; returns its advantages (steps, games) and the scores of the games that ended.

        Args:
            points_taken: share of its points that a lost game takes back.
        """
        args, outputs, finished = self.args, self.batch.observe(), FinishedGames()
        self.rollout.clear()
        for _ in range(args.rollout):
            log_probs, value = self.predict(outputs)
            action = sample_actions(log_probs)
            after = self.batch.step(action.cpu())
            self.rollout.add(
                obs=outputs["obs"],
                action_mask=outputs["action_mask"],
                action=action,
                log_prob=pick(log_probs, action),
                value=value,
                reward=after["reward"] - taken_back(after, args.lost_game_penalty, points_taken),
                terminated=after["terminated"],
            )
            finished.add(after)
            outputs = after
        _, last_value = self.predict(outputs)
        advantage = self.rollout.advantages(last_value, args.gamma, args.gae_lambda)
        return advantage, finished.means(args.lost_game_score)

    def predict(self, outputs: Outputs) -> tuple[Tensor, Tensor]:
        """Log probabilities (N, A) and values (N,) of the next turn of the training games, without gradients."""
        log_probs, value, _ = infer(self.policy, outputs, inputs=self.read(outputs))
        return log_probs, value

    def read(self, outputs: Outputs) -> Tensor:
        """The network's inputs (N, ...) of the next turn. Those of the rollout are kept for all epochs."""
        inputs = self.policy.read(torch.from_numpy(outputs["obs"]).to(self.device))
        if self.rollout.filled < len(self.inputs):
            self.inputs[self.rollout.filled] = inputs
        return inputs

    def inputs_of(self, samples: Minibatch) -> Tensor:
        """The network's inputs (n, ...) of a minibatch."""
        return self.inputs.flatten(0, 1).index_select(0, samples.rows)

    def learn(self, advantage: Tensor, entropy_weight: float) -> dict[str, float]:
        """Make epochs of clipped updates on the rollout; returns the means of the minibatches' measures."""
        args, rows = self.args, []
        returns = (advantage + self.rollout.value).flatten()
        advantage = (normalised(advantage) if args.normalise_over == "rollout" else advantage).flatten()
        for _ in range(args.epochs):
            for samples in self.minibatches():
                gain = advantage[samples.rows]
                if args.normalise_over == "minibatch":
                    gain = normalised(gain)
                loss, measures = self.loss(samples, gain, returns[samples.rows], entropy_weight)
                self.optimizer.zero_grad(set_to_none=False)
                loss.backward()  # type: ignore[no-untyped-call]
                average_gradients(self.weights)
                norm = nn.utils.clip_grad_norm_(self.weights, args.grad_norm)
                self.optimizer.step()
                self.average.update()
                rows.append(torch.stack([*measures, norm]).detach())
        found = torch.stack(rows).cpu()
        check_finite(found, MEASURES, self.policy)
        explained = 1 - (returns - self.rollout.value.flatten()).var() / returns.var().clamp(min=1e-8)
        return dict(zip(MEASURES, found.mean(0).tolist(), strict=True)) | {"explained_variance": explained.item()}

    def minibatches(self) -> Iterator[Minibatch]:
        """All samples of the rollout once, in random order."""
        return self.rollout.minibatches(self.minibatch, dtype=None)

    def forward(self, samples: Minibatch) -> tuple[Tensor, Tensor]:
        """Log probabilities (n, A) and values (n,) of a minibatch, with gradients."""
        log_probs, value, _ = self.policy(self.inputs_of(samples), samples.action_mask)
        return log_probs, value

    def loss(
        self, samples: Minibatch, advantage: Tensor, returns: Tensor, entropy_weight: float
    ) -> tuple[Tensor, list[Tensor]]:
        """The loss of a minibatch, and its measures except the gradient's norm."""
        args = self.args
        log_probs, value = self.forward(samples)
        log_ratio = pick(log_probs, samples.action) - samples.log_prob
        ratio = log_ratio.exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - args.clip, 1 + args.clip) * advantage).mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()
        value_loss = (value - returns).square().mean()
        clipped = ((ratio - 1).abs() > args.clip).float().mean()
        loss = args.value_weight * value_loss - gain - entropy_weight * entropy
        return loss, [-gain, value_loss, entropy, (ratio - 1 - log_ratio).mean(), clipped]

    def evaluate(self, act: Act, games: int) -> Scores:
        """Play games beside the partner of training, if any."""
        return evaluate_policy(act, self.variant, games, encoder=self.args.encoder, partners=self.partners)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        own = batch_state(self.batch, self.partners)
        policy, average, optimizer = (part.state_dict() for part in (self.policy, self.average, self.optimizer))
        return {"policy": policy, "average": average, "optimizer": optimizer, "process": own}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.policy.load_state_dict(state["policy"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batch = resumed_batch(state["process"], self.partners)


def pick(log_probs: Tensor, action: Tensor) -> Tensor:
    """The log probability (N,) of each row's action."""
    return log_probs.gather(1, action[:, None])[:, 0]


def normalised(advantage: Tensor) -> Tensor:
    """The advantages with mean 0 and standard deviation 1."""
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def main(args: Args, algorithm: type[PPO] = PPO, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results; with torchrun, together with its other processes."""
    if args.num_threads is not None:
        torch.set_num_threads(args.num_threads)
    with process_group(args.device):
        ppo = algorithm(args)
        with Run(ppo.program, args, ppo, FIXED, resolved=ppo.resolved, on_update=on_update) as run:
            while run.begin_update():
                measures = ppo.update(run.fraction)
                if run.is_due(args.eval_every):
                    scores = ppo.evaluate(network_player(ppo.average.network, args.eval_games), args.eval_games)
                    measures["greedy"] = float(scores.score.mean())
                run.end_update(measures, steps=len(ppo.rollout))
            if run.finished:
                report(ppo, run)


def report(ppo: PPO, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, games, network = ppo.args, ppo.args.final_games, ppo.average.network
    if args.partner is None:
        show_game(network_player(network, 1), ppo.variant, args.encoder, replay=args.out / "game.html")
    scores = {
        "random policy": ppo.evaluate(random_policy(), games),
        "drawn actions": ppo.evaluate(network_player(network, games, sampled=True), games),
        "greedy policy": ppo.evaluate(network_player(network, games), games),
    }
    partner = "" if args.partner is None else f" with {args.partner}"
    method = "IPPO" if args.partner is None else f"PPO, a best response to {args.partner}"
    title = f"PPO{partner}, {args.variant}, {args.players} players"
    run.report(scores, title=title, method=method, network=network)


if __name__ == "__main__":
    command_line(main, Args)
