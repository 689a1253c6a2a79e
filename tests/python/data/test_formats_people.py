"""Games of people as they are found: folders, several files, layouts of JSON, rules that stand elsewhere."""

import json

import pytest
from format_games import assert_equal_games, games_of, read_and_skipped

import starmine
from starmine.cli import main
from starmine.data import read_games, write_games
from starmine.data.formats.hanab_live import entries


def entries_of(variant=None, count=3, **changes):
    """Games and their JSON objects."""
    games = games_of(variant or starmine.Variant(), count=count)
    return games, [entry | changes for entry in entries(games)]


@pytest.fixture(scope="module")
def three():
    return entries_of()


LAYOUTS = {
    "lines": lambda found: "\n".join(map(json.dumps, found)),
    "lines with carriage returns": lambda found: "\r\n".join(map(json.dumps, found)) + "\r\n",
    "a list": json.dumps,
    "a list in lines": lambda found: "[" + ",\n".join(map(json.dumps, found)) + "]\n",
    "a pretty list": lambda found: json.dumps(found, indent=2),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_json_is_read_in_every_layout(layout, encoding, three, tmp_path):
    games, found = three
    path = tmp_path / "games.json"
    path.write_bytes(LAYOUTS[layout](found).encode(encoding))
    assert_equal_games(read_games(path), games)


@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_line_that_is_cut_off_is_named_and_the_others_survive(broken, three, tmp_path):
    games, found = three
    lines = [json.dumps(entry) for entry in found]
    lines[broken] = lines[broken][:700]
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(starmine.StarmineError):
        read_games(path)
    kept, skipped = read_and_skipped(path)
    assert [game.game for game in skipped] == [broken]
    assert_equal_games(kept, games[[place for place in range(3) if place != broken]])


def test_a_list_that_is_cut_off_is_refused(three, tmp_path):
    path = tmp_path / "games.json"
    for layout in ("a list", "a list in lines", "a pretty list"):
        path.write_text(LAYOUTS[layout](three[1])[:-30])
        with pytest.raises(starmine.StarmineError):
            read_games(path)


@pytest.mark.parametrize("name", ["games.json", "games.jsonl", "games.JSON"])
def test_a_suffix_of_json_tells_the_format(name, three, tmp_path):
    games, _ = three
    write_games(games, tmp_path / name)
    assert read_games(tmp_path / name).scores.tolist() == [games.state(game).score for game in range(3)]


@pytest.fixture
def folder(three, tmp_path):
    """Three games in files of their own, one of them named by its content, a broken file, and other files."""
    _, found = three
    folder = tmp_path / "people"
    folder.mkdir()
    for number, entry in enumerate(found):
        (folder / f"{number}.json").write_text(json.dumps(entry | ({"id": 4711} if number == 2 else {"id": 0})))
    (folder / "1b.json").write_text('{"players": ["Ann", "Ben"], "deck": [')
    (folder / ".hidden.json").write_text("{")
    (folder / "notes.txt").write_text("not games")
    return folder


def test_a_folder_of_files_is_read(folder, three, tmp_path):
    with pytest.raises(starmine.StarmineError):
        read_games(folder)
    for format in (None, "hanab-live"):
        found, skipped = read_and_skipped(folder, format)
        assert_equal_games(found, three[0])
        assert found.number.tolist() == [0, 1, 3]
        assert found.names.tolist()[-1] == "4711"
        assert [(game.path, game.game) for game in skipped] == [(folder / "1b.json", None)]
    (tmp_path / "empty").mkdir()
    for path, format in ((folder, "ah2ac2"), (tmp_path / "empty", None), ([], None)):
        with pytest.raises(starmine.StarmineError):
            read_games(path, format)


def test_several_sources_are_read(folder, three, tmp_path):
    games, _ = three
    write_games(games, tmp_path / "games.parquet")
    read = read_games([folder / "0.json", tmp_path / "games.parquet", str(folder / "2.json")])
    assert_equal_games(read, games[[0, 0, 1, 2, 2]])
    assert read.number.tolist() == list(range(5))
    (tmp_path / "cut.safetensors").write_bytes(b"PK")
    with pytest.raises(starmine.StarmineError):
        read_games([folder / "0.json", tmp_path / "cut.safetensors"])
    read, skipped = read_and_skipped([tmp_path / "cut.safetensors", folder / "0.json"])
    assert (len(read), read.number.tolist()) == (1, [1])
    assert str(skipped[0]).startswith(f"{tmp_path / 'cut.safetensors'}: it is no safetensors file")
    with pytest.raises(FileNotFoundError):
        read_and_skipped([folder / "0.json", tmp_path / "absent.json"])


def test_a_game_of_a_file_among_several_is_named_with_its_place(three, tmp_path):
    _, found = three
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(json.dumps([found[0], found[1] | {"id": 99, "actions": [7]}, found[2]]))
    kept, skipped = read_and_skipped(tmp_path)
    assert kept.number.tolist() == [0, 2, 3, 5]
    assert [str(game).partition(": turn")[0] for game in skipped] == [
        f"{tmp_path / name}.json, game 1 (99)" for name in "ab"
    ]


def test_a_replay_names_the_files_that_it_skips(folder, tmp_path, capsys):
    assert main(["replay", str(folder), "--skip", "--html", str(tmp_path / "games.html")]) == 0
    assert capsys.readouterr().err.startswith(f"skipped {folder / '1b.json'}")


# --- Rules that stand elsewhere -------------------------------------------------------------------------------

SIX = starmine.Variant(colors=6)


@pytest.mark.parametrize(
    "told",
    [
        {"variant": "6 Suits", "options": None},
        {"variant": "6 Suits", "options": {}},
        {"variantName": "6 Suits", "options": {"timed": True}},
        {"options": {"variantName": "6 Suits"}},
        {"options": {"variantID": 1, "variantName": "6 Suits", "numPlayers": 2}},
        {"options": {"variantID": 1}},
        {"variant": 1, "options": {"variant": "6 Suits"}},
    ],
    ids=str,
)
def test_the_variant_may_stand_elsewhere(told, tmp_path):
    games, found = entries_of(SIX)
    (tmp_path / "games.json").write_text(json.dumps([entry | told for entry in found]))
    assert_equal_games(read_games(tmp_path / "games.json"), games)


@pytest.mark.parametrize("name", ["firstPlayer", "startingPlayer"])
@pytest.mark.parametrize("level", ["top", "options"])
def test_the_start_player_may_stand_elsewhere(name, level, tmp_path):
    variant = starmine.Variant(players=3)
    games, found = entries_of(variant, count=1)
    # The same game with the seats turned by one: seat 1 starts and holds what seat 0 held.
    turned = found[0] | {"players": ["c", "a", "b"]}
    cards = turned["deck"]
    turned["deck"] = [*cards[10:15], *cards[:5], *cards[5:10], *cards[15:]]
    place = {card: card for card in range(50)} | {card: (card + 5) % 15 for card in range(15)}
    turned["actions"] = [
        action | {"target": place[action["target"]] if action["type"] < 2 else (action["target"] + 1) % 3}
        for action in turned["actions"]
    ]
    turned |= {name: 1} if level == "top" else {"options": {name: 1}}
    (tmp_path / "games.json").write_text(json.dumps(turned))
    found = read_games(tmp_path / "games.json")
    assert found.start_players.tolist() == [1]
    assert found.scores.tolist() == [games.state(0).score]


@pytest.mark.parametrize(
    "told",
    [
        {"variant": "6 Suits"},
        {"options": {"variantID": 1, "variantName": "No Variant"}},
        {"firstPlayer": 1, "options": {"startingPlayer": 0}},
        {"emptyClues": True, "options": {"emptyClues": False}},
        {"options": {"numPlayers": 3}},
        {"options": {"oneExtraCard": True, "oneLessCard": True}},
        {"options": {"emptyClue": True}},
        {"firstPlayer": 2},
        {"cardCycle": True},
        {"options": {"variantID": 11}},
    ],
    ids=str,
)
def test_rules_that_contradict_each_other_or_are_unknown_are_refused(told, three, tmp_path):
    path = tmp_path / "games.json"
    path.write_text(json.dumps([three[1][0], three[1][1] | told]))
    with pytest.raises(starmine.StarmineError):
        read_games(path)
    assert read_and_skipped(path)[0].number.tolist() == [0]


def test_a_card_with_two_suits_is_refused(three, tmp_path):
    entry = three[1][0]
    deck = [entry["deck"][0] | {"suit": entry["deck"][0]["suitIndex"] + 1}, *entry["deck"][1:]]
    (tmp_path / "games.json").write_text(json.dumps(entry | {"deck": deck}))
    with pytest.raises(starmine.StarmineError):
        read_games(tmp_path / "games.json")


# --- Variants ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "number", "ones", "fours", "black", "suits"),
    [
        ("Scarce Ones (6 Suits)", 2393, 2, 2, False, 6),
        ("Scarce Ones (5 Suits)", 2394, 2, 2, False, 5),
        ("Scarce Ones & Black (6 Suits)", 2395, 2, 2, True, 6),
        ("Critical Fours & Black (6 Suits)", 1645, 3, 1, True, 6),
    ],
)
def test_variants_that_copies_express_are_read(name, number, ones, fours, black, suits, tmp_path):
    copies = [[ones, 2, 2, fours, 1]] * suits
    if black:
        copies[-1] = [1] * 5
    games, found = entries_of(starmine.Variant(colors=suits, copies=copies))
    assert {entry["options"]["variant"] for entry in found} == {name}
    for told in ({"variant": name}, {"variantID": number}):
        (tmp_path / "games.json").write_text(json.dumps([entry | {"options": told} for entry in found]))
        assert_equal_games(read_games(tmp_path / "games.json"), games)


