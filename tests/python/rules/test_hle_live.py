"""Starmine against the installed HLE: fresh random games of random configurations, whole encodings compared.

The configuration with index i is a function of the seed and i, game k of it of the seed, i and k, so a failure
comes back with its --hle-seed and the test's name, whatever the number of games.
"""

import numpy as np
import pytest
from hle_bots import PeekingBot, UniformBot
from hle_traces import hle_or_skip, pack, play_game, random_configuration
from trace_comparison import DifferenceError, check, replay, variant_of

pytestmark = pytest.mark.slow

CONFIGURATIONS = 200
GAMES_OF_A_CONFIGURATION = 10
BOTS = [UniformBot, PeekingBot]


def configurations(games):
    """The number of configurations that the games are divided among."""
    return min(games, max(CONFIGURATIONS, games // GAMES_OF_A_CONFIGURATION))


def pytest_generate_tests(metafunc):
    if "index" in metafunc.fixturenames:
        metafunc.parametrize("index", range(configurations(metafunc.config.option.hle_games)))


@pytest.fixture(scope="module", autouse=True)
def hle():
    """HLE's Python module."""
    return hle_or_skip()


def describe_difference(variant, encoder, found, expected):
    """Which bits of which sections differ between two encodings."""
    lines = []
    for section in variant.layout(encoder):
        part = slice(section.start, section.stop)
        bits = np.flatnonzero(found[part] != expected[part])
        if len(bits):
            differences = [f"{bit}: {found[section.start + bit]} for {expected[section.start + bit]}" for bit in bits]
            lines.append(f"{section.name} ({len(bits)} bits): {', '.join(differences[:12])}")
    return "; ".join(lines) or "no section of the layout covers the bits that differ"


def encoding_check(variant, encoder, trace, bits):
    """A `check_encoding` that compares all bits with the trace."""

    def check_encoding(where, step, seat, encoding):
        check(where, "encoding shape", encoding.shape, (bits,))
        packed = trace.encodings[step][seat]
        if not np.array_equal(pack(encoding), packed):
            expected = np.unpackbits(packed, bitorder="little")[:bits]
            difference = describe_difference(variant, encoder, encoding, expected)
            raise DifferenceError(f"{where}, encoding, starmine's bit for HLE's bit within the section: {difference}")

    return check_encoding


def test_games_equal_those_of_hle(index, pytestconfig):
    games, seed = pytestconfig.option.hle_games, pytestconfig.option.hle_seed
    configuration = random_configuration(np.random.default_rng([seed, index]))
    variant = variant_of(configuration.variant)
    total = configurations(games)
    for number in range(games * (index + 1) // total - games * index // total):
        game_seed = int(np.random.SeedSequence([seed, index, number]).generate_state(1, np.uint64)[0])
        trace, bits = play_game(configuration, game_seed, BOTS[number % len(BOTS)])
        where = f"--hle-seed={seed}, {configuration}, game {number}, {' '.join(trace.deck)}, actions {trace.actions}"
        check_encoding = encoding_check(variant, configuration.encoder, trace, bits)
        replay(variant, vars(trace), configuration.encoder, where, check_encoding)
