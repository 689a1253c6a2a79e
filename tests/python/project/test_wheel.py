"""The weights of the shipped policies are in a wheel once: in the compiled core."""

import tomllib
import zipfile
from pathlib import Path

import pytest
from paths import ROOT

import starmine
from starmine import _core

SOURCES = ROOT / "python" / "starmine" / "policies"
PACKAGE = Path(starmine.__file__).parent
WHEELS = sorted((ROOT / "target" / "wheels").glob("starmine-*.whl"), key=lambda path: path.stat().st_mtime)


@pytest.mark.parametrize("name", starmine.policies.shipped())
def test_the_core_has_the_weights_once(name):
    weights = (SOURCES / f"{name}.safetensors").read_bytes()
    middle = weights[len(weights) // 2 :][:64]
    assert Path(_core.__file__).read_bytes().count(middle) == 1


def test_the_build_leaves_the_weights_out_of_the_package():
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]["exclude"]
    patterns = [entry["path"] for entry in configured if entry["format"] == "wheel"]
    for path in SOURCES.iterdir():
        excluded = any(path.relative_to(ROOT).match(pattern) for pattern in patterns)
        assert excluded == (path.suffix == ".safetensors"), path.name


@pytest.mark.skipif(PACKAGE == ROOT / "python" / "starmine", reason="starmine is imported from the source tree")
def test_the_installed_package_has_only_the_cards():
    folder = PACKAGE / "policies"
    assert {path.stem for path in folder.glob("*.md")} == set(starmine.policies.shipped())
    assert not list(folder.glob("*.safetensors"))


@pytest.mark.skipif(not WHEELS, reason="no wheel is built")
def test_the_last_wheel_has_only_the_cards():
    with zipfile.ZipFile(WHEELS[-1]) as wheel:
        names = {
            name for name in wheel.namelist() if name.startswith("starmine/policies/") and not name.endswith(".py")
        }
    assert names == {f"starmine/policies/{name}.md" for name in starmine.policies.shipped()}
