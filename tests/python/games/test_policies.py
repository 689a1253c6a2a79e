"""Policies written in Python: which rows they get, which objects hold which seats, and what is lent to them."""

import functools
import re

import numpy as np
import pytest
from recurrent_policy import recurrent

import starmine
from starmine import BotError, HanabiVectorEnv, StarmineError, Turns, UnknownNameError, evaluate, play_games
from starmine.data import Dataset, generate

GAMES = 30
VARIANTS = {players: starmine.Variant(players=players) for players in range(2, 6)}


def games_of(players, variant):
    """The actions of each game."""
    played = play_games(players, GAMES, seed=1, variant=variant)
    return [played.actions[start:end].tolist() for start, end in zip(played.offsets, played.offsets[1:], strict=False)]


def steps_of(partners, variant, steps=60):
    """What a learner that plays the last legal action sees of games with partners."""
    env = HanabiVectorEnv(GAMES, variant, partners=partners, seed=1)
    obs, info = env.reset()
    found = [obs]
    for _ in range(steps):
        obs, *results, info = env.step(last_legal(info["action_mask"]))
        found += [obs, *results]
    return found


# --- An object in several seats ---------------------------------------------------------------------------


@pytest.mark.parametrize("all_turns", [False, True])
@pytest.mark.parametrize("players", [2, 5])
def test_one_object_in_all_seats_plays_as_separate_objects(players, all_turns):
    variant = VARIANTS[players]
    one = recurrent(variant, all_turns=all_turns)
    separate = [recurrent(variant, all_turns=all_turns) for _ in range(players)]
    make = functools.partial(recurrent, variant, all_turns=all_turns)
    expected = games_of(separate, variant)
    found = games_of([one] * players, variant)
    assert sum(game == other for game, other in zip(found, expected, strict=True)) == GAMES
    assert games_of([make] * players, variant) == expected
    assert games_of([one] * players, variant) == expected  # the hidden states of earlier games are cleared


def test_a_hidden_state_matters():
    """Games of the test above differ if hidden states are mixed."""

    class Mixed(type(recurrent(VARIANTS[2]))):
        def act_batch(self, turns):
            turns.seat[:] = 0
            return super().act_batch(turns)

    variant = VARIANTS[2]
    mixed = Mixed(len(variant.layout()), variant.num_actions)
    expected = games_of([recurrent(variant), recurrent(variant)], variant)
    assert sum(game == other for game, other in zip(games_of([mixed, mixed], variant), expected, strict=True)) < 20


@pytest.mark.parametrize("players", [2, 5])
def test_the_diagonal_of_an_evaluation_is_that_of_separate_objects(players):
    variant = VARIANTS[players]
    found = evaluate({"one": recurrent(variant)}, GAMES, variant=variant, seed=1).pairing("one", "one")
    expected = play_games([recurrent(variant) for _ in range(players)], GAMES, seed=1, variant=variant)
    assert found.fireworks == expected.fireworks.mean()
    assert found.length == expected.lengths.mean()


@pytest.mark.parametrize("players", [2, 5])
def test_data_of_one_object_is_that_of_separate_objects(tmp_path, players):
    variant = VARIANTS[players]
    one = recurrent(variant)
    settings = {"games": GAMES, "variant": variant, "seed": 1, "progress": False, "num_threads": 1}
    generate([one] * players, output=tmp_path / "one", **settings)
    generate([recurrent(variant) for _ in range(players)], output=tmp_path / "separate", **settings)
    found, expected = (Dataset(tmp_path / name)[:] for name in ("one", "separate"))
    np.testing.assert_array_equal(found.actions, expected.actions)
    np.testing.assert_array_equal(found.offsets, expected.offsets)


@pytest.mark.parametrize("all_turns", [False, True])
@pytest.mark.parametrize("players", [3])
def test_one_partner_in_several_seats_plays_as_separate_objects(players, all_turns):
    variant, seats = VARIANTS[players], [seat for seat in range(players) if seat != 1]
    one = recurrent(variant, all_turns=all_turns)
    found = steps_of(dict.fromkeys(seats, one), variant)
    separate = steps_of({seat: recurrent(variant, all_turns=all_turns) for seat in seats}, variant)
    made = steps_of(dict.fromkeys(seats, functools.partial(recurrent, variant, all_turns=all_turns)), variant)
    for one, other, another in zip(found, separate, made, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, another)


