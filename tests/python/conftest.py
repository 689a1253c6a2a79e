"""Options of the Python tests."""

import secrets

import hypothesis_profiles  # noqa: F401  # registers the profiles

HLE_GAMES = 2000
ORACLE_GAMES = 20
FUZZ_RUNS = 150


def pytest_addoption(parser):
    group = parser.getgroup("HLE comparison")
    group.addoption("--hle-games", type=int, default=HLE_GAMES, help=f"games to compare with HLE (default {HLE_GAMES})")
    group.addoption("--hle-seed", type=int, help="seed of the comparison with HLE (default: a fresh one)")
    group = parser.getgroup("oracle comparison")
    group.addoption("--oracle-games", type=int, default=ORACLE_GAMES, help=f"games a variant (default {ORACLE_GAMES})")
    group.addoption("--oracle-seed", type=int, help="seed of the comparison with the oracle (default: a fresh one)")
    group = parser.getgroup("hostile memory")
    group.addoption("--fuzz-runs", type=int, default=FUZZ_RUNS, help=f"batches to call (default {FUZZ_RUNS})")
    group.addoption("--fuzz-seed", type=int, help="seed of the hostile calls (default: a fresh one)")


def pytest_configure(config):
    # pytest does not ask a conftest.py that it finds late for its options: then the defaults hold. The seeds
    # are kept as options, so that the processes of a distributed run share them.
    config.option.hle_games = config.getoption("hle_games", HLE_GAMES)
    config.option.oracle_games = config.getoption("oracle_games", ORACLE_GAMES)
    config.option.fuzz_runs = config.getoption("fuzz_runs", FUZZ_RUNS)
    for seed in ["hle_seed", "oracle_seed", "fuzz_seed"]:
        if config.getoption(seed, None) is None:
            setattr(config.option, seed, secrets.randbits(32))


def pytest_report_header(config):
    option = config.option
    return [
        f"comparison with HLE: --hle-games={option.hle_games} --hle-seed={option.hle_seed}",
        f"comparison with the oracle: --oracle-games={option.oracle_games} --oracle-seed={option.oracle_seed}",
        f"hostile memory: --fuzz-runs={option.fuzz_runs} --fuzz-seed={option.fuzz_seed}",
    ]
