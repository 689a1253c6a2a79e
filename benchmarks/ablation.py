"""Three controls of the network by colour: without the features, without the symmetry, and with memory of hints.

    python benchmarks/ablation.py --control raw-colors --total-steps 4000000 --seed 1 --out runs/raw-colors-1
    python benchmarks/ablation.py --control flat-exact --total-steps 4000000 --seed 1 --out runs/flat-exact-1
    python benchmarks/ablation.py --control memory --total-steps 4000000 --seed 1 --out runs/memory-1

They only answer questions, so they stand here, on top of examples/ppo.py, and not in the package. Their policies are
not saved. Their scores over 10,000 games go into `scores.json`, which tools/update_baselines.py reads. A run with
memory cannot be resumed: the checkpoint lacks what the hints of games in progress said.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

sys.path.append(str(Path(__file__).parents[1] / "examples"))

import ppo
from ppo import PPO, Args

import starmine
from starmine import Batch
from starmine.games import Turns
from starmine.games.results import mean_and_error
from starmine.torch import ActorCritic, ColorFeatures, ColorNetwork, HiddenState, ModulePolicy
from starmine.torch.network import orthogonal
from starmine.training import command_line, games, progress_games, read_partners

GAMES = 10_000
DERIVED = ("card_flags", "unseen", "dead", "critical")  # sections of a colour's row; in the rest: all flags


@dataclass
class ControlArgs(Args):
    """Train a control with PPO."""

    control: Literal["raw-colors", "flat-exact", "memory"] = "raw-colors"
    """the symmetric network on what hints allow, without counts and flags; hidden layers on the exact features; or
    the symmetric network with what earlier hints touched"""


class Unsaved(ActorCritic):
    """A network without a policy file."""

    def save(self, path: str | os.PathLike[str], **about: Any) -> None:
        """Write the scores over the decks of seed 0 instead, as a kept run tells them."""
        facts: dict[str, Any] = {"about": about}
        met, _ = read_partners(self.variant, about["arguments"].get("partners"))
        for how in ("greedy", "sampled"):
            played = progress_games(player(self, how == "sampled"), self.variant, GAMES, met, seed=0)
            facts[how] = {name: played.summary()[name] for name in ("games", "perfect", "lost")}
            for name, values in (("score", played.scores), ("kept", played.fireworks)):
                facts[how][name], facts[how][f"{name}_error"] = mean_and_error(values)
        Path(path).with_name("scores.json").write_text(json.dumps(facts, default=float), encoding="utf-8")

    def described(self) -> dict[str, Any]:
        """Nothing, for no policy file is written."""
        return {}


class RawColors(Unsaved, ColorNetwork):
    """The symmetric network without derived features: own cards by what hints allow, all kinds alike."""

    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The features without those that are computed from counts."""
        features, found = self.color_features, super().read(bits).clone()
        rows = found[:, : features.colors * len(features.row)].view(len(found), features.colors, len(features.row))
        for section in features.row:
            if section.name in DERIVED:
                rows[..., section.slice] = 0
            elif section.name == "own":
                allowed = (rows[..., section.slice] > 0).float().view(*rows.shape[:2], *section.shape)
                kinds = allowed.sum((1, 3), keepdim=True).clamp(min=1)
                rows[..., section.slice] = (allowed / kinds).flatten(2)
        start = found.shape[1] - len(features.rest)
        for section in features.rest:
            if section.name in ("own_flags", "flags"):
                found[:, start + section.slice.start : start + section.slice.stop] = 0
        return found


class FlatExact(Unsaved):
    """Hidden layers of 256 and 256 over the exact features of all colours side by side."""

    def __init__(self, variant: Any, encoder: str, matmul_dtype: torch.dtype) -> None:
        super().__init__(variant, encoder, 0, matmul_dtype)
        self.color_features, self.memory = ColorFeatures(variant, encoder), None
        sizes = (self.color_features.length, 256, 256)
        layers = [orthogonal(nn.Linear(*pair), 2**0.5) for pair in itertools.pairwise(sizes)]
        self.trunk = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))
        self.heads = orthogonal(nn.Linear(256, variant.num_actions + 1), 0.01)

    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The features (n, length)."""
        return self.color_features.read(bits)

    def evaluate(self, inputs: Tensor, hidden_state: HiddenState | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Logits (n, A), values (n,), and the hidden states as they were."""
        x, values = self.remember(self.trunk(inputs), hidden_state)
        heads = self.heads(x).float()
        return heads[:, :-1], heads[:, -1], values


