"""The table of outputs is in `src/batch/outputs.rs`; the stub, the docstrings and `info` must follow it."""

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import starmine
from starmine import Batch, HanabiVectorEnv
from starmine._core import _extra_outputs, _outputs

RETURNED = ["obs", "reward", "terminated", "truncated"]
GAMES = 7
VARIANT = starmine.Variant(players=4, hand_size=6)  # its numbers of seats, slots and kinds of cards differ
ENTRY = re.compile(r"^ +([\w, ]+): (.*)$", re.MULTILINE)


def arrays(extra_outputs=()):
    """An array of each output, of a number of games that no other axis has."""
    return Batch(VARIANT, GAMES, seed=0, extra_outputs=extra_outputs).allocate()


def shape_text(name, array):
    """An array's dtype and shape as docstrings write them, such as "bool (N, A)"."""
    sizes = {GAMES: "N", VARIANT.num_actions: "A"}
    axes = ", ".join(sizes[size] for size in array.shape)
    return f"{array.dtype} ({axes}{',' if array.ndim == 1 else ''})"


def entries(docstring):
    """What a docstring says of each name."""
    text = inspect.cleandoc(docstring)
    found = {}
    for names, what in ENTRY.findall(text):
        found |= dict.fromkeys(names.split(", "), what)
    return found


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


def test_the_batch_documents_every_output():
    documented = entries(Batch.__doc__)
    for name, array in arrays().items():
        assert name in documented, f"the docstring of Batch lacks {name}"
        if name != "obs":
            assert documented[name].startswith(shape_text(name, array)), name


def test_the_batch_documents_every_extra_output():
    sizes = {"N": GAMES, "P": VARIANT.players, "H": VARIANT.hand_size, "K": 25, "3": 3}
    documented = entries(Batch.__doc__)
    for name, array in arrays(_extra_outputs()).items():
        if name in _extra_outputs():
            dtype, axes = re.match(r"(\w+) \((.*?)\),", documented[name]).groups()
            assert (dtype, tuple(sizes[axis] for axis in axes.split(", "))) == (array.dtype, array.shape), name


def test_the_vector_environment_documents_every_output_of_info():
    documented = entries(HanabiVectorEnv.__doc__)
    for name, array in arrays().items():
        if name not in RETURNED:
            assert name in documented, f"the docstring of HanabiVectorEnv lacks {name}"
            assert documented[name].startswith(shape_text(name, array)), name


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
