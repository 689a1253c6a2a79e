"""Forged inputs for everything in the core that reads text, bytes or lists.

A reader takes an input that was valid and then changed at random. It returns a value or raises one of the documented
exceptions; a panic, which is no `Exception`, an abort or a signal is a failure.

    python tests/python/helpers/forged_inputs.py 2000000   # so many inputs, shared by all readers
"""

import json
import random
import sys
import time
import zlib
from collections import Counter

import numpy as np
from random_variants import random_parameters, random_variant

import starmine
from starmine._core import _Network, _Player, _policy_bytes, unpack_bits_into

REFUSALS = (starmine.StarmineError, TypeError, ValueError, OverflowError, MemoryError)
NUMBERS = [-1, 0, 1, 2, 5, 7, 63, 64, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30]
ODD = [None, True, 1.5, float("nan"), "", "R1", "\0", "\udc80", "\u0661", [], [[]], {}, b"\xff", "x" * 1000, *NUMBERS]
TOKENS = ["null", "-1", "1e999", "[" * 200, '"\\ud800"', "99999999999999999999", "{}", '""', "true", "\0", "é"]
RULES = starmine.games.rules()
POLICY = _policy_bytes("ippo-mini")


def forged_text(rng, text):
    """A text with some characters changed, removed, repeated or exchanged for a token or another part."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 1, 1, 2, 10]))
        other = rng.randrange(len(text) + 1)
        new = rng.choice(
            [chr(rng.randrange(1, 300)), rng.choice(TOKENS), text[other : other + 10], text[start:end] * 2]
        )
        text = text[:start] + new + text[end:]
    return text


def forged_bytes(rng, data, head):
    """Bytes of which some were changed, mostly in the head, or cut off, or added."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        place = rng.randrange(min(head, len(data)) if rng.random() < 0.8 else len(data))
        data[place] = rng.choice(
            [data[place] ^ 1 << rng.randrange(8), rng.randrange(256), ord(rng.choice('0129"[]{},'))]
        )
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    return bytes(data) + rng.randbytes(rng.choice([0, 0, 0, 1, 9]))


def played(rng, variant):
    """A game of the variant after some turns."""
    state = variant.new_game(seed=rng.getrandbits(64))
    for _ in range(rng.randrange(30)):
        legal = state.legal_actions()
        if state.ending is not None or not len(legal):
            break
        state.apply(int(rng.choice(legal)))
    return state


def use(state):
    """Call what a state that was read offers."""
    if state.ending is None:
        view = state.view(state.current_player)
        view.encode("canonical")
        view.marginals()
        state.apply(int(view.legal_actions()[0]))
    str(state), state.score, state.to_json()


def read_state(rng):
    use(starmine.State.from_json(forged_text(rng, played(rng, random_variant(rng)).to_json())))


def read_variant(rng):
    starmine.Variant.from_json(forged_text(rng, random_variant(rng).to_json())).new_game(seed=0)


def make_variant(rng):
    parameters = random_parameters(rng)
    for name in rng.sample(list(parameters), rng.choice([1, 1, 2])):
        parameters[name] = rng.choice(ODD)
    starmine.Variant(**parameters).new_game(seed=0)


def deal_deck(rng):
    variant = random_variant(rng)
    deck = list(variant.new_game(seed=0).deck)
    for _ in range(rng.randrange(3)):
        deck[rng.randrange(len(deck))] = rng.choice([*ODD, "R1", "M5", "S3", starmine.Card("B2")])
    if rng.random() < 0.3:
        deck = rng.choice([deck[1:], deck * 2, iter(deck), *ODD])
    use(variant.new_game(deck=deck, start_player=rng.choice([None, 0, 1, *ODD])))


