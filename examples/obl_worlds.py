"""The games of `examples/obl.py`, their fictitious worlds, and the seats' beliefs in the policy of the level below."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import starmine
from starmine.games import check_variant
from starmine.policies import TrainedPolicy
from starmine.training import Outputs


class LevelBelow:
    """A policy that makes its best move, or with probability epsilon a random legal one.

    Raises:
        StarmineError: it has other rules, another encoder, or hidden states, or epsilon is not above 0 and at most 1.
    """

    def __init__(self, name: str, variant: starmine.Variant, encoder: str, epsilon: float) -> None:
        policy, self.epsilon = starmine.load_policy(name), epsilon
        check_variant(policy, variant)
        if not isinstance(policy, TrainedPolicy) or policy.recurrent or policy.encoder != encoder:
            expected = f"expected a policy of Starmine without memory, with encoder={encoder!r}"
            raise starmine.StarmineError(f"below={name!r}: {expected}")
        if not 0 < epsilon <= 1:
            raise starmine.StarmineError(f"below_epsilon={epsilon} is not allowed: expected above 0, at most 1")
        method = str(policy.about.get("method"))
        self.level = int(method[4:]) if re.fullmatch(r"OBL-\d", method) else 1
        self.network = policy.network()

    @torch.no_grad()
    def log_probs(self, outputs: Outputs, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The log probabilities (n,) of the actions (n,) in some games."""
        mask = torch.from_numpy(outputs["action_mask"][rows])
        best = self.network(self.network.read(outputs["obs"][rows]), mask)[0].argmax(1).numpy()
        random = self.epsilon / mask.sum(1).numpy()
        found: NDArray[np.float64] = np.log(random + (1 - self.epsilon) * (best == actions))
        return found


class Tables:
    """N games that are played to their ends side by side, and a fictitious world of each.

    Args:
        variant: the rules.
        num_envs: number of games, N.
        encoder: of the observations, packed bits.
        below: the level below; None for level 0.
        candidates: worlds of which one is kept by the moves of the level below.

    Attributes:
        running: bool (N,), whether the game goes on.
        worlds: a batch with the fictitious worlds.
    """

    def __init__(
        self,
        variant: starmine.Variant,
        num_envs: int,
        encoder: str = "canonical",
        below: LevelBelow | None = None,
        candidates: int = 1,
    ) -> None:
        # What ended games play is of no matter, but may be illegal.
        settings: dict[str, Any] = {"encoder": encoder, "dtype": "bits", "illegal_action": "terminate", "seed": 0}
        self.variant, self.running = variant, np.zeros(num_envs, np.bool_)
        self.games, self.worlds = (starmine.Batch(variant, num_envs, **settings) for _ in range(2))
        self.below, self.count = below, 1 if below is None else candidates
        self.candidates = starmine.Batch(variant, num_envs * self.count, **settings)
        self.slots = [variant.move(action).slot for action in range(variant.num_actions)]

    def deal(self, decks: NDArray[np.uint8], start_players: NDArray[np.uint8]) -> Outputs:
        """Begin games with decks (N, deck_size); the outputs of a batch."""
        outputs = self.games.reset(decks=decks, start_players=start_players)
        nothing = np.zeros(0, np.uint8)
        dealt = starmine.Trajectories(self.variant, decks, start_players, nothing, np.zeros(len(decks) + 1, np.int64))
        self.states = [dealt.state(game) for game in range(len(decks))]
        size, players = self.variant.hand_size, self.variant.players
        hands = [list(range(seat * size, (seat + 1) * size)) for seat in range(players)]
        self.places = [[list(hand) for hand in hands] for _ in decks]  # in the deck, of the cards of each hand
        self.decks, self.start_players, self.running = decks, start_players, np.ones(len(decks), np.bool_)
        self.actions: list[NDArray[np.int64]] = []
        return outputs

    def step(self, actions: NDArray[np.int64]) -> Outputs:
        """Play a turn of the running games; "terminated" is true for those that ended in it."""
        outputs = self.games.step(actions)
        for game in np.flatnonzero(self.running).tolist():
            action, state = int(actions[game]), self.states[game]
            hand, left, slot = self.places[game][state.current_player], state.deck_size, self.slots[action]
            state.apply(action)
            if slot is not None:
                del hand[slot]
            if state.deck_size < left:
                hand.append(self.variant.deck_size - left)
        self.actions.append(actions)
        outputs["terminated"] = outputs["terminated"] & self.running
        self.running = self.running & ~outputs["terminated"]
        return outputs

    def redraw(self, count: int = 1) -> NDArray[np.uint8]:
        """Decks (count * N, size) with what the acting seats cannot see, drawn anew from their belief in level 0."""
        games, size = self.decks.shape
        decks, keys = np.tile(self.decks, (count, 1)), torch.rand(count * games, size).numpy()
        hidden, place = np.zeros((games, size), np.bool_), np.arange(size)
        seeds = torch.randint(2**62, (games,)).tolist()
        hands = np.zeros((count, games, self.variant.hand_size), np.uint8)
        places = np.full(hands.shape[1:], -1)
        for game in np.flatnonzero(self.running).tolist():
            state = self.states[game]
            own, next_card = self.places[game][state.current_player], size - state.deck_size
            hands[:, game, : len(own)] = state.view(state.current_player).sample_hands(count, seeds[game])
            places[game, : len(own)], hidden[game, own] = own, True
            hidden[game, next_card:] = True
            keys[game::games, :next_card] = place[:next_card] - size  # the cards that were dealt keep their places
        places, hidden = np.tile(places, (count, 1)), np.tile(hidden, (count, 1))
        for slot in range(self.variant.hand_size):  # the card that was drawn changes places with the own one
            rows = np.flatnonzero(places[:, slot] >= 0)
            own, wanted = places[rows, slot], hands.reshape(len(decks), -1)[rows, slot]
            found = (hidden[rows] & (decks[rows] == wanted[:, None])).argmax(1)
            decks[rows, found], decks[rows, own] = decks[rows, own], wanted
            hidden[rows, own] = False
        order = np.where(np.tile(self.running, count)[:, None], keys.argsort(1), place)
        return np.take_along_axis(decks, order, 1)

    def weigh(self, decks: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The log probabilities (candidates * N,) of the other seats' moves in worlds with these decks."""
        assert self.below is not None
        found, running = np.zeros(len(decks)), np.tile(self.running, self.count)
        seat = np.tile([state.current_player for state in self.states], self.count)
        outputs = self.candidates.reset(decks=decks, start_players=np.tile(self.start_players, self.count))
        for actions in self.actions:
            played = np.tile(actions, self.count)
            rows = np.flatnonzero(running & (outputs["current_player"] != seat))
            if len(rows):
                found[rows] += self.below.log_probs(outputs, rows, played[rows])
            outputs = self.candidates.step(played)
        return found

    def believe(self) -> NDArray[np.uint8]:
        """Decks (N, size) of worlds, drawn from the acting seats' belief in the level below."""
        decks = self.redraw(self.count)
        if self.below is None:
            return decks
        weights = torch.from_numpy(self.weigh(decks)).view(self.count, -1)
        chosen = (weights - torch.empty_like(weights).exponential_().log()).argmax(0).numpy()
        found: NDArray[np.uint8] = decks.reshape(self.count, *self.decks.shape)[chosen, np.arange(len(chosen))]
        return found

    def imagine(self, decks: NDArray[np.uint8]) -> None:
        """Bring the fictitious worlds, with these decks, to the turn of the games."""
        self.worlds.reset_into(decks=decks, start_players=self.start_players)
        for actions in self.actions:
            self.worlds.step_into(actions)
