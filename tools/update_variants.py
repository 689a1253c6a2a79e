"""Writes the table of sizes in the variants' pages.

Each page has the name of its preset; what stands between the two markers is replaced, and added to a page without
them.

    python tools/update_variants.py              # all pages
    python tools/update_variants.py hard small   # the pages of these presets
"""

from __future__ import annotations

from pathlib import Path

import tyro
from tyro.conf import Positional

import starmine

HERE = Path(__file__).parents[1] / "docs" / "variants"
START, STOP = "<!-- sizes of update_variants.py -->\n", "<!-- end -->\n"
PLAYERS = (2, 3, 4, 5)


def sizes(name: str) -> list[str]:
    """A table of the preset's sizes by number of players."""
    lines = ["| players | hand | deck | actions | maximum score | features |", "|---|---|---|---|---|---|"]
    for players in PLAYERS:
        variant = starmine.variant(name, players=players)
        numbers = (variant.hand_size, variant.deck_size, variant.num_actions, variant.max_score, len(variant.layout()))
        lines.append(f"| {players} | {' | '.join(map(str, numbers))} |")
    return lines


def generated(name: str) -> str:
    """The generated part of a preset's page."""
    return "## Sizes\n\n" + "\n".join(sizes(name)) + "\n"


def updated(name: str, page: str) -> str:
    """The text of a preset's page with its generated part written anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(STOP)
    return before.rstrip() + "\n\n" + START + "\n" + generated(name) + "\n" + STOP + after


def main(names: Positional[tuple[str, ...]] = ()) -> None:
    """Update the pages of presets.

    Args:
        names: presets; none for all.
    """
    names = names or tuple(starmine.variants())
    for name in names:
        if name not in starmine.variants():
            raise SystemExit(f"{name!r}: expected one of {', '.join(starmine.variants())}")
    for name in names:
        page = HERE / f"{name}.md"
        if not page.exists():
            raise SystemExit(f"there is no page {page.name}: write its title and what differs from the base game first")
        page.write_text(updated(name, page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"updated {page.name}", flush=True)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
