"""Stored games that are replayed side by side give every turn once, as single games give it."""

import dataclasses
import random

import numpy as np
import pytest
from random_variants import random_variant

import starmine
from starmine._core import _outcomes
from starmine.games.replay import ReplaySettings

OUTPUTS = ["obs", "action_mask", "current_player", "score", "reward", "terminated"]


def games_of(variant, number, seed=0):
    return starmine.play_games(["random"] * variant.players, number, seed, variant)


def cut(games, generator):
    """The same games, each with a random number of its actions, often none."""
    lengths = np.where(generator.random(len(games)) < 0.3, 0, generator.integers(games.lengths + 1))
    kept = [games.actions[start : start + n] for start, n in zip(games.offsets, lengths, strict=False)]
    return np.concatenate(kept), lengths


def with_actions(games, actions, lengths):
    """Games of the same decks and start players with other actions."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    nothing = np.zeros(len(games), np.uint8)
    return starmine.Games(games.variant, games.decks, games.start_players, actions, offsets, nothing, nothing, nothing)


def pieces(games, outputs=OUTPUTS, batch_size=2048, **settings):
    """The turns of games that are replayed side by side."""
    return ReplaySettings.of([*outputs, "action", "game", "turn"], **settings).pieces(games, batch_size)


def replayed(games, actions, lengths, **options):
    """The rows of a replay, game by game and turn by turn."""
    rows = list(pieces(with_actions(games, actions, lengths), **options))
    joined = {name: np.concatenate([part[name] for part in rows]) for name in rows[0]}
    order = np.lexsort([joined["turn"], joined["game"]])
    return {name: array[order] for name, array in joined.items()}


def assert_rows_of(rows, games, actions, lengths):
    """Every turn of the games is there once, as the single games give it."""
    assert rows["game"].tolist() == np.repeat(np.arange(len(games)), lengths).tolist()
    assert rows["turn"].tolist() == [turn for length in lengths for turn in range(length)]
    assert (rows["action"] == actions).all()
    place = 0
    for game in range(len(games)):
        state = games.state(game, 0)
        for _ in range(lengths[game]):
            seat = state.current_player
            assert (rows["obs"][place] == state.view(seat).encode("canonical")).all()
            assert np.flatnonzero(rows["action_mask"][place]).tolist() == state.legal_actions()
            assert (rows["current_player"][place], rows["score"][place]) == (seat, state.score)
            assert rows["reward"][place] == state.apply(int(actions[place]))
            assert rows["terminated"][place] == (state.ending is not None)
            place += 1


@pytest.mark.parametrize("seed", range(12))
def test_every_turn_is_replayed_once(seed):
    variant, generator = random_variant(random.Random(seed)), np.random.default_rng(seed)
    games = games_of(variant, 50, seed)
    if seed % 2 == 0:
        starts = generator.integers(variant.players, size=50, dtype=np.uint8)
        games = dataclasses.replace(games, start_players=starts)
    if seed % 2:
        actions, lengths = cut(games, generator)
    else:
        # With other start players the recorded actions are not legal, so the first legal ones are played.
        played = [first_legal(games.state(game, 0)) for game in range(50)]
        actions, lengths = np.concatenate(played).astype(np.uint8), np.array([len(one) for one in played])
        games = with_actions(games, actions, lengths)
    for size, threads in [(1, 1), (7, 1), (16, 3), (1000, 2)]:
        rows = replayed(games, actions, lengths, batch_size=size, num_threads=threads, dtype="uint8")
        assert_rows_of(rows, games, actions, lengths)


def first_legal(state):
    """The actions of a game in which always the first legal one is played."""
    actions = []
    while state.ending is None:
        actions.append(state.legal_actions()[0])
        state.apply(actions[-1])
    return actions


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "bits"])
def test_rows_are_those_of_a_batch(dtype):
    games = games_of(starmine.Variant(players=3), 40)
    rows = replayed(games, games.actions, games.lengths, batch_size=8, dtype=dtype, observers="all")
    plain = replayed(games, games.actions, games.lengths, batch_size=8, dtype="uint8", observers="all")["obs"]
    seen = rows["obs"]
    if dtype == "bits":
        seen = np.unpackbits(seen, axis=-1, count=plain.shape[-1], bitorder="little")
    assert seen.shape[:2] == (len(games.actions), 3)
    assert (seen == plain).all()


EXTRA = ["card_features", "public_marginals", "own_hand"]


@pytest.mark.parametrize("observers", ["current", "all"])
@pytest.mark.parametrize("seed", range(6))
def test_extra_outputs_are_those_of_the_environment(seed, observers):
    variant = random_variant(random.Random(seed)) if seed else starmine.Variant(players=3)
    games = games_of(variant, 12, seed)
    settings = {"dtype": "uint8", "observers": observers}
    rows = games.replay([*EXTRA, "obs"], **settings)
    alone = games.replay(["own_hand"], observers=observers)["own_hand"]
    assert np.array_equal(alone, rows["own_hand"])
    env = starmine.HanabiVectorEnv(1, variant, extra_outputs=EXTRA, autoreset_mode="Disabled", **settings)
    for game in range(12):
        deck, start = games.decks[game : game + 1], games.start_players[game : game + 1]
        obs, info = env.reset(options={"decks": deck, "start_players": start})
        for place in range(games.offsets[game], games.offsets[game + 1]):
            for name, shown in (*((name, info[name]) for name in EXTRA), ("obs", obs)):
                assert rows[name].dtype == shown.dtype
                np.testing.assert_array_equal(rows[name][place], shown[0], err_msg=f"{name} of game {game}")
            obs, *_, info = env.step(games.actions[place : place + 1])


def test_extra_outputs_of_no_turns_have_their_shapes():
    games = games_of(starmine.Variant(), 2)
    none = starmine.Games(games.variant, games.decks, games.start_players, games.actions[:0], np.zeros(3, np.int64))
    found = none.replay(["card_features", "own_hand"], observers="all")
    assert {name: array.shape for name, array in found.items()} == {
        "card_features": (0, 2, 2, 5, 3),
        "own_hand": (0, 2, 5),
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_has_the_outputs_of_a_data_set(seed, tmp_path):
    """Games in memory and on disk; some games are lost, and some stop before their end."""
    pytest.importorskip("pyarrow")
    generator = np.random.default_rng(seed)
    variant = random_variant(random.Random(seed))
    games = games_of(variant, 40, seed)
    cut_games = with_actions(games, *cut(games, generator))
    games = starmine.Games(variant, *cut_games.played())
    starmine.data.write_games(games, tmp_path / "games.parquet")
    pieces = list(starmine.data.Dataset(tmp_path).replay(7))
    stored = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    order = np.lexsort((stored["turn"], stored["game"]))
    found = games.replay()
    assert list(found) == list(stored)
    for name, array in found.items():
        assert array.dtype == stored[name].dtype, name
        np.testing.assert_array_equal(array, stored[name][order], err_msg=name)
    alone = games.replay(["turn", "action"])
    assert list(alone) == ["turn", "action"]
    assert all(np.array_equal(alone[name], found[name]) for name in alone)
    assert np.array_equal(games.replay(["return_to_go"])["return_to_go"], found["return_to_go"])


def test_a_wrong_action_is_noticed_whatever_is_asked_for():
    games = games_of(starmine.Variant(), 3)
    wrong = with_actions(games, np.where(np.arange(len(games.actions)) == 0, 0, games.actions), games.lengths)
    for outputs in (["action"], ["reward"], None):
        with pytest.raises(starmine.IllegalActionError):
            wrong.replay(outputs)


def test_rows_hold_still():
    games = games_of(starmine.Variant(), 30)
    kept, copies = [], []
    for rows in pieces(games, batch_size=4):
        kept.append(rows)
        copies.append({name: array.copy() for name, array in rows.items()})
    assert all((rows[name] == copy[name]).all() for rows, copy in zip(kept, copies, strict=True) for name in copy)


def test_only_the_outputs_that_are_asked_for_are_given():
    games = games_of(starmine.Variant(), 4)
    assert list(next(pieces(games, ["reward"]))) == ["reward", "action", "game", "turn"]
    assert list(games.replay(["reward"])) == ["reward"]
    for none in (games[[]], with_actions(games, games.actions[:0], games.lengths * 0)):
        assert list(pieces(none)) == []
        assert {len(array) for array in none.replay().values()} == {0}


@pytest.mark.parametrize("size", [1, 3, 20])
def test_a_wrong_game_is_named_when_it_is_reached(size):
    games = games_of(starmine.Variant(), 20)
    place = games.offsets[13] + 5
    for value in (99, 200):
        actions = games.actions.copy()
        actions[place] = value
        rows = pieces(with_actions(games, actions, games.lengths), batch_size=size)
        with pytest.raises(starmine.IllegalActionError):
            list(rows)
    longer = np.insert(games.actions, games.offsets[8], 0)
    rows = pieces(with_actions(games, longer, games.lengths + (np.arange(20) == 7)), batch_size=size)
    with pytest.raises(starmine.IllegalActionError):
        list(rows)


@pytest.mark.parametrize("seed", range(6))
def test_outcomes_are_those_of_the_rules(seed):
    variant, generator = random_variant(random.Random(seed)), np.random.default_rng(seed)
    games = games_of(variant, 60, seed)
    if seed % 2:
        actions, lengths = cut(games, generator)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        games = starmine.Games(variant, games.decks, games.start_players, actions, offsets)
    scores, fireworks, found, problems, turns = _outcomes(variant, *games.played(), 2)
    for game in range(60):
        state = games.state(game)
        assert (scores[game], fireworks[game]) == (state.score, sum(state.fireworks))
        assert found[game] == (0 if state.ending is None else starmine.endings().index(state.ending) + 1)
    assert not problems.any()
    assert (turns == games.lengths).all()


def test_settings_without_effect_are_refused():
    games = starmine.play_games(["random", "random"], games=2)
    with pytest.raises(TypeError):
        games.replay(extra_outputs=["card_features"])
    with pytest.raises(starmine.StarmineError, match="text"):
        games.replay("obs")
    assert list(games.replay(name for name in ("action", "turn"))) == ["action", "turn"]
