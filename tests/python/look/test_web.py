"""`starmine play --web` without a browser: what is sent, what is refused, several tables, and the end."""

import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from web_person import Person, at, lobby_of, serving

import starmine
from starmine.cli import main, play
from starmine.cli.command import parser
from starmine.look import frame_of, replay_data
from starmine.look.frame import event_of, suits_of
from starmine.look.lobby import MOST_TABLES, MOVED_ON
from starmine.look.server import LONGEST, Server
from starmine.look.words import turn_in_words

HEAD = {
    "Server": "starmine",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def table_of(lobby, found):
    """The table behind an answer, which the person does not see."""
    return lobby._places[found["id"]].table


def expected(view, table, found, variant, seats):
    """All that a page may know of a table before the end, made of the seat's view alone."""
    own = view.observer
    history, suits = view.history, suits_of(view.variant)
    return {
        "id": found["id"],
        "title": found["title"],
        "seat": own,
        "waits": view.current_player == own,
        "over": False,
        "moved": any(event.seat == own for event in history),
        "taken_back": table.taken_back,
        "told": {"variant": variant, "seats": seats},
        "advisers": [name for name in ("smart", "piers") if name == "piers" or view.variant.colors == 5],
        "frame": frame_of(view, names=table.shown_names, legal=view.current_player == own),
        "log": [turn_in_words(event_of(event, view.variant, suits), table.shown_names, suits) for event in history],
        "last_own_turn": max([turn for turn, event in enumerate(history, 1) if event.seat == own], default=0),
    }


def check_head(answer):
    """The head of an answer holds only what all answers have."""
    head = dict(answer[1])
    assert head.pop("Content-Length") == str(len(answer[2]))
    assert "script-src 'self'" in head.pop("Content-Security-Policy")
    assert head.pop("Content-Type")
    assert head == HEAD


def start(person, variant="standard", seats=(None, "smart")):
    return person.ask("tables", {"variant": variant, "seats": list(seats)})


@pytest.mark.parametrize(
    ("variant", "seats"),
    [
        ("standard", (None, "smart")),
        ("standard", ("info", "smart", None)),
        ("avalanche", ("piers", None, "simple", "piers")),
        ("traditional", (None, "piers")),
    ],
)
def test_nothing_but_the_seat_s_view_is_sent_in_a_whole_game(variant, seats):
    rng = random.Random(7)
    lobby = lobby_of()
    with serving(lobby) as server:
        person = Person(server)
        found = start(person, variant, seats)
        table = table_of(lobby, found)
        seat = seats.index(None)
        while True:
            sent = person.traffic[-1]
            check_head(sent)
            if table.is_over:
                break
            seen = expected(table.state.view(seat), table, found, variant, seats)
            assert json.loads(sent[2]) == json.loads(json.dumps(seen))
            for refused in ("replay", "replay.html"):
                status, told = person.request(f"tables/{found['id']}/{refused}")
                assert (status, told) == (403, {"error": "the game is not over: its cards are shown at its end"})
            if not found["waits"]:
                found = person.ask(f"tables/{found['id']}/step", at(found))
                continue
            status, told = person.request(f"tables/{found['id']}/act", {"action": 999, **at(found)})
            assert status == 400
            advice = person.ask(f"tables/{found['id']}/advice", {"bot": "piers", **at(found)})
            assert advice["action"] == starmine.make_bot("piers", table.variant, seat).act(table.state.view(seat))
            if found["moved"] and rng.random() < 0.1:
                found = person.ask(f"tables/{found['id']}/back", at(found))
            elif rng.random() < 0.5:
                found = person.ask(f"tables/{found['id']}/act", {"action": advice["action"], **at(found)})
            else:
                action = rng.choice(table.view.legal_actions())
                found = person.ask(f"tables/{found['id']}/act", {"action": action, **at(found)})
        assert found["over"]
        cards = [[card["card"] for card in hand] for hand in found["frame"]["hands"]]
        assert cards == [[str(card) for card in hand] for hand in table.state.hands]
        data = person.ask(f"tables/{found['id']}/replay")
    same = replay_data(table.state, names=table.names, titles=[data["games"][0]["title"]], compare=None)
    told = {name: value for name, value in data["games"][0].items() if name != "compare"}
    assert told == json.loads(json.dumps(same["games"][0]))


class Discarding:
    """A partner whose moves do not depend on the person's cards."""

    def act(self, view):
        discards = [action for action in view.legal_actions() if action < view.variant.hand_size]
        return discards[0] if discards else view.variant.action("play 0")


def exchanged(variant, seat):
    """Two decks that differ in this seat's hand and in the last cards of the deck."""
    deck = variant.new_game(seed=3).deck
    size = variant.hand_size
    other = list(deck)
    own = range(seat * size, (seat + 1) * size)
    last = range(len(deck) - size, len(deck))
    for one, two in zip(own, last, strict=True):
        other[one], other[two] = other[two], other[one]
    assert [deck[place] for place in own] != [other[place] for place in own]
    return deck, other


def test_games_that_differ_in_hidden_cards_send_the_same_bytes():
    """The whole traffic is equal to the byte as long as nothing of the difference may be seen."""
    sent = []
    for deck in exchanged(starmine.Variant(), 0):
        lobby = lobby_of({"partner": Discarding})
        with serving(lobby) as server:
            person = Person(server)
            found = start(person, seats=(None, "partner"))
            key = found["id"]
            table_of(lobby, found).state = starmine.Variant().new_game(deck=deck)
            person.traffic.clear()
            for turn in range(24):
                found = person.ask(f"tables/{key}")
                person.request(f"tables/{key}/replay")
                person.ask("tables")
                if turn % 2:
                    found = person.ask(f"tables/{key}/step", at(found))
                    continue
                person.ask(f"tables/{key}/advice", {"bot": "smart", **at(found)})
                hints = [move for move in found["frame"]["legal"] if move["kind"] not in ("play", "discard")]
                found = person.ask(f"tables/{key}/act", {"action": hints[0]["action"], **at(found)})
                if turn == 10:
                    found = person.ask(f"tables/{key}/back", at(found))
                    person.ask(f"tables/{key}/act", {"action": hints[-1]["action"], **at(found)})
            sent.append([(s, h, body.replace(key.encode(), b"KEY")) for s, h, body in person.traffic])
    assert len(sent[0]) > 90
    assert sent[0] == sent[1]


@pytest.mark.parametrize("what", ["act", "back", "advice", "step"])
def test_a_page_that_shows_an_earlier_position_is_refused(what):
    """Of two clients the second one shows an earlier position.

    It is that before the first one's move, or that before a move was taken back and another one was played: as many
    turns, and another game.
    """
    lobby = lobby_of(seed=4)
    with serving(lobby) as server:
        first, second = Person(server), Person(server)
        found = start(first)
        key, table = found["id"], table_of(lobby, found)
        stale = second.ask(f"tables/{key}")
        told = {"act": {"action": table.view.legal_actions()[0]}, "advice": {"bot": "smart"}}.get(what, {})
        for _ in range(2):
            found = first.ask(f"tables/{key}/act", {"action": table.view.legal_actions()[-1], **at(found)})
            found = first.ask(f"tables/{key}/step", at(found))
            before = table.state.copy()
            status, answer = second.request(f"tables/{key}/{what}", {**told, **at(stale)})
            if what == "step":
                assert (status, answer) == (200, found)
            else:
                assert status == 409
                assert answer == {"error": MOVED_ON}
            assert table.state == before
            stale = second.ask(f"tables/{key}")
            assert second.request(f"tables/{key}/{what}", {**told, **at(stale)})[0] == 200  # the same, looked at anew
            found = second.ask(f"tables/{key}")
            while not found["waits"]:
                found = second.ask(f"tables/{key}/step", at(found))
        if not found["moved"]:
            found = first.ask(f"tables/{key}/act", {"action": table.view.legal_actions()[-1], **at(found)})
        stale = found
        found = first.ask(f"tables/{key}/back", at(found))
        while table.state.length < stale["frame"]["turn"]:
            move = {"action": table.view.legal_actions()[0]} if found["waits"] else {}
            found = first.ask(f"tables/{key}/{'act' if found['waits'] else 'step'}", {**move, **at(found)})
        assert found["frame"]["turn"] == stale["frame"]["turn"]
        before = table.state.copy()
        status, answer = second.request(f"tables/{key}/{what}", {**told, **at(stale)})
        assert (status, table.state) == (200 if what == "step" else 409, before)


@pytest.mark.parametrize("told", [{}, {"at": None}, {"at": 0}, {"at": [0]}, {"at": [0, True]}, {"at": ["0", 0]}])
def test_a_request_must_say_what_its_page_shows(told):
    lobby = lobby_of()
    with serving(lobby) as server:
        person = Person(server)
        found = start(person)
        for what in ("act", "step", "back", "advice"):
            request = {"action": found["frame"]["legal"][0]["action"], "bot": "smart", **told}
            status, answer = person.request(f"tables/{found['id']}/{what}", request)
            assert (status, table_of(lobby, found).state.length) == (400, 0)
            assert "expected [turn, taken_back]" in answer["error"]


class Telling:
    """A partner that fails, with words that tell the person's cards."""

    def act(self, view):
        raise ValueError(f"cannot play: {view.hands[1]}")


class Cheating:
    """A partner whose move is refused, with a list that depends on the person's cards."""

    def act(self, view):
        return view.variant.num_actions - 1 if view.variant.num_actions - 1 not in view.legal_actions() else 0


@pytest.mark.parametrize("kind", [Telling, Cheating])
def test_what_a_failing_partner_says_stays_in_the_terminal(kind):
    reported = []
    lobby = lobby_of({"bad": kind}, report=reported.append)
    with serving(lobby) as server:
        person = Person(server)
        found = start(person, seats=("bad", None))
        answer = person.request(f"tables/{found['id']}/step", at(found))
        assert answer == (400, {"error": "bad failed; the program's terminal says why"})
        assert kind.__name__ == "Cheating" or "cannot play" in reported[0]
        assert len(reported) == 1


def test_watchers_see_open_hands_and_no_deck():
    lobby = lobby_of()
    with serving(lobby) as server:
        person = Person(server)
        found = start(person, seats=("smart", "info"))
        table = table_of(lobby, found)
        while not found["over"]:
            assert found["frame"] == json.loads(json.dumps(frame_of(table.state, names=table.names, legal=False)))
            found = person.ask(f"tables/{found['id']}/step", at(found))
    assert table.state.length == len(found["log"])


def test_several_tables_are_played_at_once(tmp_path):
    lobby = lobby_of(seed=5, folder=tmp_path, report=lambda text: None)
    with serving(lobby) as server:

        def whole():
            person = Person(server)
            found = start(person, seats=("smart", "smart"))
            keys.append(found["id"])
            while not found["over"]:
                found = person.ask(f"tables/{found['id']}/step", at(found))

        keys = []
        threads = [threading.Thread(target=whole) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(Person(server).ask("tables")) == 4
        played = sorted(lobby._places[key].table.state.score for key in keys)
        Person(server).ask(f"tables/{keys[0]}/close", {})
        assert len(Person(server).ask("tables")) == 3
        assert Person(server).request(f"tables/{keys[0]}")[0] == 404
    assert played == sorted(starmine.play_games(["smart", "smart"], 4, seed=5).scores.tolist())
    pages = sorted(tmp_path.iterdir())
    assert len(pages) == 4
    assert all(b"<main" in path.read_bytes() for path in pages)


@pytest.mark.parametrize(
    ("request_of", "status"),
    [
        ({"headers": {"Host": "evil.example:{port}"}}, 403),
        ({"headers": {"Host": "127.0.0.1:1"}}, 403),
        ({"headers": {"Host": None}}, 403),
        ({"headers": {"Host": "8.8.8.8:{port}"}}, 403),
        ({"headers": {"Origin": "http://evil.example"}}, 403),
        ({"headers": {"Origin": "null"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "same-site"}}, 403),
        ({"headers": {"Origin": None}, "told": {}}, 403),
        ({"headers": {"Content-Type": "text/plain"}, "told": {}}, 415),
        ({"headers": {"Content-Length": str(LONGEST + 1)}, "told": {}}, 413),
        ({"headers": {"Content-Length": "-1"}, "told": {}}, 413),
        ({"told": b"[" * 9000}, 400),
        ({"told": b"{"}, 400),
        ({"told": [1]}, 400),
        ({"told": {"variant": 1, "seats": [None, "smart"]}}, 400),
        ({"told": {"variant": "standard", "seats": "smart"}}, 400),
        ({"told": {"variant": "standard", "seats": [None, "policy: /etc/passwd"]}}, 400),
        ({"told": {"variant": "standard", "seats": [None, ["smart"]]}}, 400),
        ({"told": {"variant": "standard", "seats": [None, None]}}, 400),
        ({"told": {"variant": "standard", "seats": [None] + ["smart"] * 9}}, 400),
        ({"told": {"variant": "nothing", "seats": [None, "smart"]}}, 400),
        ({"told": {"variant": "avalanche", "seats": [None, "smart"]}}, 400),
        ({"path": "../choices"}, 404),
        ({"path": "play.py"}, 404),
        ({"path": "tables/none"}, 404),
        ({"path": "tables/none/act", "told": {"action": 0, "at": [0, 0]}}, 404),
        ({"whole_path": "/"}, 404),
        ({"whole_path": "/choices"}, 404),
        ({"whole_path": "/guess/choices"}, 404),
        ({"method": "DELETE"}, 501),
    ],
)
def test_requests_that_are_refused(request_of, status):
    lobby = lobby_of()
    with serving(lobby) as server:
        person = Person(server)
        headers = request_of.get("headers", {})
        headers = {name: value and value.replace("{port}", str(server.server_port)) for name, value in headers.items()}
        found, told = person.request(**{"path": "tables", **request_of, "headers": headers})
        assert found == status, told
        assert lobby.tables() == []
        assert person.request("choices")[0] == 200


def test_the_number_of_tables_is_limited():
    lobby = lobby_of()
    for _ in range(MOST_TABLES):
        lobby.open("very-small", [None, "simple"])
    with pytest.raises(starmine.StarmineError, match="leave one first"):
        lobby.open("very-small", [None, "simple"])


def test_addresses_have_tokens_and_listen_on_the_loopback():
    servers = [Server(lobby_of()) for _ in range(2)]
    assert servers[0].server_address[0] == "127.0.0.1"
    assert servers[0].token != servers[1].token
    assert len(servers[0].token) >= 32
    for server in servers:
        server.server_close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "0:0:0:0:0:0:0:1", "0.0.0.0", "::"])