def test_a_class_or_a_function_makes_an_object_for_each_seat():
    made = []

    class Lowest:
        def __init__(self):
            made.append(self)
            self.seats = set()

        def act_batch(self, turns):
            self.seats |= set(turns.seat.tolist())
            return turns.action_mask.argmax(axis=1)

    for player in (Lowest, lambda: Lowest(), functools.partial(Lowest)):
        made.clear()
        play_games([player, "random", player], 5, variant=VARIANTS[3])
        assert sorted(map(sorted, (one.seats for one in made if one.seats))) == [[0], [2]]
    made.clear()
    one = Lowest()
    play_games([one, "random", one], 5, variant=VARIANTS[3])
    assert one.seats == {0, 2}


def test_a_function_makes_a_bot_for_each_game_and_seat():
    made = []

    class First:
        def __init__(self, name):
            made.append(self)
            self.turns = 0

        def act(self, view):
            self.turns += 1
            return view.legal_actions()[0]

    games = play_games([lambda: First("a"), lambda: First("b")], 4)
    assert len(made) == 8
    assert sum(bot.turns for bot in made) == games.lengths.sum()


# --- Rows -------------------------------------------------------------------------------------------------


class Watching:
    """Keeps its rows, and plays the first legal action."""

    def __init__(self, **attributes):
        vars(self).update(attributes)
        self.turns, self.begun = [], []

    def session(self):
        return self

    def reset(self, games, seats):
        self.begun.append(list(zip(games.tolist(), seats.tolist(), strict=True)))

    def act_batch(self, turns):
        self.turns.append(turns)
        return turns.action_mask.argmax(axis=1)

    def rows(self, game, seat):
        """The rows of a seat of a game, in order: observation, mask and whether it was to act."""
        return [
            (turns.obs[row], turns.action_mask[row], bool(turns.to_act[row]))
            for turns in self.turns
            for row in np.flatnonzero((turns.game == game) & (turns.seat == seat))
        ]


def last_legal(action_mask):
    """The last legal actions: hints while there are tokens."""
    return action_mask.shape[1] - 1 - action_mask[:, ::-1].argmax(axis=1)


class LastLegal(Watching):
    """Plays the last legal action."""

    def act_batch(self, turns):
        super().act_batch(turns)
        return last_legal(turns.action_mask)


def assert_rows_of_games(policy, seats, trajectories, all_turns):
    """Compares the rows of a policy with the replayed games."""
    rules = trajectories.variant
    for game in range(len(trajectories)):
        actions = trajectories.actions[trajectories.offsets[game] : trajectories.offsets[game + 1]]
        states = [trajectories.state(game, turn) for turn in range(len(actions))]
        for seat in seats:
            expected = [state for state in states if all_turns or state.current_player == seat]
            found = policy.rows(game, seat)
            assert len(found) == len(expected)
            for state, (obs, mask, to_act) in zip(expected, found, strict=True):
                assert to_act is (state.current_player == seat)
                np.testing.assert_array_equal(obs, state.encode(seat))
                legal = state.legal_action_mask() if to_act else np.zeros(rules.num_actions, bool)
                np.testing.assert_array_equal(mask, legal)


@pytest.mark.parametrize("all_turns", [False, True])
def test_a_policy_gets_a_row_for_each_of_its_turns_or_of_all_turns(all_turns):
    policy, variant = Watching(all_turns=all_turns), VARIANTS[4]
    other = Watching()
    players = ["smart", policy, other, policy]
    played = play_games(players, 6, seed=3, variant=variant)
    assert policy.begun == [[(game, seat) for game in range(6) for seat in (1, 3)]]
    assert_rows_of_games(policy, (1, 3), played, all_turns)
    assert_rows_of_games(other, (2,), played, False)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("learner", [0, 1, 3])
