"""A seat at a table that somebody else runs sees, believes and plays what it would at a table of one's own."""

import copy
import pickle
from concurrent.futures import Future
from zlib import crc32

import foreign_policies
import numpy as np
import pytest
from chat_models import first_move
from recurrent_policy import recurrent
from seen_tables import play_on, played_by_seats, seats_of, told

import starmine
from starmine import StarmineError, Variant, VariantError
from starmine._core import shows_own_hand
from starmine.games import SeenGame
from starmine.text import ChatPlayer

torch = pytest.importorskip("torch")

BOTS = [name for name in starmine.bots() if starmine.games.bot(name).is_player]
SEED = 9


class Counting:
    """A bot that remembers how often it was asked."""

    def __init__(self):
        self.turns = 0

    def act(self, view):
        self.turns += 1
        legal = view.legal_actions()
        return legal[(self.turns * 7 + len(view.history)) % len(legal)]


class Later:
    """A bot that answers by futures, by what it sees of the hands."""

    def act(self, view):
        legal = view.legal_moves()
        return str(legal[crc32(str(view).encode()) % len(legal)])

    def act_views(self, views, games):
        answers = []
        for view in views:
            answers.append(Future())
            answers[-1].set_result(self.act(view))
        return answers


class ByChance:
    """A policy that draws by the uniform numbers of its rows."""

    def act_batch(self, turns):
        counts = turns.action_mask.sum(axis=1)
        place = (turns.uniform * counts).astype(np.int64)
        return np.argmax(np.cumsum(turns.action_mask, axis=1) > place[:, None], axis=1)


class Weighing:
    """A policy of all extra outputs that a seat may see."""

    extra_outputs = ("card_features", "public_marginals")
    dtype = "float32"

    def act_batch(self, turns):
        seen = [array.reshape(len(turns), -1).sum(axis=1) for array in (turns.card_features, turns.public_marginals)]
        place = (1000 * seen[0] + 1000 * seen[1] + turns.obs.sum(axis=1)).astype(np.int64)
        legal = [np.flatnonzero(mask) for mask in turns.action_mask]
        return np.array([row[index % len(row)] for row, index in zip(legal, place.tolist(), strict=True)])


def network(variant):
    from starmine.torch import ModulePolicy, PolicyNetwork

    torch.manual_seed(0)
    made = PolicyNetwork(variant, hidden=(16,), recurrent=True)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(3)
    return ModulePolicy(made, sampled=True)


# For every variant: each makes the player of all seats.
KINDS = {
    **{name: lambda variant, name=name: name for name in BOTS},
    "noise": lambda variant: "noisy: 0.3; smart",
    "rules": lambda variant: "rules: play-safe; hint-playable; discard-oldest",
    "a bot's class": lambda variant: Counting,
    "a bot that answers later": lambda variant: Later(),
    "a chat player": lambda variant: ChatPlayer(first_move),
    "a policy": lambda variant: Weighing(),
    "a policy's class": lambda variant: ByChance,
    "a recurrent policy": recurrent,
    "a policy that sees all turns": lambda variant: recurrent(variant, all_turns=True),
    "a torch module": network,
}
PRESETS = [(name, players) for name in starmine.variants() for players in (2, 3, 4, 5)]


def compare(make, variant, games):
    """Compare the games of seats that sit at their own tables with those of `play_games`."""
    count = variant.players
    expected = starmine.play_games([make(variant)] * count, len(games), SEED, variant, first_game=games[0])
    found = expected
    for index, game in enumerate(games):
        actions = found.actions[found.offsets[index] : found.offsets[index + 1]].tolist()
        assert played_by_seats([make(variant)] * count, variant, SEED, game) == actions


def of_preset(name, players):
    try:
        return starmine.variant(name, players=players)
    except VariantError:
        pytest.skip("the preset has other numbers of players")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("preset", "players"), [("standard", 2), ("mini", 2), ("avalanche", 3), ("hard", 5)])
