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

import pytest
from web_person import at, table_of

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
locked = Turning()
locked.file = open(__file__)
"""


def test_each_table_has_its_own_object_of_a_file(tmp_path):
    path = tmp_path / "turning_players.py"
    path.write_text(PLAYER_OF_A_FILE, encoding="utf-8")
    options = play.Play(watch=True, seed=3, partner=[f"{path}:turning"])
    rules = starmine.Variant()
    seats = play.named_seats(options, rules)
    alone = play.web_tables(options, rules)
    key = alone.open("standard", seats)["id"]
    expected = [alone.step(key, [turn, 0])["log"] for turn in range(8)][-1]
    web_tables = play.web_tables(options, rules)
    first = web_tables.open("standard", seats)["id"]
    web_tables.seed = None
    second = web_tables.open("standard", seats)["id"]
    for turn in range(8):
        found = web_tables.step(first, [turn, 0])["log"]
        web_tables.step(second, [turn, 0])
    assert found == expected


def test_an_object_that_cannot_be_copied_is_refused(tmp_path, capsys):
    path = tmp_path / "locked_players.py"
    path.write_text(PLAYER_OF_A_FILE, encoding="utf-8")
    assert main(["play", "--no-browser", "--partner", f"{path}:locked"]) == 2
    assert "locked cannot be copied for each table: expected a class" in capsys.readouterr().err


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
    slow = "search: fireflower; rollouts=10000000; hands=100000"
    command = [sys.executable, "-m", "starmine", "play", "--no-browser", "--partner", slow]
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heeds)
    try:
        address, table = running.stdout.readline().removeprefix("Play at ").strip().split("#table=")
        opener = build_opener(ProxyHandler({}))

        def ask(path, told=None):
            head = {"Content-Type": "application/json", "Origin": f"http://{urlsplit(address).netloc}"}
            body = None if told is None else json.dumps(told).encode()
            with opener.open(Request(f"{address}tables/{table}{path}", body, head)) as answer:
                return json.load(answer)

        def play():
            with suppress(OSError, ValueError):
                found = ask("/act", {"action": 5, **at(ask(""))})
                ask("/step", at(found))  # the partner's turn

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


def test_the_page_keeps_games_as_data(tmp_path, capsys):
    """A game that has ended, one whose table is left, and one that is open when the program ends; none twice."""
    options = play.Play(seed=3, save=str(tmp_path))
    web_tables = play.web_tables(options, starmine.Variant())
    ended, left, open_one, untouched = (web_tables.open("standard", [None, "smart"]) for _ in range(4))
    other = web_tables.open("mini", [None, "piers"])

    def turn(found):
        key, position = found["id"], at(found)["at"]
        if not found["waits"]:
            return web_tables.step(key, position)
        return web_tables.act(key, web_tables.advise(key, "piers", position)["action"], position)

    ended = turn(turn(ended))
    ended = web_tables.take_back(ended["id"], at(ended)["at"])
    tables = [table_of(web_tables, found) for found in (ended, left, open_one, other)]
    while not ended["over"]:
        ended = turn(ended)
    turn(left)
    turn(turn(open_one))
    turn(other)
    web_tables.close(left["id"])
    web_tables.close(untouched["id"])
    web_tables.keep_unfinished()
    web_tables.keep_unfinished()
    games = list(starmine.data.Dataset(tmp_path / "standard-2p"))
    assert sorted(len(game) for game in games) == sorted(table.state.length for table in tables[:3])
    whole = next(game for game in games if game.ending is not None)
    assert whole.state() == tables[0].state
    (small,) = starmine.data.Dataset(tmp_path / "mini-2p")
    assert small.state() == tables[3].state
    assert len(list(tmp_path.glob("*.html"))) == 1
    for name in ("standard-2p", "mini-2p"):
        assert main(["data", "info", str(tmp_path / name)]) == 0
        assert main(["data", "verify", str(tmp_path / name)]) == 0
        assert main(["replay", str(tmp_path / name), "--html", str(tmp_path / "out.html")]) == 0


@pytest.mark.parametrize("text", ["Variant(players=3, colors=4)", "standard, players=3", '{"players": 3, "ranks": 4}'])
def test_a_table_may_have_rules_of_ones_own(text):
    options = play.Play(variant=text, partner=["piers"])
    rules = rules_of_text(text)
    web_tables = play.web_tables(options, rules)
    found = web_tables.open(text, play.named_seats(options, rules))
    assert table_of(web_tables, found).variant == rules
    assert text in web_tables.choices()["variants"]
    with pytest.raises(starmine.StarmineError, match="not known"):
        web_tables.open("Variant(players=3, colors=2)", [None, "piers", "piers"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--save", "missing"], "there is no such folder"),
        (["--save", "x.json"], "there is no such folder"),
        (["--port", "70000"], "expected a port"),
        (["--idle", "0"], "a minute or more"),
        (["--host", "256.1.1.1"], "256.1.1.1"),
        (["--seat", "2"], "--seat 2 is not allowed: expected 0 to 1"),
        (["--watch", "--seat", "1"], "--watch and --seat 1 are not allowed together"),
        (["--partner", "smrt"], 'did you mean "smart"'),
        (["--partner", "smart", "--partner", "smart"], "2 partners are not allowed"),
        (["--seed", "-1"], "seed"),
        (["--variant", "avalanche", "--partner", "smart"], "does not play this variant"),
    ],
)
def test_refusals_come_before_the_game(monkeypatch, tmp_path, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert main(["play", "--no-browser", *arguments]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []
