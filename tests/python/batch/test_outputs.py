"""The table of outputs is in `src/batch/outputs.rs`; the stub, the docstrings and `info` must follow it."""

import ast
from pathlib import Path

import numpy as np
import pytest

import starmine
from starmine import Batch, HanabiVectorEnv
from starmine._core import _extra_outputs, _outputs

RETURNED = ["obs", "reward", "terminated", "truncated"]
GAMES = 7
VARIANT = starmine.Variant(players=4, hand_size=6)  # its numbers of seats, slots and kinds of cards differ


def arrays(extra_outputs=()):
    """An array of each output, of a number of games that no other axis has."""
    return Batch(VARIANT, GAMES, seed=0, extra_outputs=extra_outputs).allocate()


def test_the_names_are_those_of_the_arrays():
    assert _outputs() == [*arrays()]
    assert _outputs() + _extra_outputs() == [*arrays(_extra_outputs())]
    assert set(RETURNED) < set(_outputs())


@pytest.mark.parametrize("method", ["step_into", "reset_into"])
def test_the_stub_has_every_output_with_its_dtype(method):
    stub = ast.parse((Path(starmine.__file__).parent / "_core.pyi").read_text("utf-8"))
    (batch,) = (node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == "Batch")
    (function,) = (node for node in batch.body if isinstance(node, ast.FunctionDef) and node.name == method)
    types = {argument.arg: ast.unparse(argument.annotation) for argument in function.args.kwonlyargs}
    everything = arrays(_extra_outputs())
    dtypes = {name: str(array.dtype).replace("bool", "bool_") for name, array in everything.items()}
    expected = {name: f"NDArray[np.{dtype}] | None" for name, dtype in dtypes.items()}
    assert types == {**expected, "obs": "_Observations | None"}


def test_every_output_is_returned_or_in_info():
    env = HanabiVectorEnv(GAMES, seed=0, illegal_action="terminate")
    batch = Batch("standard", GAMES, seed=0, illegal_action="terminate")
    env.reset()
    for action in (5, -1):  # slot 0 is played; an illegal action ends every game
        returned = dict(zip([*RETURNED, "info"], env.step([action] * GAMES), strict=True))
        info = returned.pop("info")
        for name, expected in batch.step([action] * GAMES).items():
            found = returned[name] if name in RETURNED else info[name]
            np.testing.assert_array_equal(found, expected, err_msg=name)
            if name not in RETURNED:
                mask = returned["terminated"] if name.startswith("final_") else np.ones(GAMES, bool)
                np.testing.assert_array_equal(info[f"_{name}"], mask, err_msg=name)
    names = {name.removeprefix("final_") for name in _outputs() if name.startswith("final_")} | {"illegal_action"}
    assert {*info["final_info"]} == names | {f"_{name}" for name in names}
