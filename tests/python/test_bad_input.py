"""Whatever Python passes in, it is refused by name, with the value and what is allowed, and no game moves.

One table covers the public surface: a row is refused with exactly its exception, whose message holds all its
fragments, and every game is as it was. What no row can say is in test_hostile_callers.py (damage, threads) and
test_little_memory.py.
"""

import dataclasses
import pickle
import random
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import hypothesis_profiles  # noqa: F401
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from hostile_arrays import misaligned, read_only
from hypothesis import given
from random_games import play, variants

import starmine
from starmine import (
    ArrayError,
    Batch,
    Card,
    DeckError,
    HanabiEnv,
    HanabiVectorEnv,
    IllegalActionError,
    NotationError,
    SerializationError,
    StarmineError,
    State,
    UnknownNameError,
    Variant,
    VariantError,
)

GAMES = 4
FEATURES = 658
ACTIONS = 20
HUGE = 10**30
PLAY = 5  # plays slot 0, which is always legal


class Table:
    """One of everything, to be handed to the rows."""

    def __init__(self):
        self.variant = Variant()
        self.state = self.variant.new_game(seed=1)
        self.over = starmine.variant("small").new_game(seed=1)
        play(self.over, random.Random(0))
        self.view = self.state.view(0)
        self.batch = Batch(self.variant, GAMES, seed=0)
        self.ended = Batch(self.variant, GAMES, seed=0, autoreset_mode="Disabled", illegal_action="terminate")
        self.ended.step([PLAY, -1, PLAY, PLAY])
        self.env = HanabiVectorEnv(GAMES, seed=0)
        self.env.reset()
        self.closed = HanabiVectorEnv(GAMES, seed=0)
        self.closed.reset()
        self.closed.close()
        self.single = HanabiEnv(seed=0)
        self.single.reset()
        self.actions = np.full(GAMES, PLAY)
        self.deck = [str(card) for card in self.state.deck]

    def snapshot(self):
        """Everything about the games."""
        batches = [self.batch, self.ended, self.env.batch, self.closed.batch, self.single._batch]
        return [batch.to_bytes() for batch in batches] + [self.state.to_json(), self.over.to_json()]

    def into(self, **buffers):
        self.batch.step_into(self.actions, **buffers)


@dataclasses.dataclass
class Row:
    """A call that must be refused."""

    name: str
    call: Callable[[Table], Any]
    error: type
    fragments: tuple[str, ...]


def row(name, call, error, *fragments):
    return Row(name, call, error, fragments)


def obs(*shape, dtype=np.float32, **settings):
    return np.zeros(shape or (GAMES, FEATURES), dtype, **settings)


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


def setting_rows():
    """Settings that `Batch`, `HanabiVectorEnv` and, where it has them, `HanabiEnv` refuse alike."""
    settings = [
        ("encoder", "nope", UnknownNameError, ['encoder="nope"', "canonical", "canonical-seer"]),
        ("encoder", 5, TypeError, ["encoder", "str"]),
        ("dtype", "float64", UnknownNameError, ['dtype="float64"', "float32", "float16", "uint8", "bits"]),
        ("dtype", None, TypeError, ["dtype", "str"]),
        ("observers", "none", UnknownNameError, ['observers="none"', "current", "all"]),
        ("observers", 2, TypeError, ["observers", "str"]),
        ("illegal_action", "ignore", UnknownNameError, ['illegal_action="ignore"', "raise", "terminate"]),
        ("illegal_action", False, TypeError, ["illegal_action", "str"]),
        ("seed", -1, StarmineError, ["seed=-1", "0 to 2**64 - 1"]),
        ("seed", 2**64, StarmineError, [f"seed={2**64}", "0 to 2**64 - 1"]),
        ("seed", HUGE, StarmineError, [f"seed={HUGE}", "0 to 2**64 - 1"]),
        ("seed", 1.5, TypeError, ["seed", "float"]),
        ("seed", "x", TypeError, ["seed", "str"]),
    ]
    vector_settings = [
        ("autoreset_mode", "sometimes", UnknownNameError, ['"sometimes"', "SameStep", "NextStep", "Disabled"]),
        ("autoreset_mode", 3, TypeError, ["autoreset_mode", "int"]),
        ("num_threads", 0, StarmineError, ["num_threads=0", "1 to 1024"]),
        ("num_threads", -1, StarmineError, ["num_threads=-1", "1 to 1024"]),
        ("num_threads", 1025, StarmineError, ["num_threads=1025", "1 to 1024"]),
        ("num_threads", HUGE, StarmineError, ["num_threads", str(HUGE)]),
        ("num_threads", 1.5, TypeError, ["num_threads", "float"]),
    ]
    for name, value, error, fragments in settings + vector_settings:
        chosen = {name: value}
        yield row(f"Batch {name}={value!r}", lambda t, c=chosen: Batch(t.variant, 2, **c), error, *fragments)
        yield row(f"vector {name}={value!r}", lambda t, c=chosen: HanabiVectorEnv(2, **c), error, *fragments)
    for name, value, error, fragments in settings:
        yield row(f"single {name}={value!r}", lambda t, c={name: value}: HanabiEnv(**c), error, *fragments)
    for value, error, fragments in [
        (0, StarmineError, ["num_envs=0", "1 to"]),
        (-1, StarmineError, ["num_envs=-1", "1 to"]),
        (10**12, StarmineError, [f"num_envs={10**12}", "1 to"]),
        (HUGE, StarmineError, ["num_envs", str(HUGE)]),
        (2.0, TypeError, ["num_envs", "float"]),
        ("2", TypeError, ["num_envs", "str"]),
    ]:
        yield row(f"Batch num_envs={value!r}", lambda t, n=value: Batch(t.variant, n), error, *fragments)
        yield row(f"vector num_envs={value!r}", lambda t, n=value: HanabiVectorEnv(n), error, *fragments)


