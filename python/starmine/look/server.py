"""A local page to play at: HTTP of the standard library, on the loopback interface, for one person.

Every address begins with a random token. Requests of other pages are refused: by the token, by the `Host` header, which
a rebound name cannot forge, and by `Origin` and `Sec-Fetch-Site`.
"""

from __future__ import annotations

import ipaddress
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from starmine._core import StarmineError
from starmine.look.replay import SCRIPTS, STYLES
from starmine.look.shapes import browser_file
from starmine.look.web_game import HiddenError, StaleError, WebGame

FILES = {"": ("play.html", "text/html; charset=utf-8")}
FILES |= {name: (name, "text/javascript; charset=utf-8") for name in (*SCRIPTS, "play.js")}
FILES |= {name: (name, "text/css; charset=utf-8") for name in (*STYLES, "play.css")}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
STATUS: dict[type, int] = {HiddenError: 403, StaleError: 409}  # of errors of the game
LOOPBACK = "127.0.0.1"
LONGEST = 16_384  # bytes of a request's body


class RefusedError(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, message: str) -> None:
        """With the HTTP status and what is wrong."""
        super().__init__(message)
        self.status = status


class Server(ThreadingHTTPServer):
    """Serves a page and its game.

    Args:
        web_game: the game.
        host: the address to listen at, IPv4 or IPv6, or a name of this machine; by default no other machine can reach
            it. "0.0.0.0" and "::" are all addresses of this machine.
        port: 0 for any free one.
        idle_seconds: after so long without a request, `serve` ends; an open page asks about every 20 seconds.
    """

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, web_game: WebGame, host: str = LOOPBACK, port: int = 0, idle_seconds: float = 1800) -> None:
        self.web_game, self.token, self.idle_seconds = web_game, secrets.token_urlsafe(24), idle_seconds
        self.timeout = 0.2
        self.asked = time.monotonic()
        self._closed = threading.Event()
        name = host.strip("[]").lower()
        address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        self.address_family = address[0]
        number = ipaddress.ip_address(str(address[4][0]))
        self._is_local, self.is_everywhere = number.is_loopback, number.is_unspecified
        self._host = str(number) if ":" in name else name
        super().__init__((str(number), port), Handler)

    @property
    def address(self) -> str:
        """The address of the page on this machine, with the token. Who has it, can play."""
        host = self._host
        if self.is_everywhere:
            host = "127.0.0.1" if self.address_family == socket.AF_INET else "::1"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/{self.token}/"

    def serve(self) -> None:
        """Answer requests until `stop`, or until nobody has asked for long."""
        try:
            while not self._closed.is_set() and time.monotonic() - self.asked < self.idle_seconds:
                self.handle_request()
        finally:
            self.server_close()

    def stop(self) -> None:
        """End `serve`, which another thread runs."""
        self._closed.set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the browser has closed a connection."""

    def allows_host(self, host: str) -> bool:
        """Whether a `Host` header is one of this server's: names that others could point here are refused."""
        name, _, port = host.rpartition(":")
        name = name.strip("[]").lower()
        if port != str(self.server_port):
            return False
        if name in (self._host, "localhost"):
            return True
        try:
            number = ipaddress.ip_address(name)
        except ValueError:
            return False
        return number.is_loopback or not self._is_local


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    timeout = 30  # seconds for a request to arrive

    def do_GET(self) -> None:
        """Pages, scripts, and what may be seen."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """What changes something."""
        self._answer(self._post)

    def version_string(self) -> str:
        """The header `Server`, without versions."""
        return "starmine"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: the addresses hold the token."""

    def _answer(self, answer: Callable[[list[str]], tuple[str, bytes]]) -> None:
        """Check a request, and send what it asks for, or why not."""
        try:
            kind, body = answer(self._checked_path())
            status = 200
        except RefusedError as refusal:
            status, kind, body = refusal.status, *_json({"error": str(refusal)})
        except StarmineError as error:
            status, kind, body = STATUS.get(type(error), 400), *_json({"error": str(error)})
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _checked_path(self) -> list[str]:
        """The parts of the path after the token."""
        if not self.server.allows_host(self.headers.get("Host", "")):
            raise RefusedError(403, "this host is not known here")
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
        if origin is not None and origin != f"http://{self.headers['Host']}":
            raise RefusedError(403, "another page may not ask")
        if site not in (None, "same-origin", "none"):
            raise RefusedError(403, "another page may not ask")
        if self.command == "POST" and origin is None:
            raise RefusedError(403, "a request that changes something needs its origin")
        _, token, *parts = [*urlsplit(self.path).path.split("/"), ""]
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise RefusedError(404, "there is no such page: the address needs the token that the terminal shows")
        self.server.asked = time.monotonic()
        return parts[:-1]

    def _get(self, path: list[str]) -> tuple[str, bytes]:
        match path:
            case [name] if name in FILES:
                file, kind = FILES[name]
                return kind, browser_file(file).encode()
            case ["game"]:
                return _json(self.server.web_game.show())
            case ["replay"]:
                return _json(self.server.web_game.replay())
            case ["replay.html"]:
                return "application/octet-stream", self.server.web_game.replay_page().encode()
        raise RefusedError(404, "there is no such page")

    def _post(self, path: list[str]) -> tuple[str, bytes]:
        told = self._body()
        at = told.get("at")
        match path:
            case ["act"]:
                return _json(self.server.web_game.act(told.get("action"), at))
            case ["step"]:
                return _json(self.server.web_game.step(at))
            case ["advice"]:
                return _json(self.server.web_game.advise(told.get("bot"), at))
            case ["begin"]:
                return _json(self.server.web_game.begin(at))
        raise RefusedError(404, "there is no such page")

    def _body(self) -> dict[str, Any]:
        """The JSON object of a request."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LONGEST:
            raise RefusedError(413, f"expected a body of at most {LONGEST} bytes")
        if self.headers.get_content_type() != "application/json":
            raise RefusedError(415, "expected JSON")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, f"expected JSON: {error}") from error
        if not isinstance(body, dict):
            raise RefusedError(400, "expected a JSON object")
        return body


def _json(data: Any) -> tuple[str, bytes]:
    """Data as the body of an answer."""
    return "application/json", json.dumps(data, separators=(",", ":")).encode()
