"""Replays without a browser: what they hold, where points went, what is refused, and the command."""

import json
import random
import re
from pathlib import Path

import pytest
import torch
from random_games import play
from random_variants import random_variant

import starmine
from starmine.cli import main
from starmine.look import mistakes, replay_html, verdict
from starmine.look.replay import replay_data
from starmine.look.words import told_apart
from starmine.torch import ColorNetwork, ModulePolicy

DECK = [suit + rank for suit in "RYGWB" for rank in "1112233445"]  # of the base game, sorted


def recorded(bots, games=3, **settings):
    return starmine.play_games(bots, games=games, **settings)


def state_of(first, *moves):
    """A game of the base game's cards, these first, after some moves."""
    cards = list(DECK)
    for card in first:
        cards.remove(card)
    state = starmine.Variant().new_game(deck=[*first, *cards])
    for move in moves:
        state.apply(move)
    return state


@pytest.mark.parametrize("seed", range(12))
def test_the_points_of_mistakes_are_those_that_went(seed):
    """What can be reached never rises, ends as the score, and falls on the turns that are named."""
    rng = random.Random(seed)
    variant = random_variant(rng)
    state = variant.new_game(seed=seed)
    play(state, rng)
    position = variant.new_game(deck=state.deck, start_player=state.start_player)
    bounds = [position.view(0).reachable_score]
    for event in state.history:
        position.apply(event.action)
        bounds.append(position.view(0).reachable_score)
    falls = {
        turn: bounds[turn - 1] - bounds[turn] for turn in range(1, len(bounds)) if bounds[turn - 1] != bounds[turn]
    }
    assert min(falls.values(), default=1) > 0
    assert bounds[-1] == state.score
    found = mistakes(state)
    assert {mistake.turn: mistake.points for mistake in found if mistake.points} == falls
    for mistake in found:
        event = state.history[mistake.turn - 1]
        assert mistake.seat == event.seat
        assert (mistake.kind == "misplay") == event.misplay


def test_a_mistake_says_what_happened():
    discarded = state_of(["R5"], "hint +1 red", "hint +1 red", "discard 0")
    assert [str(one.text) for one in mistakes(discarded, ["Ann", "Bob"])] == ["Ann discards R5, the last copy"]
    misplayed = state_of(["R5"], "play 0")
    (found,) = mistakes(misplayed)
    assert (found.turn, found.seat, found.kind, found.points) == (1, 0, "misplay", 1)
    assert found.text == "seat 0 misplays R5, the last copy, and a life token is lost"
    lost = state_of(["R5", "R4", "R4"], "play 0", "hint +1 red", "play 0", "hint +1 red", "play 0")
    assert [one.points for one in mistakes(lost)] == [1, 0, 24]
    assert mistakes(lost)[-1].text.endswith("and the last life token is lost")


def test_a_mistake_says_what_its_seat_could_know():
    """The deck begins with reds: seat 0 has R5, R1 three times and R2, seat 1 the others."""
    assert mistakes(state_of(["R5"], "play 0"))[0].chance == pytest.approx(15 / 45)  # the unseen cards of rank 1
    (found,) = mistakes(state_of(["R5"], "hint +1 red", "hint +1 red", "discard 0"))
    assert found.chance == pytest.approx(4 / 5)
    (told,) = mistakes(state_of(["R5"], "hint +1 red", "hint +1 5", "discard 0"))
    assert told.chance == 0


def test_a_card_that_is_announced_wrongly_could_not_fit():
    timed = starmine.variant("timed-display").new_game(deck=DECK)
    for move in ("hint +1 red", "hint +1 1", "play 0 yellow"):
        timed.apply(move)
    (found,) = mistakes(timed)
    assert found.chance == pytest.approx(3 / 15)  # of the fifteen cards of rank 1, all unseen, three are yellow