def test_the_moves_are_those_of_play_games(kind, preset, players):
    play(kind, of_preset(preset, players), range(2))


def play(kind, variant, games):
    make = KINDS[kind]
    try:
        starmine.play_games([make(variant)] * variant.players, 1, SEED, variant)
    except VariantError:
        seat = seats_of(variant.new_game(seed=0))[0]
        with pytest.raises(VariantError):
            seat.seat(make(variant))
        with pytest.raises(StarmineError):
            seat.act()
        return
    compare(make, variant, games)


SHIPPED = starmine.policies.shipped()
SEARCHES = {
    "single": ["search: smart; rollouts=60; hands=40", "smart"],
    "mirror": ["search: smart; rollouts=60; hands=40; method=mirror"] * 2,
    "policy": ["ippo-2p-small", "search: ippo-2p-small; rollouts=40; hands=20; depth=4"],
}
FOREIGN = ("obl", "sad.pthw", "mappo-rnn", "ippo")


def compare_tables(make, variant, games):
    """As `compare`, where the seats have players of their own: `make()` gives them."""
    expected = starmine.play_games(make(), len(games), SEED, variant, first_game=games[0])
    for index, game in enumerate(games):
        actions = expected.actions[expected.offsets[index] : expected.offsets[index + 1]].tolist()
        assert played_by_seats(make(), variant, SEED, game) == actions


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("text", ["{}", "policy: {}; sampled"])
def test_a_shipped_policy_plays_as_in_play_games(name, text):
    variant = starmine.load_policy(name).variant
    compare_tables(lambda: [text.format(name)] * variant.players, variant, range(2))


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_search_plays_as_in_play_games(kind):
    compare_tables(lambda: SEARCHES[kind], Variant(), range(1))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    for name in FOREIGN:
        foreign_policies.write(name, folder / name)
    return folder


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("text", ["policy: {}", "policy: {}; sampled", "noisy: 0.2; policy: {}"])
def test_a_policy_of_another_library_plays_as_in_play_games(files, name, text):
    if name in ("obl", "sad.pthw") and "sampled" in text:
        pytest.skip("it is greedy")
    compare_tables(lambda: [text.format(files / name), "iggi"], Variant(), range(2))


def positions(variant, games=3):
    """Games with the seats at their own tables, turn by turn; the moves are random."""
    rng = np.random.default_rng(1)
    for game in range(games):
        state = variant.new_game(seed=SEED, game=game)
        seats = seats_of(state)
        while True:
            yield state, seats
            if state.is_terminal:
                break
            state.apply(int(rng.choice(state.legal_actions())))
            event = state.history[-1]
            for seat in seats:
                shown = seat.apply(event.action, **told(event, seat.observer))
                assert shown == state.view(seat.observer).history[-1]


@pytest.mark.parametrize(("preset", "players"), PRESETS)
def test_a_seat_sees_what_it_sees_of_a_state(preset, players):
    encoders = [name for name in starmine.encoders() if not shows_own_hand(name)]
    for state, seats in positions(of_preset(preset, players), games=1):
        for seat in seats:
            view = state.view(seat.observer)
            assert seat.view() == view
            assert str(seat) == str(view)
            assert seat.legal_actions() == view.legal_actions()
            assert seat.view().history == view.history
            assert (seat.current_player, seat.length, seat.ending) == (
                state.current_player,
                state.length,
                state.ending,
            )
            assert seat.is_terminal == state.is_terminal
            for encoder in encoders:
                np.testing.assert_array_equal(seat.observation(encoder), state.encode(seat.observer, encoder))
        np.testing.assert_array_equal(seats[0].marginals(), state.view(0).marginals())


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bits"])
def test_the_observations_are_those_of_an_environment(dtype):
    env = starmine.HanabiVectorEnv(1, "standard", players=3, dtype=dtype, observers="all", autoreset_mode="Disabled")
    obs, _ = env.reset(seed=SEED)
    for state, seats in positions(starmine.variant("standard", players=3), games=1):
        if state.history:
            obs = env.step(np.array([state.history[-1].action]))[0]
        for seat in seats:
            shown = seat.observation(dtype=dtype)
            assert shown.dtype == obs.dtype
            np.testing.assert_array_equal(shown, obs[0, seat.observer])


