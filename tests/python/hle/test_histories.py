"""`hle.state_of` never makes another game of a history: it compares all that the items tell, and needs the rules."""

import copy
import pickle
import random

import pytest

import starmine
from starmine import hle
from starmine.hle import pyhanabi, rl_env

SEATS = {"Hanabi-Full": range(2, 6), "Hanabi-Small": range(2, 6), "Hanabi-Very-Small": range(2, 4)}


def played(config, turns=None, seed=1):
    """An environment of `starmine.hle` after a game of random moves, or after some turns."""
    env = rl_env.HanabiEnv({"seed": seed, **config})
    env.reset()
    generator = random.Random(seed)
    while not env.state.is_terminal() and (turns is None or env.state._position.core.length < turns):
        env.step(env.game.get_move_uid(generator.choice(env.state.legal_moves())))
    return env


def items_of(env):
    """The texts of a game's history items."""
    return [str(item) for item in env.state.move_history()]


def refused(message, *arguments, **options):
    """The call is refused with a message."""
    with pytest.raises(starmine.StarmineError, match=message):
        hle.state_of(*arguments, **options)


@pytest.mark.parametrize(
    "config",
    [
        {"players": 2, "colors": 3},
        {"players": 2, "max_information_tokens": 3},
        {"players": 3, "max_life_tokens": 1},
        {"players": 5, "hand_size": 3},
        {"players": 4, "ranks": 3, "random_start_player": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("turns", [0, 3, None])
def test_the_rules_come_with_the_history(config, turns):
    env = played(config, turns)
    history = env.state.move_history()
    for form in (history, pickle.loads(pickle.dumps(history)), copy.deepcopy(history), iter(history)):
        state = hle.state_of(form)
        assert state.variant == hle.variant(config)
        assert state.history == env.state._position.core.history
        assert str(state.hands) == str(env.state._position.core.hands)
    assert hle.state_of(history, config).variant == hle.variant(config)
    refused("the history is of", history, {**config, "max_life_tokens": 7})
    refused("the history is of", history, "Hanabi-Small" if config["players"] == 2 else {"players": 2})


def test_a_history_without_rules_needs_a_config():
    env = played({"players": 2})
    texts = items_of(env)
    moves = [item.move() for item in env.state.move_history()]
    for form in (texts, moves, [str(move) for move in moves], [move.to_dict() for move in moves], []):
        refused("give config=", form)
    other = played({"players": 2, "colors": 3}).state.move_history()
    refused(r"move_history\[11\]: it is of another game: .*colors=3", env.state.move_history()[:11] + other[11:])


@pytest.mark.parametrize("preset", SEATS)
def test_a_preset_has_as_many_seats_as_the_first_hands_tell(preset):
    for players in SEATS[preset]:
        env = rl_env.make(preset, players)
        env.reset()
        env.step({"action_type": "PLAY", "card_index": 0})
        assert hle.state_of(items_of(env), preset).variant == hle.variant(preset, players)
    refused("3 cards are dealt first: expected 10, 15, 16 or 20", ["(Deal R1)"] * 3, "Hanabi-Full")


def test_the_seat_of_an_item_is_compared():
    env = played({"players": 3})
    first = 15
    for form in (env.state.move_history(), items_of(env)):
        for start in (1, 2):
            message = rf"move_history\[{first}\]: .* by player 0.*: expected player {start}"
            refused(message, form, {"players": 3}, start_player=start)
        assert hle.state_of(form, {"players": 3}, start_player=0).length == env.state._position.core.length
    started = {"players": 3, "random_start_player": True}
    games = [played(started, seed=seed).state for seed in range(9)]
    history, start = next(
        (state.move_history(), state._position.core.start_player)
        for state in games
        if state._position.core.start_player
    )
    # The first item may tell nothing: the next ones say who began.
    assert hle.state_of([item.move() for item in history[:16]] + history[16:], started).start_player == start
    swapped = [str(item) for item in history]
    place = next(place for place in range(20, len(swapped)) if "by player" in swapped[place])
    told = swapped[place].split("by player ")[1][0]
    swapped[place] = swapped[place].replace(f"by player {told}", f"by player {(int(told) + 1) % 3}")
    refused(rf"move_history\[{place}\]", swapped, started)


def altered(item, **changes):
    """An item that tells something else."""
    told = {
        "card": (item.color(), item.rank()),
        "scored": item.scored(),
        "token": item.information_token(),
        "touched": tuple(item.card_info_revealed()),
        "dealt_to": item.deal_to_player(),
    }
    return pyhanabi.HanabiHistoryItem(item.move(), item.player(), **{**told, **changes})


@pytest.mark.parametrize(
    ("finds", "changes"),
    [
        (lambda item: item.scored(), {"scored": False}),
        (lambda item: item.information_token(), {"token": False}),
        (lambda item: item.color() == 3, {"card": (2, 4)}),
        (lambda item: item.card_info_revealed() not in ([], [1]), {"touched": (1,)}),
        (lambda item: item.deal_to_player() == 0, {"dealt_to": 1}),
    ],
    ids=["scored", "token", "card", "touched", "dealt_to"],
)
def test_outcomes_are_compared(finds, changes):
    config = {"players": 2, "max_life_tokens": 8}
    history = played(config, seed=3).state.move_history()
    place = next(place for place, item in enumerate(history) if finds(item))
    other = altered(history[place], **changes)
    items = [*history[:place], other, *history[place + 1 :]]
    forms = [items, [str(item) for item in items]]
    for form in forms[: 1 if str(other) == str(history[place]) else 2]:
        refused(rf"move_history\[{place}\]: .*: expected ", form, config)
    # What differs first is named, although a later move is not legal.
    refused(rf"move_history\[{place}\]: ", [*items, "(Play 0)", "(Play 0)"], config)


def test_a_deal_that_no_move_asks_for_is_named():
    env = played({"players": 2}, turns=2)
    dealt = [str(item.move()) for item in env.state.move_history()]
    left = str(env.state._position.core.deck[-1])
    refused(rf"move_history\[{len(dealt)}\]: \(Deal {left}\): no card is to be dealt", [*dealt, f"(Deal {left})"], {})


def test_a_history_may_end_before_a_deal():
    env = played({"players": 2}, turns=1)
    env.state.apply_move(pyhanabi.HanabiMove.get_play_move(0))
    history = env.state.move_history()
    state = hle.state_of(history)
    assert state.length == 2
    assert hle.state_of(history[:4]).length == 0
    assert [str(card) for card in hle.state_of(history[:4]).hands[0][:4]] == [str(item)[7:9] for item in history[:4]]


def test_a_state_is_told_how_to_give_its_history():
    env = played({"players": 2}, turns=2)
    refused(r"expected the moves and deals of a game, such as state.move_history\(\)", env.state)