def test_the_verdict_says_how_a_game_ended():
    moves = ("play 0", "hint +1 red", "play 0", "hint +1 red", "play 0")
    assert verdict(state_of(["R5", "R4", "R4"], *moves)) == (
        "Lost on turn 5: seat 0 misplayed R5 (turn 1), R4 (turn 3) and R4 (turn 5), which took the last life token. "
        "No card had been played."
    )
    both = state_of(["R5", "R4", "R4", "R1", "R2", "W5"], "play 0", "play 0", "play 0")
    assert verdict(both).startswith("Lost on turn 3: the misplays of R5 (turn 1), ")
    assert verdict(state_of([], *moves)) == "Not played to its end: 1 of 25 points after 5 turns."


@pytest.mark.parametrize("seed", range(8))
def test_the_verdict_of_any_game_has_its_points(seed):
    rng = random.Random(seed)
    variant = random_variant(rng)
    state = variant.new_game(seed=seed)
    play(state, rng)
    told, found = verdict(state), mistakes(state)
    if state.ending == "deck_exhausted":
        assert told.startswith(f"The deck ran out: {state.score} of {variant.max_score} points.")
        shares = {
            kind: sum(one.points for one in found if one.kind == kind) for kind in ("misplay", "critical", "time")
        }
        assert [int(share) for share in re.findall(r"(?<=[.,] )\d+", told)] == [
            shares[kind] for kind in ("critical", "misplay", "time") if shares[kind]
        ]
    elif state.ending == "perfect":
        assert told == f"All {variant.max_score} points, in {state.length} turns."
    else:
        assert told.startswith(f"Lost on turn {state.length}: ")
    for one in found:
        assert (one.chance is None) == (one.kind in ("time", "stuck"))
        assert one.chance is None or 0 <= one.chance <= 1


def test_a_player_with_neither_card_nor_token_ends_the_game():
    rules = {"colors": 1, "crowning_piece": True, "copies": [[2, 1, 1, 1, 1]], "hand_size": 2}
    state = starmine.Variant(players=2, max_information_tokens=4, **rules).new_game(
        deck=["R4", "R5", "R1", "R2", "R3", "R1"]
    )
    for move in [*["hint +1 red", "play 0"] * 4, "play 0"]:
        state.apply(move)
    assert state.ending == "no_legal_action"
    last = mistakes(state)[-1]
    assert (last.kind, last.turn, last.points) == ("stuck", state.length, state.variant.max_score)
    assert last.text in verdict(state)


@pytest.mark.parametrize("seed", range(30))
def test_the_last_turn_s_text_fits_the_ending(seed):
    """Of any variant: what is said of the turn that ended the game is said of this ending alone."""
    rng = random.Random(seed)
    state = random_variant(rng).new_game(seed=seed)
    play(state, rng)
    found = [one for one in mistakes(state) if one.turn == state.length]
    said = {
        "lost": "the last life token is lost",
        "indispensable_card_lost": "the last copy",
        "no_legal_action": "neither a card nor an information token",
        "deck_exhausted": "it was the last turn",
    }
    for ending, words in said.items():
        if state.ending == ending and ending != "deck_exhausted":
            assert words in found[0].text
        elif ending != "indispensable_card_lost":  # the last copy of a card may be lost in any game
            assert not any(words in one.text for one in found if state.ending != ending)
    assert {one.kind for one in found} <= {
        "lost": {"misplay"},
        "indispensable_card_lost": {"misplay", "critical"},
        "no_legal_action": {"misplay", "stuck"},
        "deck_exhausted": {"misplay", "critical", "time"},
        "perfect": set(),
    }[state.ending]
    if state.variant.crowning_piece:
        assert "time" not in {one.kind for one in mistakes(state)}


def test_the_games_of_a_replay_are_those_that_were_played():
    games = recorded(["smart", "iggi"])
    data = json.loads(json.dumps(replay_data(games, compare="smart", policy="ippo-2p-small", names=["a", "b"])))
    for index, game in enumerate(data["games"]):
        state = games.state(index)
        assert game["actions"] == [event.action for event in state.history]
        assert (game["score"], game["ending"], game["names"]) == (state.score, state.ending, ["a", "b"])
        assert len(game["frames"]) == len(game["reachable"]) == state.length + 1
        assert len(game["compare"]["actions"]) == state.length
        for turn in range(0, state.length, 17):
            position = games.state(index, turn)
            assert game["compare"]["actions"][turn] == position.suggest("smart")
            thought = game["frames"][turn]["policy"]
            assert thought["choice"] == position.suggest("ippo-2p-small")
            assert set(map(int, thought["probabilities"])) <= set(position.legal_actions())
            assert game["values"][turn] == thought["value"]


