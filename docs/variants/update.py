"""Writes the measured part of every page in this folder: sizes, observation sections, random play.

Each page has the name of its preset; what stands between the two markers is replaced. Random play means
uniformly random legal actions, one game for each of the seeds (0, i, 0).

    python docs/variants/update.py --games 10000
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import starmine

HERE = Path(__file__).parent
START, STOP = "<!-- measured by update.py -->\n", "<!-- end -->\n"
PLAYERS = (2, 3, 4, 5)


def random_games(variant: starmine.Variant, games: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Final score, length and ending code of one random game in each row of a batch."""
    batch = starmine.Batch(variant, games, seed=0, dtype="bits")
    buffers = batch.reset(seed=0)
    del buffers["obs"]
    generator = np.random.default_rng(0)
    results = np.zeros((3, games), dtype=np.int64)
    running = np.ones(games, dtype=bool)
    while running.any():
        mask = buffers["action_mask"]
        actions = (generator.random(mask.shape, dtype=np.float32) * mask).argmax(axis=1)
        batch.step_into(actions, **buffers)
        ended = running & buffers["terminated"]
        for row, name in enumerate(("final_score", "final_length", "final_ending")):
            results[row, ended] = buffers[name][ended]
        running &= ~ended
    return results[0], results[1], results[2]


def sizes(name: str) -> list[str]:
    """A table of the preset's sizes by number of players."""
    lines = ["| players | hand | deck | actions | maximum score | features |", "|---|---|---|---|---|---|"]
    for players in PLAYERS:
        variant = starmine.variant(name, players=players)
        numbers = (variant.hand_size, variant.deck_size, variant.num_actions, variant.max_score, len(variant.layout()))
        lines.append(f"| {players} | {' | '.join(map(str, numbers))} |")
    return lines


def sections(name: str) -> list[str]:
    """A table of the sections of the canonical observation of two players."""
    lines = ["| section (2 players) | features | shape |", "|---|---|---|"]
    for section in starmine.variant(name).layout():
        shape = " x ".join(map(str, section.shape))
        lines.append(f"| `{section.name}` | {section.start} to {section.stop - 1} | {shape} |")
    return lines


def statistics(name: str, games: int) -> list[str]:
    """A table of random play by number of players."""
    lines = ["| players | mean score | with points kept | mean length | endings |", "|---|---|---|---|---|"]
    for players in PLAYERS:
        variant = starmine.variant(name, players=players)
        score, length, ending = random_games(variant, games)
        kept, _, _ = random_games(starmine.variant(name, players=players, lost_game_score="fireworks"), games)
        shares = [(np.mean(ending == code), text) for code, text in enumerate(starmine.endings(), start=1)]
        endings = ", ".join(f"{text} {share:.2%}" for share, text in shares if share > 0)
        error = kept.std() / np.sqrt(games)
        figures = f"{score.mean():.4f} | {kept.mean():.3f} ± {error:.3f} | {length.mean():.2f}"
        lines.append(f"| {players} | {figures} | {endings} |")
    return lines


def measured(name: str, games: int) -> str:
    """The measured part of a preset's page."""
    parts = [
        "## Sizes",
        "\n".join(sizes(name)),
        "## Observation",
        "The encoder `canonical`; the README says what each section holds.",
        "\n".join(sections(name)),
        "## Random play",
        f"{games:,} games of uniformly random legal actions for each number of players; ± is the standard error.",
        "\n".join(statistics(name, games)),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Update every preset's page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=10_000)
    games = parser.parse_args().games
    for name in starmine.variants():
        page = HERE / f"{name}.md"
        before, rest = page.read_text().split(START)
        _, after = rest.split(STOP)
        page.write_text(before + START + "\n" + measured(name, games) + "\n" + STOP + after)
        print(f"updated {page.name}", flush=True)


if __name__ == "__main__":
    main()
