"""Games whose seats see different colours, for other-play, and each other's greedy moves, for SAD."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from starmine._core import Batch, Variant
from starmine._util.equality import equal_by_value
from starmine.data.colors import color_permutations, permute_actions, permute_colors
from starmine.games.endings import defeats
from starmine.games.trajectories import Trajectories
from starmine.torch import LastMoves
from starmine.training.evaluation import Outputs
from starmine.training.replay import PlayedGames


def draw_deals(
    variant: Variant, games: int, generator: torch.Generator | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Draw decks uint8 (games, deck_size) and start players uint8 (games,).

    Args:
        variant: the rules.
        games: number of games.
        generator: of the draws; None for torch's default generator.
    """
    copies = np.array(variant.copies).ravel()
    cards = np.repeat(np.arange(len(copies), dtype=np.uint8), copies)
    order = torch.rand(games, len(cards), dtype=torch.float64, generator=generator).argsort(dim=1, stable=True)
    seats = variant.players if variant.random_start_player else 1
    return cards[order.numpy()], torch.randint(seats, (games,), generator=generator).numpy().astype(np.uint8)


def _own_colors(variant: Variant, games: int) -> NDArray[np.uint8]:
    """The colours of seats that all see them as they are: uint8 (games, players, colors)."""
    return np.broadcast_to(np.arange(variant.colors, dtype=np.uint8), (games, variant.players, variant.colors))


def other_colors(variant: Variant, seed: int, games: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """Colours for other-play (Hu et al., 2020): one seat sees them as they are, each other seat in its own permutation.

    Args:
        variant: the rules. A suit with copies of its own stays in its place.
        seed: from 0 to 2**64 - 1.
        games: integers (G,), numbers of the games. The colours are a function of the seed and this number.

    Returns:
        uint8 (G, players, C): the seat sees the suit s as `colors[game, seat, s]`.
    """
    players = variant.players
    seats = (games[:, None] * players + np.arange(players)).ravel()
    colors = color_permutations(variant, seed, seats).reshape(len(games), players, variant.colors)
    colors[np.arange(len(games)), games % players] = np.arange(variant.colors)
    return colors


@equal_by_value
class SeatTurns(NamedTuple):
    """B games, padded to the T turns of the longest: the others repeat their last turn.

    Attributes:
        obs, shown: uint8 (T, B, players, bytes), what the seats saw in their colours: with the last moves that were
            made, and with the greedy ones.
        mask: bool (T, B, A), the legal actions in the colours of the seat to act.
        action: int64 (T, B), in these colours.
        seat: int64 (T, B), who acted.
        reward: float32 (T, B), 0 after the end of a game.
        lost: bool (T, B), whether the turn lost the game.
        valid: bool (T, B), false after the end of a game.
    """

    obs: Tensor
    shown: Tensor
    mask: Tensor
    action: Tensor
    seat: Tensor
    reward: Tensor
    lost: Tensor
    valid: Tensor


class SeatGames:
    """N games that are played to their ends side by side, each seat with colours of its own, and recorded.

    By the rules, a game with permuted colours is as legal as the game itself. So a batch for each seat plays the game
    in the seat's colours, and what the seat sees is what it would see in that game: exactly, whatever the encoder.

    Args:
        variant: the rules.
        num_envs: number of games, N.
        encoder: of the observations, packed bits.
        permuted: whether seats may see different colours; else one batch is enough.

    Attributes:
        running: bool (N,), whether the game goes on.
    """

    def __init__(self, variant: Variant, num_envs: int, encoder: str = "canonical", permuted: bool = False) -> None:
        self.variant, self.running = variant, np.zeros(num_envs, np.bool_)
        batches = variant.players if permuted else 1
        self._batches = [Batch(variant, num_envs, encoder=encoder, dtype="bits", seed=0) for _ in range(batches)]
        self._seen = [batch.observe() for batch in self._batches]
        self._moves, self._games = LastMoves(variant, encoder), np.arange(num_envs)

    def deal(
        self, decks: NDArray[np.uint8], start_players: NDArray[np.uint8], colors: NDArray[np.uint8] | None = None
    ) -> Outputs:
        """Begin a game everywhere.

        Args:
            decks: uint8 (N, deck_size), for each card suit * ranks + rank.
            start_players: uint8 (N,).
            colors: uint8 (N, players, C): the seat sees the suit s as `colors[game, seat, s]`. None for games in
                which all seats see the suits as they are.

        Returns:
            As `step`.

        Raises:
            DeckError, ArrayError: a deck or a permutation is none of the variant's.
        """
        colors = _own_colors(self.variant, len(decks)) if colors is None else colors
        nothing = Trajectories(self.variant, decks, start_players, np.zeros(0, np.uint8), np.zeros(len(decks) + 1, int))
        for seat, batch in enumerate(self._batches):
            seen = permute_colors(nothing, colors[:, seat]).decks
            self._seen[seat] = batch.reset(decks=seen, start_players=start_players)
        self._deal, self._colors = (decks, start_players), colors
        self._turns: list[tuple[NDArray[Any], ...]] = []
        self.running, self._lost = np.ones(len(decks), np.bool_), np.zeros(len(decks), np.bool_)
        outputs = self._outputs()
        return outputs | {"shown": outputs["obs"]}

    def step(self, actions: NDArray[np.integer[Any]], greedy: NDArray[np.integer[Any]]) -> Outputs:
        """Play a turn of the running games.

        Args:
            actions: integers (N,), what is played, in the colours that the seats to act see.
            greedy: integers (N,), what they would have played without exploration.

        Returns:
            The outputs of a batch, of which "obs" and "action_mask" are in the colours of the next seat to act, and
            "shown", observations whose last moves are the greedy ones. "terminated" is true for the games that ended
            in this turn; the observations of ended games mean nothing.

        Raises:
            IllegalActionError: an action is not legal; the games cannot be played on.
        """
        seat = self._seen[0]["current_player"]
        inverse = np.argsort(self._colors[self._games, seat], axis=1)
        true, wanted = (permute_actions(self.variant, moves, inverse) for moves in (actions, greedy))
        self._turns.append((self.running, true, wanted))
        for eye, batch in enumerate(self._batches):
            chosen = permute_actions(self.variant, true, self._colors[:, eye])
            anything = self._seen[eye]["action_mask"].argmax(1)  # the batch deals on where a game has ended
            self._seen[eye] = batch.step(np.where(self.running, chosen, anything))
        outputs = self._outputs()
        outputs["terminated"] = self.running & outputs["terminated"]
        self._lost |= outputs["terminated"] & np.isin(outputs["final_ending"], defeats())
        self.running = self.running & ~outputs["terminated"]
        observer = outputs["current_player"]
        shown = permute_actions(self.variant, wanted, self._colors[self._games, observer])
        outputs["shown"] = self._moves.show(outputs["obs"], shown, (seat - observer) % self.variant.players)
        return outputs

    def played(self) -> PlayedGames:
        """The games so far, in true colours."""
        running, actions, greedy = (np.stack(column, 1) for column in zip(*self._turns, strict=True))
        offsets = np.concatenate([[0], np.cumsum(running.sum(1))])
        moves = actions[running].astype(np.uint8)
        trajectories = Trajectories(self.variant, *self._deal, moves, offsets)
        return PlayedGames(trajectories, greedy[running].astype(np.uint8), self._lost, self._colors)

    def _outputs(self) -> Outputs:
        """What the seats to act see."""
        outputs = dict(self._seen[0])
        if len(self._batches) > 1:
            for name in ("obs", "action_mask"):
                outputs[name] = np.stack([seen[name] for seen in self._seen])[outputs["current_player"], self._games]
        return outputs


def replay_seats(games: PlayedGames, encoder: str = "canonical") -> Outputs:
    """What all seats saw of games, in their colours.

    Args:
        games: G games of T turns in all.
        encoder: of the observations.

    Returns:
        "obs" and "shown" uint8 (T, players, bytes), of all seats, with the last moves that were made, and with the
        greedy ones; in the colours of the seat to act "action_mask" bool (T, A) and "action" int64 (T,);
        "current_player" and "reward" (T,).

    Raises:
        StarmineError: an action is not legal, or follows the end of its game.
    """
    players, colors = games.colors.shape[1:]
    asked = ["obs", "action_mask", "current_player", "reward"]
    found: Outputs = {}
    for seat in range(players if (games.colors != np.arange(colors)).any() else 1):
        seen = permute_colors(games.trajectories, games.colors[:, seat])
        turns = seen.replay(asked, encoder=encoder, dtype="bits", observers="all")
        turns["action"] = seen.actions.astype(np.int64)
        found = found or turns
        found["obs"][:, seat], acts = turns["obs"][:, seat], turns["current_player"] == seat
        for name in ("action_mask", "action"):
            found[name][acts] = turns[name][acts]
    return found | {"shown": _with_greedy_moves(games, found, encoder)}


def _with_greedy_moves(games: PlayedGames, turns: Outputs, encoder: str) -> NDArray[np.uint8]:
    """The observations, with the greedy last moves."""
    variant, played = games.trajectories.variant, games.trajectories
    shown, moves = turns["obs"].copy(), LastMoves(variant, encoder)
    colors = np.repeat(games.colors, played.lengths, axis=0)[1:]
    for seat in range(variant.players):
        last = permute_actions(variant, games.greedy[:-1], colors[:, seat])
        offset = (turns["current_player"][:-1] - seat) % variant.players
        shown[1:, seat] = moves.show(shown[1:, seat], last, offset)
    first = played.offsets[:-1]
    shown[first] = turns["obs"][first]  # no move came before
    return shown


def padded_turns(games: PlayedGames, encoder: str = "canonical") -> SeatTurns:
    """The turns of games beside each other, as a recurrent network needs them; each game has a turn at least.

    Args:
        games: B games.
        encoder: of the observations.

    Raises:
        StarmineError: an action is not legal, or follows the end of its game.
    """
    offsets, seen = games.trajectories.offsets, replay_seats(games, encoder)
    turn, lengths = np.arange(np.diff(offsets).max())[:, None], np.diff(offsets)
    places, valid = np.minimum(offsets[:-1] + turn, offsets[1:] - 1), torch.from_numpy(turn < lengths)
    found = {name: torch.from_numpy(array[places]) for name, array in seen.items()}
    return SeatTurns(
        obs=found["obs"],
        shown=found["shown"],
        mask=found["action_mask"],
        action=found["action"],
        seat=found["current_player"].long(),
        reward=found["reward"] * valid,
        lost=torch.from_numpy((turn == lengths - 1) & games.lost),
        valid=valid,
    )
