"""Writes the table of sizes in docs/variants.md: what stands between its two markers.

python tools/update_variants.py
"""

from __future__ import annotations

from pathlib import Path

import starmine

PAGE = Path(__file__).parents[1] / "docs" / "variants.md"
START, STOP = "<!-- sizes of update_variants.py -->\n", "<!-- end -->\n"
PLAYERS = (2, 3, 4, 5)


def different(values: list[int]) -> str:
    """The values by number of players, as one number if they are equal."""
    return ", ".join(str(value) for value in (values[:1] if len(set(values)) == 1 else values))


def sizes(name: str) -> str:
    """The preset's line of the table."""
    variants = [starmine.variant(name, players=players) for players in PLAYERS]
    first = variants[0]
    assert all((v.deck_size, v.max_score) == (first.deck_size, first.max_score) for v in variants)
    hands = different([variant.hand_size for variant in variants])
    actions = different([variant.num_actions for variant in variants])
    features = different([len(variant.layout()) for variant in variants])
    return f"| `{name}` | {first.deck_size} | {first.max_score} | {hands} | {actions} | {features} |\n"


def table() -> str:
    """A line for each preset."""
    heading = (
        "preset",
        "cards",
        "maximum score",
        "hand",
        "actions, with 2 to 5 players",
        "features, with 2 to 5 players",
    )
    return f"| {' | '.join(heading)} |\n{'|---' * len(heading)}|\n" + "".join(map(sizes, starmine.variants()))


def updated(page: str) -> str:
    """The text of the page with its table written anew."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(STOP)
    return before + START + table() + STOP + after


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