def test_partners_that_see_all_turns_see_those_of_bots_and_of_the_learner(learner, mode):
    """The learner plays the first legal action, as `play_games` then does with the same players."""
    variant = VARIANTS[4]
    policy = Watching(all_turns=True)
    holders = dict(enumerate(["smart", "iggi", policy, "piers"]))
    del holders[learner]
    env = HanabiVectorEnv(1, variant, partners=holders, seed=4, autoreset_mode=mode)
    _, info = env.reset()
    terminated = [False]
    while not terminated[0]:
        _, _, terminated, _, info = env.step(info["action_mask"].argmax(axis=1))
    assert policy.begun[0] == [(0, 2)]
    seats = [holders.get(seat, Watching()) for seat in range(4)]
    seats[2] = Watching(all_turns=True)
    played = play_games(seats, 1, seed=4, variant=variant)
    length = len(played.actions)
    first = Watching()
    first.turns = policy.turns[:length]
    assert_rows_of_games(first, (2,), played, True)


def test_a_partner_that_sees_all_turns_changes_no_game():
    variant = VARIANTS[3]
    for partners in ({0: "smart", 2: None}, {2: None, 1: "iggi"}, {0: ["smart", None, "piers"], 2: "iggi"}):

        def with_policy(policy, partners=partners):
            def put(holder):
                return [put(one) for one in holder] if isinstance(holder, list) else holder or policy

            return {seat: put(holder) for seat, holder in partners.items()}

        found, expected = (steps_of(with_policy(Watching(all_turns=seen)), variant) for seen in (True, False))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_illegal_action_of_the_learner_is_not_shown():
    policy = Watching(all_turns=True)
    env = HanabiVectorEnv(2, partners={1: policy}, seed=0)
    _, info = env.reset()
    assert not policy.turns
    for _ in range(2):
        with pytest.raises(starmine.IllegalActionError):
            env.step([-1, -1])
    assert not policy.turns
    env.step(info["action_mask"].argmax(axis=1))
    assert [turns.to_act.tolist() for turns in policy.turns[:2]] == [[False] * 2, [True] * 2]


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bits"])
def test_observations_and_extra_outputs_are_those_of_a_batch(dtype):
    extra = ("card_features", "public_marginals", "own_hand")
    policy = LastLegal(dtype=dtype, encoder="canonical-minimal", extra_outputs=extra, cheats=True)
    batch = starmine.Batch(
        "standard", 5, seed=2, dtype=dtype, encoder="canonical-minimal", extra_outputs=extra, autoreset_mode="Disabled"
    )
    play_games([policy, policy], 5, seed=2)
    out = batch.observe()
    assert len(policy.turns) >= 10
    for turns in policy.turns[:30]:
        if len(turns) < 5:
            break
        assert turns.game.tolist() == [0, 1, 2, 3, 4]
        for name in ("obs", "action_mask", *extra):
            assert getattr(turns, name).dtype == out[name].dtype
            np.testing.assert_array_equal(getattr(turns, name), out[name])
        np.testing.assert_array_equal(turns.seat, out["current_player"])
        out = batch.step(last_legal(turns.action_mask))
    plain = Watching()
    play_games([plain, "random"], 2)
    assert plain.turns[0].card_features is None


# --- Refusals ---------------------------------------------------------------------------------------------


class Old:
    def act_batch(self, observations, action_mask, games):
        return action_mask.argmax(axis=1)


class OldReset(Watching):
    def reset(self, games):
        pass


class Defaults:
    def act_batch(self, observations, action_mask=None, games=None):
        return np.zeros(len(games), np.int64)


class Unshared:
    """Has hidden states, but no way to give each user its own."""

    act_batch = Watching.act_batch

    def reset(self, games, seats):
        pass


def needs(argument):
    return Watching()


