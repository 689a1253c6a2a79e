"""Off-belief learning (OBL): Q-learning in which a hint means what the rules say about the cards, and nothing more.

    python examples/obl.py --minutes 120  # level 1, two players
    python examples/obl.py --minutes 60 --below obl1-2p --hidden 96 256 --out runs/obl2  # level 2

Self-play lets a hint mean whatever the team has come to mean by it, and each run comes to mean something else. In
off-belief learning (Hu et al., arXiv 2103.04000) a seat chooses its move as if all past moves had been made by the
policy of the level below, and as if all later moves will be made by the policy in training. A move of the policy in
training is not judged by what it has come to mean, so policies of different runs should understand each other. Level 0
plays at random. Without `--below` the script trains level 1, otherwise the level above the given policy:

- **Belief over level 0.** Level 0 first draws the kind of its move. For a hint it then draws a card of another hand,
  and names its colour or its rank. So the probability of a hint depends on the cards that it touches alone: all deals
  in which it touches the same cards make it equally likely. Plays and discards say nothing about the other hands. All
  deals that agree with what a seat sees are therefore equally likely. `Batch.worlds` draws from them by exact counting.
- **Belief over a policy.** In the first part of the budget the policy below plays, with exploration. A network
  learns to tell the real own hand from `--candidates` hands that `Batch.worlds` has drawn. Its score of a hand is then
  the logarithm of how much likelier the hand is after the moves of the other seats than by the rules alone, up to a
  constant (InfoNCE, arXiv 1807.03748). Later each turn has as many candidates, and its worlds are drawn from them by
  exp(score). If the other seats' moves allow only rare hands, 16 candidates may hold none: the belief is then closer to
  that of level 0. It knows what the observation shows, the last turn and the hints, and no earlier moves. The paper
  learns the belief with a recurrent network that draws the hand card by card.
- **Worlds.** A thousand games or more are played at once, with exploration. At each turn `--worlds` copies of the game
  are made, in which the hand of the seat to act and the order of the deck are drawn anew. In each copy the seat makes
  the move that it makes in the game. The other seats then play their best moves until the seat is to act again.
- **Targets.** The return in a copy is the sum of the rewards of these turns and the best value of the seat at its next
  turn, discounted by `--gamma` for each turn. The target of the move is the mean of the returns. The game goes on with
  its real cards and the same move.
- **Values.** A network without memory learns the value of each action from the observation of the seat that acts:
  dueling values, Huber loss. There is no target network: the weights stay as they are during a rollout and compute all
  of its targets, and are trained on them afterwards.

The output folder, stopping, resuming and the choice of the device are those of `examples/ppo.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

if __name__ == "__main__":
    print("loading PyTorch", flush=True)

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, huber_loss, relu

import starmine
from starmine.torch import ColorNetwork, Graphed
from starmine.training import (
    Amount,
    Count,
    DivergedError,
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
    explore,
    flat_weights,
    local_device,
    matmul_dtype,
    network_player,
    prepare_torch,
    progress_games,
    refuse_without_effect,
    sample_actions,
    show_game,
)

MEASURES = ("loss", "error", "value", "gradient_norm")

# The defaults of arguments that are None.
BY_DEVICE: dict[str, dict[str, Any]] = {
    "cpu": {"num_envs": 1024, "minibatch": 512, "hidden": (96, 256), "eval_every": 40},
    "cuda": {"num_envs": 8192, "minibatch": 4096, "hidden": (192, 512), "eval_every": 100},
}


@dataclass
class Game:
    """The rules, the observation and the reward."""

    variant: str = "standard"
    """a preset, with parameters after it (standard, max_life_tokens=4); the seats as --players"""
    players: int = 2
    encoder: str = "canonical"
    """one of starmine.encoders()"""
    lost_game_penalty: Amount = 1.0
    """points that are subtracted in training from the last reward of a lost game; evaluations count a lost game as 0"""
    lost_points_share: Share = 1.0
    """share of the points of a lost game that is subtracted when it is lost. It rises linearly from 0 to this share
    over the budget, with `below` over each of its parts. With 1, the rewards of a lost game add up to minus the penalty
    at the end"""


@dataclass
class Belief:
    """The level below, and the belief over it."""

    below: str | None = None
    """the policy of the level below: its name, file or run, of a network of the same form. Training begins with its
    weights. None is level 0"""
    belief_part: Share = 0.1
    """part of the budget in which the belief over the policy below is learned. All schedules run in each part"""
    candidates: Count = 16
    """worlds of a turn from which that belief chooses"""


@dataclass
class Rollout:
    """The games that are played between two updates."""

    num_envs: Count | None = None
    """games played at once: 1,024 / 8,192"""
    rollout: Count = 16
    """turns of each game between two updates"""
    worlds: Count = 2
    """copies of the game at each turn, see "Worlds" above"""
    gamma: Share = 0.999
    """discount of a turn"""
    epsilon: Share = 0.4
    """the largest exploration rate. Each seat of each of the `num_envs` games explores at its own rate, drawn once for
    the run: epsilon ** u with u uniform from 1 to 8"""


@dataclass
class Network:
    """The network, and the device that computes it."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """of the network; "auto" is a GPU where PyTorch finds one"""
    hidden: tuple[int, ...] | None = None
    """widths of a colour's tower and of the trunk: 96 256 / 192 512"""
    dtype: Precision = "auto"
    """dtype of the matrix products; "auto" is bfloat16 where the device has instructions for it, else float32"""


@dataclass
class Optimiser:
    """How the network learns from a rollout."""

    epochs: Count = 2
    """passes over a rollout"""
    minibatch: Count | None = None
    """turns in a minibatch: 512 / 4,096"""
    lr: Amount = 1e-3
    """learning rate"""
    lr_end: Amount = 2e-5
    """learning rate at the end"""
    hold: Share = 0.0
    """part of the budget in which the learning rate is constant; the rate then falls linearly to `lr_end`"""
    grad_norm: Amount = 5.0
    """longest gradient; longer ones are scaled down"""
    average: Share = 0.995
    """decay of the moving average of the weights, which is evaluated and saved; 0 for the last weights"""


@dataclass
class Args(Optimiser, Network, Rollout, Belief, Game, ScriptArgs):
    """Train one policy for all seats of Hanabi with off-belief learning.

    Where the default is None it depends on the device; the text gives "on a CPU / on a GPU"; `eval_every` is
    40 / 100.
    """

    out: Path = Path("runs/obl")
    """output folder; without --resume, one that holds a run is refused"""
    eval_every: Count | None = None
    """updates between two greedy evaluations: 40 / 100"""


def action_values(logits: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """The values of the actions (n, A); -inf for illegal ones.

    The value of an action is the value of the state, plus its logit, minus the mean logit of the legal actions.
    """
    mean = (logits * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return (value[:, None] + logits - mean).masked_fill(~mask, -torch.inf)


def method_above(method: str | None) -> str:
    """What the policy is called that is trained over one of this method: OBL-2 over OBL-1, OBL-1 over None."""
    if method is None or method.startswith("OBL-"):
        return f"OBL-{int((method or 'OBL-0').removeprefix('OBL-')) + 1}"
    return f"OBL over {method}"


def random_seed() -> int:
    """A seed for worlds, by PyTorch's random number generator."""
    return int(torch.randint(2**62, ()))


class HandBelief(nn.Module):
    """Scores of own hands: logarithms of how much likelier they are than by the rules alone, up to a constant.

    The score of a hand is the sum of a score for each of its cards in its slot. As in a `ColorNetwork`, one tower of
    layers reads the row of each colour.

    Args:
        network: whose inputs it reads.
        width: of the tower.
    """

    def __init__(self, network: ColorNetwork, width: int) -> None:
        super().__init__()
        features, self.slots = network.color_features, network.variant.hand_size
        self.shape = (features.colors, len(features.row))
        self.row, self.rest = nn.Linear(len(features.row), width), nn.Linear(len(features.rest), width)
        self.tower = nn.Linear(3 * width, width)
        self.head = nn.Linear(width, self.slots * network.variant.ranks)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, inputs: Tensor, hands: Tensor) -> Tensor:
        """The scores (n, K) of hands.

        Args:
            inputs: of the network (n, ...).
            hands: the cards in the slots, integers (n, K, slots), -1 for none.
        """
        size = self.shape[0] * self.shape[1]
        rows, rest = inputs[:, :size].view(-1, *self.shape), inputs[:, size:]
        x = relu(self.row(rows) + self.rest(rest)[:, None])
        pooled = torch.cat([x.mean(1), x.amax(1)], 1)[:, None].expand(-1, len(x[0]), -1)
        x = self.head(relu(self.tower(torch.cat([x, pooled], 2))))  # (n, colours, slots * ranks)
        cards = x.unflatten(2, (self.slots, -1)).transpose(1, 2).flatten(2).float()
        none = torch.zeros_like(cards[:, :, :1])  # the score of an empty slot
        return torch.cat([none, cards], 2).gather(2, hands.long().transpose(1, 2) + 1).sum(1)


class OBL:
    """The network, its optimizer, its games and the rollout that it learns from.

    Attributes:
        inputs: the network's inputs (steps, games, ...).
        mask: bool (steps, games, A), the legal actions.
        action: int64 (steps, games).
        target: float32 (steps, games), the mean return of the action in the worlds.
        epsilon: float32 (games, players), the exploration rate of each seat.
        belief: over the policy below; None over level 0.
        hands: int8 (steps, games, 1 + candidates, slots), the real own hand and the candidates, for the belief.
    """

    def __init__(self, given: Args) -> None:
        prepare_torch(given)
        self.device = local_device(given.device)
        self.args = args = by_device(given, self.device, BY_DEVICE)
        dtype = matmul_dtype(args.dtype, self.device)

        if args.below is None:
            refuse_without_effect(args, ("belief_part", "candidates"), "without below")
        self.variant = starmine.variant(args.variant, players=args.players)
        self.games = TrainingGames(
            self.variant,
            args.num_envs,
            [],
            args.seed,
            encoder=args.encoder,
            device=self.device,
            lost_game_penalty=args.lost_game_penalty,
            extra_outputs=["own_hand"],
        )
        self.batch = self.games.groups[0].batches[0]
        self.worlds = [self.batch.worlds() for _ in range(args.worlds)]
        self.epsilon = args.epsilon ** (1 + 7 * torch.rand(args.num_envs, args.players)).to(self.device)

        self.network = ColorNetwork(self.variant, args.encoder, args.hidden, matmul_dtype=dtype).to(self.device)
        below = {} if args.below is None else begin_with(self.network, args.below, "below")
        self.method = method_above(below.get("method"))
        self.network.fuse_kernels()
        self.weights = flat_weights(self.network)
        self.average = WeightAverage(self.network, self.weights, args.average)
        self.lr = torch.zeros((), device=self.device)
        on_gpu = self.device.type == "cuda"
        self.optimizer = torch.optim.Adam([self.weights], self.lr, eps=1e-5, fused=True, capturable=on_gpu)

        # The rollout.
        shape = (args.rollout, args.num_envs)
        inputs = self.network.read(self.games.groups[0].receive()["obs"][:1])
        self.inputs = inputs.new_empty(*shape, *inputs.shape[1:])
        self.mask = torch.empty(*shape, self.variant.num_actions, dtype=torch.bool, device=self.device)
        self.action = torch.empty(shape, dtype=torch.int64, device=self.device)
        self.target = torch.empty(shape, device=self.device)

        self.find_best = Graphed(self.best_actions, self.device)
        self.learn_minibatch = Graphed(self.update_weights, self.device)

        self.belief: HandBelief | None = None
        self.learns_belief = args.below is not None
        if args.below is not None:
            self.candidate = self.batch.worlds()
            self.belief = HandBelief(self.network, args.hidden[0]).to(self.device)
            self.belief_optimizer = torch.optim.Adam(self.belief.parameters(), self.lr, fused=True, capturable=on_gpu)
            self.hands = torch.empty(
                *shape, 1 + args.candidates, self.variant.hand_size, dtype=torch.int8, device=self.device
            )
            self.score_hands = Graphed(self.belief_scores, self.device)
            self.learn_hands = Graphed(self.update_belief, self.device)

    def update(self, fraction: float) -> dict[str, float]:
        """Collect a rollout and learn from it; returns measures for the log.

        Args:
            fraction: the spent part of the budget, for the schedules.
        """
        args = self.args
        part = args.belief_part if self.belief is not None else 0
        # Once the network has other weights than the policy below, the belief stays as it is.
        self.learns_belief = self.learns_belief and fraction < part
        spent = fraction / part if self.learns_belief else max(0.0, fraction - part) / (1 - part)
        lr = anneal(args.lr, args.lr_end, spent, args.hold)
        self.lr.fill_(lr)
        self.games.rewards.lost_points_share = args.lost_points_share * spent
        self.collect()
        scores = self.games.take_finished().means()
        return scores | (self.learn_belief() if self.learns_belief else self.learn()) | {"lr": lr}

    @torch.no_grad()
    def collect(self) -> None:
        """Play turns of the games, each with its target, or with the hands that the belief learns from."""
        (group,) = self.games.groups
        for step in range(self.args.rollout):
            outputs = group.receive()
            mask, seat = outputs["action_mask"], outputs["current_player"].long()
            inputs, best, _ = self.find_best(outputs["obs"], mask)
            action = explore(best, mask, self.epsilon.gather(1, seat[:, None])[:, 0])
            self.inputs[step], self.mask[step], self.action[step] = inputs, mask, action
            # The worlds are of this turn, so they are drawn before the game goes on.
            if self.learns_belief:
                self.hands[step, :, 0], self.hands[step, :, 1:] = outputs["own_hand"], self.draw_candidates()[1]
            else:
                self.draw_worlds(inputs)
            group.send(action)
            if not self.learns_belief:
                self.target[step] = torch.stack([self.returns(world, action) for world in self.worlds]).mean(0)
        group.receive()  # counts the games that ended with the last turn

    def draw_worlds(self, inputs: Tensor) -> None:
        """Draw the worlds of this turn.

        Args:
            inputs: of the network in this turn (n, ...), which the belief reads.
        """
        if self.belief is None:
            for world in self.worlds:
                self.batch.worlds(seed=random_seed(), into=world)
            return
        seeds, hands = self.draw_candidates()
        scores = self.score_hands(inputs, hands)
        for world in self.worlds:
            chosen = sample_actions(scores).cpu().numpy()  # the index of a candidate for each game
            for candidate, seed in enumerate(seeds):  # with its seed, the candidate is drawn again
                self.batch.worlds(seed=seed, games=chosen == candidate, into=world)

    def draw_candidates(self) -> tuple[list[int], Tensor]:
        """The seeds of the candidates, and their own hands, int8 (n, candidates, slots)."""
        seeds, hands = [random_seed() for _ in range(self.args.candidates)], []
        for seed in seeds:
            self.batch.worlds(seed=seed, into=self.candidate)
            hands.append(torch.from_numpy(self.candidate.observe()["own_hand"]))
        return seeds, torch.stack(hands, 1).to(self.device)

    def returns(self, world: starmine.Batch, action: Tensor) -> Tensor:
        """The returns of the actions int64 (n,) in one world of each game, float32 (n,)."""
        returns, discount = torch.zeros(len(action), device=self.device), torch.ones(len(action), device=self.device)
        for _ in range(self.args.players):  # the turn of the seat, and those of the others
            outputs = world.step(action.cpu().numpy())
            self.games.rewards.step(outputs)
            names = ("obs", "action_mask", "reward", "terminated")
            obs, mask, reward, terminated = (torch.from_numpy(outputs[name]).to(self.device) for name in names)
            returns += discount * reward
            # A world that ended is dealt anew; what follows is another game, and counts no more.
            discount *= self.args.gamma * ~terminated
            _, action, value = self.find_best(obs, mask)
        # The seat that chose the action is to act again, so `value` is its best value.
        return returns + discount * value

    @torch.no_grad()
    def best_actions(self, bits: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """The network's inputs (n, ...), the best actions int64 (n,) and their values (n,)."""
        inputs = self.network.read(bits)
        value, action = self.values(inputs, mask).max(1)
        return inputs, action, value

    def values(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """The values of the actions (n, A)."""
        dtype = self.network.matmul_dtype
        with torch.autocast(self.device.type, dtype, dtype != torch.float32):
            logits, value, _ = self.network.evaluate(inputs, None)
        return action_values(logits.float(), value.float(), mask)

    def learn(self) -> dict[str, float]:
        """Fit the values to the targets in epochs of minibatches; returns the means of the minibatches' measures."""
        measures = torch.stack([self.learn_minibatch(chosen).clone() for chosen in self.minibatches()])
        numbers = torch.cat([measures.flatten(), self.target.mean()[None]]).cpu()  # waits for the device, once
        if not numbers[-1].isfinite():
            raise DivergedError("a target is not finite")
        measures = numbers[:-1].view(-1, len(MEASURES))
        check_finite(measures, MEASURES, self.network)
        return dict(zip(MEASURES, measures.mean(0).tolist(), strict=True))

    def minibatches(self) -> Iterator[Tensor]:
        """The turns of each minibatch, as indices into the flattened rollout."""
        for _ in range(self.args.epochs):
            yield from torch.split(torch.randperm(self.action.numel(), device=self.device), self.args.minibatch)

    def update_weights(self, chosen: Tensor) -> Tensor:
        """Learn from a minibatch; returns its `MEASURES`."""
        inputs, mask = (part.flatten(0, 1).index_select(0, chosen) for part in (self.inputs, self.mask))
        action, target = (part.flatten()[chosen] for part in (self.action, self.target))
        value = self.values(inputs, mask).gather(1, action[:, None])[:, 0]
        loss = huber_loss(value, target)
        self.optimizer.zero_grad(set_to_none=False)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.weights, self.args.grad_norm)
        self.optimizer.step()
        self.average.update()
        return torch.stack([loss, (target - value).abs().mean(), value.mean(), norm]).detach()

    def learn_belief(self) -> dict[str, float]:
        """Let the belief learn to tell the real hands; returns its mean loss. Without knowledge it is log(1 + K)."""
        losses = torch.stack([self.learn_hands(chosen).clone() for chosen in self.minibatches()]).cpu()
        assert self.belief is not None
        check_finite(losses[:, None], ["belief_loss"], self.belief)
        return {"belief_loss": float(losses.mean())}

    def update_belief(self, chosen: Tensor) -> Tensor:
        """Learn to tell the real hands from the candidates in a minibatch; returns the cross-entropy."""
        inputs, hands = (part.flatten(0, 1)[chosen] for part in (self.inputs, self.hands))
        scores = self.belief_scores(inputs, hands)
        loss = cross_entropy(scores, torch.zeros_like(chosen))  # the real hand is the first
        self.belief_optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.belief_optimizer.step()
        return loss.detach()

    def belief_scores(self, inputs: Tensor, hands: Tensor) -> Tensor:
        """As `HandBelief`, with the dtype of the network's products."""
        assert self.belief is not None
        dtype = self.network.matmul_dtype
        with torch.autocast(self.device.type, dtype, dtype != torch.float32):
            scores: Tensor = self.belief(inputs, hands)
        return scores

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        network, average, optimizer = (part.state_dict() for part in (self.network, self.average, self.optimizer))
        games = {"games": self.games.state_dict(), "epsilon": self.epsilon}
        state: dict[str, Any] = {"network": network, "average": average, "optimizer": optimizer, "process": games}
        if self.belief is not None:
            state |= {"belief": self.belief.state_dict(), "belief_optimizer": self.belief_optimizer.state_dict()}
            state["learns_belief"] = self.learns_belief
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint. Call it before the first update, since it replaces the optimizer's tensors."""
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.optimizer.param_groups[0]["lr"] = self.lr
        self.games.load_state_dict(state["process"]["games"])
        self.epsilon.copy_(state["process"]["epsilon"])
        self.batch = self.games.groups[0].batches[0]
        if self.belief is not None:
            self.learns_belief = state["learns_belief"]
            self.belief.load_state_dict(state["belief"])
            self.belief_optimizer.load_state_dict(state["belief_optimizer"])
            self.belief_optimizer.param_groups[0]["lr"] = self.lr


def main(given: Args, on_update: OnUpdate | None = None) -> None:
    """Train, evaluate, and write the results."""
    obl = OBL(given)
    args = obl.args
    with Run("obl", args, obl, on_update=on_update) as run:
        while run.begin_update():
            measures = obl.update(run.fraction)
            if run.is_due(args.eval_every):
                player = network_player(obl.average.network)
                measures["greedy"] = progress_games(player, obl.variant, args.eval_games).mean
            run.end_update(measures, steps=args.rollout * args.num_envs)
        if run.finished:
            report(obl, run)


def report(obl: OBL, run: Run) -> None:
    """Show a game, evaluate what was learned, and write it."""
    args, player = obl.args, network_player(obl.average.network)
    show_game(player, obl.variant, replay=args.out / "game.html")
    print(f"\nevaluating the policy: {args.final_games:,} games each", flush=True)
    games = {
        "random policy": progress_games("random", obl.variant, args.final_games),
        "greedy policy": progress_games(player, obl.variant, args.final_games),
    }
    title = f"off-belief learning, {obl.method}, {args.variant}, {args.players} players"
    run.report(games, title=title, method=obl.method, network=obl.average.network)


if __name__ == "__main__":
    command_line(main, Args)