def test_a_search_of_the_view_is_that_of_the_state():
    for state, seats in positions(Variant(), games=1):
        if not state.is_terminal and state.length % 9 == 0:
            expected = starmine.search(state, rollouts=60, hands=30, seed=3)
            assert starmine.search(seats[state.current_player].view(), rollouts=60, hands=30, seed=3) == expected


def test_worlds_are_those_of_the_state():
    for state, seats in positions(starmine.variant("standard", players=3), games=1):
        for seat in seats:
            expected = state.worlds(3, seed=state.length, observer=seat.observer)
            assert seat.worlds(3, seed=state.length) == expected


MEMORIES = {
    "smart": lambda variant: "smart",
    "noise": lambda variant: "noisy: 0.3; smart",
    "a search": lambda variant: "search: smart; rollouts=40; hands=20",
    **{name: make for name, make in KINDS.items() if name not in (*BOTS, "a chat player")},
}


def part_of_a_game(make, turns):
    """A game after some turns, the players' seats, and the moves of the whole game."""
    variant = Variant()
    players = [make(variant), "iggi"]
    actions = played_by_seats(players, variant, SEED, 0)
    state = variant.new_game(seed=SEED)
    seats = seats_of(state)
    for seat, player in zip(seats, [make(variant), "iggi"], strict=True):
        seat.seat(player, seed=SEED)
    for action in actions[:turns]:
        assert seats[state.current_player].act() == action
        state.apply(action)
        for seat in seats:
            seat.apply(action, **told(state.history[-1], seat.observer))
    return state, seats, actions


@pytest.mark.parametrize("kind", [kind for kind in MEMORIES if kind != "a search"])
def test_copies_and_stored_seats_play_on_alike(kind):
    for change in (copy.copy, copy.deepcopy, SeenGame.copy, lambda seat: pickle.loads(pickle.dumps(seat))):
        state, seats, actions = part_of_a_game(MEMORIES[kind], 20)
        copies = [change(seat) for seat in seats]
        assert copies == seats
        # Neither disturbs the other.
        for at_table in (seats, copies):
            game = state.copy()
            play_on(game, at_table)
            assert [event.action for event in game.history] == actions


@pytest.mark.parametrize("kind", [kind for kind in MEMORIES if kind != "a search"])
def test_a_player_that_comes_later_plays_on_as_if_it_had_held_the_seat(kind):
    state, seats, actions = part_of_a_game(MEMORIES[kind], 9)
    for seat, player in zip(seats, [MEMORIES[kind](state.variant), "iggi"], strict=True):
        seat.seat(player, seed=SEED)
    play_on(state, seats)
    assert [event.action for event in state.history] == actions


@pytest.mark.parametrize(
    "kind", ["smart", "a bot's class", "a recurrent policy", "a policy that sees all turns", "a torch module"]
)
def test_the_table_decides_what_is_played(kind):
    """A player that was not asked in a turn, or whose move was not played, knows of the turn that was played."""
    variant = Variant()
    asked, not_asked = (seats_of(variant.new_game(seed=SEED)) for _ in range(2))
    for seat in (*asked, *not_asked):
        seat.seat(MEMORIES[kind](variant), seed=SEED)
    state = variant.new_game(seed=SEED)
    rng = np.random.default_rng(2)
    while not state.is_terminal and state.length < 24:
        chosen = asked[state.current_player].act()
        assert asked[state.current_player].act() == chosen
        if state.length % 5 == 4:
            assert not_asked[state.current_player].act() == chosen
        state.apply(int(rng.choice(state.legal_actions())))
        for seat in (*asked, *not_asked):
            seat.apply(state.history[-1].action, **told(state.history[-1], seat.observer))


