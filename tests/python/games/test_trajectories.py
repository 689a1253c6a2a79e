"""Recorded games are the games that were played, and their replay gives what was seen."""

import random

import numpy as np
import pytest
from random_variants import random_variant

import starmine

VARIANTS = [
    starmine.Variant(),
    starmine.Variant(players=5),
    starmine.variant("avalanche", players=3),
    starmine.variant("timed-display"),
    starmine.Variant(random_start_player=True, players=4),
]


class FirstLegal:
    """A bot in Python."""

    def act(self, view):
        return view.legal_actions()[0]


def recorded(players, **options):
    return starmine.play_games(players, record=True, **options)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("python", [False, True])
def test_recorded_games_have_the_recorded_results(variant, python):
    players = [FirstLegal if python and seat == 1 else "random" for seat in range(variant.players)]
    games = recorded(players, games=150, seed=4, variant=variant, first_game=7)
    kept = games.trajectories
    assert len(kept) == len(games)
    assert (kept.lengths == games.lengths).all()
    for index in range(0, 150, 7):
        dealt = variant.new_game(seed=4, game=7 + index)
        state = kept.state(index)
        assert state.deck == dealt.deck
        assert state.start_player == dealt.start_player
        assert state.score == games.scores[index]
        assert state.ending == starmine.endings()[games.endings[index] - 1]


def test_recorded_games_do_not_depend_on_threads():
    one, three = (recorded(["smart", "iggi"], games=500, num_threads=threads).trajectories for threads in (1, 3))
    assert all((array == three.to_dict()[name]).all() for name, array in one.to_dict().items())
    part = recorded(["smart", "iggi"], games=20, first_game=100).trajectories
    assert all((array == one[100:120].to_dict()[name]).all() for name, array in part.to_dict().items())


def test_games_are_recorded_only_where_it_is_asked_for():
    with pytest.raises(starmine.StarmineError, match="the games were not recorded: expected those of play_games"):
        _ = starmine.play_games(["random", "random"], games=5).trajectories


@pytest.mark.parametrize("seed", range(8))
def test_a_replay_gives_what_was_seen(seed, monkeypatch):
    monkeypatch.setattr("starmine.games.trajectories.AT_ONCE", 16)
    variant = random_variant(random.Random(seed))
    kept = recorded(["random"] * variant.players, games=40, seed=seed, variant=variant).trajectories
    replayed = kept.replay(["obs", "action_mask", "current_player", "score", "reward", "terminated"], dtype="uint8")
    everyone = kept.observations(dtype="uint8", observers="all")
    assert {len(array) for array in replayed.values()} == {len(kept.actions)}
    for game in range(40):
        first, end = kept.offsets[game : game + 2]
        for turn, place in enumerate(range(first, end)):
            state = kept.state(game, turn)
            seat = state.current_player
            assert (replayed["obs"][place] == state.view(seat).encode("canonical")).all()
            assert (everyone[place, seat] == replayed["obs"][place]).all()
            assert (np.flatnonzero(replayed["action_mask"][place]) == state.legal_actions()).all()
            assert (replayed["current_player"][place], replayed["score"][place]) == (seat, state.score)
            assert replayed["terminated"][place] == (place == end - 1)
        assert replayed["reward"][first:end].sum() == kept.state(game).score


@pytest.mark.parametrize(
    "chosen", [3, -1, slice(5, 2, -1), slice(0, 0), [4, 4, 0], np.array([1, 2]), np.arange(9) % 2 == 0], ids=str
)
def test_games_are_selected_as_by_numpy(chosen):
    kept = recorded(["random", "random"], games=9).trajectories
    some = kept[chosen]
    indices = np.atleast_1d(np.arange(9)[chosen])
    assert len(some) == len(indices)
    for position, index in enumerate(indices.tolist()):
        assert some.state(position).deck == kept.state(index).deck
        assert some.state(position).score == kept.state(index).score
    assert len(some.observations()) == len(some.actions) == some.lengths.sum()


def test_a_game_that_was_not_played_to_its_end_is_replayed():
    kept = recorded(["smart", "smart"], games=3).trajectories
    cut = starmine.Trajectories(
        kept.variant, kept.decks[:1], kept.start_players[:1], kept.actions[:10], np.array([0, 10])
    )
    assert (cut.observations() == kept.observations()[:10]).all()
    assert cut.state(0).ending is None


def test_wrong_games_are_refused_by_name():
    kept = recorded(["random", "random"], games=4).trajectories
    deck, actions = kept.decks.copy(), kept.actions.copy()
    for card in (25, 255):
        deck[2, 0] = card
        wrong = starmine.Trajectories(kept.variant, deck, kept.start_players, actions, kept.offsets)
        with pytest.raises(starmine.DeckError, match=rf"game 2: deck\[0\]={card}"):
            wrong.observations()
        with pytest.raises(starmine.DeckError, match=rf"deck\[0\]={card} is not a card"):
            wrong.state(2)
    place = kept.offsets[3] + 2
    actions[place] = 99
    wrong = starmine.Trajectories(kept.variant, kept.decks, kept.start_players, actions, kept.offsets)
    for played, name in [(wrong.observations, "game 3, turn 2: "), (lambda: wrong.state(3), "")]:
        with pytest.raises(starmine.IllegalActionError, match=f"^{name}action 99") as refused:
            played()
        assert (refused.value.count, refused.value.actions, refused.value.legal) == (1, [99], [[]])
        assert refused.value.rows == ([3] if name else [0])
    longer = np.concatenate([kept.actions, kept.actions[:1]])
    offsets = kept.offsets + np.array([0, 0, 0, 0, 1])
    with pytest.raises(starmine.IllegalActionError, match=rf"game 3, turn {kept.lengths[3]}: .*over"):
        starmine.Trajectories(kept.variant, kept.decks, kept.start_players, longer, offsets).replay()
    with pytest.raises(starmine.UnknownNameError, match="obs"):
        kept.replay(["ops"])
    with pytest.raises(starmine.StarmineError, match="game=4 is not allowed: expected 0 to 3"):
        kept.state(4)
    with pytest.raises(starmine.StarmineError, match="turn=999 is not allowed: expected 0 to"):
        kept.state(0, 999)


def test_an_abandoned_game_keeps_the_turns_that_were_played():
    class Fails:
        def act(self, view):
            raise RuntimeError("out of order")

    with pytest.raises(starmine.BotError) as failed:
        recorded(["random", Fails], games=3)
    games = failed.value.games
    assert (games.trajectories.lengths == 1).all()
    assert games.trajectories.state(0).ending is None