def test_the_address_that_is_printed_can_be_opened(host):
    if ":" in host and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    lobby = lobby_of()
    with serving(lobby, host=host) as server:
        opened = build_opener(ProxyHandler({})).open
        with opened(server.address, timeout=10) as answer:
            assert b'<main id="play">' in answer.read()
        origin = "http://" + urlsplit(server.address).netloc
        told = json.dumps({"variant": "standard", "seats": [None, "smart"]}).encode()
        head = {"Origin": origin, "Content-Type": "application/json"}
        with opened(Request(server.address + "tables", told, head), timeout=10) as answer:
            assert answer.status == 200
        for other, answered in [("8.8.8.8", server.is_everywhere), ("evil.example", False), ("127.0.0.1", True)]:
            assert server.allows_host(f"{other}:{server.server_port}") == answered


def has_ipv6():
    """Whether the loopback address of IPv6 can be used."""
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


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
    options = parser().parse_args(["play", "--web", "--watch", "--seed", "3", "--partner", f"{path}:turning"])
    rules = starmine.Variant()
    seats = play.named_seats(options, rules)
    alone = play.lobby(options, rules)
    key = alone.open("standard", seats)["id"]
    expected = [alone.step(key, [turn, 0])["log"] for turn in range(8)][-1]
    lobby = play.lobby(options, rules)
    first = lobby.open("standard", seats)["id"]
    lobby.seed = None
    second = lobby.open("standard", seats)["id"]
    for turn in range(8):
        found = lobby.step(first, [turn, 0])["log"]
        lobby.step(second, [turn, 0])
    assert found == expected


