"""Every format: games come back as they were written, and games that break the rules are named."""

import errno
import os
import pathlib
import re

import numpy as np
import pytest
from format_games import assert_equal_games, games_of

import starmine
import starmine.data
from starmine.data import FORMATS, read_games, write_games
from starmine.data.formats.records import ReadGames, check, starting_at_seat_0

OTHERS = [starmine.variant("timed-display"), starmine.variant("avalanche"), starmine.Variant(random_start_player=True)]
STANDARD = [starmine.Variant(players=players) for players in (2, 3, 4, 5)]
# The formats, with the name of a file of theirs and variants that they can express.
CASES = {
    "parquet": ("games.parquet", [*STANDARD, *OTHERS]),
    "ah2ac2": ("games.safetensors", [*STANDARD]),
    "hanab-live": ("games.json", [*STANDARD, starmine.variant("crowning-piece"), starmine.variant("avalanche")]),
}


def needs(name):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    if name == "ah2ac2":
        pytest.importorskip("safetensors")


def test_each_format_has_a_case():
    assert set(CASES) == set(FORMATS)
    assert [row.name for row in FORMATS.values()] == list(FORMATS)


CHOSEN = [(name, place) for name, (_, variants) in CASES.items() for place in range(len(variants))]


@pytest.mark.parametrize(("name", "place"), CHOSEN, ids=str)
def test_games_come_back_as_they_were_written(name, place, tmp_path):
    needs(name)
    file, variants = CASES[name]
    games = games_of(variants[place], count=7)
    write_games(games, tmp_path / file, format=name)
    found = read_games(tmp_path / file, format=name, variant=games.variant)
    assert_equal_games(found.trajectories, games)
    assert found.indices.tolist() == list(range(7))
    assert len(found.names) == len(found) == 7
    assert not found.skipped
    for game in range(7):
        state = games.state(game)
        assert found.scores[game] == state.score
        assert found.table.fireworks[game] == sum(state.fireworks)
        assert starmine.endings()[found.endings[game] - 1] == state.ending


@pytest.mark.parametrize("name", CASES)
def test_unfinished_games_come_back(name, tmp_path):
    needs(name)
    whole = games_of(starmine.Variant(), count=3, bot="smart")
    offsets = np.array([0, 1, 6, 17])
    actions = np.concatenate([whole.actions[whole.offsets[game] :][:length] for game, length in enumerate((1, 5, 11))])
    games = starmine.Trajectories(whole.variant, whole.decks, whole.start_players, actions, offsets)
    path = tmp_path / CASES[name][0]
    write_games(games, path, format=name)
    found = read_games(path, format=name, variant=whole.variant)
    assert_equal_games(found.trajectories, games)
    assert found.endings.tolist() == [0, 0, 0]
    assert found.scores.tolist() == [games.state(game).score for game in range(3)]


@pytest.mark.parametrize("name", CASES)
def test_no_games_come_back(name, tmp_path):
    needs(name)
    games = games_of(starmine.Variant(), count=1)[:0]
    path = tmp_path / CASES[name][0]
    write_games(games, path, format=name)
    found = read_games(path, format=name)
    assert len(found) == len(found.trajectories.actions) == 0


@pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.name)
def test_a_suffix_tells_the_format(row, tmp_path):
    needs(row.name)
    games = games_of(starmine.Variant(), count=2)
    path = tmp_path / f"games{row.suffixes[-1]}"
    write_games(games, path)
    assert len(read_games(path)) == 2


def test_a_folder_of_shards_is_written_and_read(tmp_path):
    pytest.importorskip("pyarrow")
    games = games_of(starmine.Variant(), count=2)
    write_games(games, tmp_path / "shards", format="parquet")
    assert (tmp_path / "shards" / "shard-000000.parquet").exists()
    assert_equal_games(read_games(tmp_path / "shards").trajectories, games)
    with pytest.raises(starmine.StarmineError, match="expected an empty or a new folder"):
        write_games(games, tmp_path / "shards", format="parquet")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_seats_can_be_numbered_from_the_one_that_started(players):
    variant = starmine.Variant(players=players, random_start_player=True)
    games = games_of(variant, count=20)
    assert len(set(games.start_players.tolist())) == players
    turned = starting_at_seat_0(games)
    assert not turned.start_players.any()
    for game in range(20):
        first = int(games.start_players[game])
        for turn in (0, 3, int(games.lengths[game])):
            one, other = games.state(game, turn), turned.state(game, turn)
            assert [*one.hands[first:], *one.hands[:first]] == other.hands
            assert (one.score, one.ending, one.discard_pile) == (other.score, other.ending, other.discard_pile)


def broken_games(directory):
    """Five games of AH2AC2: a wrong deck, an illegal action, an action too many, a wrong score, a right one."""
    safetensors = pytest.importorskip("safetensors.numpy")
    path = directory / "broken.safetensors"
    write_games(games_of(starmine.Variant(), count=5), path)
    arrays = safetensors.load_file(path)
    arrays["game_ids"] += 10
    arrays["decks"][0, 0, 0] = (arrays["decks"][0, 0, 0] + 1) % 5
    arrays["actions"][1, 0, 0] = 0  # nothing may be discarded yet
    turn = arrays["num_actions"][2]
    arrays["actions"][2, turn, turn % 2] = 5
    arrays["num_actions"][2] += 1
    arrays["scores"][3] += 1
    safetensors.save_file(arrays, path)
    return path


REASONS = [
    r"game 0 \(10\): .*(copies|deck)",
    r"game 1 \(11\): turn 0: action 0 \(discard slot 0\) is not legal",
    r"game 2 \(12\): it ends after \d+ turns: it has \d+ actions",
    r"game 3 \(13\): its recorded score is \d+: the rules give it \d+",
]


