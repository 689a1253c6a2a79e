"""The command `starmine play`: players of files, interrupts, games that are kept, and refusals."""

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import numpy as np
import pytest
from web_person import at

import starmine
from starmine.cli import main, play
from starmine.cli.options import rules_of_text

PLAYER_OF_A_FILE = """
class Turning:
    encoder = "canonical"
    turn = 0

    def act_batch(self, turns):
        self.turn += 1
        legal = turns.action_mask[0].nonzero()[0]
        return legal[[self.turn % len(legal)]]

turning = Turning()
"""


def test_each_seat_of_each_game_has_its_own_object_of_a_file(tmp_path):
    path = tmp_path / "turning_players.py"
    path.write_text(PLAYER_OF_A_FILE, encoding="utf-8")
    options = play.Play(watch=True, partner=[f"{path}:turning"])
    web_game = play.web_game(options, starmine.Variant())
    web_game._begin = lambda number, begin=web_game._begin: begin(0)
    logs = []
    for number in range(2):
        web_game.game.state = starmine.Variant().new_game(seed=3)
        logs.append([web_game.step([number, turn])["log"] for turn in range(8)][-1])
        web_game.begin([number, web_game.game.state.length])
    assert logs[0] == logs[1]


def test_the_command_serves_and_ends_with_an_interrupt(tmp_path):
    command = [sys.executable, "-m", "starmine", "play", "--no-browser", "--save", str(tmp_path)]
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where the tests run in the background
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heeds)
    try:
        line = running.stdout.readline()
        assert line.startswith("Play at http://127.0.0.1:")
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)
    finally:
        running.kill()
    assert running.returncode == 0
    assert out.endswith("ended\n")
    assert err == ""


def test_the_command_ends_with_an_interrupt_while_a_partner_searches():
    slow = "search: smart; rollouts=10000000; hands=100000"
    command = [sys.executable, "-m", "starmine", "play", "--no-browser", "--partner", slow]
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heeds)
    try:
        address = running.stdout.readline().removeprefix("Play at ").strip()
        opener = build_opener(ProxyHandler({}))

        def ask(path, told=None):
            head = {"Content-Type": "application/json", "Origin": f"http://{urlsplit(address).netloc}"}
            body = None if told is None else json.dumps(told).encode()
            with opener.open(Request(f"{address}{path}", body, head)) as answer:
                return json.load(answer)

        def play():
            with suppress(OSError, ValueError):
                found = ask("act", {"action": 5, **at(ask("game"))})
                ask("step", at(found))  # the partner's turn

        asking = threading.Thread(target=play, daemon=True)
        asking.start()
        time.sleep(1.5)
        assert asking.is_alive()
        sent = time.monotonic()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
        seconds = time.monotonic() - sent
    finally:
        running.kill()
    assert running.returncode == 0
    assert out.endswith("ended\n")
    assert err == ""
    assert seconds < 3  # the signal, and the end of the interpreter


def test_the_page_keeps_games_as_data(tmp_path):
    """A game that has ended, one that is left, and one that is open when the program ends; none twice."""
    web_game = play.web_game(play.Play(seed=3, save=str(tmp_path)), starmine.Variant())
    games, turns = [], (200, 1, 2)
    found = web_game.show()
    for number, most in enumerate(turns):
        games.append(web_game.game)
        while not found["over"] and found["frame"]["turn"] < most:
            position = at(found)["at"]
            if found["waits"]:
                found = web_game.act(web_game.advise("piers", position)["action"], position)
            else:
                found = web_game.step(position)
        if number < 2:
            found = web_game.begin(at(found)["at"])
    web_game.leave()
    web_game.leave()
    stored = starmine.data.Dataset(tmp_path / "standard-2p")
    assert sorted(stored.lengths.tolist()) == sorted(game.state.length for game in games)
    (whole,) = np.flatnonzero(stored.endings).tolist()
    assert stored.state(whole) == games[0].state
    assert len(list(tmp_path.glob("*.html"))) == 1
    folder = str(tmp_path / "standard-2p")
    assert main(["data", "info", folder]) == 0
    assert main(["data", "verify", folder]) == 0
    assert main(["replay", folder, "--html", str(tmp_path / "out.html")]) == 0


@pytest.mark.parametrize("text", ["standard, players=3, colors=4", "avalanche, players=3"])
def test_a_game_may_have_rules_of_ones_own(text):
    assert play.web_game(play.Play(partner=["piers"]), rules_of_text(text)).game.variant == rules_of_text(text)
