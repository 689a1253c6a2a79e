"""starmine.training's replay memory of games."""

import numpy as np
import pytest
import torch

import starmine
from starmine import StarmineError
from starmine.games.trajectories import Trajectories
from starmine.training import GameReplay, PlayedGames

SMALL = starmine.variant("small", players=3)


def played(lengths, first=0):
    """Games of these lengths, whose arrays are filled with numbers that tell them apart; they cannot be played."""
    count, turns = len(lengths), sum(lengths)
    numbers = np.arange(first, first + count, dtype=np.uint8)
    decks = np.repeat(numbers[:, None], SMALL.deck_size, 1)
    moves = np.repeat(numbers, lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    colors = np.tile(numbers[:, None, None], (1, SMALL.players, SMALL.colors))
    trajectories = Trajectories(SMALL, decks, numbers % 3, moves, offsets)
    return PlayedGames(trajectories, (moves + np.arange(turns)).astype(np.uint8), numbers % 2 == 1, colors)


def numbers(games):
    return games.trajectories.decks[:, 0].tolist()


def test_games_come_back_as_they_were_added():
    replay = GameReplay(SMALL, 10)
    lengths = [3, 1, 60, 7]
    games = played(lengths)
    replay.add(games)
    place, found, _ = replay.sample(50, torch.Generator().manual_seed(0))
    assert set(place.tolist()) == {0, 1, 2, 3}
    wanted = games.trajectories
    for row, game in enumerate(place.tolist()):
        turns = slice(*found.trajectories.offsets[row : row + 2])
        expected = slice(*wanted.offsets[game : game + 2])
        assert found.trajectories.actions[turns].tolist() == wanted.actions[expected].tolist()
        assert found.greedy[turns].tolist() == games.greedy[expected].tolist()
        assert found.trajectories.start_players[row] == wanted.start_players[game]
        assert found.lost[row] == games.lost[game]
        assert np.array_equal(found.colors[row], games.colors[game])
        assert np.array_equal(found.trajectories.decks[row], wanted.decks[game])


def test_the_oldest_games_are_replaced():
    replay = GameReplay(SMALL, 5)
    for first in range(0, 12, 3):
        replay.add(played([2, 3, 4], first))
        assert len(replay) == min(5, first + 3)
    _, found, _ = replay.sample(200, torch.Generator().manual_seed(0))
    assert set(numbers(found)) == {7, 8, 9, 10, 11}


@pytest.mark.parametrize("alpha", [0.0, 0.9])
def test_games_are_drawn_by_their_priorities(alpha):
    replay = GameReplay(SMALL, 40, alpha=alpha, beta=0.6)
    replay.add(played([2] * 20))
    priorities = torch.arange(1, 21, dtype=torch.float64) / 7
    replay.set_priorities(torch.arange(20), priorities)
    shares = priorities**alpha / (priorities**alpha).sum()
    draws = 20_000
    place, _, weights = replay.sample(draws, torch.Generator().manual_seed(1))
    expected = draws * shares
    chi_square = ((place.bincount(minlength=20) - expected) ** 2 / expected).sum()
    assert chi_square < 43.8  # exceeded once in a thousand times with 19 degrees of freedom
    wanted = (20 * shares[place]) ** -0.6
    assert torch.allclose(weights.double(), wanted / wanted.max(), atol=1e-6)


def test_new_games_have_the_largest_priority():
    replay = GameReplay(SMALL, 8, alpha=1.0)
    replay.add(played([1, 1]))
    replay.set_priorities(torch.tensor([0, 1]), torch.tensor([1e-6, 9.0]))
    replay.set_priorities(torch.tensor([1]), torch.tensor([1e-6]))
    replay.add(played([1], first=2))
    place, _, _ = replay.sample(100, torch.Generator().manual_seed(2))
    assert place.tolist() == [2] * 100


def test_a_state_goes_on_to_the_same_games():
    replay, other = (GameReplay(SMALL, 6) for _ in range(2))
    replay.add(played([90, 3, 5, 1]))
    replay.set_priorities(torch.tensor([1, 2]), torch.tensor([0.5, 30.0]))
    other.load_state_dict(replay.state_dict())
    for memory in (replay, other):
        memory.add(played([4, 4, 4], first=4))
    (place, games, weights), (same, others, their) = (
        memory.sample(64, torch.Generator().manual_seed(3)) for memory in (replay, other)
    )
    assert torch.equal(place, same)
    assert torch.equal(weights, their)
    assert np.array_equal(games.trajectories.actions, others.trajectories.actions)
    with pytest.raises(StarmineError, match="has capacity 6: expected 3"):
        GameReplay(SMALL, 3).load_state_dict(replay.state_dict())


@pytest.mark.parametrize("capacity", [5, 7])
def test_a_state_of_another_capacity_is_refused_also_before_it_is_full(capacity):
    replay, other = GameReplay(SMALL, 6), GameReplay(SMALL, capacity)
    replay.add(played([1, 2]))
    with pytest.raises(StarmineError, match=f"has capacity 6: expected {capacity}"):
        other.load_state_dict(replay.state_dict())
    assert len(other) == 0


def test_games_and_states_of_other_rules_are_refused():
    rules = starmine.Variant(**SMALL.parameters() | {"empty_hints": not SMALL.empty_hints})
    replay, other = GameReplay(SMALL, 6), GameReplay(rules, 6)
    replay.add(played([1, 2]))
    with pytest.raises(StarmineError, match=r"has games of .*: expected .*empty_hints"):
        other.load_state_dict(replay.state_dict())
    with pytest.raises(StarmineError, match=r"the games are of .*: expected .*empty_hints"):
        other.add(played([1, 2]))
    assert len(other) == 0


def test_what_is_wrong_is_named():
    with pytest.raises(StarmineError, match="capacity=0 is not allowed"):
        GameReplay(SMALL, 0)
    replay = GameReplay(SMALL, 2)
    with pytest.raises(StarmineError, match="no games"):
        replay.sample(1)
    with pytest.raises(StarmineError, match="3 games are too many"):
        replay.add(played([1, 1, 1]))
    assert len(replay) == 0
    replay.add(played([1]))
    for wrong in (0.0, float("nan"), float("inf")):
        with pytest.raises(StarmineError, match="a priority is not allowed"):
            replay.set_priorities(torch.tensor([0]), torch.tensor([wrong]))
