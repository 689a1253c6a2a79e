"""PPO for Hanabi: one policy plays all seats and learns from thousands of games at once.

    python examples/ppo.py                          # two players, three minutes of training
    python examples/ppo.py --players 4 --minutes 60 --out runs/four
    python examples/ppo.py --resume                 # go on with the run in runs/ppo
    python examples/ppo.py --partners smart=2,iggi,ippo-2p-small --hold-out piers,holmes

The algorithm stands here from top to bottom: the games, a rollout, its advantages, the loss and the optimiser.
`starmine.training` has the rest: the run's folder, its checkpoints and log, scores and evaluation.
`examples/ppo_recurrent.py` adds hidden states, and `examples/ppo_distributed.py` trains in several processes.

A sample is one turn, with the observation of the seat that plays it. A trajectory is one game. The reward is the
team's, and the advantage of a turn bootstraps from the value of the next observation, which another seat sees. The
inputs of the network are computed once and kept for all epochs.

The script runs on a CPU or on a GPU; it takes a GPU where PyTorch finds one. `BY_DEVICE` has the defaults that differ.
The processor steps the games. With a GPU they are two groups: while the network evaluates one group, the processor
steps the other. On a GPU `Graphed` captures two CUDA graphs: the choice of a group's actions, and the update of the
weights by a minibatch. Learning then waits for the GPU once, at its end.

With `--partners` the policy learns a best response to a mixture of partners. The policy holds each seat in an equal
part of the games. Each other seat draws its partner in each episode. The batch plays the partners' turns. A sample is
a turn of the policy, and `--total-steps` counts these turns. At the end `partners.csv` gets the scores with each
partner, also with those of `--hold-out`, which training never meets.

The output folder gets `log.jsonl` with a line for each update, TensorBoard's event files, `learning_curve.png`,
`policy.safetensors` at the end, and `checkpoint.pt`. Ctrl-C stops after the update in progress and saves it; a killed
run loses what came after its last checkpoint. `--resume` continues either run. On a CPU a resumed run ends with the
same bits as an uninterrupted one, given the same machine, `--num-threads`, options and budget in steps. Schedules
follow the budget: a run that is resumed with a larger budget goes back to an earlier point of its schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, Literal

if __name__ == "__main__":
    print("loading PyTorch", flush=True)

import torch
from torch import Tensor, nn

import starmine
from starmine.games import Games, Player
from starmine.torch import ActorCritic, ColorNetwork, Graphed, PolicyNetwork
from starmine.training import (
    Amount,
    Count,
    DivergedError,
    Muon,
    OnUpdate,
    Precision,
    Run,
    ScriptArgs,
    Share,
    TrainingGames,
    WeightAverage,
    anneal,
    begin_with,
    by_device,
    check_finite,
    command_line,
    doubling_schedule,
    flat_weights,
    local_device,
    matmul_dtype,
    network_player,
    prepare_torch,
    progress_games,
    read_partners,
    refuse_without_effect,
    sample_actions,
    show_game,
    write_partner_table,
)

MEASURES = ("policy_loss", "value_loss", "entropy", "kl", "clipped", "gradient_norm")

# The defaults of arguments that are None.
BY_DEVICE: dict[str, dict[str, Any]] = {
    "cpu": {
        **{"num_envs": 1024, "groups": 1, "minibatch": 512, "hidden": (96, 256), "eval_every": 40},
        **{"hold": 0.0, "lr_end": 4e-4, "entropy_end": 0.05, "compile": False},
    },
    "cuda": {
        **{"num_envs": 16384, "groups": 2, "minibatch": 8192, "hidden": (192, 512), "eval_every": 100},
        **{"hold": 0.5, "lr_end": 0.0, "entropy_end": 0.002, "compile": True},
    },
}


@dataclass
class Partners:
    """Who plays with the policy."""

    partners: str | None = None
    """who plays with the learner, such as smart=2,piers,ippo-2p-small: bots, policies, policy files or folders of runs,
    with weights after "="; None for self-play"""
    hold_out: str | None = None
    """partners for the evaluation at the end only, such as iggi,holmes"""


@dataclass
class Game:
    """The rules, the observation and the reward."""

    variant: str = "standard"
    """a preset, with parameters after it (standard, max_life_tokens=4); the seats as --players"""
    players: int = 2
    encoder: str = "canonical"
    """one of starmine.encoders()"""
    lost_game_penalty: Amount = 1.0
    """points that are subtracted in training from the last reward of a lost game; evaluation counts it zero"""
    lost_points_share: Share = 1.0
    """share of the points of a lost game that is subtracted when it is lost: rises linearly from 0 to this share over
    the budget; with 1, the rewards of a lost game add up to minus the penalty at the end"""


@dataclass
class Rollout:
    """The games that are played between two updates."""

    num_envs: Count | None = None
    """games played at once: 1,024 / 16,384"""
    groups: Count | None = None
    """groups of games, of which one is evaluated while the others are stepped: 1 / 2"""
    rollout: Count = 16
    """turns of each game between two updates"""
    gamma: Share = 0.999
    """discount of a turn"""
    gae_lambda: Share = 0.9
    """weight of longer returns in the advantages"""


@dataclass
class Network:
    """The network, its first weights, and the device that computes it."""

    start: str | None = None
    """begin with the weights of a policy, one of starmine.policies.shipped() or a file, instead of random ones"""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """of the network; "auto" is a GPU where PyTorch finds one"""
    network: Literal["colors", "plain"] = "colors"
    """"colors": weights that all colours share, with card features in which each own slot counts by itself; "plain":
    hidden layers over the bits of the observation"""
    hidden: tuple[int, ...] | None = None
    """widths of a colour's tower and of the trunk; for a plain network of the hidden layers: 96 256 / 192 512"""
    card_features: bool = True
    """append to the observation of a plain network how probably each card is playable, and on its firework already"""
    dtype: Precision = "auto"
    """dtype of the matrix products; "auto" is bfloat16 where the device has instructions for it, else float32"""
    compile: bool | None = None
    """let torch.compile fuse the network's kernels, which takes 15 seconds at the start: no / yes. A recurrent network
    is not compiled"""


