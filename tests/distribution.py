"""Checks of what is published: the wheels, the sdist, and the installed package where there is no compiler.

    python tests/distribution.py version v0.2.0        # the tag is the version, and the changelog lists it
    python tests/distribution.py sdist dist/*.tar.gz   # its files are those of git
    python tests/distribution.py examine dist/*.whl    # size, contents, no symbols
    python tests/distribution.py test --wheel dist     # installed into a fresh environment, away from the source
    python tests/distribution.py notes v0.2.0          # this version's part of the changelog

It needs Python alone, and for `test` also uv. `make test-wheel` builds what is published and runs all of this.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 12 * 2**20  # bytes of a wheel; the weights of the shipped policies are 8 MB of them
SHIPPED = ("src", "python", "benches")  # folders of git in the sdist, and these files:
FILES = {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"}
BESIDE = (
    *("tests", "docs", "examples", "benchmarks", "tools"),
    *("pyproject.toml", "README.md", "CONTRIBUTING.md", "constraints.txt", "results/bots.csv"),
)
QUICK = (
    *("tests/python/rules/test_golden.py", "tests/python/rules/test_perft.py", "tests/python/rules/test_scenarios.py"),
    *("tests/python/batch/test_outputs.py", "tests/python/batch/test_decks.py", "tests/python/bots/test_bots.py"),
    *(
        "tests/python/test_compatibility.py",
        "tests/python/batch/test_buffers.py",
        "tests/python/envs/test_gymnasium.py",
    ),
    "tests/python/envs/test_gymnasium_arrays.py",
)
FULL = (
    *("tests/python/rules", "tests/python/batch", "tests/python/bots", "tests/python/games", "tests/python/hle"),
    *("tests/python/envs/test_partners.py", "tests/python/envs/test_python_partners.py", *QUICK[-4:]),
)
EXTRAS = re.compile(
    r"^(?:import|from) (?:torch|pyarrow|safetensors|matplotlib|starmine\.(?:torch|data))\b", re.MULTILINE
)
SYMBOLS = (b"\0.symtab\0", b"\0.debug_info\0")  # names of sections that a stripped ELF file lacks


def package_version() -> str:
    """The version in Cargo.toml, which that of the Python package follows."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"])


def part_of_changelog(version: str) -> str:
    """What the changelog says about a version.

    Raises:
        SystemExit: it does not list it.
    """
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\] - \S+\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit(f"CHANGELOG.md has no part for {version}")
    return found[1].strip()


def check_version(tag: str) -> None:
    """Compare a tag with the version; without a tag there is nothing to compare."""
    version = package_version()
    if tag:
        if tag != f"v{version}":
            raise SystemExit(f"tag={tag!r} is not allowed: Cargo.toml has version {version}, expected v{version}")
        part_of_changelog(version)
    print(f"version {version}")


