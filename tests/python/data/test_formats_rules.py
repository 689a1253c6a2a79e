"""Every format tells the rules of its games: they come back with the same rules, or the writer refuses them."""

import random

import pytest
from format_games import assert_equal_games, games_of
from random_variants import random_variant

import starmine
from starmine.data import read_games, write_games
from starmine.data.formats.exchange import FORMATS
from starmine.data.formats.records import starting_at_seat_0

pytest.importorskip("pyarrow")
pytest.importorskip("safetensors")

SUFFIXES = {name: module.SUFFIXES[0] for name, module in FORMATS.items()}
PRESETS = [starmine.variant(name, players=players) for name in starmine.variants() for players in (2, 3, 4, 5)]
OF_ONE_RULE = [  # the base game with each rule changed alone
    starmine.Variant(**{name: value})
    for name, value in {
        "colors": 6,
        "ranks": 4,
        "hand_size": 4,
        "max_information_tokens": 7,
        "max_life_tokens": 2,
        "copies": [[3, 2, 2, 1, 1]] * 5,
        **dict.fromkeys(starmine.Variant().switches, True),
        "lost_game_score": "fireworks",
        "edition": "ikebana",
    }.items()
]
RANDOM = [random_variant(random.Random(seed)) for seed in range(150)]


def refusal(games, path, name):
    """What a writer says against games; None if it writes them."""
    try:
        write_games(games, path, format=name)
    except starmine.StarmineError as error:
        return str(error)
    return None


def comes_back(name, variant, folder):
    """Whether a format takes games of these rules; they are then read as they were written.

    Otherwise nothing is written, and the error names the rules.
    """
    games, path = games_of(variant, count=3), folder / f"games{SUFFIXES[name]}"
    refused = refusal(games, path, name)
    assert path.exists() == (refused is None)
    if refused is not None:
        assert str(variant) in refused
        return False
    found = read_games(path, format=name)
    assert_equal_games(found, games if name == "parquet" else starting_at_seat_0(games))
    path.unlink()
    return True


@pytest.mark.parametrize("name", SUFFIXES)
def test_games_of_all_presets_come_back_or_are_refused(name, tmp_path):
    taken = [variant for variant in PRESETS if comes_back(name, variant, tmp_path)]
    assert set(map(starmine.Variant, (2, 3, 4, 5))) <= set(taken)
    if name == "ah2ac2":
        assert {(variant.parameters()["players"], str(variant)) for variant in taken} == {
            (players, str(starmine.Variant(players))) for players in (2, 3, 4, 5)
        }


@pytest.mark.parametrize("name", SUFFIXES)
def test_games_of_one_changed_rule_come_back_or_are_refused(name, tmp_path):
    taken = [variant for variant in OF_ONE_RULE if comes_back(name, variant, tmp_path)]
    if name == "parquet":
        assert taken == OF_ONE_RULE
    elif name == "ah2ac2":
        assert taken == []
    else:
        assert 0 < len(taken) < len(OF_ONE_RULE)


@pytest.mark.parametrize("name", SUFFIXES)
def test_games_of_random_rules_come_back_or_are_refused(name, tmp_path):
    taken = [variant for variant in RANDOM if comes_back(name, variant, tmp_path)]
    assert (len(taken) == len(RANDOM)) == (name == "parquet")
