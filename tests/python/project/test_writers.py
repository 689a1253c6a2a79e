"""Files are written in few places, so that none is left half written: a new writer goes through `durable`."""

import ast
from pathlib import Path

import pytest

import starmine

PACKAGE = Path(starmine.__file__).parent
# These open files for writing: whole files and appended ones, and TensorBoard's event files.
WRITERS = {"_util/durable.py", "training/log.py"}
# Calls that write a file, whatever their arguments.
METHODS = {"write_text", "write_bytes", "touch", "tofile", "to_csv", "to_parquet", "open_memmap", "memmap", "truncate"}
METHODS |= {"save_file", "savez", "savez_compressed", "savetxt", "SummaryWriter", "FileWriter"}
METHODS |= {"NamedTemporaryFile", "TemporaryFile", "mkstemp", "fdopen", "GFile"}
# Calls of these modules that write to an argument, which may be in memory.
TO_ARGUMENT = {(module, name) for module in ("np", "numpy", "torch", "json", "pickle") for name in ("save", "dump")}


def writers(text):
    """The lines of a module that write files."""
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    in_memory = {node for function in functions for node in calls_to_memory(function)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node not in in_memory]
    return sorted({call.lineno for call in calls if writes(call)})


def calls_to_memory(function):
    """The calls in a function of which an argument is a name bound to a new BytesIO or StringIO."""
    buffers = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and ast.unparse(node.value) in ("io.BytesIO()", "io.StringIO()")
        for target in node.targets
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and any(isinstance(arg, ast.Name) and arg.id in buffers for arg in node.args):
            yield node


def writes(call):
    """Whether a call writes a file, or may."""
    owner, _, name = ast.unparse(call.func).rpartition(".")
    if owner == "os" and name == "open":
        return not any(part in ast.unparse(call) for part in ("O_RDONLY", "devnull"))
    if name == "open":
        return opens_to_write(call, is_method=bool(owner) and owner not in ("io", "gzip", "bz2", "lzma", "codecs"))
    return name in METHODS or name == "savefig" or owner == "shutil" or (owner, name) in TO_ARGUMENT


def opens_to_write(call, is_method):
    """Whether the mode of a call of `open` is one for writing, or not known."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    given += call.args[:1] if is_method else call.args[1:2]
    if is_method and given and not isinstance(given[0], ast.Constant):
        return bool(call.keywords) and given[0] is call.keywords[0].value
    modes = [node.value if isinstance(node, ast.Constant) else "w" for node in given]
    return any(set(str(mode)) & set("wax+") for mode in modes)


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix().replace("/", ".")
)
def test_a_module_writes_through_durable(path):
    if path.relative_to(PACKAGE).as_posix() not in WRITERS:
        assert writers(path.read_text(encoding="utf-8")) == []


def test_the_writers_are_there():
    assert all(writers((PACKAGE / name).read_text(encoding="utf-8")) for name in WRITERS)


@pytest.mark.parametrize(
    "text",
    [
        *("open(path, 'w')", "open(path, mode='ab')", "io.open(path, 'x')", "open(path, mode)"),
        *("gzip.open(path, 'wb')", "path.open('r+')", "path.open(mode='w')", "path.open(mode=given)"),
        "os.open(path, os.O_WRONLY)",
        *("path.write_text(text)", "path.write_bytes(data)", "np.save(path, array)", "torch.save(state, path)"),
        *("figure.savefig(path)", "json.dump(value, file)", "shutil.copy(one, other)", "SummaryWriter(folder)"),
        "def f(path):\n    data = io.BytesIO()\n    figure.savefig(path)",
    ],
)
def test_a_writer_is_found(text):
    assert writers(text)


@pytest.mark.parametrize(
    "text",
    [
        *("open(path)", "path.open()", "path.open('rb')", "open(path, 'r', encoding='utf-8')"),
        *("folder.open(settings, fresh)", "network.save(path)", "os.open(folder, os.O_RDONLY)", "array.copy()"),
        "def f():\n    data = io.BytesIO()\n    torch.save(state, data)\n    figure.savefig(data, format='png')",
    ],
)
def test_what_writes_no_file_is_left_alone(text):
    assert writers(text) == []
