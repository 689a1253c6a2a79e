"""starmine.training's games whose seats see different colours and each other's greedy moves."""

import numpy as np
import pytest
import torch

import starmine
from starmine.data.colors import permute_actions, permute_colors
from starmine.games.endings import defeats
from starmine.games.trajectories import Trajectories
from starmine.torch import LastMoves
from starmine.training import SeatGames, draw_deals, other_colors, padded_turns, replay_seats

VARIANTS = [
    starmine.variant("small"),
    starmine.variant("standard", players=3, random_start_player=True),
    starmine.variant("avalanche", players=4),
    starmine.variant("timed-display"),
]
by_variant = pytest.mark.parametrize("variant", VARIANTS, ids=str)


def random_legal(rng, mask):
    return (rng.random(mask.shape) * mask).argmax(1)


def play(variant, games=12, permuted=True, explored=0.5):
    """Random games; of each turn what the seats to act saw, and the games."""
    rng, generator = np.random.default_rng(0), torch.Generator().manual_seed(0)
    table = SeatGames(variant, games, permuted=permuted)
    colors = other_colors(variant, 5, np.arange(games)) if permuted else None
    outputs, seen = table.deal(*draw_deals(variant, games, generator), colors), []
    while table.running.any():
        greedy = random_legal(rng, outputs["action_mask"])
        action = np.where(rng.random(games) < explored, random_legal(rng, outputs["action_mask"]), greedy)
        seen.append((table.running, outputs, action))
        outputs = table.step(action, greedy)
    return table.played(), seen


@by_variant
def test_decks_hold_the_variants_cards_in_random_order(variant):
    decks, starts = draw_deals(variant, 50)
    copies = np.array(variant.copies).ravel()
    assert all(np.array_equal(np.bincount(deck, minlength=len(copies)), copies) for deck in decks)
    assert len(np.unique(decks, axis=0)) == 50
    assert set(starts.tolist()) == set(range(variant.players if variant.random_start_player else 1))


@by_variant
def test_one_seat_sees_the_colours_as_they_are(variant):
    colors = other_colors(variant, 3, np.arange(200))
    true = (colors == np.arange(variant.colors)).all(2)
    assert true.any(1).all()
    assert (true.argmax(1) == np.arange(200) % variant.players).mean() > 0.5
    assert np.array_equal(colors[17:20], other_colors(variant, 3, np.arange(17, 20)))
    copies = np.array(variant.copies)
    assert np.array_equal(copies[colors], np.broadcast_to(copies, (200, variant.players, *copies.shape)))
    assert len(np.unique(colors[:, 0], axis=0)) > (1 if variant.colors == 2 else 5)


@by_variant
def test_games_with_permuted_eyes_are_the_same_games(variant):
    """In true colours they are legal, and end as they ended for the seats."""
    games, seen = play(variant)
    replayed = games.trajectories.replay(["terminated", "current_player", "action_mask"])
    ended = replayed["terminated"].nonzero()[0]
    assert np.array_equal(ended, games.trajectories.offsets[1:] - 1)
    for game in range(len(games.lost)):
        state = games.trajectories.state(game)
        assert state.is_terminal
        assert (starmine.endings().index(state.ending) + 1 in defeats()) == games.lost[game]
    # What a seat saw is what it would see in the game with its colours.
    at = games.trajectories.offsets[:-1].copy()
    assert (games.colors != np.arange(variant.colors)).any()
    for running, outputs, action in seen:
        for game in running.nonzero()[0]:
            seat = int(outputs["current_player"][game])
            assert seat == replayed["current_player"][at[game]]
            own = permute_colors(games.trajectories[[game]], games.colors[game, seat])
            turn = at[game] - games.trajectories.offsets[game]
            assert own.actions[turn] == action[game]
            if turn % 7 == 3:
                state = own.state(0, int(turn))
                bits = np.unpackbits(outputs["obs"][game], bitorder="little")[: len(variant.layout())]
                assert np.array_equal(bits, state.encode(seat))
                assert np.array_equal(outputs["action_mask"][game], state.legal_action_mask())
            at[game] += 1
    assert np.array_equal(at, games.trajectories.offsets[1:])


@pytest.mark.parametrize("permuted", [False, True], ids=["true colours", "own colours"])
@by_variant
def test_a_replay_shows_what_the_seats_saw(variant, permuted):
    games, seen = play(variant, permuted=permuted)
    turns = padded_turns(games)
    assert turns.valid.sum() == len(games.greedy)
    for step, (running, outputs, action) in enumerate(seen):
        rows = torch.from_numpy(running)
        assert torch.equal(turns.valid[step], rows)
        seat = torch.from_numpy(outputs["current_player"]).long()
        assert torch.equal(turns.seat[step][rows], seat[rows])
        assert torch.equal(turns.action[step][rows], torch.from_numpy(action)[rows])
        assert torch.equal(turns.mask[step][rows], torch.from_numpy(outputs["action_mask"])[rows])
        for name, all_seats in (("obs", turns.obs), ("shown", turns.shown)):
            own = all_seats[step][torch.arange(len(seat)), seat]
            assert torch.equal(own[rows], torch.from_numpy(outputs[name])[rows])
    assert (turns.reward[~turns.valid] == 0).all()
    assert torch.equal(turns.lost.any(0), torch.from_numpy(games.lost))
    assert (turns.lost.sum(0) <= 1).all()


def last_move_bits(variant):
    layout = variant.layout()
    moves = np.zeros(len(layout), np.bool_)
    for section in layout:
        if section.name in LastMoves(variant).sections:
            moves[section.slice] = True
    return moves


@by_variant
def test_greedy_moves_are_shown_where_they_differ_and_nowhere_else(variant):
    games, _ = play(variant)
    turns = replay_seats(games)
    difference = np.unpackbits(turns["obs"] ^ turns["shown"], axis=2, bitorder="little")[..., : len(variant.layout())]
    assert not difference[..., ~last_move_bits(variant)].any()
    differs = games.trajectories.actions != games.greedy
    after = np.concatenate([[False], differs[:-1]])
    after[games.trajectories.offsets[:-1]] = False
    assert 0.1 < after.mean() < 0.9
    assert np.array_equal(difference.any(2), np.repeat(after[:, None], variant.players, 1))


@by_variant
def test_a_shown_move_is_encoded_as_one_that_was_made(variant):
    games, _ = play(variant, permuted=False)
    turns, moves = replay_seats(games), LastMoves(variant)
    later = np.setdiff1d(np.arange(len(games.greedy)), games.trajectories.offsets[:-1])
    actions = games.trajectories.actions.astype(np.int64)
    for seat in range(variant.players):
        offset = (turns["current_player"][later - 1] - seat) % variant.players
        other = moves.show(turns["obs"][later, seat], (actions[later - 1] + 1) % variant.num_actions, offset)
        assert (other != turns["obs"][later, seat]).any(1).all()
        assert np.array_equal(moves.show(other, actions[later - 1], offset), turns["obs"][later, seat])


def test_actions_name_the_permuted_colours():
    variant = starmine.variant("timed-display")
    permutation = np.array([[2, 0, 1, 4, 3]])
    names = ["red", "yellow", "green", "white", "blue"]
    renamed = {name: names[color] for name, color in zip(names, permutation[0], strict=True)}
    for action in range(variant.num_actions):
        meaning = variant.action_meaning(action)
        (found,) = permute_actions(variant, np.array([action]), permutation)
        words = [renamed.get(word, word) for word in meaning.split()]
        assert variant.action_meaning(int(found)) == " ".join(words)
        deal = Trajectories(variant, *draw_deals(variant, 1), np.array([action], np.uint8), np.array([0, 1]))
        assert permute_colors(deal, permutation).actions.tolist() == [found]
