"""Whatever Python passes in, it is refused by name, with the value and what is allowed, and no game moves.

The tables of refused_rules.py and refused_calls.py cover the public surface: a row is refused with exactly its
exception, whose message holds all its fragments, and every game is as it was. What no row can say is in
test_hostile_callers.py (damage, threads) and test_little_memory.py.
"""

import hypothesis_profiles  # noqa: F401
import numpy as np
import pytest
import refused_calls
import refused_rules
from hypothesis import given
from random_games import variants
from refusals import PLAY, Table

import starmine
from starmine import Batch, IllegalActionError, StarmineError

ROWS = [*refused_rules.ROWS, *refused_calls.ROWS]


def text_of(error):
    """The message of an exception with the notes that were added to it."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_it_is_refused_by_name_and_nothing_has_moved(row):
    table = Table()
    before = table.snapshot()
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the next line checks it exactly
        row.call(table)
    assert type(caught.value) is row.error, repr(caught.value)
    for fragment in row.fragments:
        assert fragment in text_of(caught.value)
    assert len(str(caught.value)) < 1000
    assert table.snapshot() == before


def test_the_rows_have_names_of_their_own():
    assert len({row.name for row in ROWS}) == len(ROWS)


# --- Errors -----------------------------------------------------------------------------------------------


def test_an_illegal_action_error_lists_rows_actions_and_what_was_legal():
    batch = Batch("standard", 200, seed=0)
    with pytest.raises(IllegalActionError) as caught:
        batch.step(np.where(np.arange(200) % 2, PLAY, -3))
    error = caught.value
    assert error.rows == list(range(0, 200, 2))
    assert error.actions == [-3] * 100
    masks = batch.observe()["action_mask"]
    assert error.legal == [np.flatnonzero(masks[row]).tolist() for row in error.rows]
    assert "100 illegal" in str(error)
    assert "95 more" in str(error)


def test_an_illegal_action_error_of_many_games_lists_the_first_hundred():
    batch = Batch("standard", 300_000, seed=0)
    actions = np.where(np.arange(batch.num_envs) % 3, -3, PLAY)
    with pytest.raises(IllegalActionError) as caught:
        batch.step(actions)
    error = caught.value
    assert error.count == 200_000
    assert error.rows == np.flatnonzero(actions == -3)[:100].tolist()
    assert (len(error.actions), len(error.legal)) == (100, 100)
    assert "200000 illegal" in str(error)
    assert "199995 more" in str(error)


def test_every_error_of_the_package_is_a_starmine_error():
    names = [name for name in starmine.__all__ if name.endswith("Error")]
    for name in names:
        error = getattr(starmine, name)
        base = RuntimeError if name == "BusyError" else StarmineError
        assert issubclass(error, base)
    assert issubclass(starmine.data.DamagedFileError, StarmineError)
    assert issubclass(StarmineError, ValueError)


@given(variants())
def test_every_variant_has_a_text(variant):
    assert repr(variant).startswith("Variant(players=")
    assert str(variant)
    assert repr(variant.new_game(seed=0))
    assert repr(Batch(variant, 1, seed=0))
