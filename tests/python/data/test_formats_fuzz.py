"""Whatever a file holds, a reader gives games that hold by the rules and names the others, or refuses the file."""

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("safetensors")

from forged_files import FORGERIES, run


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_files_are_read_or_refused(name, request, tmp_path):
    inputs, first = request.config.getoption("--fuzz-runs"), request.config.getoption("--fuzz-seed")
    read = sum(run(name, first + seed, tmp_path) for seed in range(inputs))
    assert read > 0, "the inputs are all refused alike"
