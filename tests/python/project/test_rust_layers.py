"""No Rust file imports a layer above its own, and no files import each other in a cycle.

processor <- threads <- rules <- encode <- buffers <- nn <- bots <- search <- players <- batch <- bindings. Only the
bindings know Python.
"""

import re
from pathlib import Path

import pytest
from graphs import cycles
from paths import ROOT
from rust_source import crate_paths, imports, module_of, strip

SOURCE = ROOT / "src"

# From the bottom; each may use those before it.
LAYERS = ["processor", "threads", "rules", "encode", "buffers", "nn", "bots", "search", "players", "batch", "bindings"]
# The same inside src/batch: its folders and files. No folder and no file uses another on its own floor.
BATCH_FLOORS = [
    {"kernel"},
    {"error"},
    {"tables"},
    {"options"},
    {"config"},
    {"outputs"},
    {"games"},
    {"rows"},
    {"step"},
    {"mod"},
    {"methods", "snapshot"},
    {"replay"},
]
PYTHON_CRATES = re.compile(r"\b(pyo3|numpy)\b")


def read(relative):
    return (SOURCE / relative).read_text(encoding="utf-8")


def rust_files():
    return sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.rs"))


# --- Layers -----------------------------------------------------------------------------------------------


def upward_uses(text, relative):
    """What a source file uses that its layer may not: a list of messages."""
    module = module_of(relative)
    layer = module[0]
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    problems = [
        f"{relative}: {layer} uses crate::{'::'.join(path)}"
        for path in crate_paths(text, module)
        if path[0] not in allowed
    ]
    if layer != "bindings":
        problems += [f"{relative}: {layer} mentions {word}" for word in PYTHON_CRATES.findall(strip(text))]
    return problems


@pytest.mark.parametrize("relative", [path for path in rust_files() if len(path.parts) > 1], ids=str)
def test_a_rust_file_uses_no_layer_above_its_own(relative):
    assert not upward_uses(read(relative), relative)


def test_the_crate_root_only_declares_the_layers():
    assert [str(path) for path in rust_files() if len(path.parts) == 1] == ["lib.rs"]
    text = strip(read("lib.rs"))
    assert set(re.findall(r"\bmod (\w+);", text)) <= set(LAYERS)
    assert re.search(r"#\[cfg\(feature\s*=\s*\)\]\s*mod bindings;", text), "bindings need the feature `python`"
    assert not PYTHON_CRATES.search(text)


# --- Cycles -----------------------------------------------------------------------------------------------


def import_graph():
    return imports({path.as_posix(): read(path) for path in rust_files()})


def test_no_files_import_each_other():
    graph = import_graph()
    assert "encode/canonical.rs" in graph["encode/mod.rs"] | graph["batch/options.rs"], "the graph is not read"
    assert not list(cycles(graph))


def part_of_batch(path):
    """The name in `BATCH_FLOORS` that a path belongs to; None outside src/batch."""
    parts = Path(path).with_suffix("").parts
    return parts[1] if parts[0] == "batch" else None


def test_no_part_of_the_batch_uses_a_higher_floor():
    floors = {part: floor for floor, parts in enumerate(BATCH_FLOORS) for part in parts}
    upward = set()
    for path, others in import_graph().items():
        for other in others:
            part, used = part_of_batch(path), part_of_batch(other)
            if part and used and part != used and floors[part] <= floors[used]:
                upward.add((part, used))
    assert not upward
