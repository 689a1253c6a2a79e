"""`starmine.search`, players that search, and the command that says what a search gains."""

import threading

import numpy as np
import pytest

import starmine
from starmine._core import _search_parts

RULES = "rules: play-safe; hint-playable; discard-osawa; discard-oldest; hint-most"


def after(turns, seed=3, bot="smart"):
    """A game of bots after some turns."""
    games = starmine.play_games([bot, bot], games=1, seed=seed)
    return games.state(0, turns)


def test_a_search_says_what_each_action_is_worth():
    state = after(12)
    found = starmine.search(state, "smart", rollouts=2000, hands=500)
    assert [value.action for value in found.actions] == state.legal_actions()
    assert found.action in state.legal_actions()
    assert found.blueprint_action == state.suggest("smart")
    assert sum(value.rollouts for value in found.actions) <= 2000
    best = found.value(found.action)
    for form in (np.int64(found.action), found.variant.move(found.action), found.variant.action_meaning(found.action)):
        assert found.value(form) is best
    assert best.kept
    assert 0 < best.mean <= 25
    assert 0 < best.standard_error < 1
    behind = [value for value in found.actions if not value.kept]
    assert behind
    assert all(value.rollouts <= best.rollouts for value in behind)
    lines = str(found).splitlines()
    assert len(lines) == len(found.actions)
    assert "chosen" in str(found)
    assert "blueprint" in str(found)


def test_a_belief_agrees_with_what_the_seat_sees():
    state = after(14)
    belief = starmine.search(state, "smart", rollouts=1).belief
    view = state.view(state.current_player)
    possible = view.marginals() > 0
    marginals = belief.marginals()
    assert marginals.shape == possible.shape
    assert np.allclose(marginals.sum(axis=1), 1)
    assert not marginals[~possible].any()
    assert abs(belief.probabilities.sum() - 1) < 1e-9
    hand = [card.suit * 5 + card.rank for card in state.hands[state.current_player]]
    if belief.exact:
        assert (belief.hands == hand).all(axis=1).any()
    # The moves of the other seat say something: the belief is narrower than what the rules alone allow.
    entropy = lambda rows: -(rows * np.log(np.maximum(rows, 1e-12))).sum()  # noqa: E731
    assert entropy(marginals) < entropy(view.marginals())


def test_nothing_hidden_is_used():
    state = after(10)
    seat, variant = state.current_player, state.variant
    found = starmine.search(state, rollouts=400, hands=200)
    # The same game with another own hand and another deck, which the seat cannot tell apart.
    deck = list(state.deck)
    drawn = 10 + sum(event.drawn is not None for event in state.history)
    deck[drawn:] = deck[drawn:][::-1]
    other = variant.new_game(deck=deck)
    for event in state.history:
        other.apply(event.move)
    again = starmine.search(other.view(seat), rollouts=400, hands=200)
    assert str(again) == str(found)


def test_the_result_is_the_same_for_any_number_of_threads_and_changes_with_the_seed():
    state = after(9)
    texts = [str(starmine.search(state, rollouts=600, hands=200, num_threads=threads)) for threads in (1, 2, 3)]
    assert texts[0] == texts[1] == texts[2]
    assert str(starmine.search(state, rollouts=600, hands=200, seed=1)) != texts[0]


# By method: the chosen action; for each action its roll-outs and the sum of their scores; the moves of a game. Only a
# change of the search or of `smart` changes them on purpose.
PINNED = {
    "single": (
        2,
        "5 13 51 51 5 5 5 27 51 27 13 5 5 5 13 5 13",
        "108 301 1187 1186 112 105 112 618 1159 603 301 113 112 112 303 113 299",
        "15 5 7 10 19 15 6 16 5 0 13 7 14 8 3 14 8 1 18 4 3 17 9 14 9 11 18 2 9 3 15 8 16 5 2 12 7 4 2 13 8 6 "
        "2 5 18 7 12 9 3 11 8 5 19 10 6 5 8 5 14 5 18 7 5",
    ),
    "mirror": (
        2,
        "5 13 51 51 27 5 5 5 13 5 51 5 27 5 5 13 13",
        "102 301 1192 1195 624 98 115 114 304 115 1187 89 626 112 110 300 305",
        "15 5 7 10 12 4 4 15 17 0 6 16 5 4 13 7 2 7 16 6 10 9 17 2 15 9 12 9 14 9 3 5 3 5 3 14 8 18 4 6 18 7 "
        "5 0 12 9 15 5 11 7 10 9 19 6 1 17 5 4 5 11 6 0 0 0 0",
    ),
}


