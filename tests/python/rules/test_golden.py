"""Starmine against recorded HLE games (tests/data/golden): every column, position and seat, to the bit."""

import gzip
import json
import zlib

import pytest
from hle_traces import pack
from paths import DATA
from trace_comparison import check, replay, variant_of

GOLDEN_FILES = sorted((DATA / "golden").glob("*.json.gz"))
DIGEST_LENGTH = 8  # hex digits of a CRC-32


def load(path):
    """The content of a golden file."""
    return json.loads(gzip.decompress(path.read_bytes()))


def name_of(path):
    """The configuration's name."""
    return path.name.removesuffix(".json.gz")


def record_of(game):
    """A recorded game in the form that `replay` takes."""
    cards = game["deck"]
    return {
        **game,
        "deck": [cards[index : index + 2] for index in range(0, len(cards), 2)],
        "legal": [int(mask, 16) for mask in game["legal"]],
    }


def digest_check(game, bits, players):
    """A `check_encoding` that compares an encoding's length and CRC-32 with the recorded ones."""

    def check_encoding(where, step, seat, encoding):
        check(where, "encoding shape", encoding.shape, (bits,))
        start = DIGEST_LENGTH * (step * players + seat)
        found = f"{zlib.crc32(pack(encoding)):08x}"
        check(where, "encoding digest", found, game["digests"][start : start + DIGEST_LENGTH])

    return check_encoding


def test_golden_data_is_present():
    assert len(GOLDEN_FILES) >= 36


@pytest.mark.parametrize("path", GOLDEN_FILES, ids=name_of)
def test_replayed_games_equal_the_recorded_hle_games(path):
    golden = load(path)
    variant = variant_of(golden["variant"])
    assert len(golden["games"]) >= 24
    for number, game in enumerate(golden["games"]):
        where = f"{name_of(path)} ({golden['encoder']}), game {number}"
        check_encoding = digest_check(game, golden["observation_bits"], variant.players)
        replay(variant, record_of(game), golden["encoder"], where, check_encoding)
