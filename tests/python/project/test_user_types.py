"""What users write with types passes the strict checks of mypy, and runs."""

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


WRONG = {
    "seed.py": "import starmine\nstarmine.HanabiEnv(seed='now')\n",
    "none.py": "import starmine\nstarmine.play_games(['smart', 'smart']).standard_error.hex()\n",
}


@pytest.fixture
def files(tmp_path):
    """A folder with a user's file and files with mistakes, which has no settings of this repository."""
    shutil.copy(USER, tmp_path / "user.py")
    for name, text in WRONG.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_users_file_passes_mypy_and_a_mistake_does_not(files):
    pytest.importorskip("mypy")
    package = Path(starmine.__file__).parents[1]
    # mypy finds an installed package by itself.
    found = {} if package.name == "site-packages" else {"MYPYPATH": str(package)}
    # Reading the libraries themselves would take most of the time.
    (files / "mypy.ini").write_text("[mypy]\n[mypy-torch.*,jax.*,pyarrow.*,ray.*]\nfollow_imports = skip\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=mypy.ini"]
    result = subprocess.run(
        [*command, "user.py", *WRONG], cwd=files, env=os.environ | found, capture_output=True, text=True
    )
    first, second = sorted(line for line in result.stdout.splitlines() if ": error: " in line)
    assert first.startswith("none.py:2:")
    assert 'of "float | None" has no attribute "hex"' in first
    assert second.startswith("seed.py:2:")
    assert 'Argument "seed" to "HanabiEnv" has incompatible type "str"' in second


def test_the_users_file_runs():
    assert typed_user.one_game()
    assert typed_user.many_games(20).shape == (8,)
    assert typed_user.one_environment() > 0
    assert typed_user.own_buffers() >= 0
    assert len(typed_user.recorded()) == 2
    score, error = typed_user.evaluated()
    assert 0 <= score <= 25
    assert error is not None