def test_games_that_break_the_rules_are_named(tmp_path):
    path = broken_games(tmp_path)
    with pytest.raises(
        starmine.StarmineError, match=r"4 of 5 games do not hold: game 0 .*; they can be skipped"
    ) as error:
        read_games(path)
    for reason in REASONS:
        error.match(reason)


def test_games_that_break_the_rules_are_skipped_on_request(tmp_path):
    found = read_games(broken_games(tmp_path), on_error="skip")
    assert found.indices.tolist() == [4]
    assert found.names == ("14",)
    assert_equal_games(found.trajectories, games_of(starmine.Variant(), count=5)[4])
    assert [game.index for game in found.skipped] == [0, 1, 2, 3]
    for game, reason in zip(found.skipped, REASONS, strict=True):
        assert re.match(reason, str(game))


def test_games_that_break_the_rules_are_not_written(tmp_path):
    games = games_of(starmine.Variant(), count=2)
    actions = games.actions.copy()
    actions[0] = 0
    wrong = starmine.Trajectories(games.variant, **(games.to_dict() | {"actions": actions}))
    with pytest.raises(starmine.StarmineError, match="game 0: turn 0: action 0"):
        write_games(wrong, tmp_path / "games.json")
    assert not list(tmp_path.iterdir())


def test_what_does_not_exist_is_refused(tmp_path):
    games = games_of(starmine.Variant(), count=1)
    with pytest.raises(starmine.UnknownNameError, match="hanab-live"):
        write_games(games, tmp_path / "games", format="hanablive")
    with pytest.raises(starmine.StarmineError, match=r"cannot be told: expected a format, one of .*\.safetensors"):
        write_games(games, tmp_path / "games.xyz")
    with pytest.raises(starmine.UnknownNameError, match="skip"):
        read_games(tmp_path / "games.json", on_error="ignore")
    with pytest.raises(FileNotFoundError):
        read_games(tmp_path / "games.parquet")
    with pytest.raises(FileNotFoundError, match=r"games\.xyz"):
        read_games(tmp_path / "games.xyz")


def test_rules_are_chosen_by_name_or_variant(tmp_path):
    write_games(games_of(starmine.variant("mini"), count=2), tmp_path / "games.parquet")
    for rules in ("mini", starmine.variant("mini")):
        assert len(read_games(tmp_path / "games.parquet", variant=rules)) == 2
    for rules, error in (
        ("standard", starmine.StarmineError),
        ("min", starmine.UnknownNameError),
        (5, starmine.VariantError),
    ):
        with pytest.raises(error, match="variant="):
            read_games(tmp_path / "games.parquet", variant=rules)


NO_FILES = [
    b"",
    b"\x00\xff\xfe",
    b"[1, 2",
    b"[]",
    b"[[]]",
    b"3",
    b'{"a": 1}',
    b"null\n",
    b'"x"',
    b"PK\x03\x04",
    b"[" * 9999,
]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("data", NO_FILES, ids=repr)
def test_other_files_are_refused_or_have_no_games(name, data, tmp_path):
    needs(name)
    path = tmp_path / CASES[name][0]
    path.write_bytes(data)
    message = None
    try:
        assert len(read_games(path, format=name, on_error="skip")) == 0
    except starmine.StarmineError as error:
        message = str(error)
    assert message is None or str(path) in message


@pytest.mark.parametrize("name", ["parquet", "ah2ac2"])
def test_a_damaged_file_is_refused_or_its_games_are_checked(name, tmp_path):
    needs(name)
    path = tmp_path / CASES[name][0]
    write_games(games_of(starmine.Variant(), count=3), path)
    data = path.read_bytes()
    generator = np.random.default_rng(0)
    for cut in generator.integers(0, len(data), 20).tolist():
        path.write_bytes(data[:cut])
        with pytest.raises(starmine.StarmineError):
            read_games(path, on_error="skip")
    for place in generator.integers(0, len(data), 60).tolist():
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        try:
            found = read_games(path, on_error="skip")
        except starmine.StarmineError:
            continue
        assert len(found) + len(found.skipped) <= 3


def test_names_of_games_and_players_are_kept(tmp_path):
    pytest.importorskip("pyarrow")
    games, players = games_of(starmine.Variant(players=3), count=2), [("Ann", "Bo", "Cy"), ("Bo", "Ann", "Di")]
    named = check(ReadGames.of(games, names=["17", "204"], players=players), "raise", "the games")
    write_games(named, tmp_path / "games.json")
    again = read_games(tmp_path / "games.json")
    assert (again.names, again.players) == (named.names, named.players)
    write_games(again, tmp_path / "games.parquet")
    stored = read_games(tmp_path / "games.parquet")
    assert (stored.names, stored.players) == (named.names, named.players)


@pytest.mark.parametrize("fault", ["flush", "rename"])
@pytest.mark.parametrize("name", CASES)
def test_a_failing_write_keeps_the_earlier_file(name, fault, tmp_path, monkeypatch):
    needs(name)
    path = tmp_path / CASES[name][0]
    write_games(games_of(starmine.Variant(), count=2), path, format=name)
    earlier = path.read_bytes()

    def no_space(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(*((os, "fsync") if fault == "flush" else (pathlib.Path, "replace")), no_space)
        with pytest.raises(OSError, match="No space left on device") as error:
            write_games(games_of(starmine.Variant(), count=3), path, format=name)
    assert error.value.filename == str(path)
    assert path.read_bytes() == earlier
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
