"""The server of `starmine play`: which requests it refuses, its addresses, and its end."""

import json
import socket
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from web_person import Person, serving, web_game_of

from starmine.look.server import LONGEST, Server


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
        ({"told": {}}, 400),
        ({"told": {"at": [0, 0]}}, 400),
        ({"told": {"action": "0", "at": [0, 0]}}, 400),
        ({"told": {"action": 10**30, "at": [0, 0]}}, 400),
        ({"told": {"bot": "policy: /etc/passwd", "at": [0, 0]}, "path": "advice"}, 400),
        ({"path": "../game"}, 404),
        ({"path": "play.py"}, 404),
        ({"path": "none", "told": {"at": [0, 0]}}, 404),
        ({"whole_path": "/"}, 404),
        ({"whole_path": "/game"}, 404),
        ({"whole_path": "/guess/game"}, 404),
        ({"method": "DELETE"}, 501),
    ],
)
def test_requests_that_are_refused(request_of, status):
    web_game = web_game_of()
    with serving(web_game) as server:
        person = Person(server)
        headers = request_of.get("headers", {})
        headers = {name: value and value.replace("{port}", str(server.server_port)) for name, value in headers.items()}
        status_of, told = person.request(**{"path": "act", **request_of, "headers": headers})
        assert status_of == status, told
        assert web_game.game.state.length == 0
        assert person.request("game")[0] == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "0:0:0:0:0:0:0:1", "0.0.0.0", "::"])
def test_the_address_that_is_printed_can_be_opened(host):
    if ":" in host and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with serving(web_game_of(), host=host) as server:
        opened = build_opener(ProxyHandler({})).open
        with opened(server.address, timeout=10) as answer:
            assert b'<main id="play">' in answer.read()
        origin = "http://" + urlsplit(server.address).netloc
        told = json.dumps({"at": [0, 0]}).encode()
        head = {"Origin": origin, "Content-Type": "application/json"}
        with opened(Request(server.address + "begin", told, head), timeout=10) as answer:
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


def test_the_server_ends_when_nobody_asks():
    server = Server(web_game_of(), idle_seconds=0.05)
    server.serve()
    assert server.socket.fileno() == -1