HAND = ["R1", "R1", "R1", "B5", "G2"]


def seat_0():
    """Seat 0 before its turn; its teammate's hand has all red ones."""
    return SeenGame("standard", 0, [None, HAND])


HAND = ["R1", "R1", "R1", "B5", "G2"]


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("discard 0", {"card": "R2"}),  # with all tokens
        ("play 0", {}),  # without the card that left
        ("play 0", {"card": "R1"}),  # of which none is left
        ("play 0", {"card": "R2", "drawn": "R3"}),  # which the seat does not see
        ("hint +1 red", {"touched": [0, 1]}),  # and not 2
    ],
)
def test_a_turn_that_cannot_be_is_refused_and_changes_nothing(action, shown):
    seat = SeenGame("standard", 0, [None, HAND])
    seat.seat("smart")
    before, expected = seat.copy(), seat.act()
    with pytest.raises(StarmineError):
        seat.apply(action, **shown)
    assert seat == before
    assert seat.act() == expected


@pytest.mark.parametrize(
    ("action", "shown"),
    [
        ("play 0", {"drawn": "R2", "card": "R2"}),  # another card is in that slot
        ("play 0", {}),  # without the card that was drawn
        ("play 0", {"drawn": "R1"}),  # of which none is left
        ("hint +1 red", {}),  # without the slots
        ("hint +1 red", {"touched": []}),
    ],
)
def test_a_teammates_turn_that_cannot_be_is_refused_and_changes_nothing(action, shown):
    seat = SeenGame("standard", 0, [None, HAND])
    seat.apply("play 0", card="R2")
    before = str(seat)
    with pytest.raises(StarmineError):
        seat.apply(action, **shown)
    assert str(seat) == before


def test_no_turn_is_taken_after_the_end():
    for state, seats in positions(starmine.variant("mini", players=2), games=1):
        if state.is_terminal:
            with pytest.raises(StarmineError):
                seats[0].apply("play 0", card="R1")
            seats[0].seat("random")
            with pytest.raises(StarmineError):
                seats[0].act()


class Wrong:
    def __init__(self, move):
        self.move = move

    def act(self, view):
        if isinstance(self.move, Exception):
            raise self.move
        return self.move


def test_a_player_that_fails_says_so_and_the_game_goes_on():
    seat = seat_0()
    for move, cause in (("discard 0", type(None)), (RuntimeError("broken"), RuntimeError)):
        seat.seat(Wrong(move))
        with pytest.raises(StarmineError) as caught:
            seat.act()
        assert type(caught.value.__cause__) is cause
    seat.seat("smart")
    assert seat.act() in seat.legal_actions()


class Fragile:
    """A policy that sees all turns and fails in some of them."""

    all_turns = True
    fails = True

    def act_batch(self, turns):
        if self.fails:
            raise RuntimeError("broken")
        return turns.action_mask.argmax(axis=1)


def test_a_turn_that_a_policy_cannot_be_shown_is_not_taken():
    seat, policy = seat_0(), Fragile()
    seat.seat(policy)
    with pytest.raises(StarmineError):
        seat.apply("hint +1 red")
    assert seat.length == 0
    policy.fails = False
    seat.apply("hint +1 red")
    assert seat.length == 1
    with pytest.raises(StarmineError):
        seat.seat(Fragile())
    assert seat.length == 1
    seat.apply("play 0", drawn="Y1")
    with pytest.raises(StarmineError):
        seat.act()


def test_two_seats_of_one_object_do_not_share_memory():
    variant = Variant()
    policy = recurrent(variant)
    compare_tables(lambda: [policy, policy], variant, range(2))


def test_a_copy_makes_new_bots_by_the_same_function():
    seen = seat_0()
    seen.seat(lambda: Counting())
    copied = copy.copy(seen)
    assert copied.act() == copied.copy().act() == seen.act()
