"""Variants, cards, moves, decks, games and stored games that are refused."""

import pickle
from collections.abc import Sequence

import numpy as np
from refusals import HUGE, row

import starmine
from starmine import (
    ArrayError,
    Batch,
    Card,
    DeckError,
    IllegalActionError,
    NotationError,
    SerializationError,
    StarmineError,
    State,
    UnknownNameError,
    Variant,
    VariantError,
)


def endless_deck():
    """A deck that goes on far beyond any variant's."""
    for _ in range(10_000):
        yield "R1"
    raise AssertionError("the deck was read far beyond its end")


class Endless(Sequence):
    """A sequence that claims more elements than any memory holds."""

    def __init__(self, element):
        self.element = element

    def __len__(self):
        return 2**45

    def __getitem__(self, index):
        return self.element


def swapped(cards, index, card):
    return [*cards[:index], card, *cards[index + 1 :]]


RANGES = {
    "players": (2, 5),
    "colors": (1, 6),
    "ranks": (1, 5),
    "hand_size": (1, 6),
    "max_information_tokens": (0, 16),
    "max_life_tokens": (1, 8),
}


def variant_rows():
    for name, (low, high) in RANGES.items():
        allowed = f"{low} to {high}"
        for value in (low - 1, high + 1, -(2**63), 2**63 - 1):
            yield row(
                f"{name}={value}",
                lambda t, name=name, value=value: Variant(**{name: value}),
                VariantError,
                f"{name}={value} is not allowed",
                allowed,
            )
        for value in (HUGE, -HUGE, 2**63):
            yield row(
                f"{name}={value}",
                lambda t, name=name, value=value: Variant(**{name: value}),
                VariantError,
                name,
                str(value),
            )
        for value, kind in ((2.0, "float"), (float("nan"), "float"), ("2", "str"), ([2], "list")):
            yield row(
                f"{name}={value!r}",
                lambda t, name=name, value=value: Variant(**{name: value}),
                TypeError,
                name,
                kind,
            )
    for name in ("random_start_player", "empty_hints"):
        for value in (1, "yes", None):
            yield row(
                f"{name}={value!r}",
                lambda t, name=name, value=value: Variant(**{name: value}),
                TypeError,
                name,
                "bool",
            )
    yield from [
        row("players=None", lambda t: Variant(players=None), TypeError, "players", "None"),
        row("lost score", lambda t: Variant(lost_game_score="none"), VariantError, '"none"', "zero", "fireworks"),
        row("lost score 0", lambda t: Variant(lost_game_score=0), TypeError, "lost_game_score", "str"),
        row("unknown parameter", lambda t: Variant(plyers=2), TypeError, "plyers"),
        row("copies 5", lambda t: Variant(copies=5), VariantError, "copies=5", "row for each colour"),
        row("copies text", lambda t: Variant(copies="abc"), VariantError, "copies='abc'", "row for each colour"),
        row("copies flat", lambda t: Variant(copies=[1, 2]), VariantError, "copies=[1, 2]", "row for each colour"),
        row("copies rows", lambda t: Variant(copies=[[1] * 5]), VariantError, "copies=[[1, 1, ", "5 rows"),
        row("copies columns", lambda t: Variant(copies=[[1] * 4] * 5), VariantError, "copies=[[1, ", "5 numbers"),
        row("copies empty", lambda t: Variant(copies=[]), VariantError, "copies=[]", "5 rows"),
        row("copies ragged", lambda t: Variant(copies=[[1] * 5] * 4 + [[1]]), VariantError, "copies=[[", "5 numbers"),
        row("copies 0", lambda t: Variant(copies=[[1, 0, 1, 1, 1]] * 5), VariantError, "copies[0][1]=0", "1 to 3"),
        row("copies 4", lambda t: Variant(copies=[[1, 1, 1, 1, 4]] * 5), VariantError, "copies[0][4]=4", "1 to 3"),
        row("copies -1", lambda t: Variant(copies=[[-1] * 5] * 5), VariantError, "copies[0][0]=-1", "1 to 3"),
        row("copies huge", lambda t: Variant(copies=[[HUGE] * 5] * 5), VariantError, "copies=", "1 to 3"),
        row("copies float", lambda t: Variant(copies=[[1.5] * 5] * 5), VariantError, "copies=", "1.5", "1 to 3"),
        row("copies float array", lambda t: Variant(copies=np.ones((5, 5))), VariantError, "copies=", "1 to 3"),
        row("too many cards", lambda t: Variant(colors=6, copies=[[3] * 5] * 6), VariantError, "90", "64 cards"),
        row(
            "too few cards",
            lambda t: Variant(players=5, colors=1, hand_size=4),
            VariantError,
            "hand_size=4",
            "at most 2",
            "5 players",
            "10 cards",
        ),
        row("preset", lambda t: starmine.variant("nope"), UnknownNameError, '"nope"', "standard", "small"),
        row("preset 5", lambda t: starmine.variant(5), TypeError, "name", "str"),
        row("override", lambda t: starmine.variant("hard", plyers=2), TypeError, "plyers"),
        row("override range", lambda t: starmine.variant("hard", players=9), VariantError, "players=9", "2 to 5"),
        row("override name", lambda t: starmine.variant("hard", **{"": 2}), TypeError, "unexpected keyword"),
    ]


