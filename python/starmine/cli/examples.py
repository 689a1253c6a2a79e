"""`starmine examples`: the example scripts of this version."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from starmine._core import StarmineError, _unknown_name
from starmine.cli.options import Command

# In a clone links to the files of examples/; a wheel holds the files.
FOLDER = Path(__file__).parents[1] / "examples"


@dataclass(kw_only=True)
class Examples(Command):
    """List the example scripts of this version, or copy one with the scripts that it imports."""

    name = "examples"

    script: Annotated[
        Positional[str | None],
        arg(metavar="[NAME]", help="script to copy, such as ppo", help_behavior_hint="(default: list all)"),
    ] = None
    to: Annotated[str, arg(metavar="DIR", help="folder to copy to, which is made if it does not exist")] = "."

    def run(self) -> int:
        """List or copy, and return the exit status."""
        known = {path.stem: path for path in sorted(FOLDER.glob("*.py"))}
        if self.script is None:
            width = max(map(len, known))
            for name, path in known.items():
                print(f"{name:{width}}  {_first_line(path)}")
            print("\nstarmine examples NAME --to DIR copies a script. The scripts need starmine with the extra train,")
            print("behaviour_cloning also with the extra data; language_model needs only the package openai")
            return 0
        name = self.script.removesuffix(".py")
        if name not in known:
            raise _unknown_name("example", self.script, list(known))
        folder = Path(self.to)
        targets = {folder / path.name: path.read_bytes() for path in _with_imports(name, known)}
        for target, content in targets.items():
            if target.exists() and target.read_bytes() != content:
                raise StarmineError(f"{target} is another file: expected a new one, or another --to")
        folder.mkdir(parents=True, exist_ok=True)
        for target, content in targets.items():
            target.write_bytes(content)
            print(target)
        return 0


def _first_line(path: Path) -> str:
    """The first line of a script's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _with_imports(name: str, known: dict[str, Path]) -> list[Path]:
    """A script and the scripts that it imports, directly or not."""
    found, pending = [], [name]
    while pending:
        name = pending.pop()
        if known[name] in found:
            continue
        found.append(known[name])
        for node in ast.walk(ast.parse(known[name].read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            pending += [imported for imported in names if imported in known]
    return found
