"""Every preset has its page, and the sizes on it are those of the package."""

from pathlib import Path

import pytest

import starmine

PAGES = Path(__file__).parents[2] / "docs" / "variants"


@pytest.mark.parametrize("name", starmine.variants())
def test_every_preset_has_a_page_with_its_sizes(name):
    page = (PAGES / f"{name}.md").read_text()
    for players in (2, 3, 4, 5):
        variant = starmine.variant(name, players=players)
        numbers = (variant.hand_size, variant.deck_size, variant.num_actions, variant.max_score, len(variant.layout()))
        assert f"| {players} | {' | '.join(map(str, numbers))} |" in page
    for section in variant.layout():
        assert f"`{section.name}`" in page
    assert f"[{name}]({name}.md)" in (PAGES / "README.md").read_text()
    assert f"`{name}`" in (PAGES.parents[1] / "README.md").read_text()
