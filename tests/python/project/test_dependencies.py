"""Every crate has its reason in Cargo.toml, and a licence that deny.toml allows; the workflows call what exists."""

import json
import re
import shutil
import subprocess
import tomllib

import pytest
from paths import ROOT

CARGO = (ROOT / "Cargo.toml").read_text(encoding="utf-8")


def test_every_crate_has_its_reason():
    tables = re.findall(r"^\[(?:target\..*\.|dev-)?dependencies\]\n(.*?)^$", CARGO, re.MULTILINE | re.DOTALL)
    lines = "".join(tables).splitlines()
    assert len(lines) > 15
    assert [line for line in lines if not re.search(r"  # \w", line)] == []


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