@pytest.mark.parametrize("method", PINNED)
def test_the_draws_of_a_search_are_those_of_earlier_versions(method):
    chosen, rollouts, points, moves = PINNED[method]
    found = starmine.search(after(20), rollouts=300, hands=40, seed=11, method=method)
    assert found.action == chosen
    assert [action.rollouts for action in found.actions] == [int(number) for number in rollouts.split()]
    sums = [action.mean * action.rollouts for action in found.actions]
    assert sums == pytest.approx([int(number) for number in points.split()], abs=1e-9)
    name = f"search: smart; rollouts=60; hands=20; method={method}"
    games = starmine.play_games([name, "smart"], games=1, seed=5)
    assert games.actions.tolist() == [int(number) for number in moves.split()]


def test_time_is_a_budget_too():
    state = after(9)
    found = starmine.search(state, rollouts=10**9, milliseconds=1, hands=50, threshold=0)
    assert 0 < sum(value.rollouts for value in found.actions) < 10**6


@pytest.mark.parametrize("blueprint", [RULES, "ippo-2p-small"])
def test_rule_lists_and_policies_are_blueprints(blueprint):
    found = starmine.search(after(8, bot=blueprint), blueprint, rollouts=60, hands=20)
    assert found.blueprint_action == after(8, bot=blueprint).suggest(blueprint)


def test_rollouts_of_a_depth_end_with_the_expected_score():
    state = after(28, bot="ippo-2p-small")  # early in a game the discount of the network, .999, takes half a point
    full = starmine.search(state, "ippo-2p-small", rollouts=2000, hands=200)
    cut = starmine.search(state, "ippo-2p-small", rollouts=2000, hands=200, depth=8)
    best = {found.action: found for found in full.actions}[full.action]
    assert cut.actions[full.actions.index(best)].mean == pytest.approx(best.mean, abs=0.5)
    # The number of roll-outs is another one, since other moves are dropped: compare the spread of single roll-outs.
    short = cut.actions[full.actions.index(best)]
    assert short.standard_error * short.rollouts**0.5 < 0.8 * best.standard_error * best.rollouts**0.5
    with pytest.raises(starmine.StarmineError):
        starmine.search(after(8), "smart", depth=8)
    with pytest.raises(starmine.StarmineError):
        starmine.search(state, "ippo-2p-small", depth=0)


def test_a_trained_policy_stands_for_its_text():
    policy, state = starmine.load_policy("ippo-2p-small"), after(8, bot="ippo-2p-small")
    by_object, by_text = (starmine.search(state, it, rollouts=40, hands=20) for it in (policy, "ippo-2p-small"))
    assert str(by_object) == str(by_text)


def test_a_searcher_sits_in_tables_batches_and_evaluations():
    name = "search: smart; rollouts=40; hands=16"
    games = starmine.play_games([name, "smart"], games=3, seed=5)
    assert (games.scores == starmine.play_games([name, "smart"], games=3, seed=5, num_threads=1).scores).all()
    plain = starmine.play_games([name + "; threshold=100", "smart"], games=3, seed=5)
    assert (plain.scores == starmine.play_games(["smart", "smart"], games=3, seed=5).scores).all()
    env = starmine.HanabiVectorEnv(num_envs=2, players=2, partners={1: name})
    _, info = env.reset(seed=0)
    env.step(info["action_mask"].argmax(axis=1))
    restored = starmine.Batch("standard", 2, partners={1: name}, seed=1)
    assert restored.partners == {1: name}
    bot, state = starmine.make_bot(name, "standard", 0), starmine.Variant().new_game(seed=1)
    assert bot.act(state.view(0)) in state.legal_actions()


