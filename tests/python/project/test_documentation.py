"""What the documentation says runs: the examples of docstrings, and the Python blocks of every page."""

import ast
import builtins
import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import pytest
from paths import ROOT

import starmine
from starmine import _core

SITE = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
PACKAGE = Path(starmine.__file__).parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# Optional packages that an example with such a word may need: it is skipped only where they are missing.
NAMES = ("torch", "jax", "pettingzoo", "sb3_contrib")
OPTIONAL = {name: name for name in NAMES} | {"starmine.training": "tensorboard"}


def missing_packages(text):
    return [name for word, name in OPTIONAL.items() if word in text and importlib.util.find_spec(name) is None]


def documented(owner, name):
    """(name, docstring) of an object and of its members that are its own."""
    yield name, getattr(owner, "__doc__", None) or ""
    if inspect.isclass(owner):
        for member_name, member in vars(owner).items():
            if not member_name.startswith("_"):
                yield from documented_member(member, f"{name}.{member_name}")


def documented_member(member, name):
    member = getattr(member, "__func__", member)
    yield name, getattr(member, "__doc__", None) or ""


def documented_in(node, name):
    """(name, docstring) of a class or function of a syntax tree, and of the members of a class."""
    yield name, ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        for member in node.body:
            if isinstance(member, ast.ClassDef | ast.FunctionDef) and not member.name.startswith("_"):
                yield from documented_in(member, f"{name}.{member.name}")


def docstrings():
    """(name, docstring) of the extension's and the package's public objects, and of every module.

    The package is read rather than imported: the adapters' libraries take half a minute.
    """
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        found[module] = ast.get_docstring(tree) or ""
        # The drop-in for HLE has names of its own, some of which are ours as well.
        subpackage = "starmine.hle" if module.startswith("starmine.hle") else "starmine"
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                found.update(documented_in(node, f"{subpackage}.{node.name}"))
    for name, owner in vars(_core).items():
        if not name.startswith("_") and callable(owner):
            found.update(documented(owner, f"starmine.{name}"))
    return found


DOCSTRINGS = docstrings()
EXAMPLES = sorted(name for name, text in DOCSTRINGS.items() if ">>>" in text)


def skip_without_packages(text):
    missing = missing_packages(text)
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")


def run_examples(name, text, globs=None):
    """Runs the examples in a text and returns a report of those that failed."""
    test = doctest.DocTestParser().get_doctest(text, globs or {}, name, None, 0)
    report = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    return "".join(report)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_docstring_run(name):
    skip_without_packages(DOCSTRINGS[name])
    report = run_examples(name, DOCSTRINGS[name])
    assert not report, report


@pytest.mark.parametrize("name", starmine.__all__)
def test_a_public_name_has_a_docstring(name):
    text = inspect.getdoc(getattr(starmine, name))
    assert text, f"starmine.{name} has no docstring"
    assert text.strip().splitlines()[-1].strip()


def public_members():
    """The public methods, functions and properties of the public classes, Gymnasium's own left out."""
    for name in starmine.__all__:
        owner = getattr(starmine, name)
        if not inspect.isclass(owner):
            continue
        described = owner.__doc__ or ""
        for member in sorted(vars(owner)):
            # A class may describe its attributes in its own docstring.
            if not member.startswith("_") and not re.search(rf"^ +{member}: ", described, re.MULTILINE):
                yield f"{name}.{member}"


@pytest.mark.parametrize("name", [name for name in public_members() if not name.endswith(".metadata")])
def test_a_public_member_has_a_docstring(name):
    owner, member = name.split(".")
    assert inspect.getdoc(inspect.getattr_static(getattr(starmine, owner), member)), name


@pytest.mark.parametrize("name", starmine.__all__)
def test_what_a_docstring_raises_exists(name):
    """Every exception that a docstring names is a public one, a built-in, Gymnasium's, or that of durable files."""
    known = {*starmine.__all__, *vars(builtins), "ResetNeeded", "ClosedEnvironmentError", "DamagedFileError"}
    texts = [text for key, text in DOCSTRINGS.items() if key.startswith(f"starmine.{name}")]
    for text in texts:
        for raised in re.findall(r"^ +((?:\w+(?:Error|Needed)(?:, )?)+): ", text, re.MULTILINE):
            assert set(raised.split(", ")) <= known


# --- Pages ------------------------------------------------------------------------------------------------


def python_blocks(text):
    """The ```python blocks of a Markdown text with their line numbers."""
    pattern = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in pattern.finditer(text)]


def page_name(page):
    return str(page.relative_to(ROOT))


def run_block(code, page, line, namespace):
    """Runs one block as a file's lines, or as a session where it is one."""
    if ">>>" in code:
        report = run_examples(f"{page}:{line}", code, namespace)
        assert not report, report
    else:
        exec(compile("\n" * (line - 1) + code, page, "exec"), namespace)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in PAGES[1:] if python_blocks(page.read_text(encoding="utf-8"))], ids=page_name
)
def test_the_python_blocks_of_a_page_run_in_order(page, capsys, monkeypatch, tmp_path):
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for line, code in python_blocks(text):
        if not missing_packages(code):
            run_block(code, str(page), line, namespace)


README = python_blocks((ROOT / "README.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("line", "code"), README, ids=[f"line {line}" for line, _ in README])
def test_each_python_block_of_the_readme_runs_on_its_own(line, code, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run_block(code, "README.md", line, {"__name__": "page"})
