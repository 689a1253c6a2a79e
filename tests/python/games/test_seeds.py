"""Evaluations by default play decks that no default of training deals."""

import inspect
import re

import pytest
from paths import ROOT

import starmine
from starmine import data
from starmine.cli.command import parse
from starmine.games.seeds import EVALUATION_SEED, EVALUATION_SEEDS

PAIR = ["random", "random"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def default(function, name="seed"):
    return inspect.signature(function).parameters[name].default


def command_default(*arguments):
    return parse(arguments).seed


def decks(seed, games=64, episodes=8):
    """The decks of a batch's games in its first episodes, as texts."""
    variant = starmine.Variant()
    return {
        "".join(map(str, variant.new_game(seed=seed, game=game, episode=episode).deck))
        for game in range(games)
        for episode in range(episodes)
    }


def test_all_evaluations_have_the_same_default():
    assert default(starmine.play_games) == default(starmine.evaluate) == EVALUATION_SEED
    assert command_default("eval", "smart") == EVALUATION_SEED
    assert starmine.evaluate(PAIR[:1], games=2, variant="mini").settings.seed == EVALUATION_SEED


def test_games_to_learn_from_have_another():
    seed = default(data.generate)
    assert seed == command_default("generate", *PAIR, "--games", "1", "--output", "x")
    assert seed not in EVALUATION_SEEDS == (0, EVALUATION_SEED)
    played = starmine.play_games(PAIR, games=20)
    dealt = starmine.play_games(PAIR, games=20, seed=seed)
    assert not {deck.tobytes() for deck in played.decks} & {deck.tobytes() for deck in dealt.decks}


def test_evaluations_play_no_deck_of_small_seeds():
    played = starmine.play_games(PAIR, games=200)
    found = {"".join(map(str, played.state(game).deck)) for game in range(200)}
    assert len(found) == 200
    assert found <= decks(EVALUATION_SEED, games=200, episodes=1)  # game i is still game i of a batch of that seed
    for seed in range(4):
        assert not found & decks(seed)


def test_training_refuses_the_seed_of_evaluations():
    pytest.importorskip("matplotlib")
    training = pytest.importorskip("starmine.training")
    with pytest.raises(starmine.StarmineError):
        training.training_seed(EVALUATION_SEED)
    # No process of any run comes near it: they add multiples of 2**40 to seeds below 2**32.
    assert 2**32 <= EVALUATION_SEED < 2**40


# What deals games to learn from or to look at, and what evaluates.
DEALING = r"(?:reset|Batch|VectorEnv)\([^\n]*?\bseed=(\d+)"
EVALUATING = r"(?:play_games|evaluate)\([^\n]*?\bseed=(\d+)|starmine eval [^\n]*--seed (\d+)"


def seeds(pattern, text):
    return {int(number) for found in re.finditer(pattern, text) for number in found.groups() if number}


def test_no_page_or_example_trains_on_the_decks_that_it_or_another_evaluates_on():
    texts = [path.read_text(encoding="utf-8") for path in [*PAGES, *EXAMPLES]]
    dealt, evaluated = (set.union(*(seeds(pattern, text) for text in texts)) for pattern in (DEALING, EVALUATING))
    assert dealt, "the pages are not read"
    assert 0 not in dealt  # the decks of the published tables
    assert not dealt & (evaluated | {EVALUATION_SEED})
