"""A person at the page of `starmine play` without a browser, who keeps all that was sent."""

import http.client
import json
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

import starmine
from starmine.look import LiveGame
from starmine.look.server import Server
from starmine.look.web_game import WebGame


def web_game_of(seats=(None, "smart"), variant="standard", seed=11, names=None, **settings):
    """The game of a page; a class among the players makes a new object for each game."""

    def begin(number):
        rules = starmine.variant(variant, players=len(seats))
        game = LiveGame(rules, [seat() if isinstance(seat, type) else seat for seat in seats], seed, number)
        game.names = list(names or game.names)
        return game

    return WebGame(begin, **settings)


def at(found):
    """What a request says of the position that its page shows, an answer of the server."""
    return {"at": [found["game"], found["frame"]["turn"]]}


@contextmanager
def serving(web_game, **settings):
    """A server that runs, and is ended with its thread."""
    server = Server(web_game, **settings)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


class Person:
    """Sends requests as the page does; `traffic` has the bytes of all answers, head and body."""

    def __init__(self, server):
        self.server = server
        self.traffic = []

    def request(self, path, told=None, headers=None, method=None, whole_path=None):
        """The status and the data of an answer."""
        host = f"127.0.0.1:{self.server.server_port}"
        sent = {"Host": host}
        body = None
        if told is not None:
            sent |= {"Origin": f"http://{host}", "Content-Type": "application/json"}
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
        sent = {name: value for name, value in (sent | (headers or {})).items() if value is not None}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=10)
        connection.putrequest(
            method or ("GET" if told is None else "POST"),
            whole_path or urlsplit(self.server.address).path + path,
            skip_host=True,
        )
        for name, value in sent.items():
            connection.putheader(name, value)
        if body is not None and "Content-Length" not in sent:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        found = answer.read()
        head = [(name, value) for name, value in answer.getheaders() if name != "Date"]
        self.traffic.append((answer.status, head, found))
        connection.close()
        return answer.status, json.loads(found) if found[:1] in (b"{", b"[") else found

    def ask(self, path, told=None):
        """The data of an answer that must be a success."""
        status, data = self.request(path, told)
        assert status == 200, data
        return data