VARIANT_METHOD_ROWS = [
    row("rating 26", lambda t: t.variant.rating(26), StarmineError, "score=26", "0 to 25"),
    row("rating -1", lambda t: t.variant.rating(-1), StarmineError, "score=-1", "0 to 25"),
    row("start alone", lambda t: t.variant.new_game(start_player=1), StarmineError, "start_player=1", "deck"),
    row("no announcements", lambda t: t.variant.action("play 0 red"), IllegalActionError, "play 0 red", "not a move"),
    row("no such hint", lambda t: t.variant.action("hint +2 red"), IllegalActionError, "hint +2 red", "2 players"),
    row("announced id", lambda t: t.state.apply(20), IllegalActionError, "action 20", "0 to 19"),
    row(
        "another variant's deck",
        lambda t: t.variant.new_game(deck=starmine.variant("avalanche").new_game(seed=1).deck),
        DeckError,
        "is not a card of this variant",
        "5 colours",
    ),
    row("rating huge", lambda t: t.variant.rating(HUGE), StarmineError, "score", str(HUGE)),
    row("rating float", lambda t: t.variant.rating(2.5), TypeError, "score", "float"),
    row("meaning 20", lambda t: t.variant.action_meaning(20), IllegalActionError, "action 20", "0 to 19"),
    row("meaning -1", lambda t: t.variant.action_meaning(-1), IllegalActionError, "action -1", "0 to 19"),
    row("meaning huge", lambda t: t.variant.action_meaning(HUGE), IllegalActionError, "action", str(HUGE), "0 to 19"),
    row("meaning text", lambda t: t.variant.action_meaning("5"), TypeError, "action", "str"),
    row("move text", lambda t: t.variant.action("jump 2"), NotationError, '"jump 2"', "play 2", "hint +1 red"),
    row("move empty", lambda t: t.variant.action(""), NotationError, '""', "play 2"),
    row("move long", lambda t: t.variant.action("x" * 10**6), NotationError, "xxx", "play 2"),
    row("move slot", lambda t: t.variant.action("play 300"), NotationError, '"play 300"', "play 2"),
    row("move sign", lambda t: t.variant.action("play +2"), NotationError, '"play +2"', "play 2"),
    row("move signs", lambda t: t.variant.action("hint ++1 red"), NotationError, '"hint ++1 red"', "hint +1 red"),
    row("move words", lambda t: t.variant.action("play rank 2"), NotationError, '"play rank 2"', "play 2"),
    row("move rank 0", lambda t: t.variant.action("hint +1 0"), NotationError, '"hint +1 0"', "hint +1 3"),
    row("no such slot", lambda t: t.variant.action("play 5"), IllegalActionError, '"play 5"', "hand of 5"),
    row("no such offset", lambda t: t.variant.action("hint +2 red"), IllegalActionError, '"hint +2 red"', "2 players"),
    row("no such colour", lambda t: t.variant.action("hint +1 multicolour"), IllegalActionError, "5 colours"),
    row("move 5", lambda t: t.variant.action(5), TypeError, "move=5", "text"),
    row("layout", lambda t: t.variant.layout("nope"), UnknownNameError, 'encoder="nope"', "canonical-minimal"),
    row("layout section", lambda t: t.variant.layout()["nope"], KeyError, "nope", "fireworks", "knowledge"),
    row("layout index", lambda t: t.variant.layout()[0], TypeError, "str"),
    row("card text", lambda t: Card("R6"), NotationError, '"R6"', "R Y G W B M", "1 to 5"),
    row("card empty", lambda t: Card(""), NotationError, '""', "R Y G W B M"),
    row("card suit", lambda t: Card("X1"), NotationError, '"X1"', "R Y G W B M"),
    row("card unicode", lambda t: Card("é1"), NotationError, '"é1"', "R Y G W B M"),
    row("card long", lambda t: Card("R1" * 10**5), NotationError, "R1R1", "R Y G W B M"),
    row("card zeros", lambda t: Card("R01"), NotationError, '"R01"', "1 to 5"),
    row("card sign", lambda t: Card("R+1"), NotationError, '"R+1"', "1 to 5"),
    row("card space", lambda t: Card("R1 "), NotationError, '"R1 "', "1 to 5"),
    row("card 5", lambda t: Card(5), TypeError, "text", "str"),
    row("suit 6", lambda t: Card.of(6, 0), StarmineError, "suit=6", "0 to 5"),
    row("suit -1", lambda t: Card.of(-1, 0), StarmineError, "suit=-1", "0 to 5"),
    row("suit 256", lambda t: Card.of(256, 0), StarmineError, "suit=256", "0 to 5"),
    row("rank 5", lambda t: Card.of(0, 5), StarmineError, "rank=5", "0 to 4"),
    row("rank huge", lambda t: Card.of(0, HUGE), StarmineError, "rank", str(HUGE)),
    row("rank float", lambda t: Card.of(0, 1.0), TypeError, "rank", "float"),
]


