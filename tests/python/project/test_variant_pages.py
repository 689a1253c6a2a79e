"""Every preset has its page in docs/variants, whose table is what tools/update_variants.py writes today."""

import pytest
import update_variants as update
from paths import ROOT

import starmine

PAGES = ROOT / "docs" / "variants"


def read(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", starmine.variants())
def test_a_preset_has_its_page_which_the_index_names_and_links(name):
    assert (PAGES / f"{name}.md").exists()
    index = read(PAGES / "README.md")
    assert f"| [{name}]({name}.md) |" in index
    assert f"\n{name}\n" in index, "the list of pages misses it"


@pytest.mark.parametrize("name", starmine.variants())
def test_the_table_of_a_page_is_up_to_date(name):
    page = read(PAGES / f"{name}.md")
    assert page == update.updated(name, page), f"run tools/update_variants.py {name}"


def test_every_page_belongs_to_a_preset():
    assert {path.stem for path in PAGES.glob("*.md")} - {"README"} == set(starmine.variants())


def test_a_changed_figure_is_noticed():
    page = read(PAGES / "hard.md")
    variant = starmine.variant("hard")
    assert f"| {variant.deck_size} |" in page
    stale = page.replace(f"| {variant.deck_size} |", "| 49 |")
    assert update.updated("hard", stale) == page != stale
