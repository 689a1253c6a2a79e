"""How near `ChatPlayer` comes to the ideal time: many games, a model that answers after a fixed time, bounded calls.

    python benchmarks/chat.py --games 256 --concurrency 64 --milliseconds 50

The ideal time has all 64 calls running from the first call to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time

import starmine


def model(seconds: float, seed: int) -> starmine.text.chat.Ask:
    """A model that hints or discards by chance, so that games have many turns and end at different ones."""
    rng = random.Random(seed)

    async def ask(messages: starmine.text.chat.Messages) -> str:
        await asyncio.sleep(seconds)
        moves = messages[1]["content"].split("Your legal moves:\n- ")[1].split("\n- ")
        return f"MOVE: {rng.choice([move for move in moves if not move.startswith('play')] or moves)}"

    return ask


def main() -> None:
    """Play and print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--milliseconds", type=float, default=50)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--variant", default="standard")
    options = parser.parse_args()
    seconds = options.milliseconds / 1000
    player = starmine.text.ChatPlayer(model(seconds, 0), concurrency=options.concurrency)
    began, used = time.perf_counter(), time.process_time()
    starmine.play_games(
        [player] * options.players, options.games, variant=starmine.variant(options.variant, players=options.players)
    )
    taken, used = time.perf_counter() - began, time.process_time() - used
    calls = len(player.exchanges)
    ideal = calls * seconds / options.concurrency
    print(
        f"{options.games} games, {calls:,} calls, concurrency {options.concurrency}: {taken:.2f} s, "
        f"{taken / ideal:.2f} times the ideal {ideal:.2f} s; {1000 * used / calls:.3f} ms of processor time a call"
    )


if __name__ == "__main__":
    main()