def test_any_number_of_seats_may_search():
    name = "search: smart; rollouts=20; hands=16"
    assert len(starmine.play_games([name, name], games=1)) == 1
    assert len(starmine.play_games([name, name + "; method=mirror"], games=1)) == 1
    starmine.Batch(starmine.variant("standard", players=3), 1, partners={1: name, 2: name}, seed=0)
    with pytest.raises(starmine.StarmineError):
        starmine.play_games([name + "; seats=all", "smart"], games=1)


def test_all_seats_may_search_by_mirror_descent():
    name = "search: smart; rollouts=60; hands=30; method=mirror"
    games = starmine.play_games([name, name], games=3, seed=5)
    assert (games.scores == starmine.play_games([name, name], games=3, seed=5, num_threads=1).scores).all()
    # With a tiny step no value weighs more than the blueprint's own probabilities.
    still = starmine.play_games([name + "; step=0.001"] * 2, games=4, seed=5)
    assert (still.scores == starmine.play_games(["smart", "smart"], games=4, seed=5).scores).all()


def test_mirror_descent_weighs_a_network_by_its_probabilities():
    state = after(11, bot="ippo-2p-small")
    found = starmine.search(state, "ippo-2p-small", rollouts=200, hands=40, method="mirror", step=1e-3)
    assert found.action == found.blueprint_action == state.suggest("ippo-2p-small")
    # A hand that does not explain a move is doubted, so that more hands are left than in a search for one seat.
    single = starmine.search(state, "ippo-2p-small", rollouts=1, hands=100_000)
    both = starmine.search(state, "ippo-2p-small", rollouts=1, hands=100_000, method="mirror")
    if single.belief.exact and both.belief.exact:
        assert len(both.belief.hands) > len(single.belief.hands)


def test_stored_games_have_the_values_of_searched_moves(tmp_path):
    pytest.importorskip("pyarrow")
    name = "search: smart; rollouts=100; hands=30"
    starmine.data.generate([[name, "smart"], "smart"], 6, tmp_path / "games", progress=False)
    data = starmine.data.Dataset(tmp_path / "games")
    table = data[:]
    plain = [table.roster[row].name == "smart" for row in table.players[:, 0]]
    assert 0 < sum(plain) < 6
    assert table.search_values.shape == table.search_errors.shape == (len(table.actions), 20)
    starts = table.offsets
    for game in range(6):
        values = table.search_values[starts[game] : starts[game + 1]]
        errors = table.search_errors[starts[game] : starts[game + 1]]
        searched = np.isfinite(values).any(axis=1)
        seats = np.arange(len(values)) % 2
        assert not searched[seats == 1].any()
        if plain[game]:
            assert not searched.any()
            continue
        assert searched[seats == 0].mean() > 0.8
        assert (np.isfinite(values) == ~np.isnan(errors)).all()
        assert (values[np.isfinite(values)] <= 25).all()
        for turn in np.flatnonzero(searched).tolist():
            legal = table.state(game, turn).legal_actions()
            assert set(np.flatnonzero(np.isfinite(values[turn]))) <= set(legal)
    # Some games, in another order, keep their rows; the games are the same without a search's columns.
    moved = data[[4, 0]].search_values
    assert np.array_equal(moved[-starts[1] :], table.search_values[: starts[1]], equal_nan=True)
    first = plain.index(True)
    assert starmine.data.verify(tmp_path / "games", deal=True, progress=False)
    alone = starmine.data.generate(["smart", "smart"], 6, tmp_path / "plain", progress=False)
    assert data.scores[first] == starmine.data.Dataset(alone.folder).scores[first]
    assert starmine.data.Dataset(alone.folder)[:].search_values is None