@dataclass
class Optimiser:
    """How the network learns from a rollout."""

    epochs: Count = 2
    """passes over a rollout"""
    minibatch: Count | None = None
    """turns in a minibatch: 512 / 8,192"""
    minibatch_end: Count | None = None
    """most turns in a minibatch: the size doubles after equal parts of the budget up to this; None for one size"""
    optimizer: Literal["adam", "muon"] = "adam"
    """"muon": Muon for the matrices of hidden layers, Adam for all other weights; for minibatches of 4,096 and more"""
    muon_lr: Amount = 0.02
    """learning rate of Muon while Adam's is `lr`; both fall in proportion"""
    lr: Amount = 7e-4
    """learning rate of Adam"""
    lr_end: Amount | None = None
    """learning rate of Adam at the end: 0.0004 / 0"""
    entropy_weight: Amount = 0.05
    """weight of the entropy in the loss"""
    entropy_end: Amount | None = None
    """weight of the entropy at the end: 0.05 / 0.002"""
    hold: Share | None = None
    """part of the budget in which the learning rate and the entropy weight are constant; they then fall linearly to
    their ends: 0 / 0.5"""
    clip: Amount = 0.2
    """largest change of a probability ratio that is rewarded"""
    value_weight: Amount = 0.25
    """weight of the value loss"""
    grad_norm: Amount = 0.5
    """longest gradient; longer ones are scaled down"""
    average: Share = 0.995
    """decay of the moving average of the weights, which is evaluated and saved; 0 for the last weights"""


