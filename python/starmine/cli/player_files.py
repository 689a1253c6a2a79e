"""Players of Python files, such as `mybot.py:Student`."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain, count
from pathlib import Path
from pkgutil import iter_modules
from types import FunctionType, ModuleType
from typing import Any

from starmine._core import StarmineError, _unknown_name
from starmine.games.failures import error_text
from starmine.games.players import misfit

FOLDERS: set[Path] = set()  # of the files that were run; Python has one namespace of modules for all of them
OF_FILE = re.compile(r"(?P<path>.+\.py):(?P<name>[^:/\\]*)")
NOT_TOLD = (
    "A change in another file that a Python file reads or imports is not noticed, except new weights of a torch module "
    "that is an attribute of the player. After such a change give the player another `version`, or start over"
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
        StarmineError: there is no such file; the file fails; or its folder and that of another player's file have a
            module of the same name, which both files would share.
    """
    path = Path(shown).resolve()
    try:
        source = path.read_bytes()
    except OSError as error:
        raise StarmineError(f"there is no file {shown!r}: expected a Python file with a bot") from error
    modules = _modules_in(path.parent)
    for folder in FOLDERS - {path.parent} if modules != {path.stem} else ():  # a file alone imports none of its folder
        if shared := modules & _modules_in(folder):
            raise StarmineError(
                f"{shown} cannot be run with a player of {folder}: both have a module {min(shared)}, and Python "
                "imports one of them. Rename it, or run the players in two calls"
            )
    FOLDERS.add(path.parent)
    return _run(path, source, shown)


def _modules_in(folder: Path) -> set[str]:
    """The names of the modules and packages that can be imported from a folder."""
    return {module.name for module in iter_modules([str(folder)])} | {
        path.parent.name for path in folder.glob("*/*.py")
    }


@cache
def _run(path: Path, source: bytes, shown: str) -> ModuleType:
    names = chain([path.stem], (f"{path.stem}_of_player_{number}" for number in count(1)))
    name = next(name for name in names if name not in sys.modules)  # another module keeps its own
    spec = spec_from_file_location(name, path)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look their modules up
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))  # as in a program of this file
    try:
        exec(compile(source, path, "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise StarmineError(f"{shown} cannot be run: {error_text(error)}") from error
    return module
