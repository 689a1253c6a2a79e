"""How near `ChatPlayer` comes to the ideal time: many games, a model that answers after a fixed time, bounded calls.

    python benchmarks/chat.py --games 256 --concurrency 64 --milliseconds 50

The ideal time has all 64 calls running from the first call to the last. A batched function has one call a turn.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

import starmine
from starmine.text.exchange import Messages


def model(seconds: float, seed: int, kind: str) -> Callable[[Any], Any]:
    """A model that hints or discards by chance, so that games have many turns."""
    rng = random.Random(seed)

    def reply(messages: Messages) -> str:
        moves = messages[1]["content"].split("Your legal moves:\n- ")[1].split("\n- ")
        return f"MOVE: {rng.choice([move for move in moves if not move.startswith('play')] or moves)}"

    async def later(messages: Messages) -> str:
        await asyncio.sleep(seconds)
        return reply(messages)

    def blocking(messages: Messages) -> str:
        time.sleep(seconds)
        return reply(messages)

    def batched(batch: list[Messages]) -> list[str]:
        time.sleep(seconds)
        return list(map(reply, batch))

    forms: dict[str, Callable[[Any], Any]] = {"async": later, "function": blocking, "batched": batched}
    return forms[kind]


def main() -> None:
    """Play and print the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--milliseconds", type=float, default=50)
    parser.add_argument("--kind", choices=("async", "function", "batched"), default="async", help="of the callable")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--variant", default="standard")
    options = parser.parse_args()
    seconds = options.milliseconds / 1000
    player = starmine.text.ChatPlayer(
        model(seconds, 0, options.kind), concurrency=options.concurrency, batched=options.kind == "batched"
    )
    began, used = time.perf_counter(), time.process_time()
    games = starmine.play_games(
        [player] * options.players, options.games, variant=starmine.variant(options.variant, players=options.players)
    )
    taken, used = time.perf_counter() - began, time.process_time() - used
    calls = len(player.exchanges)
    ideal = seconds * (games.lengths.max() if options.kind == "batched" else calls / options.concurrency)
    print(
        f"{options.kind}: {options.games} games, {calls:,} moves, concurrency {options.concurrency}: {taken:.2f} s, "
        f"{taken / ideal:.2f} times the ideal {ideal:.2f} s; {1000 * used / calls:.3f} ms of processor time a move"
    )


if __name__ == "__main__":
    main()
