"""Writes the golden data: games of DeepMind's Hanabi Learning Environment (HLE) of many configurations.

    python tests/data/make_golden.py [--output FOLDER] [--games NUMBER]

Needs numpy and hanabi-learning-environment. Each configuration becomes one file NAME.json.gz, an object with

variant, encoder    the configuration: parameters of starmine.Variant, name of the encoder
observation_bits    D, the length of an encoding
source              the HLE package that played
games               a list of objects. With T actions in a game, columns of T + 1 entries describe the positions
                    before each action and at the end:
    deck                all cards, the top one first: two characters each
    start_player        the seat that moves first
    actions, rewards    T integers each
    current_player      T + 1 seats, -1 at the end
    legal               T + 1 legal action masks in hexadecimal, bit a for action a
    scores, information_tokens, life_tokens, deck_sizes    T + 1 integers each
    ending              "lost", "perfect" or "deck_exhausted"
    digests             for each position, for each seat: the CRC-32, 8 hexadecimal digits, of the encoding packed
                        into bytes (little bit order, padded with zeros to a multiple of 8 bytes)
"""

import argparse
import gzip
import json
import sys
import zlib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "python" / "helpers"))

from golden_configurations import CONFIGURATIONS  # noqa: E402
from hle_bots import PeekingBot, UniformBot  # noqa: E402
from hle_traces import hle_version, play_game  # noqa: E402

BOTS = [UniformBot, PeekingBot]
COPIED_COLUMNS = [
    *("start_player", "actions", "current_player", "rewards"),
    *("scores", "information_tokens", "life_tokens", "deck_sizes", "ending"),
]


def game_columns(trace):
    """A trace as it is written."""
    return {
        "deck": "".join(trace.deck),
        **{name: getattr(trace, name) for name in COPIED_COLUMNS},
        "legal": [f"{mask:x}" for mask in trace.legal],
        "digests": "".join(f"{zlib.crc32(row):08x}" for rows in trace.encodings for row in rows),
    }


def play_configuration(name, configuration, games):
    """The content of one golden file; the seeds follow from the configuration's name."""
    first_seed = zlib.crc32(name.encode()) * 1000
    played = [play_game(configuration, first_seed + game, BOTS[game % len(BOTS)]) for game in range(games)]
    return {
        "variant": configuration.variant,
        "encoder": configuration.encoder,
        "observation_bits": played[0][1],
        "source": hle_version(),
        "games": [game_columns(trace) for trace, _ in played],
    }


def write(path, content):
    """Writes a golden file and returns its size; the same content gives the same bytes."""
    text = json.dumps(content, separators=(",", ":"))
    compressed = gzip.compress(text.encode(), mtime=0)
    path.write_bytes(compressed)
    return len(compressed)


def summary_row(name, content, size):
    """One line of the table, and what it adds to the totals."""
    games = content["games"]
    counts = Counter(game["ending"] for game in games)
    counts.update(games=len(games), bytes=size, steps=sum(len(game["actions"]) for game in games))
    mean_score = sum(game["scores"][-1] for game in games) / len(games)
    row = (
        f"{name:32}{content['encoder']:20}{content['observation_bits']:6}{counts['games']:6}{counts['steps']:7}"
        f"{mean_score:7.2f}{counts['lost']:6}{counts['perfect']:9}{counts['deck_exhausted']:16}{size:9}"
    )
    return row, counts


def main():
    parser = argparse.ArgumentParser(description="Writes the golden data: recorded HLE games.")
    parser.add_argument("--output", type=Path, default=HERE / "golden", help="folder to write to")
    parser.add_argument("--games", type=int, default=24, help="games of each configuration, by two bots in turn")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    print(
        f"{'configuration':32}{'encoder':20}{'bits':>6}{'games':>6}{'steps':>7}"
        f"{'score':>7}{'lost':>6}{'perfect':>9}{'deck_exhausted':>16}{'bytes':>9}"
    )
    totals = Counter()
    for name, configuration in CONFIGURATIONS.items():
        content = play_configuration(name, configuration, arguments.games)
        size = write(arguments.output / f"{name}.json.gz", content)
        row, counts = summary_row(name, content, size)
        print(row, flush=True)
        totals += counts
    print(f"{len(CONFIGURATIONS)} configurations: {dict(totals)}")


if __name__ == "__main__":
    main()