ENTRY_POINTS = {
    "play_games": lambda player: play_games([player, "random"], 2),
    "evaluate": lambda player: evaluate({"a": player}, 2),
    "partners": lambda player: HanabiVectorEnv(2, partners={1: player}),
    "a list of partners": lambda player: HanabiVectorEnv(2, partners={1: ["smart", player]}),
    "look": lambda player: starmine.look.LiveGame(VARIANTS[2], [None, player]),
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
@pytest.mark.parametrize(
    ("player", "error"),
    [
        (Old(), StarmineError),
        (Old, StarmineError),
        (Defaults(), StarmineError),
        (OldReset(), StarmineError),
        (Unshared(), StarmineError),
        (Watching(dtype="float64"), UnknownNameError),
        (Watching(extra_outputs=("card_feature",)), UnknownNameError),
        (Watching(extra_outputs="public_marginals"), StarmineError),
        (Watching(extra_outputs=("own_hand",)), StarmineError),
        (lambda: None, StarmineError),
        (lambda: {}["a"], StarmineError),
        (needs, StarmineError),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__) if callable(value) else "",
)
def test_a_player_that_would_be_misread_is_refused(entry_point, player, error):
    with pytest.raises(error):
        entry_point(player)


# --- What is lent to a player is a copy -------------------------------------------------------------------


class Scribbler:
    """Plays the first legal action, and then changes every array that it was given."""

    def __init__(self, all_turns=False):
        self.all_turns = all_turns

    def session(self):
        return self

    def reset(self, games, seats):
        games[:], seats[:] = 0, 0

    def act_batch(self, turns):
        actions = turns.action_mask.argmax(axis=1)
        for name in ("obs", "game", "seat"):
            getattr(turns, name)[:] = 0
        turns.action_mask[:], turns.to_act[:] = True, False
        return actions


@pytest.mark.parametrize("all_turns", [False, True])
def test_a_player_that_changes_what_it_is_lent_moves_no_other_game(tmp_path, all_turns):
    variant = VARIANTS[3]
    clean, scribbler = Watching(all_turns=all_turns), Scribbler(all_turns)
    for players in (["{}", "{}", "{}"], ["{}", "iggi", "{}"]):
        tables = [[one if name == "{}" else name for name in players] for one in (clean, scribbler)]
        expected, found = (games_of(table, variant) for table in tables)
        assert found == expected
    one, other = ({0: player, 2: [player, "iggi"]} for player in (clean, scribbler))
    for expected, found in zip(steps_of(one, variant), steps_of(other, variant), strict=True):
        np.testing.assert_array_equal(found, expected)
    clean, scribbler = Watching(all_turns=all_turns), Scribbler(all_turns)
    evaluation = evaluate({"clean": clean, "scribbler": scribbler}, GAMES, variant=variant)
    assert len({(pairing.score, pairing.fireworks, pairing.length) for pairing in evaluation.pairings}) == 1
    for name, player in (("clean", clean), ("scribbler", scribbler)):
        generate([player] * 3, GAMES, tmp_path / name, variant, progress=False, num_threads=1)
    found, expected = (Dataset(tmp_path / name)[:] for name in ("scribbler", "clean"))
    np.testing.assert_array_equal(found.actions, expected.actions)


def test_turns_can_be_compared_and_shown():
    policy = Watching()
    play_games([policy, "random"], 2)
    one, other = policy.turns[:2]
    assert one == one
    assert one != other
    assert one != "turns"
    assert isinstance(one, Turns)
    assert re.fullmatch(r"<Turns: 2 rows, obs uint8 \(2, 658\)>", repr(one))


def test_a_failing_policy_that_sees_all_turns_gives_up_its_games():
    class Fails(Watching):
        def act_batch(self, turns):
            super().act_batch(turns)
            raise ZeroDivisionError("no plan")

    with pytest.raises(BotError) as caught:
        play_games(["smart", Fails(all_turns=True)], 3)
    assert [(failure.game, failure.seat) for failure in caught.value.failures] == [(0, 1), (1, 1), (2, 1)]


def made_by_a_function():
    return Watching()


def test_a_function_that_makes_players_is_named_by_its_own_name(tmp_path):
    generate([made_by_a_function, Watching], 2, tmp_path, progress=False)
    names = [player.name.rpartition("test_policies.")[2] for player in Dataset(tmp_path).roster]
    assert names == ["made_by_a_function", "Watching"]


class FailsToBegin:
    def session(self):
        return self

    def reset(self, games, seats):
        raise KeyError("no such game")

    def act_batch(self, turns):
        return turns.action_mask.argmax(1)


def test_a_policy_that_raises_where_games_begin_fails_these_games():
    with pytest.raises(BotError) as told:
        play_games([FailsToBegin(), FailsToBegin()], 3, variant="mini")
    assert [failure.seat for failure in told.value.failures] == [0, 0, 0]
