"""Writes the measured part of the variants' pages: sizes and random play.

Each page has the name of its preset; what stands between the two markers is replaced, and added to a page without
them. Random play means uniformly random legal actions: the bot `random` in every seat.

    python tools/update_variants.py              # all pages
    python tools/update_variants.py hard small   # the pages of these presets
"""

from __future__ import annotations

import argparse
from pathlib import Path

import starmine

HERE = Path(__file__).parents[1] / "docs" / "variants"
START, STOP = "<!-- measured by update_variants.py -->\n", "<!-- end -->\n"
PLAYERS = (2, 3, 4, 5)
GAMES, SEED = 10_000, 0
LOST = ("lost", "indispensable_card_lost", "no_legal_action")


def sizes(name: str) -> list[str]:
    """A table of the preset's sizes by number of players."""
    lines = ["| players | hand | deck | actions | maximum score | features |", "|---|---|---|---|---|---|"]
    for players in PLAYERS:
        variant = starmine.variant(name, players=players)
        numbers = (variant.hand_size, variant.deck_size, variant.num_actions, variant.max_score, len(variant.layout()))
        lines.append(f"| {players} | {' | '.join(map(str, numbers))} |")
    return lines


def statistics(name: str) -> list[str]:
    """A table of random play by number of players: means, and the share of lost games."""
    lines = ["| players | points kept | turns | lost |", "|---|---|---|---|"]
    for players in PLAYERS:
        variant = starmine.variant(name, players=players)
        games = starmine.play_games(["random"] * players, games=GAMES, seed=SEED, variant=variant)
        lost = sum(games.share(ending) for ending in starmine.endings() if ending in LOST)
        lines.append(f"| {players} | {games.fireworks.mean():.2f} | {games.lengths.mean():.1f} | {lost:.1%} |")
    return lines


def measured(name: str) -> str:
    """The measured part of a preset's page."""
    parts = [
        "## Sizes",
        "\n".join(sizes(name)),
        "## Random play",
        f"{GAMES:,} games with random legal actions.",
        "\n".join(statistics(name)),
    ]
    return "\n\n".join(parts) + "\n"


def updated(name: str, page: str) -> str:
    """The text of a preset's page with its measured part written anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(STOP)
    return before.rstrip() + "\n\n" + START + "\n" + measured(name) + "\n" + STOP + after


def main() -> None:
    """Update the pages of the presets that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="presets (default: all)")
    names = parser.parse_args().names or starmine.variants()
    for name in names:
        if name not in starmine.variants():
            parser.error(f"{name!r}: expected one of {', '.join(starmine.variants())}")
    for name in names:
        page = HERE / f"{name}.md"
        if not page.exists():
            parser.error(f"there is no page {page.name}: write its title and what differs from the base game first")
        page.write_text(updated(name, page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"updated {page.name}", flush=True)


if __name__ == "__main__":
    main()