class HintMemory:
    """What the hints of earlier turns said of each card of N games, for each turn that a batch shows.

    Each card has two bytes: the turns since a hint last touched it, from 1, at most 31, plus 32 if that hint named a
    colour; and the place of the card among those that the hint touched, 1 newest, 2 oldest, 3 both. Both are 0 before.
    In a game of two beside a partner, the observations show the partner's moves only: `act` takes the learner's.
    """

    def __init__(self, variant: Any, encoder: str, games: int, has_partner: bool = False) -> None:
        self.has_partner = has_partner
        self.variant, self.layout = variant, {part.name: part.slice for part in variant.layout(encoder)}
        self.seat = np.zeros(games, int)
        self.cards = np.zeros((games, variant.players, variant.hand_size, 2), np.uint8)
        self.partner_hand = np.zeros((games, variant.hand_size, variant.colors, variant.ranks), np.uint8)

    def read(self, outputs: dict[str, Any]) -> NDArray[np.uint8]:
        """The observations of a step with the bytes appended, own cards first; call once for each step."""
        obs, players = outputs["obs"], self.variant.players
        seat = self.seat = outputs["current_player"].astype(int)
        bits = np.unpackbits(obs, axis=1, bitorder="little")
        if "terminated" in outputs:
            self.cards[outputs["terminated"]] = 0
        parts = ("type", "slot", "touched", "target")
        kind, slot, touched, target = (bits[:, self.layout[f"last_{part}"]] for part in parts)
        left = np.where(kind[:, :2].any(1), slot.argmax(1), -1)
        touched = touched & kind[:, 2:].any(1, keepdims=True)
        self.move((seat - 1) % players, left, (seat + target.argmax(1)) % players, touched, kind[:, 2])
        size = self.partner_hand[0].size
        self.partner_hand = bits[:, self.layout["hands"]][:, :size].reshape(self.partner_hand.shape)
        order = (seat[:, None] + np.arange(players)) % players
        own_first = self.cards[np.arange(len(obs))[:, None], order].reshape(len(obs), -1)
        return np.concatenate([obs, np.pad(own_first, ((0, 0), (0, -own_first.shape[1] % 8)))], 1)

    def act(self, actions: NDArray[np.integer[Any]]) -> None:
        """Take the next moves of all games, if observations will not show them."""
        if not self.has_partner:
            return
        games, seat = np.arange(len(actions)), self.seat
        hand_size, colors = self.variant.hand_size, self.variant.colors
        hint = actions - 2 * hand_size  # after the discards and plays of each slot
        by_color = (hint >= 0) & (hint < colors)
        of_color = self.partner_hand[games, :, hint.clip(0, colors - 1)].any(2)
        of_rank = self.partner_hand[games, :, :, (hint - colors).clip(0)].any(2)
        touched = np.where(by_color[:, None], of_color, of_rank) & (hint >= 0)[:, None]
        left = np.where(hint < 0, actions % hand_size, -1)
        self.move(seat, left, (seat + 1) % 2, touched.astype(np.uint8), by_color.astype(np.uint8))

    def move(self, actor: Any, left: Any, target: Any, touched: Any, by_color: Any) -> None:
        """Let a turn pass in each game: the slot that a card left, or -1, and what a hint touched in which hand."""
        games, ago = np.arange(len(left)), self.cards[..., 0]
        ago[(ago & 31 > 0) & (ago & 31 < 31)] += 1
        for game in np.flatnonzero(left >= 0):  # the cards after it move down
            hand = self.cards[game, actor[game]]
            hand[left[game] : -1] = hand[left[game] + 1 :]
            hand[-1] = 0
        place = np.zeros(touched.shape, np.uint8)
        place[games, touched.shape[1] - 1 - touched[:, ::-1].argmax(1)] |= 1
        place[games, touched.argmax(1)] |= 2
        hands = self.cards[games, target]
        hands[..., 0] = np.where(touched, 1 + 32 * by_color[:, None], hands[..., 0])
        hands[..., 1] = np.where(touched, place, hands[..., 1])
        self.cards[games, target] = hands


