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

# Optional libraries. Only the subpackages that their users import by name may need them at once.
OPTIONAL = [
    *("torch", "pettingzoo", "stable_baselines3", "sb3_contrib", "ray", "jax"),
    *("matplotlib", "openai", "pandas", "PIL", "pyarrow", "safetensors"),
    *("tensorboard", "tqdm"),
]
SUBPACKAGES = ("adapters", "examples", "torch", "training", "__main__")
# Modules of other subpackages that need torch; they are imported inside functions.
WITH_TORCH = {
    *(f"policies.{name}" for name in ("agent", "own")),
    *(f"policies.foreign.{name}" for name in ("agent", "networks", "observations")),
}
PACKAGE = Path(starmine.__file__).parent


def modules():
    """The modules that load no optional library."""
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if not name.startswith(SUBPACKAGES) and name not in WITH_TORCH:
            yield f"starmine.{name}".removesuffix(".__init__")


@pytest.mark.parametrize("names", [["starmine"], sorted(modules())], ids=["import starmine", "all modules"])
def test_an_import_loads_no_optional_library(names):
    code = f"import sys, {', '.join(names)}; print([name for name in {OPTIONAL} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "[]"


def test_no_modules_import_each_other():
    """Imports inside functions count. import-linter overlooks a module that imports the package that it lies in."""
    graph = grimp.build_graph("starmine", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
    assert "starmine.envs" in imports["starmine"], "the graph is not read"
    assert not cycles(imports)


def bound_names(package, tree):
    """The names that an `__init__` binds to something else than its own modules."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != package:
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=lambda path: path.parent.name)
def test_a_package_binds_no_name_of_its_modules_to_something_else(path):
    """Otherwise a name such as `starmine.text.report` would be a module or a function, by what is imported first."""
    package = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
    modules = {part.stem for part in path.parent.iterdir() if part.suffix == ".py" or (part / "__init__.py").exists()}
    found = list(bound_names(package, ast.parse(path.read_text(encoding="utf-8"))))
    assert not modules.intersection(found)
