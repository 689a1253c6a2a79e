"""Whatever the core reads, it takes or refuses by a documented exception, and a refusal changes nothing."""

import pytest
from forged_inputs import READERS, run


@pytest.mark.parametrize("reader", READERS)
def test_forged_inputs_are_taken_or_refused(reader, request):
    inputs, seed = 2 * request.config.getoption("--fuzz-runs"), request.config.getoption("--fuzz-seed")
    results = run(reader, seed, inputs)
    assert results.total() == inputs
    assert len(results) > 1 or reader == "read_batch", "the inputs are all refused alike"
