"""The games of `examples/r2d2.py`, as each seat sees them on every turn, and its replay memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

import starmine
from starmine.data import color_permutations, permute_actions
from starmine.envs import points_lost
from starmine.training import Outputs

Array = NDArray[Any]


class Turn(NamedTuple):
    """What N games show before a turn.

    Attributes:
        obs: uint8 (N, players, bytes), packed bits, what each seat sees.
        shown: the same with the greedy move as the last move; only with SAD, else it is `obs`.
        legal: bool (N, players, A + 1). The last action is the no-op, the only one of a waiting seat.
        seat: int64 (N,), the seat to act.
        hands: int64 (N, players, hand), the cards as suit * ranks + rank, -1 for none; for the auxiliary loss.
    """

    obs: Tensor
    shown: Tensor
    legal: Tensor
    seat: Tensor
    hands: Tensor


class Sequences(NamedTuple):
    """N whole games, T turns long; the shorter ones are padded.

    Attributes:
        turns: what the seats see, (T, N, ...).
        action: int64 (T, N, players), of all seats; the no-op where they wait.
        reward: float32 (T, N), 0 after the end of a game.
        valid: bool (T, N), false after the end of a game.
    """

    turns: Turn
    action: Tensor
    reward: Tensor
    valid: Tensor


def joined(turns: Sequence[Turn], device: torch.device) -> Turn:
    """T turns as one, (T, N, ...), on a device."""
    return Turn(*(torch.stack(parts).to(device) for parts in zip(*turns, strict=True)))


class Game(NamedTuple):
    """A game that was played to its end: its number, its deal and its T moves, as `Games` takes them."""

    number: int
    deck: Array
    start_player: int
    actions: Array
    greedy: Array


class Games:
    """N games that are played to their ends side by side, each seat with colours of its own.

    By the rules, a game with permuted colours is as legal as the game itself. With other-play a batch for each seat
    plays the game in the seat's colours, and the seat sees this batch.

    Args:
        variant: the rules.
        num_envs: number of games, N.
        sad: whether turns show the greedy move.
        other_play: whether all seats but one see permuted colours.
        seed: of the permutations.

    Attributes:
        running: bool (N,), whether the game goes on.
        outputs: of a batch after the last turn. "terminated" is true for the games that ended in this turn. Outputs of
            ended games mean nothing.
    """

    def __init__(self, variant: starmine.Variant, num_envs: int, sad: bool, other_play: bool, seed: int) -> None:
        self.variant, self.sad, self.seed = variant, sad, seed
        settings: dict[str, Any] = {"dtype": "bits", "observers": "all", "extra_outputs": ["own_hand"], "seed": 0}
        seats = range(variant.players)
        self.batch_of = np.array(seats) if other_play else np.zeros(len(seats), np.int64)
        self.batches = [
            starmine.Batch(variant, num_envs, autoreset_mode="NextStep", **settings) for _ in set(self.batch_of)
        ]
        self.games = np.arange(num_envs)

    def deal(self, numbers: Array, decks: Array, start_players: Array) -> Turn:
        """Begin games.

        Args:
            numbers: integers (N,), of the games; the colours are a function of the seed and this number.
            decks: uint8 (N, deck_size), for each card suit * ranks + rank.
            start_players: uint8 (N,).
        """
        players, ranks, suits = self.variant.players, self.variant.ranks, decks // self.variant.ranks
        self.colors = np.tile(np.arange(self.variant.colors), (len(numbers), players, 1))
        if len(self.batches) > 1:
            for seat in range(players):
                permuted = color_permutations(self.variant, self.seed, numbers * players + seat)
                others = numbers % players != seat
                self.colors[others, seat] = permuted[others]
        seen = []
        for place, batch in enumerate(self.batches):
            own = np.take_along_axis(self.colors[:, place], suits.astype(np.int64), 1) * ranks + decks % ranks
            seen.append(batch.reset(decks=own.astype(np.uint8), start_players=start_players))
        self.running = np.ones(len(decks), np.bool_)
        return self._turn(seen, seen)

    def step(self, actions: Array, greedy: Array) -> Turn:
        """Play a turn of the running games.

        Args:
            actions: integers (N,), in the colours of the seats that act.
            greedy: integers (N,), what these seats would have played without exploration.

        Raises:
            IllegalActionError: an action is not legal.
        """
        inverse = np.argsort(self.colors[self.games, self.outputs["current_player"]], axis=1)
        true, wanted = (permute_actions(self.variant, moves, inverse) for moves in (actions, greedy))
        seen, shown = [], []
        for place, batch in enumerate(self.batches):
            colors, anything = self.colors[:, place], self.masks[place].argmax(1)  # ended games are dealt anew
            chosen, other = (
                np.where(self.running, permute_actions(self.variant, moves, colors), anything)
                for moves in (true, wanted)
            )
            if self.sad:  # as in SAD: the greedy move is made in a copy of the game
                shown.append(batch.copy().step(other))
            seen.append(batch.step(chosen))
        return self._turn(seen, shown or seen)

    def again(self, drawn: Sequence[Game], penalty: float, points_taken: float, device: torch.device) -> Sequences:
        """Play N games again.

        Args:
            drawn: the games.
            penalty: subtracted from the last reward of a lost game.
            points_taken: share of its points that a lost game takes back.
            device: of the sequences.
        """
        lengths = np.array([len(game.actions) for game in drawn])
        moves = np.zeros((2, lengths.max(), len(drawn)), np.int64)
        for place, game in enumerate(drawn):
            moves[:, : lengths[place], place] = game.actions, game.greedy
        numbers, decks, starts = (np.array(column) for column in list(zip(*drawn, strict=True))[:3])
        turns, rewards = [self.deal(numbers, decks, starts.astype(np.uint8))], []
        for action, greedy in zip(*moves, strict=True):
            turns.append(self.step(action, greedy))
            rewards.append(self.outputs["reward"] - points_lost(self.outputs, penalty, points_taken))
        seen, running = joined(turns[:-1], device), np.arange(len(rewards))[:, None] < lengths
        earned = (np.stack(rewards) * running).astype(np.float32)
        played, reward, valid = (torch.from_numpy(array).to(device) for array in (moves[0], earned, running))
        action = torch.where(seen.legal[..., -1], self.variant.num_actions, played[:, :, None])
        return Sequences(seen, action, reward, valid)

    def _turn(self, seen: Sequence[Outputs], shown: Sequence[Outputs]) -> Turn:
        """The next turn, from the outputs of the batches."""
        self.outputs, self.masks = dict(seen[0]), [outputs["action_mask"] for outputs in seen]
        self.outputs["terminated"] = self.running & self.outputs["terminated"]
        self.running = self.running & ~self.outputs["terminated"]
        seat, players = self.outputs["current_player"].astype(np.int64), self.variant.players
        legal = np.zeros((len(seat), players, self.variant.num_actions + 1), np.bool_)
        legal[:, :, -1] = seat[:, None] != np.arange(players)
        legal[self.games, seat, :-1] = np.stack(self.masks)[self.batch_of[seat], self.games]
        return Turn(
            obs=self._of_seats(seen, "obs"),
            shown=self._of_seats(shown, "obs"),
            legal=torch.from_numpy(legal),
            seat=torch.from_numpy(seat),
            hands=self._of_seats(seen, "own_hand").long(),
        )

    def _of_seats(self, outputs: Sequence[Outputs], name: str) -> Tensor:
        """An output of all seats, each from its own batch."""
        found = [outputs[batch][name][:, seat] for seat, batch in enumerate(self.batch_of)]
        return torch.from_numpy(np.stack(found, 1))


class Replay:
    """The latest games, of which those with large errors are drawn more often (Schaul et al., 2015, proportional).

    New games have the largest priority of all, so that each is soon drawn.

    Args:
        capacity: number of games; then the oldest is replaced.
        alpha: 0 to draw all games alike, 1 to draw them by their priorities.
        beta: of the weights that make up for it; 1 makes up for it in full.
    """

    def __init__(self, capacity: int, alpha: float, beta: float) -> None:
        self.alpha, self.beta, self.games, self.added = alpha, beta, list[Game](), 0
        self.priorities = torch.zeros(capacity, dtype=torch.float64)

    def add(self, game: Game) -> None:
        """Keep a game."""
        place = self.added % len(self.priorities)
        self.games[place : place + 1] = [game]
        self.priorities[place] = self.priorities.max() if self.added else 1.0
        self.added += 1

    def sample(self, count: int) -> tuple[Tensor, list[Game], Tensor]:
        """Draw games with replacement.

        Returns:
            Their places int64 (count,), for `priorities`; the games; and their weights in a loss, float32 (count,):
            (number of games * probability) ** -beta, divided by the largest.
        """
        # A sum tree would find the games faster, by less than a thousandth of what learning from them takes.
        shares = self.priorities[: len(self.games)] ** self.alpha
        place = torch.multinomial(shares, count, replacement=True)
        weights = (len(self.games) * shares[place] / shares.sum()) ** -self.beta
        return place, [self.games[index] for index in place], (weights / weights.max()).float()

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        moves = [torch.from_numpy(np.stack([game.actions, game.greedy])) for game in self.games]
        dealt = [torch.from_numpy(game.deck) for game in self.games]
        return {
            "numbers": torch.tensor([[game.number, game.start_player] for game in self.games]).reshape(-1, 2),
            "decks": torch.stack(dealt) if dealt else torch.zeros(0),
            "lengths": [part.shape[1] for part in moves],
            "moves": torch.cat(moves, 1) if moves else torch.zeros(2, 0),
            "priorities": self.priorities.clone(),
            "added": self.added,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        moves = state["moves"].split(state["lengths"], 1)
        rows = zip(state["numbers"].tolist(), state["decks"], moves, strict=True)
        self.games = [Game(number, deck.numpy(), start, *part.numpy()) for (number, start), deck, part in rows]
        self.priorities, self.added = state["priorities"].clone(), state["added"]
