"""A frame says what the engine says, and of a seat's view nothing that the seat may not see."""

import json
import random
import re

import numpy as np
import pytest
from random_games import choose_action

import starmine
from starmine.look import frame_of

TABLES = [(name, players) for name in starmine.variants() for players in (2, 3, 5)]


def positions(name, players, seed, count=4):
    """Positions of a random game at random turns; the deal and the end are among them."""
    rng = random.Random(seed)
    state = starmine.variant(name, players=players, lost_game_score="fireworks").new_game(seed=seed)
    found = [state.copy()]
    while not state.is_terminal:
        state.apply(choose_action(state, rng))
        found.append(state.copy())
    return [found[0], *rng.sample(found, min(count, len(found))), found[-1]]


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_frame_says_what_the_engine_says(name, players):
    for state in positions(name, players, 3):
        for seat in (None, *range(players)):
            frame = json.loads(json.dumps(frame_of(state, seat)))
            shown = state if seat is None else state.view(seat)
            for field in ("score", "fireworks", "information_tokens", "life_tokens", "deck_size", "current_player"):
                assert frame[field] == getattr(state, field)
            assert (frame["ending"], frame["turn"]) == (state.ending, state.length)
            assert frame["discards"] == [str(card) for card in state.discard_pile]
            assert [move["action"] for move in frame["legal"]] == shown.legal_actions()
            assert [move["text"] for move in frame["legal"]] == [*map(str, shown.legal_moves())]
            assert [suit["letter"] for suit in frame["suits"]] == list(state.variant.letters)
            for at, hand in enumerate(frame["hands"]):
                expected = [None] * len(state.hands[at]) if at == seat else [str(card) for card in state.hands[at]]
                assert [card["card"] for card in hand] == expected
                for slot, card in enumerate(hand):
                    known = state.view(at).knowledge(0, slot)
                    assert (card["color"], card["rank"]) == (known.color, known.rank)
                    assert card["plausible"].count("1") == len(known.plausible)


def test_beliefs_are_the_marginals_of_the_owners():
    for state in positions("avalanche", 3, 5):
        for seat, hand in enumerate(frame_of(state)["hands"]):
            expected = state.view(seat).marginals()
            assert np.allclose([card["belief"] for card in hand], expected.reshape(len(hand), -1), atol=1e-4)
        seen = frame_of(state.view(1))["hands"]
        assert [card["belief"] is not None for hand in seen for card in hand] == [
            at == 1 for at, hand in enumerate(seen) for _ in hand
        ]


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_what_a_seat_may_not_see_does_not_change_its_frame(name, players):
    """The observer's own cards and the deck are exchanged: its frame stays the same."""
    for state in positions(name, players, 7)[:-1]:
        rng = random.Random(state.length)
        for seat in range(players):
            view = state.view(seat)
            other = exchanged(state, seat, rng)
            assert frame_of(view) == frame_of(state, seat)
            if other is not None:
                assert frame_of(other, seat) == frame_of(view)


