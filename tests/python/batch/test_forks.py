"""A process that is forked while another thread is in a call of a batch."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")]

PROGRAM = """
import os, sys, threading, time, warnings
import numpy as np
from starmine import Batch, BusyError

warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
NUM_ENVS, PLAY = 20_000, 5
sys.setswitchinterval(1)  # the fork follows at once after a look at the batch
actions = np.full(NUM_ENVS, PLAY)
busy, idle = (Batch("standard", NUM_ENVS, seed=seed, num_threads=2) for seed in range(2))
obs = np.zeros((NUM_ENVS, len(busy.layout)), np.float32)
idle.step(actions)
done = threading.Event()

def step_often():
    while not done.is_set():
        busy.step_into(actions, obs=obs)

def is_busy():
    try:
        busy.num_envs
    except BusyError:
        return True

def wait_for(child):
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, 9)
    return "the child hangs"

def work():
    {work}

thread = threading.Thread(target=step_often)
thread.start()
while not is_busy():
    pass
child = os.fork()
if child == 0:
    status = 1
    try:
        work()
        status = 0
    except BaseException as error:
        print(type(error).__name__, error, flush=True)
    os._exit(status)
status = wait_for(child)
done.set()
thread.join()
busy.step_into(actions, obs=obs)  # the parent goes on
print("status", status)
"""


def run(work):
    """The output of a program that forks, whose child does this work."""
    program = PROGRAM.replace("{work}", textwrap.indent(textwrap.dedent(work), "    ").strip())
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_the_child_steps_its_copy_of_a_batch_that_was_in_no_call():
    work = """
    expected = Batch("standard", NUM_ENVS, seed=1)
    expected.step(actions)
    for _ in range(3):
        np.testing.assert_array_equal(idle.step(actions)["obs"], expected.step(actions)["obs"])
    """
    assert run(work) == ["status 0"]


def test_the_child_uses_its_copy_of_the_memory_that_a_call_of_the_parent_writes():
    assert run("idle.step_into(actions, obs=obs)") == ["status 0"]
    assert run("Batch('standard', 3, seed=2).step_into(actions[:3], obs=obs[:3])") == ["status 0"]


def test_the_child_is_told_why_it_cannot_use_a_batch_that_was_in_a_call():
    message = "this batch was in a call of another thread when this process was forked"
    work = """
    for call in (lambda: busy.step(actions), lambda: busy.reset(1), busy.copy, busy.to_bytes, lambda: busy.seed):
        try:
            call()
        except BusyError as error:
            print(error)
    """
    found = run(work)
    assert [line.startswith(message) for line in found] == [True] * 5 + [False]
    assert found[-1] == "status 0"