def game_with_a_mistake(seed, turns):
    """A game of `smart` in which seat 1 makes another move in turn 3, and the turns after it."""
    state = starmine.Variant().new_game(seed=seed)
    while state.length < turns and not state.is_terminal:
        action = state.suggest("smart")
        if state.length == 3:
            action = next(other for other in reversed(state.legal_actions()) if other != action)
        state.apply(action)
    return state


def test_one_mistake_of_a_teammate_leaves_all_other_evidence():
    alone = better = compared = 0
    for seed in range(8):
        state = game_with_a_mistake(seed, 32)
        if state.is_terminal:
            continue
        belief = starmine.search(state, rollouts=1, hands=20_000).belief
        alone += belief.unexplained == [3]
        hand = [card.suit * 5 + card.rank for card in state.hands[0]]
        kinds = state.view(0).marginals()
        by_rules = np.mean([kinds[slot, card] for slot, card in enumerate(hand)])
        found = belief.marginals()
        better += np.mean([found[slot, card] for slot, card in enumerate(hand)]) > by_rules
        compared += 1
    assert compared >= 4
    assert alone >= compared - 1
    assert better >= compared - 1


@pytest.mark.parametrize("hands", [1, 3, 600])
def test_a_sampled_belief_has_as_many_hands_as_are_asked_for(hands):
    belief = starmine.search(starmine.Variant().new_game(seed=1), rollouts=1, hands=hands).belief
    assert not belief.exact
    assert len(belief.hands) == len(belief.probabilities) == hands
    for turns in (6, 15, 24):
        belief = starmine.search(after(turns), rollouts=1, hands=hands).belief
        assert 1 <= len(belief.hands) <= hands


def test_other_threads_run_while_a_bot_searches():
    state, name = after(6), "search: smart; rollouts=20000"
    bot = starmine.make_bot(name, state.variant, state.current_player)
    for call in (lambda: state.suggest(name), lambda: bot.act(state.view(state.current_player))):
        ticks, ended = [0], threading.Event()

        def tick(ticks=ticks, ended=ended):
            while not ended.wait(0.001):
                ticks[0] += 1

        thread = threading.Thread(target=tick)
        thread.start()
        call()
        ended.set()
        thread.join()
        assert ticks[0] > 10


def test_a_bot_has_one_caller_at_a_time():
    state = after(6)
    bot = starmine.make_bot("search: smart; rollouts=20000", state.variant, state.current_player)
    view = state.view(state.current_player)
    thread = threading.Thread(target=lambda: bot.act(view))
    thread.start()
    busy = False
    while thread.is_alive() and not busy:
        try:
            bot.act(view)
        except starmine.BusyError:
            busy = True
    thread.join()
    assert busy


def test_an_evaluation_shows_the_gain_of_a_search_and_plays_two_searches():
    name = "search: smart; rollouts=30; hands=20"
    found = starmine.evaluate([name, "smart", "piers"], games=4, progress=False)
    assert found.pairing(name, name).games == 4
    gain, _ = found.difference((name, "smart"), ("smart", "smart"))
    assert f"gains {gain:.2f}" in str(found)
    assert not np.isnan(found.as_player(name)[0])


@pytest.mark.parametrize(
    ("text", "blueprint", "options"),
    [
        ("search: smart", "smart", []),
        ("  search:smart ", "smart", []),
        ("search: smart; rollouts=5;method = mirror", "smart", [("rollouts", "5"), ("method", "mirror")]),
        ("search: rules: a; b if x = 1", "rules: a; b if x = 1", []),
        ("search: rules: a; b if x = 1; hands=3", "rules: a; b if x = 1", [("hands", "3")]),
    ],
)
def test_the_text_of_a_search_is_its_blueprint_and_options(text, blueprint, options):
    assert _search_parts(text) == (blueprint, options)


def test_other_players_have_no_parts_of_a_search():
    assert _search_parts("rules: play-safe; discard-oldest") is None