DEAL_ROWS = [
    row("seed -1", lambda t: t.variant.new_game(seed=-1), StarmineError, "seed=-1", "0 to 2**64 - 1"),
    row("seed 2**64", lambda t: t.variant.new_game(seed=2**64), StarmineError, f"seed={2**64}", "0 to 2**64 - 1"),
    row("seed float", lambda t: t.variant.new_game(seed=1.5), TypeError, "seed", "float"),
    row("seed nan", lambda t: t.variant.new_game(seed=float("nan")), TypeError, "seed", "float"),
    row("seed text", lambda t: t.variant.new_game(seed="1"), TypeError, "seed", "str"),
    row("seed list", lambda t: t.variant.new_game(seed=[1]), TypeError, "seed", "list"),
    row("seed and deck", lambda t: t.variant.new_game(seed=1, deck=t.deck), StarmineError, "seed", "deck", "one of"),
    row("game -1", lambda t: t.variant.new_game(seed=1, game=-1), StarmineError, "game=-1", "0 to 9223372036854775807"),
    row("episode -1", lambda t: t.variant.new_game(seed=1, episode=-1), StarmineError, "episode=-1", "0 to "),
    row("episode huge", lambda t: t.variant.new_game(seed=1, episode=HUGE), StarmineError, "episode", str(HUGE)),
    row("deck short", lambda t: t.variant.new_game(deck=t.deck[1:]), DeckError, "49 cards", "expected 50"),
    row("deck long", lambda t: t.variant.new_game(deck=[*t.deck, "R1"]), DeckError, "51", "expected 50"),
    row("deck empty", lambda t: t.variant.new_game(deck=[]), DeckError, "0 cards", "expected 50"),
    row("deck endless", lambda t: t.variant.new_game(deck=endless_deck()), DeckError, "cards", "expected 50"),
    row("deck count", lambda t: t.variant.new_game(deck=["R1"] * 50), DeckError, "50 copies of R1", "expected 3"),
    row(
        "deck foreign card",
        lambda t: t.variant.new_game(deck=swapped(t.deck, 7, "M1")),
        DeckError,
        "deck[7]=M1",
        "5 colours",
    ),
    row("deck not a card", lambda t: t.variant.new_game(deck=swapped(t.deck, 7, "Z9")), NotationError, '"Z9"', "R Y G"),
    row("deck number", lambda t: t.variant.new_game(deck=swapped(t.deck, 7, 3)), NotationError, "3", "Card or text"),
    row("deck None", lambda t: t.variant.new_game(deck=swapped(t.deck, 7, None)), NotationError, "None", "Card or"),
    row("deck 5", lambda t: t.variant.new_game(deck=5), TypeError, "deck", "int"),
    row("start 2", lambda t: t.variant.new_game(deck=t.deck, start_player=2), DeckError, "start_player=2", "0 to 1"),
    row("start -1", lambda t: t.variant.new_game(deck=t.deck, start_player=-1), DeckError, "start_player=-1", "0 to 1"),
    row(
        "start huge",
        lambda t: t.variant.new_game(deck=t.deck, start_player=HUGE),
        DeckError,
        "start_player",
        str(HUGE),
    ),
    row("start without deck", lambda t: t.variant.new_game(start_player=1), StarmineError, "start_player", "deck"),
]


