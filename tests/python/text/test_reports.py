"""Reports of chat players: of the games that were played, with every reply that was unusable."""

import inspect
import itertools
import json
import re

import numpy as np
import pytest
from chat_models import by_chance, first_move

import starmine
from starmine.text import ChatPlayer, examples, report
from starmine.text.exchange import calls_text


def test_a_report_refuses_a_player_that_talked_about_other_games():
    player = ChatPlayer(first_move)
    starmine.play_games([player, "iggi"], 2, variant="mini")
    games = starmine.play_games([player, "iggi"], 3, variant="mini", record=True)
    with pytest.raises(starmine.StarmineError, match=r"player.*clear\(\)"):
        report(games, [player, "iggi"])
    with pytest.raises(starmine.StarmineError, match=r"asked in seats 0, .* here it has seats 1.*order of play_games"):
        report(games, ["iggi", player])
    player.clear()
    games = starmine.play_games([player, "iggi"], 3, variant="mini", record=True)
    (found,) = report(games, [player, "iggi"]).players
    assert found.totals["calls"] == found.moves


def test_a_report_counts_games_that_were_given_up():
    def ask(messages):
        return "hm" if "Turn 4." in messages[1]["content"] else first_move(messages)

    player = ChatPlayer(ask, replies=1)
    with pytest.raises(starmine.BotError) as error:
        starmine.play_games([player, "iggi"], 6, variant="mini", record=True)
    found = report(error.value.games, [player, "iggi"])
    assert found.given_up == len(error.value.failures) > 0
    assert found.players[0].totals["outcomes"]["unreadable"] == found.given_up


def test_a_report_names_the_first_problem_of_each_outcome():
    replies = iter(["hm", "Well.", "MOVE: discard slot 0"])

    def ask(messages):
        if (reply := next(replies, None)) is None:
            raise ConnectionError("<busy>\nagain")
        return reply

    player = ChatPlayer(ask, name="model", fallback="iggi")
    games = starmine.play_games([player, "iggi"], 1, variant="mini", record=True)
    found = report(games, [player, "iggi"])
    (problems,) = (said.totals["problems"] for said in found.players)
    assert problems["unreadable"] == player.exchanges[0].problem
    assert "not legal now" in problems["illegal"]
    line = inspect.getsourcelines(ask)[1] + 2
    assert problems["failed"] == f"ConnectionError: <busy>\nagain at {__file__}:{line}"
    assert "model: first failed reply" in str(found)
    assert f"ConnectionError: <busy> again at {__file__}:{line}" in str(found)


def test_a_report_tells_scores_replies_and_regret():
    good = ChatPlayer(by_chance(1), name="good")
    bad = ChatPlayer(by_chance(2), name="bad")
    games = starmine.play_games([good, bad], 8, record=True)
    found = report(games, [good, bad], rollouts=200, moves=12)
    assert (found.games, found.given_up, found.mean) == (8, 0, games.mean)
    assert found.lost == games.share("lost")
    for player, chat, seat in zip(found.players, (good, bad), (0, 1), strict=True):
        assert (player.player, player.seats, player.totals["calls"]) == (chat.name, [seat], len(chat.exchanges))
        states = [games.trajectories.state(game) for game in range(8)]
        own = [event for state in states for event in state.history if event.seat == seat]
        assert (player.moves, player.misplays) == (len(own), sum(event.misplay for event in own))
        assert 0 < player.knowable_misplays <= player.misplays
        assert player.regret.moves == 12
        assert player.regret.mean > 0.5  # of moves by chance
    assert "regret a move" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["players"][0]["player"] == "good"


def test_moves_of_the_fallback_are_not_charged_to_the_model():
    player = ChatPlayer(lambda messages: "no", replies=1, fallback="random")
    games = starmine.play_games([player, "iggi"], 6, record=True)
    (found,) = report(games, [player, "iggi"], rollouts=50).players
    assert found.totals["fallbacks"] == player.fallbacks > 0
    assert (found.moves, found.misplays, found.knowable_misplays, found.regret.moves) == (0, 0, 0, 0)
    whole = report(games, [player, "iggi"], rollouts=50)
    assert f"{games.mean:.2f} ± {games.standard_error:.2f}§ of 25" in str(whole)
    assert "§ a fallback chose some moves" in str(whole)
    assert re.search("regret a move +none of its replies' moves was searched", str(whole))
    assert json.loads(json.dumps(whole.to_dict(), allow_nan=False))["players"][0]["regret"]["mean"] is None


def test_shares_are_of_the_games_that_were_played():
    choose, calls = by_chance(3), itertools.count()

    def ask(messages):
        return "no" if next(calls) % 37 == 36 else choose(messages)

    unsteady = ChatPlayer(ask, replies=1)
    with pytest.raises(starmine.BotError) as error:
        starmine.play_games([unsteady, "random"], 12, record=True)
    games = error.value.games
    assert 0 < len(games.failures) < 12
    assert games.share("lost") == np.mean(games.endings[games.endings > 0] == 1) == 1
    found = report(games, [unsteady, "random"])
    assert (found.games, found.given_up, found.lost) == (12 - len(games.failures), len(games.failures), 1)
    scores = {example["game"]: example["final_score"] for example in examples(games.trajectories)}
    assert {game for game, score in scores.items() if score is None} == {failure.game for failure in games.failures}


def test_the_moves_of_the_blueprint_have_no_regret_however_noisy_the_values_are():
    games = starmine.play_games(["smart", "smart"], 2, record=True)
    from starmine.text.reports import regret

    places = [(game, turn) for game in range(2) for turn in range(0, 50, 2)]
    found = regret(games.trajectories, places, rollouts=100)
    assert found.moves > 40
    assert abs(found.mean) < 0.1  # the greatest of noisy values is 0.7 above that of the blueprint's move


def test_a_report_needs_recorded_games():
    player = ChatPlayer(first_move)
    with pytest.raises(starmine.StarmineError, match="record=True"):
        report(starmine.play_games([player, "iggi"], 1, variant="mini"), [player, "iggi"])
    games = starmine.play_games([player, "iggi"], 1, variant="mini", record=True)
    with pytest.raises(starmine.StarmineError, match="players has 1 entries"):
        report(games, [player])
    with pytest.raises(TypeError, match=r"games=.* is a Trajectories: expected the result of play_games"):
        report(games.trajectories, [player, "iggi"])
    with pytest.raises(TypeError, match=r"players=.* is a ChatPlayer: expected a sequence"):
        report(games, player)
    with pytest.raises(starmine.StarmineError, match="rollouts=1"):
        report(games, [player, "iggi"], rollouts=1)


def test_sums_of_costs_are_shown_without_noise():
    calls = {"calls": 3, "outcomes": {}, "fallbacks": 0, "seconds": 3.0}
    usage = {"prompt_tokens": 1234567, "cost": 0.21630300000000002}
    assert (
        calls_text(calls | {"usage": usage}) == "3 calls: prompt_tokens 1,234,567; cost 0.216303; 1.00 seconds a call"
    )


@pytest.mark.parametrize("option", [{"blueprint": "info"}, {"seed": 1}, {"num_threads": 2}, {"moves": 3}])
def test_options_of_a_search_need_one(option):
    player = ChatPlayer(first_move)
    games = starmine.play_games([player, "iggi"], 1, variant="mini", record=True)
    with pytest.raises(starmine.StarmineError, match=f"{next(iter(option))}=.* without rollouts is not allowed"):
        report(games, [player, "iggi"], **option)
