"""Every format: games come back as they were written, and games that break the rules are named."""

import dataclasses

import numpy as np
import pytest
from format_games import assert_equal_games, games_of, read_and_skipped

import starmine
import starmine.data
from starmine.data import read_games, write_games
from starmine.data.formats.exchange import FORMATS
from starmine.data.formats.records import starting_at_seat_0
from starmine.games.roster import RosterPlayer, names_by_seat

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


CHOSEN = [(name, place) for name, (_, variants) in CASES.items() for place in range(len(variants))]


@pytest.mark.parametrize(("name", "place"), CHOSEN, ids=str)
def test_games_come_back_as_they_were_written(name, place, tmp_path):
    needs(name)
    file, variants = CASES[name]
    games = games_of(variants[place], count=7)
    write_games(games, tmp_path / file, format=name)
    found = read_games(tmp_path / file, format=name, variant=games.variant)
    assert_equal_games(found, games)
    assert found.number.tolist() == list(range(7))
    for game in range(7):
        state = games.state(game)
        assert found.scores[game] == state.score
        assert found.fireworks[game] == sum(state.fireworks)
        assert starmine.endings()[found.endings[game] - 1] == state.ending


@pytest.mark.parametrize("name", CASES)
def test_unfinished_games_come_back(name, tmp_path):
    needs(name)
    whole = games_of(starmine.Variant(), count=3, bot="smart")
    offsets = np.array([0, 1, 6, 17])
    actions = np.concatenate([whole.actions[whole.offsets[game] :][:length] for game, length in enumerate((1, 5, 11))])
    games = starmine.Games(whole.variant, whole.decks, whole.start_players, actions, offsets)
    path = tmp_path / CASES[name][0]
    write_games(games, path, format=name)
    found = read_games(path, format=name, variant=whole.variant)
    assert_equal_games(found, games)
    assert found.endings.tolist() == [0, 0, 0]
    assert found.scores.tolist() == [games.state(game).score for game in range(3)]


@pytest.mark.parametrize("name", CASES)
def test_a_source_without_games_is_refused(name, tmp_path):
    needs(name)
    path = tmp_path / CASES[name][0]
    write_games(games_of(starmine.Variant(), count=1)[:0], path, format=name)
    with pytest.raises(starmine.StarmineError):
        read_games(path)


@pytest.mark.parametrize("name", FORMATS)
def test_a_suffix_tells_the_format(name, tmp_path):
    needs(name)
    games = games_of(starmine.Variant(), count=2)
    path = tmp_path / f"games{FORMATS[name].SUFFIXES[-1]}"
    write_games(games, path)
    assert len(read_games(path)) == 2


def test_a_folder_of_shards_is_written_and_read(tmp_path):
    pytest.importorskip("pyarrow")
    games = games_of(starmine.Variant(), count=2)
    write_games(games, tmp_path / "shards", format="parquet")
    assert (tmp_path / "shards" / "shard-000000.parquet").exists()
    assert_equal_games(read_games(tmp_path / "shards"), games)
    with pytest.raises(starmine.StarmineError):
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


def test_games_that_break_the_rules_are_refused_or_left_out(tmp_path):
    path = broken_games(tmp_path)
    with pytest.raises(starmine.StarmineError):
        read_games(path)
    found, skipped = read_and_skipped(path)
    assert (found.number.tolist(), found.names.tolist()) == ([4], ["14"])
    assert_equal_games(found, games_of(starmine.Variant(), count=5)[4])
    assert [(game.path, game.game, game.name) for game in skipped] == [
        (path, game, str(10 + game)) for game in range(4)
    ]


def test_games_that_break_the_rules_are_not_written(tmp_path):
    games = games_of(starmine.Variant(), count=2)
    actions = games.actions.copy()
    actions[0] = 0
    for name, (file, _) in CASES.items():
        needs(name)
        with pytest.raises(starmine.StarmineError):
            write_games(dataclasses.replace(games, actions=actions), tmp_path / file)
    assert not list(tmp_path.iterdir())


def test_rules_are_chosen_by_name_or_variant(tmp_path):
    write_games(games_of(starmine.variant("mini"), count=2), tmp_path / "games.parquet")
    for rules in ("mini", starmine.variant("mini")):
        assert len(read_games(tmp_path / "games.parquet", variant=rules)) == 2
    for rules, error in (
        ("standard", starmine.StarmineError),
        ("min", starmine.UnknownNameError),
        (5, starmine.VariantError),
    ):
        with pytest.raises(error):
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
def test_other_files_are_refused(name, data, tmp_path):
    needs(name)
    path = tmp_path / CASES[name][0]
    path.write_bytes(data)
    with pytest.raises(starmine.StarmineError):
        read_and_skipped(path, format=name)


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
            read_and_skipped(path)
    for place in generator.integers(0, len(data), 60).tolist():
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        try:
            found, skipped = read_and_skipped(path)
        except starmine.StarmineError:
            continue
        assert len(found) + len(skipped) <= 3


def test_names_of_games_and_players_are_kept(tmp_path):
    pytest.importorskip("pyarrow")
    games, players = games_of(starmine.Variant(players=3), count=2), [["Ann", "Bo", "Cy"], ["Bo", "Ann", "Di"]]
    roster = tuple(map(RosterPlayer, ("Ann", "Bo", "Cy", "Di")))
    seats, names = np.array([[0, 1, 2], [1, 0, 3]]), np.array(["17", "204"], object)
    held = dataclasses.replace(games, roster=roster, players=seats, names=names)
    for name in ("games.json", "games.parquet"):
        write_games(held, tmp_path / name)
        held = read_games(tmp_path / name)
        assert (held.names.tolist(), names_by_seat(held.roster, held.players)) == (["17", "204"], players)


@pytest.mark.parametrize("name", ["hanab-live", "ah2ac2"])
def test_the_means_of_games_that_stop_are_means_by_the_rules(name, tmp_path):
    """A game that people give up counts with its points, also in the mean of the file."""
    needs(name)
    whole = games_of(starmine.Variant(), count=3, bot="smart")
    offsets = np.array([0, 20, 40, 40 + whole.lengths[2]])
    actions = np.concatenate([whole.actions[whole.offsets[game] :][:20] for game in (0, 1)] + [whole[2].actions])
    games = starmine.Games(whole.variant, whole.decks, whole.start_players, actions, offsets)
    write_games(games, tmp_path / CASES[name][0])
    found = read_games(tmp_path / CASES[name][0])
    assert found.mean == np.mean([games.state(game).score for game in range(3)])
