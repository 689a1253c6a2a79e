"""Modules of the package import their optional libraries late, and each other without a cycle.

The layers of the package are contracts of import-linter in pyproject.toml.
"""

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from graphs import cycles

import starmine

PACKAGE = Path(starmine.__file__).parent

# What `import starmine` may load, and what modules outside the adapters may import at their top.
THIRD_PARTIES = {"numpy", "gymnasium"}
# The adapters, which only their users import: a folder, and modules that users import by name.
ADAPTERS = ("adapters", "torch", "training")
# Modules of other rooms that need torch; they are imported inside functions.
WITH_TORCH = {f"policies/foreign/{name}.py" for name in ("memory", "networks", "observations", "policy")}
LEARNING = [
    "torch",
    "pettingzoo",
    "stable_baselines3",
    "sb3_contrib",
    "tianshou",
    "torchrl",
    "tensordict",
    "ray",
    "jax",
]
EXTRAS = [*LEARNING, "pandas", "pyarrow"]
NEVER_LOADED = [*EXTRAS, "matplotlib", "tqdm"]


def imported(tree, top_level):
    """The modules that a syntax tree imports: outside functions, or anywhere."""
    nodes = [node for part in tree.body for node in walk(part, top_level)]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def walk(node, top_level):
    """A node and those inside it, those inside functions left out where only the top level counts."""
    yield node
    if top_level and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    for child in ast.iter_child_nodes(node):
        yield from walk(child, top_level)


def heavy_imports(text, relative):
    """What a Python module of the package imports too early: a list of names."""
    is_adapter = Path(relative).with_suffix("").parts[0] in ADAPTERS or str(relative) in WITH_TORCH
    problems = []
    for name in imported(ast.parse(text), top_level=True):
        package = name.split(".")[0]
        known = package in THIRD_PARTIES or package in sys.stdlib_module_names or package in ("", "starmine")
        if not known and not is_adapter:
            problems.append(name)
        own = name.removeprefix("starmine").removeprefix(".")
        is_heavy = own.split(".")[0] in ADAPTERS or f"{own.replace('.', '/')}.py" in WITH_TORCH
        if name.startswith(("starmine.", ".")) and is_heavy and not is_adapter:
            problems.append(name)
    return problems


def python_files():
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("relative", python_files(), ids=str)
def test_a_python_module_imports_no_extra_at_its_top(relative):
    assert not heavy_imports((PACKAGE / relative).read_text(encoding="utf-8"), relative)


@pytest.mark.parametrize(
    "text",
    [
        "import torch",
        "from torch import nn",
        "try:\n    import pettingzoo\nexcept ImportError:\n    pass",
        "class A:\n    import jax",
        "from starmine.adapters import torchrl",
        "import starmine.torch",
        "from starmine.policies.foreign.policy import ForeignPolicy",
        "from .torch import unpack_bits",
    ],
)
def test_an_early_import_is_found(text):
    assert heavy_imports(text, "vector.py")


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nfrom gymnasium.spaces import Box\nfrom starmine._core import Batch",
        "def f():\n    import torch",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
    ],
)
def test_a_late_import_is_none(text):
    assert not heavy_imports(text, "vector.py")


@pytest.mark.parametrize("relative", ["torch/policy.py", "adapters/torchrl.py"])
def test_an_adapter_may_import_its_library(relative):
    assert not heavy_imports("import torch\nfrom starmine.torch import unpack_bits", relative)


def test_import_starmine_loads_no_extra():
    code = f"import sys, starmine; print([name for name in {NEVER_LOADED} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def import_graph():
    """{module: the modules that it imports} of the package, imports inside functions included."""
    graph = grimp.build_graph("starmine", exclude_type_checking_imports=True, cache_dir=None)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def test_no_modules_import_each_other():
    graph = import_graph()
    assert "starmine.envs" in graph["starmine"], "the graph is not read"
    assert not cycles(graph)