class MemoryColors(Unsaved, ColorNetwork):
    """The network by colour with what earlier hints touched, in the row of what belongs to no colour."""

    AGES = (1, 2, 3, 4, 6, 9, 31)  # the last turn of each class
    has_partner = False  # whether a bot plays the other seat

    def __init__(self, *rules: Any, **settings: Any) -> None:
        super().__init__(*rules, **settings)
        self.bytes = -(-self.features // 64) * 8
        self.count = self.players * self.variant.hand_size
        self.features = 8 * (self.bytes + -(-2 * self.count // 8) * 8)
        width, extra = self.hidden[0], self.count * (len(self.AGES) + 3)
        rest = len(self.color_features.rest) + extra
        self.color_rest, self.rest = (orthogonal(nn.Linear(rest, width), 2**0.5) for _ in range(2))

    def read(self, bits: Tensor | NDArray[np.uint8]) -> Tensor:
        """The features, and one-hot ages, colour or not, newest and oldest of each card."""
        given = torch.as_tensor(bits)
        cards = given[:, self.bytes : self.bytes + 2 * self.count].view(len(given), self.count, 2)
        age, place = cards[..., 0] & 31, cards[..., 1]
        starts = (1, *(last + 1 for last in self.AGES[:-1]))
        classes: list[Tensor] = [(age >= first) & (age <= last) for first, last in zip(starts, self.AGES, strict=True)]
        marks = torch.stack([*classes, cards[..., 0] >= 32, place & 1 > 0, place & 2 > 0], 2).flatten(1)
        features = self.color_features.read(given[:, : self.bytes].contiguous(), self.matmul_dtype)
        return torch.cat([features, marks.to(self.matmul_dtype)], 1)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Take weights, also those of a network without memory (`--start`), with zeros for what it lacks."""
        whole = {name: torch.zeros_like(own) for name, own in self.state_dict().items()}
        for name, given in state_dict.items():
            whole[name][tuple(slice(size) for size in given.shape)] = given
        return super().load_state_dict(whole, strict, assign)


class MemoryBatch:
    """A batch whose observations have the bytes of `HintMemory`."""

    def __init__(self, batch: Any, memory: HintMemory) -> None:
        self.batch, self.memory = batch, memory
        now = batch.observe()
        self.last: dict[str, Any] = now | {"obs": memory.read(now)}

    def observe(self) -> dict[str, Any]:
        """What the last step showed."""
        return self.last

    def step(self, actions: Any) -> dict[str, Any]:
        """Step all games."""
        self.memory.act(np.asarray(actions))
        after = self.batch.step(actions)
        self.last = after | {"obs": self.memory.read(after)}
        return self.last

    def __getattr__(self, name: str) -> Any:
        """What else a batch has, without the memory."""
        return getattr(self.batch, name)


class Remembering(ModulePolicy):
    """A network with memory as a player, which is asked for all games that go on in every turn."""

    module: MemoryColors

    def reset(self, games: NDArray[Any], seats: NDArray[Any]) -> None:
        """Begin all games."""
        network = self.module
        self.hints = HintMemory(network.variant, network.encoder, int(games.max()) + 1, network.has_partner)

    def act_batch(self, turns: Turns) -> NDArray[Any]:
        """The actions, given the observations and what hints said; the rows of ended games are zeros."""
        games = len(self.hints.seat)
        obs, seat = np.zeros((games, turns.obs.shape[1]), np.uint8), np.zeros(games, np.int64)
        obs[turns.game], seat[turns.game] = turns.obs, turns.seat
        seen, actions = self.hints.read({"obs": obs, "current_player": seat}), np.zeros(games, np.int64)
        chosen = super().act_batch(replace(turns, obs=seen[turns.game]))
        actions[turns.game] = chosen
        self.hints.act(actions)
        return chosen


def player(network: ActorCritic, sampled: bool = False) -> ModulePolicy:
    """The network as a player, with its memory if it has one."""
    return (Remembering if isinstance(network, MemoryColors) else ModulePolicy)(network, sampled=sampled)


class Control(PPO):
    """PPO with one of the networks in place of the network by colour."""

    def __init__(self, args: ControlArgs) -> None:
        has_partner = args.partners is not None
        if args.control == "memory" and has_partner and args.players != 2:
            what = f"players={args.players} is not allowed with --control memory and a partner"
            raise starmine.StarmineError(f"{what}: expected 2")

        def network(variant: Any, encoder: str, hidden: Any, matmul_dtype: torch.dtype) -> ActorCritic:
            if args.control == "flat-exact":
                return FlatExact(variant, encoder, matmul_dtype)
            if args.control == "raw-colors":
                return RawColors(variant, encoder, matmul_dtype=matmul_dtype)
            found = MemoryColors(variant, encoder, matmul_dtype=matmul_dtype)
            found.has_partner = has_partner
            return found

        def batch(variant: Any, num_envs: int, **settings: Any) -> Any:
            found = Batch(variant, num_envs, **settings)
            memory = HintMemory(variant, args.encoder, num_envs, has_partner)
            return MemoryBatch(found, memory) if args.control == "memory" else found

        with patch.object(ppo, "ColorNetwork", network), patch.object(games, "Batch", batch):
            super().__init__(args)


def main(args: ControlArgs) -> None:
    """Train and evaluate."""
    with patch.object(ppo, "network_player", player):
        ppo.train("ppo", Control(args))


if __name__ == "__main__":
    command_line(main, ControlArgs)