@dataclass
class Args(Optimiser, Network, Rollout, Game, Partners, ScriptArgs):
    """Train one policy for all seats of Hanabi with PPO.

    Where the default is None it depends on the device; the text gives "on a CPU / on a GPU"; `eval_every` is
    40 / 100.
    """

    out: Path = Path("runs/ppo")
    """output folder; without --resume, one that holds a run is refused"""
    eval_every: Count | None = None
    """updates between two greedy evaluations: 40 / 100"""


class PPO:
    """The policy, its optimizer, its games and the rollout that it learns from.

    Attributes:
        inputs: the network's inputs (steps, games, ...).
        mask: bool (steps, games, A), the legal actions.
        action: int64 (steps, games).
        log_prob: float32 (steps, games), of the action when it was sampled.
        reward: float32 (steps, games).
        value: float32 (steps + 1, games), the last row after the last turn.
        terminated: bool (steps, games), whether the game ended with the turn.
        advantage, returns: float32 (steps, games).
    """

    recurrent = False

    def __init__(self, given: Args) -> None:
        prepare_torch(given)
        if self.recurrent:
            if given.compile:
                raise starmine.StarmineError("compile=True has no effect with a recurrent network: expected no compile")
            given = replace(given, compile=False)
        self.device = local_device(given.device)
        self.args = args = by_device(given, self.device, BY_DEVICE)
        dtype = matmul_dtype(args.dtype, self.device)

        self.variant = starmine.variant(args.variant, players=args.players)
        self.partners, self.held_out = read_partners(self.variant, args.partners, args.hold_out)
        self.games = TrainingGames(
            self.variant,
            args.num_envs,
            self.partners,
            args.seed,
            encoder=args.encoder,
            groups=args.groups,
            device=self.device,
            lost_game_penalty=args.lost_game_penalty,
        )

        # The network, and the moving average of its weights.
        policy: ActorCritic
        if args.network == "colors":
            refuse_without_effect(args, ("card_features",), "with network colors")
            policy = ColorNetwork(self.variant, args.encoder, args.hidden, "slots", self.recurrent, dtype)
        else:
            policy = PolicyNetwork(self.variant, args.encoder, args.hidden, self.recurrent, args.card_features, dtype)
        self.policy = policy.to(self.device)
        if args.start is not None:
            begin_with(self.policy, args.start)
        # Larger kernels of the network: made by torch.compile, or by the compiled core on a CPU.
        self.network: Any = self.policy
        if args.compile:
            self.network = torch.compile(self.policy, dynamic=False)
        else:
            self.policy.fuse_kernels()
        self.weights = flat_weights(self.policy)
        self.average = WeightAverage(self.policy, self.weights, args.average)
        # Hyperparameters that change are tensors: a replayed CUDA graph reads them anew, but no Python number.
        self.lr, self.entropy_weight = (torch.zeros((), device=self.device) for _ in range(2))
        on_gpu = self.device.type == "cuda"
        self.optimizer = torch.optim.Adam([self.weights], self.lr, eps=1e-5, fused=True, capturable=on_gpu)
        self.muon: Muon | None = None
        if args.optimizer == "muon":
            if args.lr == 0:
                raise starmine.StarmineError("lr=0 is not allowed with optimizer muon: expected a rate above 0")
            layers = ((name, weight) for name, weight in self.policy.named_parameters() if "heads" not in name)
            self.muon_lr = torch.zeros((), device=self.device)
            self.muon = Muon([weight for _, weight in layers if weight.dim() == 2], self.muon_lr, dtype)
        else:
            refuse_without_effect(args, ("muon_lr",), "with optimizer adam")
        doubling_schedule(args.minibatch, args.minibatch_end, 0)  # refuses sizes that do not fit

        # The rollout.
        shape = (args.rollout, args.num_envs)
        inputs = self.policy.read(self.games.groups[0].receive()["obs"][:1])
        self.inputs = inputs.new_empty(*shape, *inputs.shape[1:])
        self.mask = torch.empty(*shape, self.variant.num_actions, dtype=torch.bool, device=self.device)
        self.action = torch.empty(shape, dtype=torch.int64, device=self.device)
        self.log_prob, self.reward = (torch.empty(shape, device=self.device) for _ in range(2))
        self.advantage, self.returns = (torch.empty(shape, device=self.device) for _ in range(2))
        self.value = torch.empty(args.rollout + 1, args.num_envs, device=self.device)
        self.terminated = torch.empty(shape, dtype=torch.bool, device=self.device)

        self.choose = Graphed(self.choose_actions, self.device)
        self.learn_minibatch: Callable[[Tensor], Tensor] = Graphed(self.update_weights, self.device)

    def update(self, fraction: float) -> dict[str, float]:
        """Collect a rollout and learn from it; returns measures for the log.

        Args:
            fraction: the spent part of the budget, for the schedules.
        """
        args = self.args
        lr = anneal(args.lr, args.lr_end, fraction, args.hold)
        entropy_weight = anneal(args.entropy_weight, args.entropy_end, fraction, args.hold)
        self.lr.fill_(lr)
        if self.muon is not None:
            self.muon_lr.fill_(args.muon_lr * lr / args.lr)
        self.entropy_weight.fill_(entropy_weight)
        self.games.rewards.lost_points_share = args.lost_points_share * fraction
        self.collect()
        scores = self.games.take_finished().means(self.games.names)
        measures = self.learn(doubling_schedule(args.minibatch, args.minibatch_end, fraction))
        return scores | measures | {"lr": lr, "entropy_weight": entropy_weight}

    @torch.no_grad()
    def collect(self) -> None:
        """Play a rollout. In each turn of a group the outputs of its last step come in, and its actions go out."""
        last = self.args.rollout
        for step in range(last + 1):
            for group in self.games.groups:
                outputs, games = group.receive(), group.columns
                if step > 0:
                    self.reward[step - 1, games] = outputs["reward"]
                    self.terminated[step - 1, games] = outputs["terminated"]
                action = self.act(step, games, outputs)
                if step < last:
                    group.send(action)

    def act(self, step: int, games: slice, outputs: dict[str, Tensor]) -> Tensor:
        """Choose the actions (n,) of a group's games, and keep the turn; after the last turn only its value counts."""
        mask = outputs["action_mask"]
        inputs, action, log_prob, self.value[step, games] = self.choose(outputs["obs"], mask)
        if step < self.args.rollout:
            self.inputs[step, games], self.mask[step, games] = inputs, mask
            self.action[step, games], self.log_prob[step, games] = action, log_prob
        return action

    @torch.no_grad()
    def choose_actions(self, bits: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """The network's inputs (n, ...), sampled actions (n,), their log probabilities (n,) and the values (n,)."""
        inputs = self.policy.read(bits)
        log_probs, value, _ = self.network(inputs, mask)
        # The mask keeps actions legal even where the network's output is nan; `learn` then ends the run.
        action = sample_actions(log_probs.masked_fill(~mask, -inf))
        return inputs, action, pick(log_probs, action), value

    def estimate_advantages(self) -> None:
        """Generalised advantage estimates of the rollout (Schulman et al., 2016)."""
        discount = self.args.gamma * (1 - self.terminated.float())
        next_advantage = torch.zeros_like(self.value[0])
        for step in reversed(range(len(self.reward))):
            difference = self.reward[step] + discount[step] * self.value[step + 1] - self.value[step]
            next_advantage = difference + self.args.gae_lambda * discount[step] * next_advantage
            self.advantage[step] = next_advantage

    def learn(self, minibatch: int) -> dict[str, float]:
        """Make epochs of clipped updates on the rollout; returns the means of the minibatches' measures."""
        self.estimate_advantages()
        torch.add(self.advantage, self.value[:-1], out=self.returns)
        explained = 1 - self.advantage.var() / self.returns.var().clamp(min=1e-8)
        self.advantage.sub_(self.advantage.mean()).div_(self.advantage.std() + 1e-8)
        measures = torch.stack([self.learn_minibatch(chosen).clone() for chosen in self.minibatches(minibatch)])
        # nan or infinite if any output of the network in the rollout was; not saved then, since the run ends here.
        output_sum = self.value.sum() + self.log_prob.sum()
        numbers = torch.cat([measures.flatten(), torch.stack([explained, output_sum])]).cpu()  # waits for the device
        if not numbers[-1].isfinite():
            raise DivergedError("the network's output is not finite")
        measures = numbers[:-2].view(-1, len(MEASURES))
        check_finite(measures, MEASURES, self.policy)
        means = dict(zip(MEASURES, measures.mean(0).tolist(), strict=True))
        return means | {"explained_variance": numbers[-2].item()}

    def minibatches(self, size: int) -> Iterator[Tensor]:
        """The turns of each minibatch, as indices into the flattened rollout."""
        for _ in range(self.args.epochs):
            yield from torch.split(torch.randperm(self.action.numel(), device=self.device), size)

    def update_weights(self, chosen: Tensor) -> Tensor:
        """Learn from a minibatch; returns its `MEASURES`."""
        return torch.cat([self.compute_gradient(chosen), self.apply_gradient()])

    def compute_gradient(self, chosen: Tensor) -> Tensor:
        """Compute the gradient of a minibatch's loss; returns its measures, without the gradient's norm."""
        args = self.args
        rows, log_probs, value = self.evaluate_minibatch(chosen)
        parts = (self.action, self.log_prob, self.advantage, self.returns)
        action, old_log_prob, advantage, returns = (part.flatten()[rows] for part in parts)
        log_ratio = pick(log_probs, action) - old_log_prob
        ratio = log_ratio.exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - args.clip, 1 + args.clip) * advantage).mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()
        value_loss = (value - returns).square().mean()
        loss = args.value_weight * value_loss - gain - self.entropy_weight * entropy
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        kl, clipped = (ratio - 1 - log_ratio).mean(), ((ratio - 1).abs() > args.clip).float().mean()
        return torch.stack([-gain, value_loss, entropy, kl, clipped]).detach()

    def evaluate_minibatch(self, chosen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The n turns of a minibatch, and their log probabilities (n, A) and values (n,), with gradients."""
        inputs, mask = (part.flatten(0, 1).index_select(0, chosen) for part in (self.inputs, self.mask))
        log_probs, value, _ = self.network(inputs, mask)
        return chosen, log_probs, value

    def apply_gradient(self) -> Tensor:
        """Change the weights and their average; returns the gradient's norm (1,) before it is clipped."""
        norm = nn.utils.clip_grad_norm_(self.weights, self.args.grad_norm)
        if self.muon is not None:
            self.muon.step()  # clears the gradients of its matrices: Adam leaves these as they are
        self.optimizer.step()
        self.average.update()
        return norm[None]

    def evaluate(self, player: Player, games: int) -> Games:
        """Play games with the partners of training, if any."""
        return progress_games(player, self.variant, games, self.partners)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        policy, average, optimizer = (part.state_dict() for part in (self.policy, self.average, self.optimizer))
        state = {"policy": policy, "average": average, "optimizer": optimizer, "process": self.games.state_dict()}
        return state if self.muon is None else state | {"muon": self.muon.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint. Call it before the first update, since it replaces the optimizer's tensors."""
        self.policy.load_state_dict(state["policy"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.optimizer.param_groups[0]["lr"] = self.lr
        if self.muon is not None:
            self.muon.load_state_dict(state["muon"])
            self.muon.param_groups[0]["lr"] = self.muon_lr
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
    with Run(program, args, ppo, on_update=on_update) as run:
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
        partner = ppo.partners[0]
    show_game(player, ppo.variant, replay=args.out / "game.html", partner=partner)
    print(f"\nevaluating the policy: {count:,} games each", flush=True)
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
