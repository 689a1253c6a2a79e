"""Sphinx extension: docstrings of the compiled core as reStructuredText, with the types of its stub.

The core's docstrings begin with a signature for `help()`, and list attributes and outputs under headings that Sphinx
does not know. Its classes carry no annotations: those stand in `_core.pyi`.
"""

from __future__ import annotations

import ast
import re
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import starmine

if TYPE_CHECKING:
    from sphinx.application import Sphinx

STUB = Path(__file__).parents[1] / "python" / "starmine" / "_core.pyi"
ENTRY = re.compile(r"^ +([\w*`, ]+): ")
SECTIONS = ("Args:", "Example:", "Examples:", "Note:", "Raises:", "Returns:", "Yields:")


def stub_nodes() -> dict[str, ast.FunctionDef]:
    """The functions and methods of the stub by their names, `Batch.step` for one of a class."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            members = (member for member in node.body if isinstance(member, ast.FunctionDef))
            found |= {f"{node.name}.{member.name}": member for member in members}
    return found


NODES = stub_nodes()


def stub_node(name: str) -> ast.FunctionDef | None:
    """What the stub says about a documented name, a class by its constructor."""
    short = re.sub(r"^starmine\.(_core\.)?", "", name)
    return NODES.get(short) or NODES.get(f"{short}.__new__")


def readable(annotation: ast.expr | None) -> str:
    """An annotation's text, without the stub's private aliases."""
    text = ast.unparse(annotation) if annotation else ""
    text = re.sub(r"NDArray\[(?:np\.)?([\w.]+?)(?:\[Any\])?\]", r"ndarray[\1]", text)
    for private, public in {"_Actions": "ndarray | Sequence[int]", "_Seeds": "int | Sequence[int]"}.items():
        text = text.replace(private, public)
    return text.replace("SupportsIndex", "int").replace("_Observations", "ndarray")


def signature(node: ast.FunctionDef) -> tuple[str, str]:
    """The arguments and the result of a stub's function, without `self` or `cls`."""
    arguments = deepcopy(node.args)
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.kwarg]:
        if argument and argument.annotation:
            argument.annotation = ast.Name(readable(argument.annotation))
    listed = arguments.posonlyargs or arguments.args
    if listed and listed[0].arg in ("self", "cls"):
        listed.pop(0)
    result = "" if node.name == "__new__" else readable(node.returns)
    return f"({ast.unparse(arguments)})", result


def use_stub(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, given: str | None, result: str | None
) -> tuple[str, str] | None:
    """The stub's signature for what the core defines."""
    node = stub_node(name)
    return signature(node) if node and what in ("class", "function", "method") else None


def without_signature(lines: list[str], name: str) -> list[str]:
    """A docstring without the signature that it begins with."""
    if lines and lines[0].startswith(name.rpartition(".")[2] + "(") and "" in lines:
        return lines[lines.index("") + 1 :]
    return lines


def with_lists(lines: list[str]) -> list[str]:
    """A docstring whose indented entries under headings that napoleon does not read are lists."""
    result: list[str] = []
    in_entries = False
    for index, line in enumerate(lines):
        heading_end = line.endswith(":") and not line.startswith(" ") and line not in SECTIONS
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if heading_end and ENTRY.match(following):
            in_entries = True
            result += [line, ""]
        elif in_entries and line.startswith(" "):
            match = ENTRY.match(line)
            indented = len(line) - len(line.lstrip()) == 4
            result.append(f"- **{match[1]}**: {line[match.end() :]}" if match and indented else f"  {line.strip()}")
        else:
            in_entries = False
            result.append(line)
    return result


def indentation(line: str) -> int:
    """The number of spaces that a line begins with."""
    return len(line) - len(line.lstrip())


def with_blocks(lines: list[str]) -> list[str]:
    """A docstring whose Markdown blocks are reStructuredText's: nested lists and indented code."""
    result: list[str] = []
    for line in lines:
        before = result[-1] if result else ""
        starts_item = line.lstrip().startswith("- ")
        if starts_item and before and not before.lstrip().startswith("- ") and indentation(before) <= indentation(line):
            result.append("")
        starts_code = line.startswith("    ") and not before and len(result) > 1 and not result[-2].startswith(" ")
        if starts_code and result[-2].endswith(":") and not starts_item:
            result[-2] += ":"
        result.append(line)
    return result


def with_code(line: str) -> str:
    """A line whose code in backticks is a link where it is a public name of the package, and else a literal."""

    def replaced(match: re.Match[str]) -> str:
        code, following = match[1], match[2] or ""
        name = code.removeprefix("starmine.").removesuffix("()")
        text = f":py:obj:`{code} <starmine.{name}>`" if name in starmine.__all__ else f"``{code}``"
        # A letter may not follow directly, as in the plural of a name.
        return text + (rf"\ {following}" if following else "")

    return re.sub(r"(?<!`)`([^`]+)`(?!`)(\w)?", replaced, line)


def constant_comment(name: str) -> list[str]:
    """The `#:` comment of a constant, in the module that defines it. Sphinx alone would show the docs of its type."""
    from sphinx.pycode import ModuleAnalyzer

    module, _, constant = name.rpartition(".")
    analyzer = ModuleAnalyzer.for_module(module)
    comments: dict[tuple[str, str], list[str]] = analyzer.find_attr_docs()
    if ("", constant) in comments:
        return comments["", constant]
    for node in ast.parse(analyzer.code).body:
        if isinstance(node, ast.ImportFrom) and constant in [alias.name for alias in node.names]:
            return constant_comment(f"{node.module}.{constant}")
    return []


def convert(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite one docstring in place; a property's begins with its type."""
    lines[:] = constant_comment(name) if what == "data" else lines
    converted = [with_code(line) for line in with_blocks(with_lists(without_signature(lines, name)))]
    node = stub_node(name)
    if what in ("property", "attribute") and node and node.returns and converted:
        converted[0] = f"``{readable(node.returns)}``: {converted[0]}"
    lines[:] = converted


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; the lists are made before napoleon reads the sections."""
    app.connect("autodoc-process-signature", use_stub)
    app.connect("autodoc-process-docstring", convert, priority=400)
    return {"parallel_read_safe": True}