def test_an_object_that_cannot_be_copied_is_refused(tmp_path, capsys):
    path = tmp_path / "locked_players.py"
    path.write_text(PLAYER_OF_A_FILE, encoding="utf-8")
    assert main(["play", "--web", "--no-browser", "--partner", f"{path}:locked"]) == 2
    assert "locked cannot be copied for each table: expected a class" in capsys.readouterr().err


def test_the_server_ends_when_nobody_asks():
    server = Server(lobby_of(), idle_seconds=0.05)
    server.serve()
    assert server.socket.fileno() == -1


def test_the_command_serves_and_ends_with_an_interrupt(tmp_path):
    command = [sys.executable, "-m", "starmine", "play", "--web", "--no-browser", "--save", str(tmp_path)]
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
    command = [sys.executable, "-m", "starmine", "play", "--web", "--no-browser", "--partner", slow]
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


def test_the_page_keeps_games_as_data_with_the_moves_that_were_taken_back(tmp_path, capsys):
    """A game that has ended, one whose table is left, and one that is open when the program ends; none twice."""
    options = parser().parse_args(["play", "--web", "--seed", "3", "--save", str(tmp_path)])
    lobby = play.lobby(options, starmine.Variant())
    ended, left, open_one, untouched = (lobby.open("standard", [None, "smart"]) for _ in range(4))
    other = lobby.open("mini", [None, "piers"])

    def turn(found):
        key, position = found["id"], at(found)["at"]
        if not found["waits"]:
            return lobby.step(key, position)
        return lobby.act(key, lobby.advise(key, "piers", position)["action"], position)

    ended = turn(turn(ended))
    ended = lobby.take_back(ended["id"], at(ended)["at"])
    tables = [table_of(lobby, found) for found in (ended, left, open_one, other)]
    while not ended["over"]:
        ended = turn(ended)
    turn(left)
    turn(turn(open_one))
    turn(other)
    lobby.close(left["id"])
    lobby.close(untouched["id"])
    lobby.keep_unfinished()
    lobby.keep_unfinished()
    games = list(starmine.data.Dataset(tmp_path / "standard-2p"))
    assert sorted(len(game) for game in games) == sorted(table.state.length for table in tables[:3])
    whole = next(game for game in games if game.ending is not None)
    assert (whole.state(), whole.taken_back) == (tables[0].state, tables[0].moves_taken_back)
    assert len(whole.taken_back) == 1
    (small,) = starmine.data.Dataset(tmp_path / "mini-2p")
    assert small.state() == tables[3].state
    assert len(list(tmp_path.glob("*.html"))) == 1
    for name in ("standard-2p", "mini-2p"):
        assert main(["data", "info", str(tmp_path / name)]) == 0
        assert main(["data", "verify", str(tmp_path / name)]) == 0
        assert main(["replay", str(tmp_path / name), "--html", str(tmp_path / "out.html")]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--save", "missing"], "there is no such folder"),
        (["--port", "70000"], "expected a port"),
        (["--idle", "0"], "a minute or more"),
        (["--partner", "smrt"], "did you mean"),
        (["--host", "256.1.1.1"], "256.1.1.1"),
    ],
)
def test_the_command_refuses(capsys, arguments, words):
    assert main(["play", "--web", "--no-browser", *arguments]) == 2
    assert words in capsys.readouterr().err