def check_sdist(path: Path) -> None:
    """Compare the files of an sdist with those that git has in the same folders."""
    with tarfile.open(path) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()} - {"PKG-INFO"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    expected = {name for name in listed.splitlines() if name in FILES or name.partition("/")[0] in SHIPPED}
    if found != expected:
        raise SystemExit(f"{path.name} lacks {sorted(expected - found)} and has {sorted(found - expected)} beyond git")
    print(f"{path.name}: {len(found)} files, those of git, {path.stat().st_size:,} bytes")


def examine(path: Path) -> None:
    """Refuse a wheel that is too large, or has weights beside the core, symbols, or files of no package."""
    size = path.stat().st_size
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        cores = [name for name in names if name.startswith("starmine/_core.") and not name.endswith(".pyi")]
        core = wheel.read(cores[0]) if len(cores) == 1 else b""
    problems = {
        f"{size:,} bytes, more than {LIMIT:,}": size > LIMIT,
        f"{len(cores)} compiled cores, expected one": len(cores) != 1,
        "weights beside the core": any(name.endswith(".safetensors") for name in names),
        "symbols": any(section in core for section in SYMBOLS),
        "no py.typed": "starmine/py.typed" not in names,
        "no example scripts": "starmine/examples/ppo.py" not in names,
        "no licence": not any(re.search(r"dist-info/licenses/LICENSE-MIT$", name) for name in names),
        "files of no package": any(not re.match(r"starmine[/-]", name) for name in names),
    }
    if found := [problem for problem, is_there in problems.items() if is_there]:
        raise SystemExit(f"{path.name} has {'; '.join(found)}")
    print(f"{path.name}: {size:,} bytes, {len(names)} files, a core of {len(core):,} bytes")


def wheel_for(path: Path) -> Path:
    """The wheel itself, or the newest one of a folder."""
    if path.is_file():
        return path
    wheels = sorted(path.glob("starmine-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        raise SystemExit(f"{path} has no wheel of starmine")
    return wheels[-1]


def clean_environment(binaries: Path) -> dict[str, str]:
    """The variables of a machine without cargo and without this repository: programs of the environment and system.

    Python without the global lock switches it on where the core is imported, and warns of that. The lock is on from the
    start here, since the tests take warnings for errors; other Pythons do not read this variable.
    """
    system = [folder for folder in ("/usr/bin", "/bin") if Path(folder).is_dir()] if os.name == "posix" else []
    kept = {name: value for name, value in os.environ.items() if not re.match("PYTHON|CARGO|RUST|VIRTUAL_ENV", name)}
    windows = [kept.get("PATH", "")] if os.name == "nt" else []
    found = kept | {"PATH": os.pathsep.join([str(binaries), *system, *windows]), "PYTHON_GIL": "1"}
    if os.name == "posix" and shutil.which("cargo", path=found["PATH"]):
        raise SystemExit(f"cargo is in PATH={found['PATH']!r}: the test is of a machine without it")
    return found


def quick_start(page: Path) -> str:
    """The Python code of a page up to training."""
    text = page.read_text(encoding="utf-8").split("\n## Train", 1)[0]
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def with_extras(folder: Path) -> list[str]:
    """The tests that import what only an extra brings."""
    tests = sorted((folder / "tests" / "python").rglob("test_*.py"))
    return [str(path.relative_to(folder)) for path in tests if EXTRAS.search(path.read_text(encoding="utf-8"))]


def test_installed(wheel: Path, python: str, numpy: str, tests: tuple[str, ...]) -> None:
    """Install a wheel into a fresh environment, and run the quick start and tests from a folder without the package."""
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    with tempfile.TemporaryDirectory() as made:
        away, environment = Path(made) / "away", Path(made) / "environment"
        subprocess.run([uv, "venv", "--quiet", "--python", python, str(environment)], check=True)
        binaries = environment / ("Scripts" if os.name == "nt" else "bin")
        installed = binaries / ("python.exe" if os.name == "nt" else "python")
        install = [uv, "pip", "install", "--quiet", "--python", str(installed), "--only-binary", ":all:"]
        subprocess.run([*install, str(wheel), numpy, "pytest", "hypothesis"], check=True)
        for name in BESIDE:
            (away / name).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, away / name)
        variables = clean_environment(binaries)

        def run(*arguments: str) -> None:
            if status := subprocess.run([str(installed), *arguments], cwd=away, env=variables).returncode:
                raise SystemExit(
                    f"{wheel.name}: python {arguments[0]} {arguments[1][:40]!r} ended with status {status}"
                )

        run("-c", WHERE, str(ROOT))
        run("-W", "error", "-c", quick_start(away / "docs" / "quick_start.md"))
        left_out = [f"--ignore={name}" for name in with_extras(away)]
        run("-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *left_out, *tests)


WHERE = """
import platform, sys, numpy, starmine
assert not starmine.__file__.startswith(sys.argv[1]), starmine.__file__
print(f"starmine {starmine.__version__}, Python {platform.python_version()}, numpy {numpy.__version__}", flush=True)
"""


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Checks of what is published.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("version", "notes"):
        commands.add_parser(name).add_argument("tag")
    for name in ("sdist", "examine"):
        commands.add_parser(name).add_argument("paths", nargs="+", type=Path)
    test = commands.add_parser("test")
    test.add_argument("--wheel", type=Path, required=True, help="a wheel, or a folder, of which the newest counts")
    test.add_argument("--python", default=sys.executable, help="an interpreter, or a version that uv finds")
    test.add_argument("--numpy", default="numpy", help="what to install, such as numpy==1.26.*")
    test.add_argument("--full", action="store_true", help="all tests of rules, batches, bots and HLE's names")
    return parser.parse_args()


def main() -> None:
    """Run a command."""
    options = parse()
    if options.command == "version":
        check_version(options.tag)
    elif options.command == "notes":
        print(part_of_changelog(options.tag.removeprefix("v")))
    elif options.command == "test":
        tests = FULL if options.full else QUICK
        test_installed(wheel_for(options.wheel).resolve(), options.python, options.numpy, tests)
    else:
        for path in options.paths:
            (check_sdist if options.command == "sdist" else examine)(path)


if __name__ == "__main__":
    main()
