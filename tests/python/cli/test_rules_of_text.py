"""`--variant`: the rules of every command."""

import pytest

import starmine
from starmine.cli import main
from starmine.cli.options import rules_of_text

FOUR = starmine.Variant(players=3, colors=4, crowning_piece=True)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("standard", starmine.Variant()),
        ("avalanche", starmine.variant("avalanche")),
        ("avalanche, players=4", starmine.variant("avalanche", players=4)),
        ("standard, players=3, colors=4, crowning_piece=true", FOUR),
        ("crowning-piece,players=3,colors=4", FOUR),
        ("standard, lost_game_score='fireworks'", starmine.Variant(lost_game_score="fireworks")),
        ("standard, copies=[[3, 2, 2, 1, 1]] * 5", None),
        ("standard, copies=[[1, 1, 1, 1, 1], [3, 2, 2, 2, 1]], colors=2", starmine.Variant(
            colors=2, copies=[[1] * 5, [3, 2, 2, 2, 1]])),
        ('{"colors": 4}', None),
    ],
)  # fmt: skip
def test_a_text_gives_its_rules(text, rules):
    if rules is None:
        with pytest.raises(starmine.StarmineError):
            rules_of_text(text)
    else:
        assert rules_of_text(text) == rules


def test_options_add_to_the_rules_and_do_not_change_them():
    assert rules_of_text("standard", 3) == starmine.Variant(players=3)
    assert rules_of_text("standard, players=3", 3) == starmine.Variant(players=3)
    with pytest.raises(starmine.StarmineError):
        rules_of_text("standard, players=3", 2)


@pytest.mark.parametrize(
    "rules",
    [
        starmine.Variant(players=3, max_life_tokens=4),
        starmine.variant("avalanche", players=4),
        starmine.Variant(colors=2, copies=[[1] * 5, [3, 2, 2, 2, 1]], lost_game_score="fireworks", edition="ikebana"),
    ],
)
def test_a_printed_variant_can_be_given_back(rules):
    from starmine.games.variants import variant_text

    assert starmine.variant(variant_text(rules)) == rules


def test_a_text_is_taken_wherever_python_takes_a_preset():
    rules = starmine.Variant(players=3, max_life_tokens=4)
    text = "standard, max_life_tokens=4"
    assert starmine.variant(text, players=3) == rules
    assert starmine.HanabiVectorEnv(1, variant=text, players=3).variant == rules
    assert starmine.HanabiEnv(variant=text, players=3).variant == rules
    assert starmine.evaluate(["iggi"], 1, variant=text, players=3).settings.variant == rules


COMMANDS = {
    "eval": ["eval", "random", "--games", "4", "--quiet"],
    "generate": ["generate", "random", "random", "random", "--games", "4", "--quiet", "--output", "games"],
    "play": ["play", "--watch", "--partner", "random"],
}


@pytest.mark.parametrize("name", ["eval", "generate"])
def test_a_command_plays_by_the_rules(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*COMMANDS[name], "--variant", "standard, players=3, colors=3, ranks=4"]) == 0
    capsys.readouterr()
    if name == "generate":
        pytest.importorskip("pyarrow")
        assert starmine.data.Dataset("games").variant == starmine.Variant(players=3, colors=3, ranks=4)
