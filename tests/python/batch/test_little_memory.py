"""A call whose arrays do not fit into memory raises: it does not abort the process or panic.

Each call runs in a child process under falling limits on its address space. What is allocated without a way to report
a failure would end the child with a signal. Bots and threads allocate so too, and are left out.
"""

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory")]

CHILD = """
import pickle, resource, threading
import numpy as np
import starmine
from starmine import Batch
from starmine._core import _Network, _policy_bytes, unpack_bits_into

GAMES, FEW = 200_000, 10_000
PARTNERS = {{1: ["random", "iggi"]}}
BOTS = ["random", "iggi"]
FIVE = starmine.Variant(players=5)
ROWS = "canonical", "uint8", []

def batch(games=GAMES, **settings):
    return Batch("small", games, seed=0, **({{"num_threads": 1, "dtype": "bits"}} | settings))

def after_an_end(games=GAMES):
    stepped = batch(games)
    while stepped.num_finished < games // 8:
        stepped.step(stepped.observe()["action_mask"].argmax(axis=1))
    return stepped

class Bot:
    def act(self, view):
        return view.legal_actions()[0]

subject = {subject}

def call():
    return {call}

def limited(extra):
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, resource.RLIM_INFINITY))
    try:
        return call() is not call
    except (MemoryError, starmine.StarmineError) as error:
        return str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)

outcomes = [limited(extra) for extra in {limits}]
assert not outcomes or limited(1 << 40) is True
print("refused", len([outcome for outcome in outcomes if outcome is not True]), outcomes)
"""

MEGABYTE = 1 << 20
# Most calls need 10 to 200 megabytes.
LIMITS = [size * MEGABYTE for size in (0, 1, 2, 3, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128)]

# What is made without a limit, and the call.
CALLS = {
    "batch": ("None", "batch()"),
    "from_bytes": ("batch().to_bytes()", "Batch.from_bytes(subject)"),
    "step": ("batch()", "subject.step(np.full(GAMES, 2))"),
    "final observations": ("after_an_end()", "subject.final_observations()"),
    "tables of games": (
        "Batch._without_learner(FIVE, [None] * 5, FEW, 0, 0)",
        "subject._rows(np.arange(FEW), np.zeros(FEW, np.int64), ROWS)",
    ),
    "network": (
        "_Network('policy', _policy_bytes(starmine.policies.shipped()[0])), np.zeros((20_000, 658), np.uint8)",
        "subject[0].logits(subject[1])",
    ),
}


def run(name):
    subject, call = CALLS[name]
    code = CHILD.format(subject=subject, call=call, limits=LIMITS)
    # The heaps of other threads reserve addresses, from which a call would be served beyond the limit.
    command, environment = [sys.executable, "-c", code], os.environ | {"MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", CALLS)
def test_a_call_raises_when_memory_runs_out(name):
    assert not run(name).startswith("refused 0")


HUGE = {
    "batch of all games": "Batch('standard', 2**32 - 1, num_threads=1)",
    "batch on all cores": "Batch('standard', 2**32 - 1)",
    "environment": "starmine.HanabiVectorEnv(2**32 - 1)",
    "batch with partners": "Batch('standard', 2**32 - 1, partners=PARTNERS)",
    "games": "starmine.play_games(BOTS, 2**31)",
    "games on threads": "starmine.play_games(BOTS, 2**31, num_threads=1024)",
    "tables": "starmine.play_games([Bot, 'random'], 2**31)",
}


def test_requests_larger_than_the_memory_are_refused_at_once():
    code = CHILD.format(subject="None", call="None", limits=[])
    for name, call in HUGE.items():
        code += f"call = lambda: {call}\nassert limited(3 << 30) is not True, {name!r}\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
