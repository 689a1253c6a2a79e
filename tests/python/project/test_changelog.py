"""CHANGELOG.md has the form of Keep a Changelog."""

import re
import tomllib

from paths import ROOT

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Moved names"}
HEADING = re.compile(r"## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)( \[YANKED\])?")


def lines():
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()


def test_versions_are_listed_newest_first_with_their_dates():
    headings = [line for line in lines() if line.startswith("## ")]
    assert headings[0] == "## [Unreleased]"
    matches = [HEADING.fullmatch(line) for line in headings[1:]]
    assert None not in matches
    versions = [tuple(int(part) for part in match[1].split(".")) for match in matches]
    assert versions == sorted(versions, reverse=True)
    assert len(versions) == len(set(versions)) > 0
    dates = [match[2] for match in matches]
    assert dates == sorted(dates, reverse=True)


def test_entries_stand_under_the_kinds_of_the_form():
    kind, seen = None, set()
    for line in lines():
        if line.startswith("## "):
            kind, seen = None, set()
        elif line.startswith("### "):
            kind = line.removeprefix("### ")
            assert kind in KINDS, line
            assert kind not in seen, line
            seen.add(kind)
        elif line.startswith("- "):
            assert kind, line


def test_the_version_of_the_package_is_listed():
    package = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    assert any(line.startswith(f"## [{package['version']}]") for line in lines())
