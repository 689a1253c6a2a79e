"""What tells a player from every other: content, never a path, a name or a count."""

from __future__ import annotations

import ast
import io
import pickle
import random
import sys
import sysconfig
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from starmine._core import _Player
from starmine.games.player_texts import Noisy

LIBRARIES = frozenset({"starmine", "numpy", "torch", *sys.stdlib_module_names})  # whose sources are not hashed
GENERATORS = (random.Random, np.random.Generator, np.random.BitGenerator, np.random.RandomState)
STDLIB = sysconfig.get_paths()["stdlib"]
INSTALLED = {"site-packages", "dist-packages"}  # folders of packages, whose imports are not followed


@dataclass(frozen=True)
class Identity:
    """The identity of a player.

    Attributes:
        text: of a bot its text, in which the SHA-256 of a policy's file stands in the place of its path or name; of a
            player in Python "python: " and the hash. Two players of equal texts play the same, in one version of this
            package. None if the identity is unknown.
        hash: the SHA-256 of a policy's file; of a player in Python that of its source and its state. None for bots
            without weights, and if it is unknown.
        problem: why the identity is unknown; else empty.
    """

    text: str | None
    hash: str | None
    problem: str = ""


def identity(player: Any) -> Identity:
    """The identity of a player, by which evaluations and data sets tell whether two players are the same.

    A player in Python has a hash of its state and its sources. The state of an object is what `pickle` stores of it,
    except that only the type of a random number generator counts. The state of a class is the state of a new object,
    with the weights that it has loaded by then. The sources are the files that define its classes and functions, and
    the files that these import, except those of installed packages. Files that a player reads while it plays do not
    count.

    Args:
        player: as `resolve_player` returns it.
    """
    if isinstance(player, _Player):
        if (weights := player.weights) is None:
            return Identity(player.text, None)
        found = sha256(weights).hexdigest()
        return Identity(player.text_with(found), found)
    if isinstance(player, Noisy):
        inner = identity(player.player)
        return inner if inner.text is None else Identity(player.text_with(inner.text), inner.hash)
    content = getattr(player, "content", None)
    if isinstance(content, str) and type(player).__module__ == "starmine.policies.foreign.policy":
        return Identity(player.text_with(content), content)
    try:
        found = _Content().digest((player, _made(player)) if isinstance(player, type) else player)
    except _UnknownError as error:
        return Identity(None, None, str(error))
    except Exception as error:  # whatever an object raises that cannot be pickled
        told = " ".join(f"{type(error).__name__}: {error}".split())
        return Identity(None, None, f"its state cannot be pickled ({told})")
    return Identity(f"python: {found}", found)


def _made(player: type) -> Any:
    """A new object; None if it cannot be made, which fails the games, too."""
    try:
        return player()
    except Exception:
        return None


class _UnknownError(Exception):
    """The identity cannot be told."""