MIXED = [starmine.Variant(), starmine.Variant(players=3), starmine.variant("crowning-piece"), SIX]


@pytest.fixture
def mixed(tmp_path):
    """Two games of each of four rules in one file, in turns."""
    lines = zip(*(entries_of(variant, count=2)[1] for variant in MIXED), strict=True)
    path = tmp_path / "mixed.json"
    path.write_text("\n".join(json.dumps(entry) for entry in [entry for line in lines for entry in line]))
    return path


@pytest.mark.parametrize("place", range(4))
def test_a_variant_chooses_among_the_rules_of_a_mixed_file(place, mixed):
    with pytest.raises(starmine.StarmineError):
        read_games(mixed)
    assert len(read_and_skipped(mixed)[1]) == 6
    found = read_games(mixed, variant=MIXED[place])
    assert_equal_games(found, games_of(MIXED[place], count=2))
    assert found.number.tolist() == [place, place + 4]
    with pytest.raises(starmine.StarmineError):
        read_games(mixed, variant="mini")


def test_a_variant_chooses_among_files(tmp_path):
    for number, variant in enumerate(MIXED):
        write_games(games_of(variant, count=2), tmp_path / f"{number}.json")
    for place, variant in enumerate(MIXED):
        found = read_games(tmp_path, variant=variant)
        assert_equal_games(found, games_of(variant, count=2))
        assert found.number.tolist() == [2 * place, 2 * place + 1]
    with pytest.raises(starmine.StarmineError):
        read_games(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["--variant", "standard"], 0),
        (["--variant", "standard", "--players", "3"], 1),
        (["--players", "3"], 1),
        (["--variant", "standard, players=3"], 1),
        (["--variant", "crowning-piece"], 2),
        (["--variant", "standard, crowning_piece=true"], 2),
        (["--variant", "standard, colors=6, lost_game_score=zero", "--players", "2"], 3),
    ],
    ids=str,
)
def test_the_commands_variant_chooses_games(arguments, place, mixed, tmp_path, capsys):
    target = tmp_path / "games.parquet"
    assert main(["data", "convert", str(mixed), str(target), *arguments]) == 0
    assert capsys.readouterr().out.startswith("2 games")
    assert_equal_games(read_games(target), games_of(MIXED[place], count=2))
    assert main(["replay", str(mixed), "--html", str(tmp_path / "games.html"), *arguments]) == 0


def test_a_replay_of_our_own_files_heeds_the_variant(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    write_games(games_of(starmine.Variant(), count=1), tmp_path / "games.parquet")
    command = ["replay", str(tmp_path / "games.parquet"), "--html", str(tmp_path / "games.html")]
    assert main([*command, "--variant", "standard"]) == 0
    assert main([*command, "--variant", "standard, players=3"]) == 2
    assert "is not allowed: the file has Variant(players=2)" in capsys.readouterr().err