def reset_to_decks(rng):
    variant, games = random_variant(rng), rng.choice([1, 3, 9])
    batch = starmine.Batch(variant, games, dtype="bits", num_threads=1)
    deck = [card.suit * variant.ranks + card.rank for card in variant.new_game(seed=rng.getrandbits(32)).deck]
    decks = np.array([deck] * games, dtype=rng.choice([np.uint8] * 9 + [np.int8]))
    for _ in range(rng.randrange(3)):
        decks[rng.randrange(games), rng.randrange(len(deck))] = rng.randrange(128)
    starts = rng.choice(
        [None] * 8 + [np.zeros(games, np.uint8), np.full(games, rng.randrange(256), np.uint8), rng.choice(ODD)]
    )
    before = batch.to_bytes()
    try:
        out = batch.reset(decks=rng.choice([decks] * 8 + [decks[:, 1:], rng.choice(ODD)]), start_players=starts)
    except REFUSALS:
        assert batch.to_bytes() == before
        raise
    for _ in range(60):
        out = batch.step(out["action_mask"].argmax(axis=1))


def read_notation(rng):
    variant = random_variant(rng)
    state = played(rng, variant)
    text = forged_text(rng, rng.choice(["play 2", "discard 1", "hint +1 R", "hint +2 3", "play 1 as G", "R1", "17"]))
    given = rng.choice([text, text, text, rng.choice(ODD)])
    before = state.copy()
    try:
        rng.choice([starmine.Card, variant.action, state.apply])(given)
    except REFUSALS:
        assert state == before
        raise


def name_bot(rng):
    rules = "rules: " + "; ".join(rng.choices(RULES, k=rng.randrange(1, 5)))
    _Player(forged_text(rng, rng.choice([*starmine.bots(), rules, rules, "policy: nothing; sampled"])))


def read_policy(rng):
    head = 8 + int.from_bytes(POLICY[:8], "little")
    network = _Network("forged", forged_bytes(rng, POLICY, head))
    variant = starmine.Variant.from_json(json.dumps(json.loads(network.metadata)["variant"]))
    network.logits(np.zeros((1, len(variant.layout(json.loads(network.metadata)["encoder"]))), np.uint8))


def read_batch(rng):
    partners = rng.choice([None, None, {1: "random"}])
    batch = starmine.Batch(random_variant(rng), rng.choice([1, 3, 9]), partners=partners, num_threads=1)
    data = bytearray(forged_bytes(rng, batch.to_bytes(), 10**9)[:-4])
    data += zlib.crc32(data).to_bytes(4, "little")
    read = starmine.Batch.from_bytes(bytes(data), num_threads=1)
    out = read.observe()
    for _ in range(20):
        out = read.step(out["action_mask"].argmax(axis=1))
        read._final_obs()


def unpack(rng):
    rows, length = rng.randrange(4), rng.choice([1, 63, 64, 65, 200])
    bits = np.zeros(
        (rows, 8 * -(-length // 64) + rng.choice([0, 0, 0, 1, 8])), rng.choice([np.uint8, np.uint8, np.int64])
    )
    out = np.zeros((rows, length + rng.choice([0, 0, 1, 64])), rng.choice([np.float32, np.float16, np.uint8, np.int16]))
    unpack_bits_into(
        rng.choice([bits, bits, rng.choice(ODD)]), rng.choice([out, out, rng.choice(ODD)]), rng.choice([1, 2, *ODD])
    )


READERS = {
    reader.__name__: reader
    for reader in (
        read_state,
        read_variant,
        make_variant,
        deal_deck,
        reset_to_decks,
        read_notation,
        name_bot,
        read_policy,
        read_batch,
        unpack,
    )
}


def run(name, seed, inputs):
    """Give a reader so many forged inputs; the number of those that it accepted, and of each refusal."""
    results = Counter()
    for index in range(inputs):
        rng = random.Random(f"{name} {seed} {index}")
        try:
            READERS[name](rng)
            results["accepted"] += 1
        except REFUSALS as error:
            results[type(error).__name__] += 1
        except BaseException as error:
            raise AssertionError(f"{name}, seed {seed}, input {index}: {error!r}") from error
    return results


if __name__ == "__main__":
    for reader in READERS:
        start = time.perf_counter()
        print(
            reader,
            dict(run(reader, 0, int(sys.argv[1]) // len(READERS))),
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )
