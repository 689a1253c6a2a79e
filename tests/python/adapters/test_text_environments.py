"""The arenas of language models play our games: Gymnasium with text, TextArena, verifiers and Kaggle's harness."""

import asyncio
import importlib.util
import json
import sys
from types import SimpleNamespace

import gymnasium
import pytest
import verifiers_stand_in
from paths import ROOT

import starmine
from starmine.adapters.gymnasium_text import HanabiTextEnv
from starmine.adapters.kaggle import generate_prompt, get_legal_moves, label, observation, parse_response
from starmine.text.game import TextGame


def first_move(prompt):
    return "MOVE: " + prompt.rsplit("Your legal moves:\n- ", 1)[1].split("\n- ")[0].split("\n")[0]


def expected_score(players, partners=None, seed=0, variant="mini", game=0):
    """The score of a game in which text always takes the first legal move."""
    state = starmine.variant(variant, players=players).new_game(seed=seed, game=game)
    bots = {seat: starmine.make_bot(bot, state.variant, seat) for seat, bot in (partners or {}).items()}
    while not state.is_terminal:
        seat = state.current_player
        state.apply(bots[seat].act(state.view(seat)) if seat in bots else state.legal_actions()[0])
    return state.score


def test_gymnasium_plays_the_games_of_the_seed():
    for partners in (None, {1: "iggi"}):
        env = HanabiTextEnv("mini", partners=partners)
        prompt, info = env.reset(seed=3)
        assert info == {"outcome": None, "seat": 0, "score": 0}
        total, terminated = 0.0, False
        while not terminated:
            assert env.observation_space.contains(prompt)
            prompt, reward, terminated, truncated, info = env.step(first_move(prompt))
            total += reward
            assert not truncated
        assert total == info["score"] == expected_score(2, partners, 3)
        assert "The game is over" in prompt
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step("MOVE: play slot 0")


def test_gymnasium_asks_again_and_truncates():
    env = HanabiTextEnv("mini", replies=2)
    prompt, _ = env.reset(seed=0)
    again, reward, terminated, truncated, info = env.step("Hello.")
    assert (reward, terminated, truncated, info["outcome"]) == (0.0, False, False, "unreadable")
    assert again.endswith(prompt)
    assert "names no move" in again
    *_, truncated, info = env.step("MOVE: discard slot 0")
    assert (truncated, info["outcome"]) == (True, "illegal")


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"partners": {2: "iggi"}}, "partners has seat 2"),
        ({"partners": {0: "iggi", 1: "iggi"}}, "partners hold all seats"),
        ({"partners": {1: "igi"}}, 'did you mean "iggi"'),
        ({"replies": 0}, "replies=0"),
    ],
)
def test_gymnasium_refuses(arguments, refusal):
    with pytest.raises(starmine.StarmineError, match=refusal):
        HanabiTextEnv("mini", **arguments)


def test_textarena_plays_whole_games():
    pytest.importorskip("textarena")
    from starmine.adapters.textarena import HanabiTextArenaEnv

    for players in (2, 3):
        env = HanabiTextArenaEnv("mini")
        env.reset(num_players=players, seed=5)
        done, turns = False, 0
        while not done:
            player, messages = env.get_observation()
            assert player == turns % players
            texts = [text for _, text, _ in messages]
            assert texts[0].startswith("You play Hanabi") == (turns < players)
            assert f"You are seat {player}. It is your turn." in texts[-1]
            done, _ = env.step(first_move(texts[-1]))
            turns += 1
        rewards, info = env.close()
        score = expected_score(players, seed=5)
        assert rewards == dict.fromkeys(range(players), score)
        assert f"The score is {score}" in info[0]["reason"]


def test_textarena_deals_other_games_without_a_seed():
    pytest.importorskip("textarena")
    from starmine.adapters.textarena import HanabiTextArenaEnv

    env, decks = HanabiTextArenaEnv("mini"), []
    for seed in (None, None, 0, 0):
        env.reset(num_players=2, seed=seed)
        decks.append(env.game.state.hands)
    assert decks[0] != decks[1]
    assert decks[2] == decks[3]


def test_textarena_takes_its_wrappers_and_ends_after_unusable_replies():
    ta = pytest.importorskip("textarena")
    from starmine.adapters.textarena import HanabiTextArenaEnv

    env = ta.wrappers.LLMObservationWrapper(env=HanabiTextArenaEnv("mini", error_allowance=1))
    env.reset(num_players=2, seed=0)
    player, text = env.get_observation()
    assert "It is your turn." in text
    assert env.step("Hello.")[0] is False
    assert env.get_observation()[0] == player
    assert env.step("Hello.")[0] is True
    assert env.close()[1][0]["invalid_move"] is True


@pytest.fixture
def verifiers(monkeypatch):
    """The adapter for `verifiers`: with the library, or with what stands in for it."""
    module = "starmine.adapters.verifiers"
    if importlib.util.find_spec("verifiers") is None:
        monkeypatch.setitem(sys.modules, "verifiers", verifiers_stand_in)
        monkeypatch.setitem(sys.modules, "datasets", verifiers_stand_in.datasets)
        sys.modules.pop(module, None)
    yield importlib.import_module(module)
    sys.modules.pop(module)


def test_verifiers_scores_rollouts(verifiers):
    env = verifiers.load_environment(variant="mini", games=3, partners={1: "iggi"}, seed=4)
    rows = env.get_dataset()
    assert [row["prompt"][0]["role"] for row in rows] == ["system"] * 3

    def first(prompt):
        assert [message["role"] for message in prompt] == ["system", "user"]
        return first_move(prompt[-1]["content"])

    for game, row in enumerate(rows):
        state = asyncio.run(verifiers_stand_in.rollout(env, row, first))
        score = expected_score(2, {1: "iggi"}, 4, game=game)
        assert verifiers.score_share(state) == score / env.variant.max_score
        if isinstance(env.rubric, verifiers_stand_in.Rubric):
            reward, values = env.rubric.scores(state)
            assert reward == verifiers.score_share(state)
            assert values == {"score_share": reward, "score": score, "lost": values["lost"], "unusable_replies": 0}
    state = asyncio.run(verifiers_stand_in.rollout(env, rows[0], lambda _: "Hello."))
    assert (state["unusable"], len(state["trajectory"])) == (3, 3)
    with pytest.raises(starmine.StarmineError, match="games=0"):
        verifiers.load_environment(games=0)


POSITIONS = json.loads((ROOT / "tests" / "data" / "kaggle.json").read_text())


def replayed(history, players):
    """The game of a history of OpenSpiel."""
    variant = starmine.Variant(players=players)
    dealt = [f"{'RYGWB'[action // 5]}{action % 5 + 1}" for player, action in history if player < 0]
    left = [str(card) for card in variant.new_game(seed=0).deck]
    for card in dealt:
        left.remove(card)
    state = variant.new_game(deck=[*dealt, *left])
    for player, action in history:
        if player >= 0:
            state.apply(action)
    return state


@pytest.mark.parametrize("position", POSITIONS)
def test_kaggles_observation_is_that_of_its_own_code(position):
    for expected in position["observations"]:
        state = replayed(position["history"], expected["num_players"])
        assert observation(state, expected["observer"]) == expected


def test_kaggles_positions_have_each_outcome_that_they_can():
    outcomes = {said["outcome"] for position in POSITIONS for said in position["observations"]}
    assert outcomes == {"in_progress", "lives_exhausted", "deck_exhausted"}
    assert any(said["final_turns_remaining"] for position in POSITIONS for said in position["observations"])


def arena(position, players):
    """A position as the arena hands it to the harness."""
    pyspiel = pytest.importorskip("pyspiel")
    if "hanabi" not in pyspiel.registered_names():
        pytest.skip("this OpenSpiel has no Hanabi")
    game = pyspiel.load_game("hanabi", {"players": players})
    state = game.new_initial_state()
    for _, action in position["history"]:
        state.apply_action(action)
    said = observation(replayed(position["history"], players), state.current_player())
    serialized = pyspiel.serialize_game_and_state(game, state)
    return state, {"observationString": json.dumps(said), "serializedGameAndState": serialized}


def test_the_three_functions_of_kaggles_harness():
    for position in POSITIONS:
        said = position["observations"][0]
        if said["is_terminal"]:
            continue
        state, found = arena(position, said["num_players"])
        seat = state.current_player()
        legal = get_legal_moves(found)
        assert legal == {action: state.action_to_string(seat, action) for action in state.legal_actions()}
        prompt = generate_prompt(found, [])
        assert f"You are seat {seat}. It is your turn." in prompt
        view = replayed(position["history"], said["num_players"]).view(seat)
        for action, string in legal.items():
            for reply in (
                json.dumps({"move": string}),
                json.dumps({"move": starmine.text.facts.move_text(view, action)}),
            ):
                assert parse_response(reply, list(legal.values()), observation=found).legal_action == string
        result = parse_response("I do not know.", list(legal.values()), observation=found)
        assert (result.legal_action, result.raw_action) == (None, None)
        assert "names no move" in generate_prompt(found, [], previous_response="I do not know.")


def test_an_observation_without_a_game_is_refused():
    pytest.importorskip("pyspiel")
    with pytest.raises(starmine.StarmineError, match="the observation cannot be read"):
        generate_prompt({"observationString": "{}"}, [])


def test_labels_are_openspiels():
    variant = starmine.Variant()
    assert [label(variant, action) for action in (0, 5, 10, 19)] == [
        "(Discard 0)",
        "(Play 0)",
        "(Reveal player +1 color R)",
        "(Reveal player +1 rank 5)",
    ]


def test_a_game_by_text_says_how_it_ended():
    game = TextGame(starmine.variant("mini"), seed=2)
    while not game.is_over:
        game.play(SimpleNamespace())  # no reply
        assert game.play(first_move(game.table())).action is not None
    assert game.table() == f"The game is over ({game.state.ending}). The score is {game.state.score}."