def test_the_command_compares_with_the_policy_of_a_folder(tmp_path):
    starmine.data.generate(["smart", "smart"], 2, tmp_path / "games", seed=3, num_threads=1, progress=False)
    folder, page = tmp_path / "mine", tmp_path / "page.html"
    folder.mkdir()
    ColorNetwork(starmine.Variant(), hidden=(8, 8)).save(folder / "policy.safetensors")
    assert main(["replay", str(tmp_path / "games"), "--html", str(page), "--compare", str(folder)]) == 0
    data = json.loads(re.search(r'id="games">(.*?)</script>', page.read_text(encoding="utf-8"))[1])
    compared, position = data["games"][0]["compare"], starmine.data.Dataset(tmp_path / "games").state(0, 0)
    assert compared["name"] == "mine"
    assert compared["actions"][0] == position.suggest(starmine.load_policy(folder))


def test_a_page_is_one_file_without_references():
    text = replay_html(recorded(["smart", "smart"], 2), names=["<b>", "</script>"], title="</title><b>")
    assert set(re.findall(r"https?://[^\s\"'`]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|<img|\bsrc=|@import|url\(", text)
    assert text.count("</script>") == 2
    assert "<title>&lt;/title&gt;&lt;b&gt;</title>" in text
    assert "\nimport " not in text
    assert "\nexport " not in text


def payload(path):
    """The data of a page."""
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="games">(.*?)</script>', text)[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same games in several formats, and an evaluation."""
    place = tmp_path_factory.mktemp("games")
    starmine.data.generate(["smart", "iggi"], 12, str(place / "parquet"), progress=False)
    games = starmine.data.read_games(place / "parquet")
    for suffix in ("json", "safetensors"):
        starmine.data.write_games(games, place / f"games.{suffix}")
    starmine.evaluate(["smart", "iggi"], 12, output=place / "eval", figure=False)
    return place


@pytest.mark.parametrize("source", ["parquet", "games.json", "games.safetensors"])
def test_the_command_shows_the_worst_games_of_any_format(folder, source, tmp_path, capsys):
    page = tmp_path / "out.html"
    assert main(["replay", str(folder / source), "--worst", "2", "--html", str(page)]) == 0
    scores = sorted(starmine.data.read_games(folder / "parquet").scores.tolist())[:2]
    assert [game["score"] for game in payload(page)["games"]] == scores
    assert main(["replay", str(folder / source), "--game", "3", "--html", str(page), "--compare", "smart"]) == 0
    (game,) = payload(page)["games"]
    assert game["actions"] == starmine.data.Dataset(folder / "parquet")[3].actions.tolist()
    assert f"written to {page}" in capsys.readouterr().out


@pytest.mark.parametrize("source", ["parquet", "games.json", "eval"])
def test_the_command_chooses_games_by_their_ending_and_says_how_they_ended(folder, source, tmp_path, capsys):
    page = tmp_path / "out.html"
    arguments = ["replay", str(folder / source), "--html", str(page), "--ending"]
    assert main([*arguments, "lost"]) == 0
    found = payload(page)["games"]
    assert {game["ending"] for game in found} == {"lost"}
    told = capsys.readouterr().out
    assert all(game["verdict"] in told for game in found)
    if source == "parquet":
        stored = [game.state(0).ending for game in starmine.data.Dataset(folder / "parquet")]
        assert len(found) == stored.count("lost")
    assert main([*arguments, "lost", "--worst", "1"]) == 0
    assert len(payload(page)["games"]) == 1
    assert main([*arguments, "indispensable_card_lost"]) == 2
    assert "no game" in capsys.readouterr().err


SITE = {
    "6 Suits": (starmine.Variant(colors=6), "red yellow green blue purple teal", "RYGBPT"),
    "avalanche": (starmine.variant("avalanche"), "red yellow green blue purple black", "RYGBPK"),
    "3 Suits": (starmine.Variant(colors=3), "red green blue", "RGB"),
    "No Variant": (starmine.Variant(), "red yellow green blue purple", "RYGBP"),
}


@pytest.mark.parametrize("name", SITE)
@pytest.mark.parametrize("source", ["games.json", "games.parquet", "folder"])
def test_games_of_hanab_live_have_the_suits_of_that_site(name, source, tmp_path, capsys):
    """Also after they became our own files; the verdict, the mistakes, the moves and the board agree."""
    rules, suits, letters = SITE[name]
    played = starmine.play_games(["random", "random"], 3, variant=rules, seed=1)
    first = tmp_path / "games.json"
    starmine.data.write_games(played, first)
    told = first
    if source in ("games.parquet", "folder"):
        told = tmp_path / source
        starmine.data.write_games(starmine.data.read_games(first), told, "parquet")
    page = tmp_path / "out.html"
    capsys.readouterr()
    assert main(["replay", str(told), "--html", str(page), "--game", "0"]) == 0
    (game,) = payload(page)["games"]
    assert " ".join(suit["name"] for suit in game["suits"]) == suits
    assert "".join(suit["letter"] for suit in game["suits"]) == letters
    state = played.state(0)
    assert game["frames"][0]["hands"][0][0]["card"] == letters[state.deck[0].suit] + str(state.deck[0].rank + 1)
    names = told_apart(game["names"])
    assert game["verdict"] == verdict(state, names, suits.split())
    assert game["verdict"] in capsys.readouterr().out
    assert [one["text"] for one in game["mistakes"]] == [one.text for one in mistakes(state, names, suits.split())]
    fatal = {letters[event.card.suit] + str(event.card.rank + 1) for event in state.history if event.misplay}
    assert fatal
    assert all(card in game["verdict"] for card in fatal)
    assert set(suits.split()) < set(" ".join(game["moves"][0]).split())
    assert "white" not in json.dumps({**game, "variant": None})


PEOPLE = Path(__file__).parents[2] / "data" / "hanab_live"


def test_the_command_says_that_a_game_of_people_was_not_played_to_its_end(tmp_path, capsys):
    page = tmp_path / "out.html"
    assert main(["replay", str(PEOPLE / "terminated.json"), "--html", str(page)]) == 0
    (game,) = payload(page)["games"]
    assert game["verdict"] == "Not played to its end: 11 of 25 points after 40 turns."
    assert game["verdict"] in capsys.readouterr().out


def test_our_own_games_keep_our_suits(folder, tmp_path):
    assert main(["replay", str(folder / "parquet"), "--html", str(tmp_path / "out.html"), "--game", "0"]) == 0
    (game,) = payload(tmp_path / "out.html")["games"]
    assert "".join(suit["letter"] for suit in game["suits"]) == "RYGWB"


def test_the_command_refuses_a_file_without_a_game(tmp_path, capsys):
    (tmp_path / "empty.json").touch()
    assert main(["replay", str(tmp_path / "empty.json"), "--html", str(tmp_path / "out.html")]) == 2
    assert "empty.json: it is empty" in capsys.readouterr().err


def test_the_command_shows_the_worst_games_of_an_evaluation(folder, tmp_path, capsys):
    assert main(["replay", str(folder / "eval"), "--worst", "5", "--html", str(tmp_path / "out.html")]) == 0
    told = re.findall(r"\(most at turn \d+, -\d+: (\w+( \(seat [01]\))?)", capsys.readouterr().out)
    assert len(told) == 5
    assert {name for name, _ in told} <= {
        "smart",
        "iggi",
        *(f"{name} (seat {seat})" for name in ("smart", "iggi") for seat in (0, 1)),
    }
    found = payload(tmp_path / "out.html")["games"]
    scores = starmine.data.Dataset(folder / "eval").scores
    assert [game["score"] for game in found] == sorted(scores.tolist())[:5]
    assert {name for game in found for name in game["names"]} <= {"smart", "iggi"}


def test_only_policies_of_starmine_show_their_values():
    games = starmine.play_games(["smart", "smart"], games=1)
    for policy in (ModulePolicy(torch.nn.Bilinear(658, 20, 20)), object()):
        with pytest.raises(starmine.StarmineError):
            replay_data(games, policy=policy)
