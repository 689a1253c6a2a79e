"""A Rust program that depends on the crate: the rules alone build without shared library, weights and heavy crates."""

import json
import shutil
import subprocess

import pytest
from paths import ROOT

MANIFEST = """
[package]
name = "dependent"
edition = "2024"

[dependencies]
starmine = {{ path = {path}, default-features = false }}

[workspace]
"""
PROGRAM = """
use std::sync::Arc;
use starmine::rules::{EpisodeSeed, Parameters, State, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let variant = Arc::new(Variant::new(Parameters::default())?);
    let state = State::new(variant, EpisodeSeed::default());
    println!("{}", state.legal_actions().len());
    Ok(())
}
"""
LEFT_OUT = {"half", "libm", "postcard", "safetensors", "serde_json"}


@pytest.mark.nightly
@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_a_dependent_of_the_rules_alone_builds_no_shared_library(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.rs").write_text(PROGRAM)
    (tmp_path / "Cargo.toml").write_text(MANIFEST.format(path=json.dumps(str(ROOT))))
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    command = ["cargo", "build", "--offline", "--message-format=json", f"--target-dir={ROOT / 'target' / 'dependent'}"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    if "try running without the offline flag" in built.stderr or "--offline" in built.stderr:
        pytest.skip("the crates have not been downloaded")
    assert built.returncode == 0, built.stderr
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    artifacts = [message for message in messages if message["reason"] == "compiler-artifact"]
    (library,) = [artifact for artifact in artifacts if artifact["target"]["name"] == "starmine"]
    assert library["target"]["crate_types"] == ["lib"]
    assert {name.rsplit(".", 1)[-1] for name in library["filenames"]} == {"rlib", "rmeta"}
    assert not LEFT_OUT & {artifact["target"]["name"].replace("-", "_") for artifact in artifacts}
    program = next(artifact["executable"] for artifact in artifacts if artifact["executable"])
    assert 5 < int(subprocess.run([program], capture_output=True, text=True, check=True).stdout) <= 15