ENVIRONMENT_ROWS = [
    row("Batch variant", lambda t: Batch("nope", 2), UnknownNameError, '"nope"', "standard"),
    row("vector variant", lambda t: HanabiVectorEnv(2, "nope"), UnknownNameError, '"nope"', "standard"),
    row("single variant", lambda t: HanabiEnv("nope"), UnknownNameError, '"nope"', "standard"),
    row("Batch variant 5", lambda t: Batch(5, 2), VariantError, "variant=5", "preset's name"),
    row("vector variant 5", lambda t: HanabiVectorEnv(2, 5), VariantError, "variant=5", "preset's name"),
    row("single variant 5", lambda t: HanabiEnv(5), VariantError, "variant=5", "preset's name"),
    row("vector players", lambda t: HanabiVectorEnv(2, players=9), VariantError, "players=9", "2 to 5"),
    row("vector plyers", lambda t: HanabiVectorEnv(2, plyers=3), TypeError, "plyers"),
    row("single plyers", lambda t: HanabiEnv(plyers=3), TypeError, "plyers"),
    row(
        "vector render",
        lambda t: HanabiVectorEnv(2, render_mode="ansi"),
        StarmineError,
        "render_mode='ansi'",
        "rgb_array",
    ),
    row("single render", lambda t: HanabiEnv(render_mode="x"), StarmineError, "render_mode='x'", "ansi", "human"),
    row("no render mode", lambda t: t.single.render(), StarmineError, "render_mode=None", "ansi"),
    row("render first", lambda t: HanabiEnv(render_mode="ansi").render(), ResetNeeded, "call reset first"),
    row("vector step first", lambda t: HanabiVectorEnv(2).step([5, 5]), ResetNeeded, "call reset first"),
    row("single step first", lambda t: HanabiEnv().step(5), ResetNeeded, "call reset first"),
    row("closed step", lambda t: t.closed.step(t.actions), ClosedEnvironmentError, "closed"),
    row("closed reset", lambda t: t.closed.reset(), ClosedEnvironmentError, "closed"),
    row("closed reset seed", lambda t: t.closed.reset(seed=1), ClosedEnvironmentError, "closed"),
    row("options 5", lambda t: t.env.reset(options=5), TypeError, "options", "5"),
    row("single float", lambda t: t.single.step(5.0), ArrayError, "float64", "integers"),
    row("single bool", lambda t: t.single.step(True), ArrayError, "bool", "integers"),
    row("single None", lambda t: t.single.step(None), ArrayError, "object", "integers"),
    row("single text", lambda t: t.single.step("5"), ArrayError, "integers"),
    row("single two", lambda t: t.single.step([5, 5]), ArrayError, "shape", "2"),
    row("single none", lambda t: t.single.step([]), ArrayError, "shape", "0"),
    row(
        "single illegal",
        lambda t: t.single.step(99),
        IllegalActionError,
        "99",
        "5 (play slot 0), 6 (",
    ),
    row("single seed", lambda t: t.single.reset(seed=-1), StarmineError, "seed=-1", "0 to 2**64 - 1"),
    row("single seed text", lambda t: t.single.reset(seed="x"), TypeError, "seed", "str"),
]


class NoArray:
    """Says that it has DLPack and has not."""

    def __dlpack__(self, **settings):
        raise BufferError("no memory here")

    def __dlpack_device__(self):
        return (1, 0)


def hle_rows():
    """HLE's names are answered with ours."""
    names = {
        "Hanabi-Full": '"standard"',
        "Hanabi-Full-Minimal": 'encoder="canonical-minimal"',
        "Hanabi-Small": '"small"',
    }
    calls = {
        "preset": starmine.variant,
        "vector": lambda name: HanabiVectorEnv(2, name),
        "single": HanabiEnv,
        "registered": lambda name: gymnasium.make("starmine:Starmine/Hanabi-v0", variant=name),
        "registered vector": lambda name: gymnasium.make_vec("starmine:Starmine/Hanabi-v0", num_envs=2, variant=name),
        "played": lambda name: starmine.play_games(["smart", "smart"], games=1, variant=name),
        "evaluated": lambda name: starmine.evaluate(["smart"], games=1, variant=name),
    }
    for name, ours in names.items():
        for what, call in calls.items():
            fragments = (f"variant='{name}' is HLE's name", ours, "starmine.hle.variant")
            yield row(f"{what} {name}", lambda t, c=call, n=name: c(n), UnknownNameError, *fragments)
        ours = '"standard"' if "Full" in name else '"small"'
        for what, call in (
            ("Batch", lambda name: Batch(name, 2)),
            ("bot", lambda name: starmine.make_bot("smart", name)),
        ):
            yield row(f"{what} {name}", lambda t, c=call, n=name: c(n), UnknownNameError, f"did you mean {ours}?")
    kinds = {
        "Batch": lambda **kind: Batch("standard", 2, **kind),
        "Variant": Variant,
        "preset": lambda **kind: starmine.variant("small", **kind),
        "vector": lambda **kind: HanabiVectorEnv(2, **kind),
        "single": HanabiEnv,
    }
    for what, call in kinds.items():
        fragments = ("'observation_type'", "encoder='canonical-minimal', 'canonical' or 'canonical-seer'")
        yield row(f"{what} observation_type", lambda t, c=call: c(observation_type=1), TypeError, *fragments)


def action_rows():
    """Actions that `Batch.step`, `Batch.step_into` and `HanabiVectorEnv.step` refuse alike."""
    cases = [
        ("short", lambda: np.full(3, 5), ArrayError, ["[3]", "expected [4]"]),
        ("long", lambda: [5] * 5, ArrayError, ["[5]", "expected [4]"]),
        ("empty", lambda: [], ArrayError, ["[0]", "expected [4]"]),
        ("two axes", lambda: np.full((4, 1), 5), ArrayError, ["[4, 1]", "expected [4]"]),
        ("scalar", lambda: 5, ArrayError, ["[]", "expected [4]"]),
        ("None", lambda: None, ArrayError, ["actions", "expected [4]"]),
        ("text", lambda: "5555", ArrayError, ["actions", "expected [4]"]),
        ("texts", lambda: ["5"] * 4, ArrayError, ["<U1", "integers"]),
        ("dict", lambda: {0: 5}, ArrayError, ["actions", "expected [4]"]),
        ("ragged", lambda: [[5], [5, 5], 5, 5], ArrayError, ["actions", "array"]),
        ("float", lambda: np.full(4, 5.0), ArrayError, ["float64", "integers"]),
        ("float list", lambda: [5.0] * 4, ArrayError, ["float64", "integers"]),
        ("nan", lambda: np.full(4, np.nan, np.float32), ArrayError, ["float32", "integers"]),
        ("bool", lambda: np.ones(4, bool), ArrayError, ["bool", "integers"]),
        ("bool list", lambda: [True] * 4, ArrayError, ["bool", "integers"]),
        ("object", lambda: np.array([5, 5, 5, None]), ArrayError, ["object", "integers"]),
        ("huge", lambda: [HUGE] * 4, ArrayError, ["object", "integers"]),
        ("complex", lambda: np.full(4, 5j), ArrayError, ["complex128", "integers"]),
        ("date", lambda: np.full(4, 5, "m8[s]"), ArrayError, ["timedelta64", "integers"]),
        ("record", lambda: np.zeros(4, [("a", "i4")]), ArrayError, ["i4", "integers"]),
        ("no array", NoArray, ArrayError, ["actions", "no memory here"]),
        ("illegal", lambda: [5, 0, 5, 0], IllegalActionError, ["actions[1]=0", "actions[3]=0", "5 (play slot 0), 6 ("]),
        ("out of range", lambda: [5, 5, 20, 5], IllegalActionError, ["actions[2]=20", "5 (play slot 0), 6 ("]),
        ("negative", lambda: [5, 5, 5, -1], IllegalActionError, ["actions[3]=-1", "5 (play slot 0), 6 ("]),
        ("int64", lambda: [5, 5, 5, -(2**63)], IllegalActionError, [f"actions[3]={-(2**63)}", "5 (play slot 0), 6 ("]),
        ("uint64", lambda: np.full(4, 2**63, np.uint64), ArrayError, [f"actions has {2**63}", "2**63 - 1"]),
    ]
    for name, actions, error, fragments in cases:
        yield row(f"step {name}", lambda t, a=actions: t.batch.step(a()), error, *fragments)
        yield row(f"step_into {name}", lambda t, a=actions: t.batch.step_into(a()), error, *fragments)
        yield row(f"vector step {name}", lambda t, a=actions: t.env.step(a()), error, *fragments)
    yield row("after the end", lambda t: t.ended.step(t.actions), IllegalActionError, "actions[1]=5", "game 1 is over")
    yield row("no actions", lambda t: t.batch.step(), TypeError, "actions")


def buffer_rows():
    """Buffers that `step_into` and `reset_into` refuse alike."""
    shared = np.zeros(GAMES * FEATURES, np.float32)
    one = np.zeros(GAMES, np.float32)
    cases = [
        ("list", lambda: {"obs": [[0.0] * FEATURES] * GAMES}, ArrayError, ["obs", "list", "numpy array"]),
        ("torch-like", lambda: {"obs": NoArray()}, ArrayError, ["obs", "NoArray", "numpy array"]),
        ("rows", lambda: {"obs": obs(3, FEATURES)}, ArrayError, ["obs", "[3, 658]", "[4, 658]"]),
        ("flat", lambda: {"obs": obs(GAMES * FEATURES)}, ArrayError, ["obs", "[2632]", "[4, 658]"]),
        ("axis", lambda: {"obs": obs(1, GAMES, FEATURES)}, ArrayError, ["obs", "[1, 4, 658]", "[4, 658]"]),
        (
            "mask shape",
            lambda: {"action_mask": obs(4, 19, dtype=bool)},
            ArrayError,
            ["action_mask", "[4, 19]", "[4, 20]"],
        ),
        ("scalar", lambda: {"reward": np.zeros((), np.float32)}, ArrayError, ["reward", "[]", "[4]"]),
        ("obs float64", lambda: {"obs": obs(dtype=np.float64)}, ArrayError, ["obs", "float64", "float32"]),
        ("obs int32", lambda: {"obs": obs(dtype=np.int32)}, ArrayError, ["obs", "int32", "float32"]),
        ("obs object", lambda: {"obs": obs(dtype=object)}, ArrayError, ["obs", "object", "float32"]),
        (
            "mask uint8",
            lambda: {"action_mask": obs(4, 20, dtype=np.uint8)},
            ArrayError,
            ["action_mask", "uint8", "bool"],
        ),
        ("reward float64", lambda: {"reward": np.zeros(4)}, ArrayError, ["reward", "float64", "float32"]),
        ("score int64", lambda: {"score": np.zeros(4, np.int64)}, ArrayError, ["score", "int64", "int32"]),
        ("byte order", lambda: {"reward": np.zeros(4, ">f4")}, ArrayError, ["reward", ">f4", "float32"]),
        ("obs byte order", lambda: {"obs": obs(dtype=">f4")}, ArrayError, ["obs", ">f4", "float32"]),
        ("read-only", lambda: {"obs": read_only(obs())}, ArrayError, ["obs", "read-only", "writable"]),
        ("reward read-only", lambda: {"reward": read_only(obs(4))}, ArrayError, ["reward", "read-only", "writable"]),
        ("Fortran", lambda: {"obs": obs(order="F")}, ArrayError, ["obs", "not contiguous", "C order"]),
        ("every other", lambda: {"obs": obs(GAMES, 2 * FEATURES)[:, ::2]}, ArrayError, ["obs", "not contiguous"]),
        ("backwards", lambda: {"reward": obs(4)[::-1]}, ArrayError, ["reward", "not contiguous"]),
        ("one for all", lambda: {"reward": np.broadcast_to(obs(1), 4)}, ArrayError, ["reward"]),
        ("misaligned", lambda: {"reward": misaligned(4, np.float32)}, ArrayError, ["reward", "not aligned"]),
        ("obs misaligned", lambda: {"obs": misaligned((4, FEATURES), np.float32)}, ArrayError, ["not aligned"]),
        (
            "twice",
            lambda: {"terminated": (a := np.zeros(4, bool)), "truncated": a},
            ArrayError,
            ["truncated", "overlaps"],
        ),
        (
            "obs and mask",
            lambda: {"obs": shared.reshape(4, FEATURES), "action_mask": shared[:20].view(bool).reshape(4, 20)},
            ArrayError,
            ["action_mask", "overlaps", "separate memory"],
        ),
        (
            "obs and its tail",
            lambda: {"obs": shared.reshape(4, FEATURES), "reward": shared[-4:]},
            ArrayError,
            ["reward", "overlaps", "separate memory"],
        ),
        *overlap_cases(one),
        ("unknown name", lambda: {"observation": obs()}, TypeError, ["unexpected keyword", "'observation'"]),
        ("unknown None", lambda: {"rewards": None}, TypeError, ["unexpected keyword", "'rewards'"]),
        ("good and bad", lambda: {"reward": obs(4), "score": obs(4)}, ArrayError, ["score", "float32", "int32"]),
    ]
    for name, buffers, error, fragments in cases:
        yield row(f"step_into buffer {name}", lambda t, b=buffers: t.into(**b()), error, *fragments)
        yield row(f"reset_into buffer {name}", lambda t, b=buffers: t.batch.reset_into(7, **b()), error, *fragments)


def overlap_cases(memory):
    """Two arrays over one memory that do not share an owner that numpy knows of."""
    raw = bytearray(4 * GAMES)
    strided = np.lib.stride_tricks.as_strided
    pairs = {
        "frombuffer": lambda: (np.frombuffer(raw, np.float32), np.frombuffer(raw, np.int32)),
        "as_strided": lambda: (strided(memory), strided(memory.view(np.int32))),
        "from_dlpack": lambda: (np.from_dlpack(memory), np.from_dlpack(memory.view(np.int32))),
        "ctypes": lambda: (memory, np.ctypeslib.as_array(memory.ctypes.data_as(INT32_POINTER), (GAMES,))),
    }
    if not np.from_dlpack(memory).flags.writeable:
        del pairs["from_dlpack"]  # numpy 1 reads DLPack only
    for name, pair in pairs.items():
        buffers = lambda pair=pair: dict(zip(("reward", "score"), pair(), strict=True))  # noqa: E731
        yield f"overlap {name}", buffers, ArrayError, ["score", "overlaps", "separate memory"]


INT32_POINTER = np.ctypeslib.ctypes.POINTER(np.ctypeslib.ctypes.c_int32)


def reset_rows():
    """Seeds and masks that `Batch.reset` and `HanabiVectorEnv.reset` refuse alike."""
    seeds = [
        ("-1", -1, StarmineError, ["seed=-1", "0 to 2**64 - 1"]),
        ("2**64", 2**64, StarmineError, [f"seed={2**64}", "0 to 2**64 - 1"]),
        ("float", 1.5, TypeError, ["seed", "float"]),
        ("text", "abcd", TypeError, ["seed", "str"]),
        ("short", [1, 2], ArrayError, ["seed", "2", "expected 4"]),
        ("long", [1] * 5, ArrayError, ["seed", "5", "expected 4"]),
        ("none", [], ArrayError, ["seed", "0", "expected 4"]),
        ("negative", [1, 2, 3, -1], StarmineError, ["-1", "0 to 2**64 - 1"]),
        ("too large", [1, 2, 3, 2**64], StarmineError, [str(2**64), "0 to 2**64 - 1"]),
        ("floats", np.arange(4.0), TypeError, ["seed", "float"]),
        ("one float", [1, 2, 3, 1.5], TypeError, ["seed", "float"]),
        ("two axes", np.zeros((4, 2), int), TypeError, ["seed"]),
    ]
    for name, seed, error, fragments in seeds:
        yield row(f"reset seed {name}", lambda t, s=seed: t.batch.reset(s), error, *fragments)
        yield row(f"vector reset seed {name}", lambda t, s=seed: t.env.reset(seed=s), error, *fragments)
    masks = [
        ("list", [True] * 4, ["reset_mask", "list", "numpy array"]),
        ("bool", True, ["reset_mask", "bool", "numpy array"]),
        ("short", np.ones(3, bool), ["reset_mask", "[3]", "expected [4]"]),
        ("two axes", np.ones((4, 1), bool), ["reset_mask", "[4, 1]", "expected [4]"]),
        ("int", np.ones(4, int), ["reset_mask", "int64", "bool"]),
        ("int8", np.ones(4, np.int8), ["reset_mask", "int8", "bool"]),
        ("float", np.ones(4), ["reset_mask", "float64", "bool"]),
        ("none", np.zeros(4, bool), ["reset_mask", "all False", "at least one"]),
    ]
    for name, mask, fragments in masks:
        options = {"reset_mask": mask}
        yield row(f"reset mask {name}", lambda t, m=mask: t.batch.reset(3, m), ArrayError, *fragments)
        yield row(f"vector reset mask {name}", lambda t, o=options: t.env.reset(options=o), ArrayError, *fragments)