class _Content(pickle.Pickler):
    """The state of an object, and the sources of its classes and functions."""

    def __init__(self) -> None:
        state = io.BytesIO()
        super().__init__(state, protocol=5)
        self._state = state
        self._sources: dict[Path, str] = {}  # files and their SHA-256
        self._codes: dict[Path, set[CodeType]] = {}  # files and the code of their functions
        self._seen: set[int] = set()  # classes and functions that are being described

    def digest(self, player: Any) -> str:
        """The SHA-256 of the state and the sources."""
        self.dump(player)
        found = sha256(self._state.getvalue())
        for source in sorted(set(self._sources.values())):
            found.update(source.encode())
        return found.hexdigest()

    def reducer_override(self, found: Any) -> Any:
        """Describe classes and functions by their names and contents, and tensors by their numbers."""
        if isinstance(found, type | FunctionType):
            return self._described(found)
        if isinstance(found, ModuleType):
            file = getattr(found, "__file__", None)
            if file is not None and not _is_library(found.__name__):
                self._add_file(Path(file), found)
            return str, (found.__name__,)
        kind = type(found)
        if isinstance(found, GENERATORS) or (kind.__module__, kind.__qualname__) == ("torch._C", "Generator"):
            return str, (kind.__qualname__,)
        if hasattr(found, "untyped_storage"):
            import torch

            numbers = found.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
            return bytes, (f"{found.dtype} {tuple(found.shape)} ".encode() + numbers,)
        return NotImplemented

    def _described(self, found: type | FunctionType) -> Any:
        """What is pickled for a class or a function: those of libraries by their names, as usual."""
        if _is_library(found.__module__ or ""):
            return NotImplemented
        if id(found) in self._seen:  # it refers to itself
            return str, (found.__qualname__,)
        self._seen.add(id(found))
        self._add_source(found)
        if isinstance(found, FunctionType):
            self._check_current(found)
            return str, (_Description(found.__qualname__, _captured(found)),)
        own = _functions(found)
        for function in own:
            self._check_current(function)
        attributes = {
            name: value
            for name, value in vars(found).items()
            if not (name.startswith("__") or hasattr(value, "__get__"))
        }
        functions = [_captured(function, but=found) for function in own]
        return str, (_Description(found.__qualname__, [found.__bases__, attributes, functions]),)

    def _add_source(self, found: type | FunctionType) -> None:
        written = [function for function in _functions(found) if _is_written(function)]
        if isinstance(found, FunctionType) and not written:
            return  # it was made for a class, which has a source
        module = sys.modules.get(found.__module__)
        files = {Path(function.__code__.co_filename) for function in written}
        if not files:
            files = {Path(getattr(module, "__file__", None) or "")}
        for file in files:
            if not file.is_file():
                raise _UnknownError(f"{found.__qualname__} has no source file")
            self._add_file(file, module)

    def _add_file(self, file: Path, module: ModuleType | None) -> None:
        """Add a file and those that it imports."""
        if file in self._sources:
            return
        try:
            source = file.read_bytes()
        except OSError as error:
            raise _UnknownError(f"its source {file} cannot be read ({error.strerror or error})") from error
        self._sources[file] = sha256(source).hexdigest()
        if file.suffix == ".py" and INSTALLED.isdisjoint(file.parts):
            for imported, its_module in _imports(source, file, module):
                self._add_file(imported, its_module)

    def _check_current(self, function: FunctionType) -> None:
        """Check that a function is still that of its file, which may have changed since it was run."""
        file = Path(function.__code__.co_filename)
        if file not in self._sources or file.suffix != ".py":
            return
        if file not in self._codes:
            self._codes[file] = _codes(file)
        if function.__code__ not in self._codes[file]:
            raise _UnknownError(f"{file.name} has changed since {function.__qualname__} was loaded from it")


@dataclass(frozen=True)
class _Description:
    """A name with what belongs to it; only ever pickled."""

    name: str
    content: Any


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def _functions(found: type | FunctionType) -> list[FunctionType]:
    """A function itself; the functions of a class, except those that it inherits."""
    if isinstance(found, FunctionType):
        return [found]
    values = [getattr(value, "__func__", getattr(value, "fget", value)) for value in vars(found).values()]
    return [value for value in values if isinstance(value, FunctionType)]


def _is_written(function: FunctionType) -> bool:
    """Whether the user wrote a function, unlike those that `dataclass` makes."""
    file = Path(function.__code__.co_filename)
    return not file.is_relative_to(STDLIB) if file.is_file() else not function.__name__.startswith("__")


def _captured(function: FunctionType, but: Any = None) -> list[Any]:
    """The values that a function has from its definition: defaults, and variables of the functions around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    inner = [(name, cell.cell_contents) for name, cell in cells if name != "__class__"]
    return [
        function.__qualname__,
        function.__defaults__,
        function.__kwdefaults__,
        [(name, value) for name, value in inner if value is not but],
    ]


def _codes(file: Path) -> set[CodeType]:
    """The code of all functions of a file, as it is now."""
    try:
        left = [compile(file.read_bytes(), str(file), "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return set()
    found: set[CodeType] = set()
    while left:
        code = left.pop()
        found.add(code)
        left += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return found


def _imports(source: bytes, file: Path, module: ModuleType | None) -> list[tuple[Path, ModuleType | None]]:
    """The files that a file imports, except those of libraries and of installed packages."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    names: set[str] = set()
    package = getattr(module, "__package__", None) or None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                base = resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:
                continue
            names.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
    found = []
    for name in sorted(names):
        if _is_library(name):
            continue
        imported = sys.modules.get(name)
        at = getattr(imported, "__file__", None) or file.parent / f"{name.replace('.', '/')}.py"
        if Path(at).is_file() and INSTALLED.isdisjoint(Path(at).parts):
            found.append((Path(at), imported))
    return found


def parameters_hash(player: Any) -> str | None:
    """The SHA-256 of the parameters of a torch module, which training may change at any time; None for others."""
    player = player.player if isinstance(player, Noisy) else player
    state = getattr(getattr(player, "module", None), "state_dict", None)
    return None if state is None else _Content().digest(state())
