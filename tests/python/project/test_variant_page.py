"""Every preset is on docs/variants.md, whose table of sizes is what tools/update_variants.py writes today."""

import pytest
import update_variants as update

import starmine

TEXT = update.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", starmine.variants())
def test_a_preset_has_its_rules_and_its_sizes(name):
    assert TEXT.count(f"\n| `{name}` |") == 2


def test_the_table_of_sizes_is_up_to_date():
    assert update.updated(TEXT) == TEXT, "run tools/update_variants.py"