ROWS = [
    *variant_rows(),
    *VARIANT_METHOD_ROWS,
    *DEAL_ROWS,
    *STATE_ROWS,
    *STORED_ROWS,
    *setting_rows(),
    *ENVIRONMENT_ROWS,
    *hle_rows(),
    *action_rows(),
    *buffer_rows(),
    *reset_rows(),
]


def text_of(error):
    """The message of an exception with the notes that were added to it."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_it_is_refused_by_name_and_nothing_has_moved(row):
    table = Table()
    before = table.snapshot()
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the next line checks it exactly
        row.call(table)
    assert type(caught.value) is row.error, repr(caught.value)
    for fragment in row.fragments:
        assert fragment in text_of(caught.value)
    assert len(str(caught.value)) < 1000
    assert table.snapshot() == before


def test_the_rows_have_names_of_their_own():
    assert len({row.name for row in ROWS}) == len(ROWS)


# --- Errors -----------------------------------------------------------------------------------------------


def test_an_illegal_action_error_lists_rows_actions_and_what_was_legal():
    batch = Batch("standard", 200, seed=0)
    with pytest.raises(IllegalActionError) as caught:
        batch.step(np.where(np.arange(200) % 2, PLAY, -3))
    error = caught.value
    assert error.rows == list(range(0, 200, 2))
    assert error.actions == [-3] * 100
    masks = batch.observe()["action_mask"]
    assert error.legal == [np.flatnonzero(masks[row]).tolist() for row in error.rows]
    assert "100 illegal" in str(error)
    assert "95 more" in str(error)


def test_an_illegal_action_error_of_many_games_lists_the_first_hundred():
    batch = Batch("standard", 300_000, seed=0)
    actions = np.where(np.arange(batch.num_envs) % 3, -3, PLAY)
    with pytest.raises(IllegalActionError) as caught:
        batch.step(actions)
    error = caught.value
    assert error.count == 200_000
    assert error.rows == np.flatnonzero(actions == -3)[:100].tolist()
    assert (len(error.actions), len(error.legal)) == (100, 100)
    assert "200000 illegal" in str(error)
    assert "199995 more" in str(error)


def test_every_error_of_the_package_is_a_starmine_error():
    names = [name for name in starmine.__all__ if name.endswith("Error")]
    for name in names:
        error = getattr(starmine, name)
        base = RuntimeError if name == "BusyError" else StarmineError
        assert issubclass(error, base)
    assert issubclass(StarmineError, ValueError)


@given(variants())
def test_every_variant_has_a_text(variant):
    assert repr(variant).startswith("Variant(players=")
    assert str(variant)
    assert repr(variant.new_game(seed=0))
    assert repr(Batch(variant, 1, seed=0))
