"""What Rust files import from each other, read from their text.

A module is a tuple of names from the crate's root, such as ("rules", "card").
"""

import re
from pathlib import Path

TOKEN = re.compile(r"\w+|::|[^\w\s]")


def strip(text):
    """The source without comments, strings and characters, and without the modules in which an item is visible."""
    pattern = r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\''
    return re.sub(r"\bpub\(in [\w:]+\)", "pub", re.sub(pattern, " ", text, flags=re.DOTALL))


def module_of(relative):
    """The module of a source file, from its path below src."""
    parts = Path(relative).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def branches(tokens, start):
    """The paths that a path or use tree spells from this token on, and the index after it.

    A path is a tuple of names; one that is renamed ends with "as" and its new name.
    """
    path, index = (), start
    while index < len(tokens):
        if tokens[index] == "{":
            found, index = [], index + 1
            while tokens[index] != "}":
                tails, index = branches(tokens, index)
                found += [path + tail for tail in tails]
                index += tokens[index] == ","
            return found, index + 1
        path += (tokens[index],)
        index += 1
        if tokens[index : index + 1] != ["::"]:
            break
        index += 1
    if tokens[index : index + 1] == ["as"]:
        return [(*path, "as", tokens[index + 1])], index + 2
    return [path], index


def resolve(path, module):
    """The path from the crate's root, or None for one that starts elsewhere."""
    if path[0] == "crate":
        return path[1:]
    if path[0] == "self":
        return module + path[1:]
    ups = 0
    while ups < len(path) and path[ups] == "super":
        ups += 1
    return module[: len(module) - ups] + path[ups:] if ups else None


def without_name(path):
    """The path without a new name."""
    return path[:-2] if path[-2:-1] == ("as",) else path


class Source:
    """The paths that a file uses, from the crate's root, and the names that its `use` items bring in."""

    def __init__(self, text, module, with_tests=True):
        """Read a file's text; without tests, modules called `tests` are left out."""
        # `passed_on` are those of the paths that only hand a name on (`pub use`).
        self.module, self.paths, self.passed_on, self.names = module, [], set(), {}
        self.tokens, self.with_tests = TOKEN.findall(strip(text)), with_tests
        self.children = {
            self.tokens[index + 1]
            for index, token in enumerate(self.tokens[:-2])
            if token == "mod" and self.tokens[index + 2] == ";"
        }
        self.read()

    def read(self):
        nested, depth, index = [], 0, 0
        while index < len(self.tokens):
            token = self.tokens[index]
            inside = self.module + tuple(name for name, _ in nested)
            if token == "mod" and self.tokens[index + 2 : index + 3] == ["{"]:
                depth += 1
                nested.append((self.tokens[index + 1], depth))
                index += 3
            elif token == "use":
                is_public = self.tokens[index - 1 : index] == ["pub"] or self.tokens[index - 4 : index - 2] == [
                    "pub",
                    "(",
                ]
                paths, index = branches(self.tokens, index + 1)
                for path in paths:
                    self.add(path, inside, is_use=not nested, is_public=is_public)
            elif self.starts_path(index):
                paths, index = branches(self.tokens, index)
                for path in paths:
                    self.add(path, inside, is_use=False, is_public=False)
            else:
                if token == "{":
                    depth += 1
                elif token == "}":
                    if nested and nested[-1][1] == depth:
                        nested.pop()
                    depth -= 1
                index += 1

    def starts_path(self, index):
        """Whether a path of this crate starts at the token."""
        return (
            self.tokens[index] in {"crate", "super", "self", *self.children}
            and self.tokens[index + 1 : index + 2] == ["::"]
            and self.tokens[index - 1] != "::"
        )

    def add(self, path, inside, is_use, is_public):
        if "tests" in inside and not self.with_tests:
            return
        if path[0] in self.children and inside == self.module:
            path = ("self", *path)
        if not (found := resolve(path, inside)):
            return
        target = without_name(found)
        self.paths.append(target)
        if is_public:
            self.passed_on.add(target)
        if is_use:
            # `use a::{self}` brings in a itself.
            target = target[:-1] if target[-1] == "self" else target
            if target:
                self.names[found[-1] if found[-1] != "self" else target[-1]] = target


def crate_paths(text, module):
    """Every path of a source text that names something in this crate, from the crate's root."""
    return Source(text, module).paths


def imports(texts):
    """{file: the files whose definitions it uses}, from {path below src: text}; tests are left out.

    A name that a module passes on (`pub use`) counts for those that use it, as an import of the file that defines it.
    """
    files = {module_of(path): path for path in texts if Path(path).stem != "tests"}
    sources = {module: Source(texts[path], module, with_tests=False) for module, path in files.items()}

    def home(path, seen=()):
        """The module that defines what the path names."""
        length = max(size for size in range(len(path) + 1) if path[:size] in files or size == 0)
        module, rest = path[:length], path[length:]
        passed_on = sources[module].names.get(rest[0]) if rest and module in sources else None
        if passed_on and passed_on not in seen:
            return home(passed_on + rest[1:], (*seen, passed_on))
        return module

    found = {}
    for module, source in sources.items():
        homes = {home(path) for path in source.paths if path not in source.passed_on}
        found[files[module]] = {files[other] for other in homes if other in files and other != module}
    return found
