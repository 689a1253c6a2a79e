"""The fuzz targets: each is a program of fuzz/Cargo.toml and has a small corpus."""

import tomllib

from paths import ROOT

FUZZ = ROOT / "fuzz"
LIMIT = 100_000  # bytes of all corpora


def test_every_target_is_a_program_with_a_corpus():
    programs = tomllib.loads((FUZZ / "Cargo.toml").read_text(encoding="utf-8"))["bin"]
    assert {entry["path"] for entry in programs} == {
        f"fuzz_targets/{path.name}" for path in FUZZ.glob("fuzz_targets/*")
    }
    names = {entry["name"] for entry in programs}
    assert {path.name for path in (FUZZ / "corpus").iterdir()} == names
    assert len(names) >= 5
    for name in names:
        assert list((FUZZ / "corpus" / name).iterdir())


def test_the_corpora_are_small():
    files = [path for path in (FUZZ / "corpus").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < LIMIT
