"""Ctrl-C during a long call raises KeyboardInterrupt soon, and nothing has changed."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import numpy as np
import pytest

import starmine

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="the system has no SIGINT")]

PROGRAM = """
import numpy as np
import starmine

{before}
print("begins", flush=True)
try:
    {call}
    print("ended")
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
{after}
"""

SLOW = "ippo-5p"  # its first turns at a table of five take 0.2 ms a game
SEARCH = "search: smart; rollouts=1000000"  # takes seconds for most moves
BELIEF = "search: smart; rollouts=1; hands=100000"  # takes a second or more for what it believes about its hand


def start(arguments):
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where the tests run in the background
    pipe = subprocess.PIPE
    return subprocess.Popen(arguments, stdout=pipe, stderr=pipe, text=True, preexec_fn=heeds)


def interrupt(process, after=0.3):
    """Sends SIGINT after a while; the output, the errors, and the seconds to the first line or the end.

    `after` is .3 seconds because the shortest of the calls takes less than .7 on a fast machine.
    """
    time.sleep(after)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    first = process.stdout.readline()
    seconds = time.monotonic() - sent
    rest, errors = process.communicate(timeout=60)
    return (first + rest).splitlines(), errors, seconds


AFTER_STEP = """
try:
    batch.step(actions)
except starmine.StarmineError as error:
    assert "reset of all games" in str(error)
else:
    raise AssertionError("the step was made")
masked = lambda: batch.reset(reset_mask=np.arange(len(actions)) == 0)
finished = lambda: batch.num_finished
for refused in (batch.observe, batch.copy, batch.to_bytes, masked, finished, batch.final_observations, batch._to_act):
    try:
        refused()
    except starmine.StarmineError as error:
        assert "reset of all games" in str(error)
    else:
        raise AssertionError("the games were used")
assert batch.reset(0)["action_mask"].any()
"""


CALLS = {
    "games of bots": ("", "starmine.play_games(['information'] * 5, games=10**6, num_threads=2)", ""),
    "games of policies": ("", f"starmine.play_games(['{SLOW}'] * 5, games=10**6, num_threads=2)", ""),
    "games of a bot with one in Python": (
        "class Lowest:\n    def act(self, view):\n        return view.legal_actions()[0]",
        f"starmine.play_games(['{SLOW}'] * 4 + [Lowest], games=20_000)",
        "",
    ),
    "a batch with partners": (
        "",
        f"starmine.Batch(starmine.Variant(players=5), 20_000, partners=dict.fromkeys(range(4), '{SLOW}'))",
        "",
    ),
    "a reset with partners": (
        f"""
        batch = starmine.Batch(starmine.Variant(players=5), 8000, partners=dict.fromkeys(range(4), '{SLOW}'), seed=0)
        batch.reset()
        stored, seed = batch.to_bytes(), batch.seed
        """,
        "batch.reset(1)",
        """
        assert (batch.to_bytes(), batch.seed) == (stored, seed)
        batch.step(batch.observe()["action_mask"].argmax(axis=1))
        """,
    ),
    "a stored batch with partners": (
        f"""
        batch = starmine.Batch(starmine.Variant(players=5), 12_000, partners=dict.fromkeys(range(4), '{SLOW}'), seed=0)
        batch.step(batch.observe()["action_mask"].argmax(axis=1))
        stored = batch.to_bytes()
        """,
        "starmine.Batch.from_bytes(stored)",
        "",
    ),
    "bytes and copies of a large batch": (
        "batch = starmine.Batch('standard', 600_000, dtype='bits', seed=0)\nbatch.step(np.full(600_000, 5))",
        "[(batch.to_bytes(), batch.copy()) for _ in range(4)]",
        "",
    ),
    "games of a bot that believes": ("", f"starmine.play_games(['{BELIEF}', 'smart'], games=100, num_threads=2)", ""),
    "an evaluation of a bot that searches": (
        "",
        f"starmine.evaluate(['{SEARCH}', 'smart'], 4, progress=False, figure=False)",
        "",
    ),
    "one long search": (
        "state = starmine.Variant().new_game(seed=0)",
        "starmine.search(state, 'ippo-2p', rollouts=10_000_000, hands=100_000, seed=2)",  # two seconds
        "assert starmine.search(state, rollouts=100, hands=100).action in state.legal_actions()",
    ),
    "games of a chat player": (
        "import time\nplayer = starmine.text.ChatPlayer(lambda messages: time.sleep(60), concurrency=4)",
        "starmine.play_games([player, 'smart'], games=8)",
        "",
    ),
    "a step with a partner that searches": (
        f"""
        batch = starmine.Batch("standard", 50, partners={{1: '{SEARCH}'}}, seed=0)
        actions = batch.reset()["action_mask"].argmax(axis=1)
        """,
        "batch.step(actions)",
        AFTER_STEP,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_long_call_ends_soon_after_the_signal(name):
    before, call, after = map(textwrap.dedent, CALLS[name])
    process = start([sys.executable, "-c", PROGRAM.format(before=before, call=call, after=after)])
    assert process.stdout.readline() == "begins\n"
    output, errors, seconds = interrupt(process)
    assert (output, errors) == (["KeyboardInterrupt"], "")
    assert process.returncode == 0
    assert seconds < 5  # not when the games end


def test_a_handler_that_raises_nothing_lets_the_call_go_on():
    before = "import signal\nsignal.signal(signal.SIGINT, lambda *_: print('seen', flush=True))"
    call = "starmine.play_games(['information'] * 3, games=20_000, num_threads=1)"
    process = start([sys.executable, "-c", PROGRAM.format(before=before, call=call, after="")])
    assert process.stdout.readline() == "begins\n"
    output, errors, _ = interrupt(process)
    assert (output, errors) == (["seen", "ended"], "")


def test_an_exception_of_a_handler_is_raised_as_it_is():
    before = """
import signal
def refuse(*_):
    raise TimeoutError("too long")
signal.signal(signal.SIGALRM, refuse)
signal.setitimer(signal.ITIMER_REAL, 0.3)
"""
    call = f"starmine.play_games(['{SLOW}'] * 5, games=10**6, num_threads=2)"
    process = start([sys.executable, "-c", PROGRAM.format(before=before, call=call, after="")])
    _, errors = process.communicate(timeout=60)
    assert errors.splitlines()[-1] == "TimeoutError: too long"


def test_an_interrupted_evaluation_goes_on(tmp_path):
    arguments = ["eval", SLOW, "--players", "5", "--games", "3000", "--no-figure", "--output", str(tmp_path)]
    process = start([sys.executable, "-m", "starmine", *arguments])
    while not (tmp_path / "shard-000000.parquet").exists():
        assert process.poll() is None
        time.sleep(0.01)
    output, errors, seconds = interrupt(process)
    assert (output, process.returncode) == ([], 130)
    assert "interrupted; the same command goes on" in errors
    assert seconds < 5
    evaluation = starmine.evaluate([SLOW], 3000, players=5, figure=False, output=tmp_path)
    last = starmine.play_games([SLOW] * 5, 50, first_game=2950)
    np.testing.assert_array_equal(evaluation.outcomes[0, 0][0, 2950:], last.scores)
