"""Export to Minari: what its own reader finds."""

import sys

import numpy as np
import pytest
from format_games import games_of

import starmine
from starmine.data import write_games


@pytest.fixture(scope="module")
def minari():
    """Minari, which needs h5py for its files."""
    install = "is not installed; to install it: pip install 'starmine[minari]'"
    pytest.importorskip("h5py", reason=f"h5py {install}")
    return pytest.importorskip("minari", reason=f"Minari {install}")


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("variant", [starmine.Variant(), starmine.variant("timed-display", players=3)], ids=str)
def test_minari_reads_what_was_seen(variant, dtype, minari, tmp_path, monkeypatch):
    monkeypatch.setattr("starmine.data.formats.minari.AT_ONCE", 2)
    games = games_of(variant, count=5)
    path = tmp_path / "deep" / "hanabi-random-v0"
    write_games(games, path, format="minari", dtype=dtype)
    assert sorted(entry.name for entry in path.parent.iterdir()) == [path.name]
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(path.parent))
    assert minari.load_dataset(path.name).total_episodes == 5
    stored = minari.MinariDataset(path / "data")
    assert (stored.total_episodes, stored.total_steps) == (5, len(games.actions))
    assert stored.action_space.n == variant.num_actions
    rows = games.replay(["obs", "action_mask", "current_player", "reward"], dtype=dtype)
    for game, episode in enumerate(stored.iterate_episodes()):
        turns = slice(games.offsets[game], games.offsets[game + 1])
        length = int(games.lengths[game])
        assert episode.id == game
        assert len(episode.observations) == length + 1
        assert episode.observations.dtype == stored.observation_space.dtype == np.dtype(dtype)
        assert stored.observation_space.shape == episode.observations.shape[1:]
        np.testing.assert_array_equal(episode.observations[:-1], rows["obs"][turns])
        state = games.state(game)
        np.testing.assert_array_equal(episode.observations[-1], state.view(state.current_player).encode())
        np.testing.assert_array_equal(episode.actions, games.actions[turns])
        np.testing.assert_array_equal(episode.rewards, rows["reward"][turns])
        assert episode.rewards.sum() == state.score
        assert episode.terminations.tolist() == [False] * (length - 1) + [True]
        assert not episode.truncations.any()
        np.testing.assert_array_equal(episode.infos["action_mask"][:-1], rows["action_mask"][turns])
        assert not episode.infos["action_mask"][-1].any()
        np.testing.assert_array_equal(episode.infos["current_player"][:-1], rows["current_player"][turns])


def test_a_game_that_was_not_finished_is_truncated(minari, tmp_path):
    whole = games_of(starmine.Variant(), count=1)
    cut = starmine.Trajectories(
        whole.variant, whole.decks, whole.start_players, whole.actions[:3], np.array([0, 3], np.int64)
    )
    write_games(cut, tmp_path / "cut-v0", format="minari", encoder="canonical-minimal")
    episode = next(iter(minari.MinariDataset(tmp_path / "cut-v0" / "data").iterate_episodes()))
    assert (episode.terminations.tolist(), episode.truncations.tolist()) == ([False] * 3, [False, False, True])
    state = cut.state(0)
    assert np.flatnonzero(episode.infos["action_mask"][-1]).tolist() == state.legal_actions()
    np.testing.assert_array_equal(
        episode.observations[-1], state.view(state.current_player).encode("canonical-minimal")
    )


def test_what_cannot_be_written_is_refused_and_leaves_nothing(minari, tmp_path):
    games = games_of(starmine.Variant(), count=1)
    (tmp_path / "taken-v0").mkdir()
    with pytest.raises(starmine.StarmineError, match="it exists: expected a new folder"):
        write_games(games, tmp_path / "taken-v0", format="minari")
    with pytest.raises(starmine.StarmineError, match="there is no game"):
        write_games(games[:0], tmp_path / "empty-v0", format="minari")
    with pytest.raises(starmine.StarmineError, match="dtype='bits' is not allowed: expected one of"):
        write_games(games, tmp_path / "bits-v0", format="minari", dtype="bits")
    with pytest.raises(starmine.UnknownNameError):
        write_games(games, tmp_path / "other-v0", format="minari", encoder="other")
    for name in ("no name!-v0", "hanabi", "hanabi-v", "-v0", "hanabi-v0.5"):
        with pytest.raises(starmine.StarmineError, match="is no id of a data set: expected NAME-vNUMBER"):
            write_games(games, tmp_path / name, format="minari")
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken-v0"]


def test_without_minari_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"pip install 'starmine\[minari\]'"):
        write_games(games_of(starmine.Variant(), count=1), tmp_path / "games-v0", format="minari")