def exchanged(state, seat, rng):
    """The same game with another deck order and other cards in the seat's hand, if the hints allow them."""
    variant, deck = state.variant, list(state.deck)
    dealt = variant.deck_size - state.deck_size
    own = [card["number"] for card in frame_of(state)["hands"][seat]]
    hidden = own + list(range(dealt, variant.deck_size))
    hand = state.view(seat).sample_hands(1, seed=rng.randrange(1000))[0].tolist()
    cards = [deck[place] for place in hidden]
    chosen = []
    for kind in hand:
        card = starmine.Card.of(kind // variant.ranks, kind % variant.ranks)
        match = next((one for one in cards if (one.suit, one.rank) == (card.suit, card.rank)), None)
        if match is None:
            return None
        cards.remove(match)
        chosen.append(match)
    rng.shuffle(cards)
    for place, card in zip(hidden, chosen + cards, strict=True):
        deck[place] = card
    start = state.history[0].seat if state.length else state.current_player
    other = variant.new_game(deck=deck, start_player=start)
    for event in state.history:
        other.apply(event.action)
    return other


SITE = ("red", "yellow", "green", "blue", "purple", "teal")
LETTER_OF = dict(zip("RYGWBM", "RYGBPT", strict=True))
NAME_OF = {"white": "blue", "blue": "purple", "multicolour": "teal"}


def renamed(value):
    """Data of a frame with the suits of hanab.live: cards, marks of hints and names, wherever they stand."""
    if isinstance(value, dict):
        return {key: renamed(part) if key not in ("variant", "suits", "names") else part for key, part in value.items()}
    if isinstance(value, list):
        return [renamed(part) for part in value]
    if isinstance(value, str):
        value = re.sub(r"(?<![A-Za-z])[RYGWBM](?=\d\b|$)", lambda found: LETTER_OF[found[0]], value)
        return re.sub("|".join(NAME_OF), lambda found: NAME_OF[found[0]], value)
    return value


@pytest.mark.parametrize("seat", [None, 0])
def test_all_cards_and_words_of_a_frame_have_the_suits_that_are_given(seat):
    """Only the letters and names differ from the frame with our suits."""
    rules, kinds = starmine.Variant(colors=6, timed_display=True, max_life_tokens=8), set()
    for seed in range(4):
        state, rng = rules.new_game(seed=seed), random.Random(seed)
        while not state.is_terminal:
            state.apply(choose_action(state, rng))
            found = frame_of(state, seat, suits=SITE)
            assert [suit["name"] for suit in found["suits"]] == list(SITE)
            assert "".join(suit["letter"] for suit in found["suits"]) == "RYGBPT"
            expected = renamed(frame_of(state, seat))
            assert found == expected | {"suits": found["suits"]}
        kinds |= {(event.kind, event.announced is not None) for event in state.history}
    plain = {(kind, False) for kind in ("play", "discard", "color_hint", "rank_hint")}
    assert kinds == plain | {("play", True)}


def test_numbers_name_cards_and_told_lists_every_hint():
    state = starmine.variant("standard", players=3).new_game(seed=1)
    while not state.is_terminal:
        state.apply(state.suggest("smart"))
        for hand, cards in zip(frame_of(state)["hands"], state.hands, strict=True):
            assert [str(state.deck[card["number"]]) for card in hand] == [str(card) for card in cards]
            for card in hand:
                for turn, said in card["told"]:
                    fits = said[1] == card["card"][0] or said[1] == card["card"][1]
                    assert fits == (said[0] == "+")
                    assert state.history[turn - 1].target is not None


def test_the_outlook_is_that_of_the_definition():
    """A card is dead where it was played or all copies of it or of a card below it are gone; see outlook.rs."""
    for state in positions("standard", 2, 11, count=8):
        frame = frame_of(state)
        discards = frame["discards"]
        for suit, height in enumerate(state.fireworks):
            for rank in range(5):
                card = "RYGWB"[suit] + str(rank + 1)
                left = {r: (3, 2, 2, 2, 1)[r] - discards.count(card[0] + str(r + 1)) for r in range(5)}
                dead = rank < height or any(left[r] == 0 for r in range(height, rank + 1))
                assert (card in frame["dead"]) == dead
                assert (card in frame["playable"]) == (not dead and rank == height)
                assert (card in frame["critical"]) == (not dead and left[rank] == 1)


def test_a_policy_is_plain_data():
    state = starmine.Variant().new_game(seed=0)
    told = {"name": "p", "probabilities": {np.int64(3): np.float32(0.5)}, "value": np.float32(2), "choice": np.int64(3)}
    assert json.loads(json.dumps(frame_of(state, policy=told)))["policy"] == {
        "name": "p",
        "probabilities": {"3": 0.5},
        "value": 2.0,
        "choice": 3,
    }
