"""Players of Python files, such as `mybot.py:Student`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain, count
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from starmine._core import StarmineError, _unknown_name
from starmine.games.players import misfit
from starmine.games.results import error_text

FOLDERS: set[Path] = set()  # of the files that were run
OF_FILE = re.compile(r"(?P<path>.+\.py):(?P<name>[^:/\\]*)")
NOT_TOLD = (
    "Files that a Python file reads do not tell its player from another, except weights of a torch module that is an "
    "attribute of the player: give the player another `version`, or start over"
)


class FileVersion(str):
    """The version of a player whose author gave it none."""


def is_of_file(text: str) -> bool:
    """Whether a text names a player of a Python file."""
    return OF_FILE.fullmatch(text) is not None


def name_of(text: str) -> str:
    """The name of a player of a file: what follows the last colon."""
    return text.rpartition(":")[2]


def player_of(text: str) -> Any:
    """The player of a file that a text such as `mybot.py:Student` names; other texts as they are.

    The file is run as a module. A class with `act` stays a class, of which each game and seat gets an object of its
    own; other classes, such as policies and torch modules, are instantiated without arguments.
    """
    found = OF_FILE.fullmatch(text)
    if found is None:
        return text
    path, name = found["path"], found["name"]
    module = _module(path)
    if not hasattr(module, name):
        if not (known := [known for known, value in vars(module).items() if _is_player(known, value, module)]):
            expected = "a class or an object with act(view) or act_batch(turns), or a torch module"
            raise StarmineError(f"{path} has no player: expected {expected}")
        raise _unknown_name(f"player in {path}", name, known)
    player = getattr(module, name)
    if not isinstance(player, type) or (hasattr(player, "act") and not hasattr(player, "act_batch")):
        return _of_version(player, path, name)
    try:
        return _of_version(player(), path, name)
    except Exception as error:
        raise StarmineError(f"bot={text!r} cannot be made: {error_text(error)}") from error


def _is_player(name: str, value: Any, module: ModuleType) -> bool:
    """Whether a name of a file seems to be that of a player, which the file does not import."""
    if name.startswith("_") or (isinstance(value, type | FunctionType) and value.__module__ != module.__name__):
        return False
    if isinstance(value, FunctionType):
        return misfit(value, 0) is None
    return any(hasattr(value, method) for method in ("act", "act_batch", "forward"))


def _of_version(player: Any, path: str, name: str) -> Any:
    """A player with the SHA-256 of its file and its name there as its version, unless it has one or takes none."""
    version = getattr(player, "version", None)
    if version is None or isinstance(version, FileVersion):  # that of its class, which is another player
        with suppress(AttributeError, TypeError):
            player.version = FileVersion(f"{sha256(Path(path).read_bytes()).hexdigest()}, {name}")
    return player


def _module(shown: str) -> ModuleType:
    """Run a file as a module, whose own folder it can import from; once, as long as it stays as it is.

    Raises:
        StarmineError: there is no such file; the file fails; or the file imports a module from its own folder, and the
            folder of another player's file has a module of the same name, so that both would get the same module.
    """
    path = Path(shown).resolve()
    try:
        source = path.read_bytes()
        for own, other in _same_names(path, source):
            raise StarmineError(f"{shown} cannot be run with {other}: {own} has the same name. Rename one of them")
        return _run(path, source, shown)
    except OSError as error:
        raise StarmineError(f"there is no file {shown!r}: expected a Python file with a bot") from error


@cache
def _run(path: Path, source: bytes, shown: str) -> ModuleType:
    names = chain([path.stem], (f"{path.stem}_of_player_{number}" for number in count(1)))
    name = next(name for name in names if name not in sys.modules)  # another module keeps its own
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look their modules up
    FOLDERS.add(path.parent)
    folder = str(path.parent)
    sys.path.insert(0, folder)  # as in a program of this file
    try:
        exec(compile(source, path, "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise StarmineError(f"{shown} cannot be run: {error_text(error)}") from error
    finally:
        with suppress(ValueError):  # the file may have changed the list
            sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)  # for what it imports later
    return module


def _same_names(path: Path, source: bytes) -> Iterator[tuple[Path, Path]]:
    """Find modules that a file imports from its own folder, and whose names occur in another player's folder, too.

    Args:
        path: of the file. The file itself does not count: it is run under any name.
        source: the contents of the file.

    Yields:
        The module in the file's folder, and the module of this name in the other folder.
    """
    lines = re.findall(rb"^\s*(?:from|import)\b(.*)", source, re.MULTILINE)
    for name in sorted({word.decode() for line in lines for word in re.findall(rb"[A-Za-z_]\w*", line)}):
        for module in (Path(f"{name}.py"), Path(name, "__init__.py")):
            own = path.parent / module
            if own != path and own.is_file():
                yield from ((own, folder / module) for folder in FOLDERS - {path.parent} if (folder / module).is_file())