STATE_ROWS = [
    row(
        "apply illegal",
        lambda t: t.state.apply(0),
        IllegalActionError,
        "action 0 (discard",
        "5 (play slot 0), 6 (",
    ),
    row(
        "apply text illegal",
        lambda t: t.state.apply("discard 0"),
        IllegalActionError,
        "action 0",
        "5 (play slot 0), 6 (",
    ),
    row("apply -1", lambda t: t.state.apply(-1), IllegalActionError, "action -1", "0 to 19"),
    row("apply 20", lambda t: t.state.apply(20), IllegalActionError, "action 20", "0 to 19"),
    row("apply huge", lambda t: t.state.apply(HUGE), IllegalActionError, "action", str(HUGE), "0 to 19"),
    row("apply float", lambda t: t.state.apply(5.0), TypeError, "action", "float"),
    row("apply nan", lambda t: t.state.apply(float("nan")), TypeError, "action", "float"),
    row("apply bool", lambda t: t.state.apply(True), TypeError, "action", "bool"),
    row("apply numpy bool", lambda t: t.state.apply(np.True_), TypeError, "action", "bool"),
    row("apply None", lambda t: t.state.apply(None), TypeError, "action", "None"),
    row("apply array", lambda t: t.state.apply(np.array([5, 6])), TypeError, "integer"),
    row("apply bytes", lambda t: t.state.apply(b"play 0"), TypeError, "action", "bytes"),
    row("apply text", lambda t: t.state.apply("jump"), NotationError, '"jump"', "play 2"),
    row("apply foreign", lambda t: t.state.apply("play 5"), IllegalActionError, '"play 5"', "hand of 5"),
    row("apply after the end", lambda t: t.over.apply(2), IllegalActionError, "action 2", "the game is over"),
    row("view 2", lambda t: t.state.view(2), StarmineError, "=2", "0 to 1"),
    row("view -1", lambda t: t.state.view(-1), StarmineError, "=-1", "0 to 1"),
    row("view huge", lambda t: t.state.view(HUGE), StarmineError, str(HUGE), "observer"),
    row("view text", lambda t: t.state.view("0"), TypeError, "observer", "str"),
    row("encode 2", lambda t: t.state.encode(2), StarmineError, "observer=2", "0 to 1"),
    row("encode -1", lambda t: t.state.encode(-1), StarmineError, "observer=-1", "0 to 1"),
    row("encode name", lambda t: t.state.encode(0, "nope"), UnknownNameError, 'encoder="nope"', "canonical"),
    row("encode 5", lambda t: t.state.encode(0, 5), TypeError, "encoder", "str"),
    row("view encode name", lambda t: t.view.encode("nope"), UnknownNameError, 'encoder="nope"', "canonical"),
    row("view encode seer", lambda t: t.view.encode("canonical-seer"), StarmineError, "canonical-seer", "own hand"),
    row("knowledge offset", lambda t: t.view.knowledge(2, 0), StarmineError, "offset=2", "0 to 1"),
    row("knowledge offset -1", lambda t: t.view.knowledge(-1, 0), StarmineError, "offset=-1", "0 to 1"),
    row("knowledge slot", lambda t: t.view.knowledge(0, 5), StarmineError, "slot=5", "5 cards"),
    row("knowledge slot -1", lambda t: t.view.knowledge(1, -1), StarmineError, "slot=-1", "5 cards"),
    row("hands -1", lambda t: t.view.sample_hands(-1), StarmineError, "n=-1", "0 to 10000000"),
    row("hands too many", lambda t: t.view.sample_hands(10**7 + 1), StarmineError, "n=10000001", "0 to 10000000"),
    row("hands huge", lambda t: t.view.sample_hands(HUGE), StarmineError, f"n={HUGE}", "0 to 10000000"),
    row("hands float", lambda t: t.view.sample_hands(2.0), TypeError, "n", "float"),
    row("hands None", lambda t: t.view.sample_hands(None), TypeError, "n", "None"),
    row("hands bool", lambda t: t.view.sample_hands(True), TypeError, "n", "bool"),
    row("hands seed -1", lambda t: t.view.sample_hands(1, -1), StarmineError, "seed=-1", "0 to 2**64 - 1"),
    row("hands seed 2**64", lambda t: t.view.sample_hands(1, 2**64), StarmineError, f"seed={2**64}", "0 to 2**64 - 1"),
    row("hands seed float", lambda t: t.view.sample_hands(1, seed=1.5), TypeError, "seed", "float"),
    row("hands seed text", lambda t: t.view.sample_hands(1, seed="1"), TypeError, "seed", "str"),
    row("set score", lambda t: setattr(t.state, "score", 25), AttributeError, "score"),
]


