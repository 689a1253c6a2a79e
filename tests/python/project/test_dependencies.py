"""Every dependency has its reason on docs/dependencies.md, and a licence that deny.toml allows."""

import json
import re
import shutil
import subprocess
import tomllib

import pytest
from paths import ROOT

PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def documented(heading):
    """The names in the first column of the table under a heading."""
    table = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return {name for line in table.splitlines() for name in re.findall(r"`([\w-]+)`", "".join(line.split("|")[1:2]))}


def python_dependencies():
    """The names of all packages that pyproject.toml asks for."""
    extras = [entry for extra in PROJECT["project"]["optional-dependencies"].values() for entry in extra]
    asked = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"], *extras]
    return {re.match(r"[\w-]+", entry)[0] for entry in asked}


def crates():
    """The names of all crates that Cargo.toml asks for."""
    tables = [CARGO["dependencies"], CARGO["dev-dependencies"]]
    tables += [target["dependencies"] for target in CARGO["target"].values()]
    return {name for table in tables for name in table}


def test_every_python_package_has_its_reason():
    assert documented("Python") == python_dependencies()


def test_every_crate_has_its_reason():
    assert documented("Rust") == crates()


def alternatives(licence):
    """The licences of an expression: any of the inner sets is enough, and needs all of its members."""
    joined = re.sub(r"\((.*?) OR (.*?)\) AND (.*)", r"\1 AND \3 OR \2 AND \3", licence.replace("/", " OR "))
    return [set(part.split(" AND ")) for part in joined.split(" OR ")]


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_every_crate_has_a_licence_that_is_allowed():
    command = ["cargo", "metadata", "--format-version=1", "--all-features", "--locked", "--offline"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        pytest.skip("the crates have not been downloaded")
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"])
    packages = json.loads(found.stdout)["packages"]
    refused = {
        package["name"]: package["license"]
        for package in packages
        if not any(needed <= allowed for needed in alternatives(package["license"] or "none"))
    }
    assert refused == {}
    assert len(packages) > 50


# --- The workflows -------------------------------------------------------------------------------------------

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_the_hash_of_a_commit(path):
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for name, comment in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", name), name
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), (name, comment)
    assert re.search(r"^permissions: \{\}$", text, re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_the_targets_that_a_workflow_makes_exist(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", path.read_text(encoding="utf-8"))) <= targets


def test_the_checks_of_a_change_are_those_of_the_command_for_contributors():
    assert re.search(
        r"^ +- run: \.ci/run$", (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"), re.MULTILINE
    )
