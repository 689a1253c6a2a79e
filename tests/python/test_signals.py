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

SLOW = "fireflower"  # its first turns at a table of five take 0.2 ms a game
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
for refused in (batch.observe, batch.copy, batch.to_bytes, masked):
    try:
        refused()
    except starmine.StarmineError as error:
        assert "reset of all games" in str(error)
    else:
        raise AssertionError("the games were used")
assert batch.reset(0)["action_mask"].any()
"""


CALLS = {
    "games of bots": ("", f"starmine.play_games(['{SLOW}'] * 5, games=10**6, num_threads=2)", ""),
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
    "a reset to given decks": (
        """
        batch = starmine.Batch("standard", 1_000_000, dtype="bits", seed=0)
        deck = [5 * card.suit + card.rank for card in batch.variant.new_game(seed=0).deck]
        decks = np.tile(np.array(deck, np.uint8), (1_000_000, 1))
        """,
        "batch.reset(1, decks=decks)",
        "assert batch.seed == 0",
    ),
    "a stored batch with partners": (
        f"""
        batch = starmine.Batch(starmine.Variant(players=5), 6000, partners=dict.fromkeys(range(4), '{SLOW}'), seed=0)
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
    "a policy's network": (
        """
        policy = starmine.load_policy("ippo-2p-small")
        observations = np.zeros((100_000, len(policy.variant.layout(policy.encoder))), np.uint8)
        """,
        "policy.logits(observations)",
        "policy.logits(observations[:3])",
    ),
    "games of a bot that searches": ("", f"starmine.play_games(['{SEARCH}', 'smart'], games=4, num_threads=2)", ""),
    "games of a bot that believes": ("", f"starmine.play_games(['{BELIEF}', 'smart'], games=100, num_threads=2)", ""),
    "games of a bot that searches with one in Python": (
        "class Lowest:\n    def act(self, view):\n        return view.legal_actions()[0]",
        f"starmine.play_games(['{SEARCH}', Lowest], games=4)",
        "",
    ),
    "games of a slow blueprint": (
        "",
        f"starmine.play_games(['search: {SLOW}; rollouts=100000'] + ['{SLOW}'] * 4, games=4)",
        "",
    ),
    "games of a policy that searches": (
        "",
        "starmine.play_games(['search: ippo-2p-small; rollouts=100000; hands=100000', 'ippo-2p-small'], games=4)",
        "",
    ),
    "an evaluation of a bot that searches": (
        "",
        f"starmine.evaluate(['{SEARCH}', 'smart'], 4, progress=False, figure=False)",
        "",
    ),
    "generated games of a bot that searches": (
        "import starmine.data, tempfile\nfolder = tempfile.mkdtemp()",
        f"starmine.data.generate(['{SEARCH}', 'smart'], 4, folder, progress=False)",
        """
        assert starmine.data.generate(['smart', 'smart'], 4, folder + "/other", progress=False).games == 4
        """,
    ),
    "a search": (
        "state = starmine.Variant().new_game(seed=0)",
        "[starmine.search(state, rollouts=1_000_000, seed=seed) for seed in range(99)]",
        "assert starmine.search(state, rollouts=100, hands=100).action in state.legal_actions()",
    ),
    "one long search": (
        "state = starmine.Variant().new_game(seed=0)",
        "starmine.search(state, 'fireflower', rollouts=10_000_000, hands=100_000)",
        "assert starmine.search(state, rollouts=100, hands=100).action in state.legal_actions()",
    ),
    "one long suggestion": (
        "state = starmine.Variant().new_game(seed=0)",
        "state.suggest('search: fireflower; rollouts=10000000; hands=100000')",
        "assert state.suggest('smart') in state.legal_actions()",
    ),
    "games of a chat player": (
        "import time\nplayer = starmine.text.ChatPlayer(lambda messages: time.sleep(60), concurrency=4)",
        "starmine.play_games([player, 'smart'], games=8)",
        "",
    ),
    "a suggestion of a bot that searches": (
        "state = starmine.Variant().new_game(seed=0)",
        f"[state.suggest('{SEARCH}', seed) for seed in range(99)]",
        "assert state.suggest('smart') in state.legal_actions()",
    ),
    "a seated bot that searches": (
        """
        state = starmine.Variant().new_game(seed=0)
        bots = [starmine.make_bot("search: smart; rollouts=100000", state.variant, 0) for _ in range(99)]
        asked = []
        """,
        "[asked.append(bot) or bot.act(state.view(0)) for bot in bots]",
        "assert asked[-1].act(state.view(0)) in state.legal_actions()",
    ),
    "a step with a partner that searches": (
        f"""
        batch = starmine.Batch("standard", 50, partners={{1: '{SEARCH}'}}, seed=0)
        actions = batch.reset()["action_mask"].argmax(axis=1)
        """,
        "batch.step(actions)",
        AFTER_STEP,
    ),
    "a step with many partners": (
        f"""
        batch = starmine.Batch(starmine.Variant(players=5), 4000, partners=dict.fromkeys(range(1, 5), '{SLOW}'), seed=0)
        actions = batch.reset()["action_mask"].argmax(axis=1)
        """,
        "[batch.step(actions) for _ in range(10)]",
        AFTER_STEP,
    ),
    "a step of an environment with a partner that searches": (
        f"""
        env = starmine.HanabiVectorEnv(num_envs=50, partners={{1: '{SEARCH}'}})
        _, info = env.reset(seed=0)
        actions = info["action_mask"].argmax(axis=1)
        """,
        "env.step(actions)",
        """
        try:
            env.step(actions)
        except starmine.StarmineError as error:
            assert "reset of all games" in str(error)
        assert env.reset(seed=0)[1]["action_mask"].any()
        """,
    ),
    "a batch with a partner that searches": (
        "",
        f"starmine.Batch(starmine.Variant(random_start_player=True), 50, partners={{1: '{SEARCH}'}}, seed=0)",
        "",
    ),
    "a reset with a partner that searches": (
        f"""
        variant = starmine.Variant(random_start_player=True)
        seed = next(seed for seed in range(100) if variant.new_game(seed=seed).start_player == 0)
        batch = starmine.Batch(variant, 1, partners={{1: '{SEARCH}'}}, seed=seed)
        """,
        "[batch.reset() for _ in range(50)]",
        "batch.reset(seed)",
    ),
    "a stored batch with a partner that searches": (
        """
        name = "search: smart; rollouts=60000"
        batch = starmine.Batch("standard", 1, partners={1: name}, seed=0)
        for _ in range(3):
            batch.step(batch.observe()["action_mask"].argmax(axis=1))
        stored = batch.to_bytes()
        """,
        "[starmine.Batch.from_bytes(stored) for _ in range(50)]",
        "",
    ),
    "sampled hands": (
        "view = starmine.Variant(players=2, max_information_tokens=8).new_game(seed=0).view(0)",
        "[view.sample_hands(10_000_000, seed=0) for _ in range(2)]",
        "",
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
    assert seconds < 1


def test_a_handler_that_raises_nothing_lets_the_call_go_on():
    before = "import signal\nsignal.signal(signal.SIGINT, lambda *_: print('seen', flush=True))"
    call = f"starmine.play_games(['{SLOW}'] * 3, games=500, num_threads=1)"
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
    while not (tmp_path / "_manifest.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    output, errors, seconds = interrupt(process)
    assert (output, process.returncode) == ([], 130)
    assert "interrupted; the same command goes on" in errors
    assert seconds < 1
    evaluation = starmine.evaluate([SLOW], 3000, players=5, figure=False, output=tmp_path)
    last = starmine.play_games([SLOW] * 5, 50, first_game=2950)
    np.testing.assert_array_equal(evaluation.outcomes[0, 0, 0, 2950:], last.scores)