def as_version(text, version):
    return text.replace('"format":1', f'"format":{version}')


STORED_ROWS = [
    row("state text", lambda t: State.from_json("nope"), SerializationError, "not a stored state"),
    row("state empty", lambda t: State.from_json(""), SerializationError, "not a stored state"),
    row("state list", lambda t: State.from_json("[]"), SerializationError, "not a stored state"),
    row("state deep", lambda t: State.from_json("[" * 10**5), SerializationError, "not a stored state"),
    row(
        "state version",
        lambda t: State.from_json(as_version(t.state.to_json(), 2)),
        SerializationError,
        "format 2",
        "expected 1",
    ),
    row(
        "state action",
        lambda t: State.from_json(t.state.to_json().replace('"actions":[]', '"actions":[5,99]')),
        SerializationError,
        "actions[1]",
        "99",
        "0 to 19",
    ),
    row(
        "state field",
        lambda t: State.from_json(t.state.to_json()[:-1] + ',"more":1}'),
        SerializationError,
        "more",
        "actions",
    ),
    row(
        "state pickle", lambda t: damaged_pickle(t.state, b'"format":1', b'"format":7'), SerializationError, "format 7"
    ),
    row("state bytes", lambda t: State.from_json(b"{}"), TypeError, "text", "bytes"),
    row("variant text", lambda t: Variant.from_json("nope"), SerializationError, "not a stored variant"),
    row("variant range", lambda t: Variant.from_json('{"players":9}'), SerializationError, "players=9", "2 to 5"),
    row("variant field", lambda t: Variant.from_json('{"plyers":2}'), SerializationError, "plyers", "players"),
    row("endless copies", lambda t: Variant(copies=Endless([1, 1])), VariantError, "copies", "5 rows"),
    row("endless row", lambda t: Variant(colors=1, copies=[Endless(1)]), VariantError, "copies", "1 rows"),
    row("endless partners", lambda t: Batch(t.variant, 1, partners={1: Endless("iggi")}), StarmineError, "1 to 64"),
    row(
        "endless seeds",
        lambda t: t.batch.reset(Endless(0)),
        ArrayError,
        "seed has 35184372088832 elements",
        "expected 4",
    ),
    row("batch empty", lambda t: Batch.from_bytes(b""), SerializationError, "not a stored batch"),
    row("batch foreign", lambda t: Batch.from_bytes(b"x" * 500), SerializationError, "not a stored batch"),
    row("batch text", lambda t: Batch.from_bytes("x"), TypeError, "data", "bytes"),
    row("batch cut", lambda t: Batch.from_bytes(t.batch.to_bytes()[:-1]), SerializationError, "damaged"),
    row("batch longer", lambda t: Batch.from_bytes(t.batch.to_bytes() + b"x"), SerializationError, "damaged"),
    row(
        "batch version",
        lambda t: Batch.from_bytes(b"starmine-batch\xc8" + t.batch.to_bytes()[15:]),
        SerializationError,
        "format 200",
        "expected",
    ),
    row(
        "batch pickle",
        lambda t: damaged_pickle(t.batch, b"starmine-batch", b"starmine-botch"),
        SerializationError,
        "not a stored batch",
    ),
]


def damaged_pickle(thing, old, new):
    stored = pickle.dumps(thing)
    assert old in stored
    return pickle.loads(stored.replace(old, new))


ROWS = [*variant_rows(), *VARIANT_METHOD_ROWS, *DEAL_ROWS, *STATE_ROWS, *STORED_ROWS]
