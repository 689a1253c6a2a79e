"""AH2AC2's files: arrays as its pages describe them, made by a writer of the test's own."""

import numpy as np
import pytest
from format_games import assert_equal_games, games_of, read_and_skipped

import starmine
from starmine.data import read_games, write_games
from starmine.data.formats import ah2ac2

numpy_safetensors = pytest.importorskip("safetensors.numpy")


def arrays_of(games, turns=89):
    """The arrays of a file, written game by game from the state of each turn."""
    variant, count = games.variant, len(games)
    no_op = variant.num_actions
    actions = np.full((count, turns, variant.players), no_op, np.int32)
    decks = np.zeros((count, variant.deck_size, 2), np.int32)
    for game in range(count):
        state = games.state(game, 0)
        dealt = games.decks[game].tolist()
        decks[game] = [[card // variant.ranks, card % variant.ranks] for card in dealt]
        for turn in range(games.lengths[game]):
            action = int(games.actions[games.offsets[game] + turn])
            actions[game, turn, state.current_player] = action
            state.apply(action)
    return {
        "game_ids": np.arange(1000, 1000 + count, dtype=np.int32),
        "scores": np.array([games.state(game).score for game in range(count)], np.int32),
        "decks": decks,
        "actions": actions,
        "num_actions": games.lengths.astype(np.int32),
        "num_players": np.array(variant.players, np.int32),
    }


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_files_are_read_and_written(players, tmp_path):
    games = games_of(starmine.Variant(players=players), count=6, bot="smart")
    arrays = arrays_of(games)
    (tmp_path / "theirs.safetensors").write_bytes(numpy_safetensors.save(arrays))
    found = read_games(tmp_path / "theirs.safetensors")
    assert_equal_games(found, games)
    assert found.names.tolist() == list(map(str, range(1000, 1006)))
    assert arrays["scores"].tolist() == found.scores.tolist()
    write_games(found, tmp_path / "ours.safetensors")
    written = numpy_safetensors.load_file(tmp_path / "ours.safetensors")
    assert written.keys() == arrays.keys()
    for name, array in arrays.items():
        assert written[name].dtype == array.dtype
        np.testing.assert_array_equal(written[name], array, err_msg=name)


def test_no_game_has_more_turns_than_a_file_has_rows():
    """The longest game: with two players 40 cards are drawn, each of them gives back a token, and two turns follow."""
    state = starmine.Variant().new_game(seed=0)
    while not state.is_terminal:
        hints = [action for action in state.legal_actions() if state.variant.move(action).slot is None]
        state.apply((hints or state.legal_actions())[0])
    assert len(state.history) == 89 == ah2ac2.TURNS


def change(name, place, value):
    def changed(arrays):
        arrays[name][place] = value

    return changed


# What is changed in the second of three games.
GAMES = [
    change("actions", (1, 0, 1), 3),
    change("actions", (1, 0, 0), 20),
    change("actions", (1, 88, 0), 5),
    change("actions", (1, 0, 0), 21),
    change("actions", (1, 0, 0), -1),
    change("num_actions", 1, 90),
    change("num_actions", 1, -1),
    change("num_actions", 1, 3),
    change("decks", (1, 7), (5, 0)),
    change("decks", (1, 7), (0, -1)),
    change("decks", (1, slice(None)), (0, 0)),
    change("scores", 1, 26),
    change("scores", 1, 1),
]


@pytest.mark.parametrize("changed", GAMES)
def test_games_that_do_not_hold_are_named(changed, tmp_path):
    games = games_of(starmine.Variant(), count=3, bot="smart")
    arrays = arrays_of(games)
    changed(arrays)
    path = tmp_path / "games.safetensors"
    path.write_bytes(numpy_safetensors.save(arrays))
    with pytest.raises(starmine.StarmineError):
        read_games(path)
    found, skipped = read_and_skipped(path)
    assert ([game.game for game in skipped], found.number.tolist()) == ([1], [0, 2])
    assert_equal_games(found, games[[0, 2]])
