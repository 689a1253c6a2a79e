"""Players that see their own hand: they say so, and every table, picture and file marks them."""

import csv
import json

import pytest

from starmine import StarmineError, evaluate, play_games

GAMES = {"variant": "mini", "games": 20}


class Seer:
    """Plays its first playable card, which it can see, or else the first legal action."""

    encoder, version = "canonical-seer", "1"

    def act_batch(self, turns):
        return turns.action_mask.argmax(1)


class Confessed(Seer):
    cheats = True


@pytest.mark.parametrize(
    "play",
    [
        lambda seer: play_games([seer, "iggi"], 5, 0, "mini"),
        lambda seer: evaluate({"s": seer}, **GAMES, figure=False),
    ],
)
def test_a_policy_that_sees_its_own_hand_says_so_or_is_refused(play):
    torch = pytest.importorskip("torch")
    from starmine.torch import ModulePolicy

    class Flatten(torch.nn.Flatten):
        def forward(self, observations, action_mask):
            return super().forward(observations)

    flatten = Flatten()
    for seer in (Seer(), ModulePolicy(flatten, "canonical-seer")):
        with pytest.raises(StarmineError):
            play(seer)
    for cheats in (1, "yes", None):
        seer = Seer()
        seer.cheats = cheats
        with pytest.raises(StarmineError):
            play(seer)
    play(Confessed())
    assert ModulePolicy(flatten, "canonical-seer", cheats=True).cheats


def test_cheaters_are_marked_alike_in_tables_json_csv_and_pictures(tmp_path, monkeypatch):
    from matplotlib.axes import Axes

    shown, usual = [], {axis: getattr(Axes, axis) for axis in ("set_xticks", "set_yticks")}
    for axis in usual:

        def recorded(axes, *given, axis=axis, **named):
            shown.append(given)
            return usual[axis](axes, *given, **named)

        monkeypatch.setattr(Axes, axis, recorded)
    players = {"honest": "iggi", "cheater": "cheater", "seer": Confessed(), "bot": "cheater"}
    evaluation = evaluate(players, **GAMES, output=tmp_path)
    found = json.loads((tmp_path / "eval.json").read_text(encoding="utf-8"))
    assert found["settings"]["cheaters"] == ["cheater", "seer", "bot"]
    assert [player["cheats"] for player in found["players"]] == [False, True, True, True]
    cheating = [pairing.cheats for pairing in evaluation.pairings]
    assert cheating == [(pairing.player, pairing.partner) != ("honest", "honest") for pairing in evaluation.pairings]
    assert [pairing["cheats"] for pairing in found["pairings"]] == cheating
    with (tmp_path / "eval.csv").open(encoding="utf-8", newline="") as file:
        assert [row["cheats"] for row in csv.DictReader(file)] == [str(cheats) for cheats in cheating]
    text = str(evaluation)
    for name in ("cheater", "seer", "bot"):
        assert text.count(f"{name}†") == 3  # heading, row and line
    assert "honest†" not in text
    assert "† sees its own hand: an upper bound, not a player" in text
    labels = [given[1] for given in shown if len(given) > 1]
    assert labels == [["honest", "cheater†", "seer†", "bot†"]] * 2
    assert "†" not in str(evaluate(["iggi"], **GAMES, figure=False))


def test_a_folder_goes_on_with_the_same_cheaters_only(tmp_path):
    honest = Confessed()
    honest.encoder, honest.cheats = "canonical", False
    evaluate({"one": Confessed()}, **GAMES, figure=False, output=tmp_path)
    with pytest.raises(StarmineError):
        evaluate({"one": honest}, **GAMES, figure=False, output=tmp_path)
