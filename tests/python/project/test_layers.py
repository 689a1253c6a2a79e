"""No layer imports what stands above it: in Rust, and in Python.

Rust: rules <- encode <- bots <- batch <- bindings. Only the bindings know Python.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

import starmine

SOURCE = ROOT / "src"
PACKAGE = Path(starmine.__file__).parent

# What each Rust layer may use; a new layer needs its line.
LAYERS = {
    "rules": {"rules"},
    "encode": {"rules", "encode"},
    "bots": {"rules", "encode", "bots"},
    "batch": {"rules", "encode", "bots", "batch"},
    "bindings": {"rules", "encode", "bots", "batch", "bindings"},
}
PYTHON_CRATES = re.compile(r"\b(pyo3|numpy)\b")

# What `import starmine` may load, and what modules outside the adapters may import at their top.
THIRD_PARTIES = {"numpy", "gymnasium"}
# The adapters, which only their users import: a folder, and modules that users import by name.
ADAPTERS = ("adapters", "torch")
EXTRAS = ["torch", "pettingzoo", "torchrl", "tensordict", "ray", "jax", "pandas", "pyarrow"]
NEVER_LOADED = [*EXTRAS, "matplotlib", "tqdm"]


# --- Rust -------------------------------------------------------------------------------------------------


def strip_rust(text):
    """The source without comments, strings and characters."""
    pattern = r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\''
    return re.sub(pattern, " ", text, flags=re.DOTALL)


TOKEN = re.compile(r"\w+|::|[^\w\s]")


def module_of(path):
    """The module path of a source file, such as ["rules", "card"]."""
    parts = list(path.with_suffix("").parts)
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def branches(tokens, start):
    """The paths that a path or use tree spells from this token on, and the index after it."""
    path, index = [], start
    while index < len(tokens):
        if tokens[index] == "{":
            found, index = [], index + 1
            while tokens[index] != "}":
                tails, index = branches(tokens, index)
                found += [path + tail for tail in tails]
                index += tokens[index] == ","
            return found, index + 1
        path.append(tokens[index])
        if index + 1 >= len(tokens) or tokens[index + 1] != "::":
            break
        index += 2
    return [path], index + 1


def resolve(path, module):
    """The path from the crate's root, or None for one that starts elsewhere."""
    if path[0] == "crate":
        return path[1:]
    ups = 0
    while ups < len(path) and path[ups] == "super":
        ups += 1
    return module[: len(module) - ups] + path[ups:] if ups else None


def crate_paths(text, module):
    """Every `crate::` and `super::` path of a source text, from the crate's root."""
    tokens = TOKEN.findall(strip_rust(text))
    nested, depth, index, found = [], 0, 0, []
    while index < len(tokens):
        token = tokens[index]
        if token == "mod" and tokens[index + 2 : index + 3] == ["{"]:
            depth += 1
            nested.append((tokens[index + 1], depth))
            index += 3
            continue
        if token in ("crate", "super") and tokens[index + 1 : index + 2] == ["::"]:
            inside = module + [name for name, _ in nested]
            paths, index = branches(tokens, index)
            found += [path for path in (resolve(path, inside) for path in paths) if path]
            continue
        if token == "{":
            depth += 1
        elif token == "}":
            if nested and nested[-1][1] == depth:
                nested.pop()
            depth -= 1
        index += 1
    return found


def upward_uses(text, relative):
    """What a source file uses that its layer may not: a list of messages."""
    module = module_of(Path(relative))
    layer = module[0]
    problems = []
    for path in crate_paths(text, module):
        if path[0] not in LAYERS[layer]:
            problems.append(f"{relative}: {layer} uses crate::{'::'.join(path)}")
    if layer != "bindings":
        words = PYTHON_CRATES.findall(strip_rust(text))
        problems += [f"{relative}: {layer} mentions {word}" for word in words]
    return problems


def rust_files():
    return sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.rs"))


@pytest.mark.parametrize("relative", [path for path in rust_files() if len(path.parts) > 1], ids=str)
def test_a_rust_file_uses_no_layer_above_its_own(relative):
    assert not upward_uses((SOURCE / relative).read_text(encoding="utf-8"), relative)


def test_the_crate_root_only_declares_the_layers():
    assert [str(path) for path in rust_files() if len(path.parts) == 1] == ["lib.rs"]
    text = strip_rust((SOURCE / "lib.rs").read_text(encoding="utf-8"))
    assert set(re.findall(r"\bmod (\w+);", text)) <= set(LAYERS)
    assert re.search(r"#\[cfg\(feature\s*=\s*\)\]\s*mod bindings;", text), "bindings need the feature `python`"
    assert not PYTHON_CRATES.search(text)


OFFENCES = {
    "use crate::batch::Batch;": "crate::batch::Batch",
    "pub use crate::{rules::Card, encode::{self, Layout}};": "crate::encode::self",
    "use super::super::encode::BitWriter;": "crate::encode::BitWriter",
    "fn f() { crate::encode::encoder(\"x\").ok(); }": "crate::encode::encoder",
    "mod tests { use super::super::super::bindings::Card; }": "crate::bindings::Card",
    "mod tests { mod deep { fn f() {} } }\nuse super::super::batch;": "crate::batch",
    "use numpy::PyArray1;": "mentions numpy",
    "fn f(py: pyo3::Python<'_>) {}": "mentions pyo3",
}  # fmt: skip


@pytest.mark.parametrize("text", OFFENCES)
def test_an_upward_use_is_found(text):
    problems = upward_uses(text, "rules/card.rs")
    assert any(OFFENCES[text] in problem for problem in problems), problems


@pytest.mark.parametrize(
    "text",
    [
        "use super::card::{Card, Rank};",
        "use crate::rules::{Sight, View};",
        "// use crate::batch::Batch;\n/* crate::encode */",
        'const S: &str = "crate::batch pyo3";\nconst C: char = \'"\';\nuse super::hint::Hint;',
        "mod tests { use super::*; use super::super::deck::Deck; }",
        "fn f<'a>(x: &'a str) -> &'a str { x }",
    ],
)
def test_a_use_of_the_own_layer_is_none(text):
    assert not upward_uses(text, "rules/card.rs")


def test_the_bindings_may_use_everything():
    assert not upward_uses("use pyo3::prelude::*; use crate::{batch, encode, rules};", "bindings/batch.rs")


def test_the_layers_are_read():
    """The parser finds the uses that are known to be there."""
    text = (SOURCE / "batch" / "mod.rs").read_text(encoding="utf-8")
    assert {path[0] for path in crate_paths(text, ["batch"])} >= {"encode", "rules"}


# --- Python -----------------------------------------------------------------------------------------------


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
    is_adapter = Path(relative).with_suffix("").parts[0] in ADAPTERS
    problems = []
    for name in imported(ast.parse(text), top_level=True):
        package = name.split(".")[0]
        known = package in THIRD_PARTIES or package in sys.stdlib_module_names or package in ("", "starmine")
        if not known and not is_adapter:
            problems.append(name)
        own = name.removeprefix("starmine").removeprefix(".").split(".")[0]
        if name.startswith(("starmine.", ".")) and own in ADAPTERS and not is_adapter:
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
