"""What users write with types passes the strict checks of mypy and, where it is installed, of pyright, and runs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typed_user
from paths import ROOT

import starmine

USER = ROOT / "tests" / "python" / "helpers" / "typed_user.py"


def checked(path, folder):
    """Mypy's report on a user's file, which has no settings of this repository."""
    package = Path(starmine.__file__).parents[1]
    # mypy finds an installed package by itself.
    found = {} if package.name == "site-packages" else {"MYPYPATH": str(package)}
    settings = folder.with_suffix(".ini")
    # Reading the libraries themselves would take most of the time.
    settings.write_text("[mypy]\n[mypy-torch.*,jax.*,pyarrow.*,ray.*]\nfollow_imports = skip\n", encoding="utf-8")
    options = ["--strict", "--follow-imports=silent", f"--config-file={settings}", f"--cache-dir={folder}", path.name]
    command = [sys.executable, "-m", "mypy", *options]
    return subprocess.run(command, cwd=path.parent, env={**os.environ, **found}, capture_output=True, text=True)


@pytest.mark.slow
def test_a_users_file_passes_mypy_and_a_mistake_does_not(tmp_path):
    pytest.importorskip("mypy")
    result = checked(USER, tmp_path / "cache")
    assert result.returncode == 0, result.stdout + result.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import starmine\nstarmine.HanabiEnv(encodr='canonical-seer', seed='now')\n", encoding="utf-8")
    result = checked(wrong, tmp_path / "cache")
    assert 'Argument "seed" to "HanabiEnv" has incompatible type "str"' in result.stdout
    wrong.write_text(
        "import starmine\nstarmine.play_games(['smart', 'smart']).trajectories.state(0)\n", encoding="utf-8"
    )
    assert 'of "Trajectories | None" has no attribute "state"' in checked(wrong, tmp_path / "cache").stdout


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["basic", "strict"])
def test_a_users_file_passes_pyright_and_a_mistake_does_not(mode, tmp_path):
    beside = Path(sys.executable).parent  # an environment need not be activated
    pyright = shutil.which("pyright", path=beside) or shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed")
    package = Path(starmine.__file__).parents[1]
    shutil.copy(USER, tmp_path / "user.py")
    (tmp_path / "wrong.py").write_text("import starmine\nstarmine.HanabiEnv(seed='now')\n", encoding="utf-8")
    settings = {"include": ["*.py"], "extraPaths": [str(package)], "typeCheckingMode": mode}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [pyright, "--outputjson", "--pythonpath", sys.executable]
    report = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout)
    assert report["summary"]["filesAnalyzed"] == 2, report
    wrong = [(Path(found["file"]).name, found["rule"]) for found in report["generalDiagnostics"]]
    assert wrong == [("wrong.py", "reportArgumentType")], report


def test_the_users_file_runs():
    assert typed_user.one_game()
    assert typed_user.many_games(20).shape == (8,)
    assert typed_user.one_environment() > 0
    assert typed_user.own_buffers() >= 0
    assert typed_user.recorded()[2:] == ["False", "None"]
    score, error = typed_user.evaluated()
    assert 0 <= score <= 25
    assert error is not None
