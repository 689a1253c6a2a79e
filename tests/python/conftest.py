"""Options of the Python tests."""

import secrets

import hypothesis_profiles  # noqa: F401  # registers the profiles

HLE_GAMES = 2000


def pytest_addoption(parser):
    group = parser.getgroup("HLE comparison")
    group.addoption("--hle-games", type=int, default=HLE_GAMES, help=f"games to compare with HLE (default {HLE_GAMES})")
    group.addoption("--hle-seed", type=int, help="seed of the comparison with HLE (default: a fresh one)")


def pytest_configure(config):
    # pytest does not ask a conftest.py that it finds late for its options: then the defaults hold. The seed is
    # kept as the option, so that the processes of a distributed run share it.
    config.option.hle_games = config.getoption("hle_games", HLE_GAMES)
    if config.getoption("hle_seed", None) is None:
        config.option.hle_seed = secrets.randbits(32)


def pytest_report_header(config):
    return f"comparison with HLE: --hle-games={config.option.hle_games} --hle-seed={config.option.hle_seed}"
