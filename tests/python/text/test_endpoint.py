"""`Endpoint` against a local server of chat completions: text, tool calls, usage, errors, time limits, retries."""

import json
import pickle
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import starmine
from starmine.text import ChatPlayer


def first_move(request):
    lines = request["messages"][1]["content"].split("Your legal moves:\n- ")[1].split("\n- ")
    return lines[0]


def completion(content=None, calls=(), reason="stop", **usage):
    tools = [
        {"id": str(number), "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": content} | ({"tool_calls": tools} if tools else {})
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        **({"usage": {"total_tokens": 0} | usage} if usage else {}),
    }


@contextmanager
def served(answer):
    """A server that answers each request with what `answer` returns: (status, object or bytes)."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append((request, self.headers["Authorization"], self.client_address))
            status, found = answer(request)
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if data.startswith(b"<") else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):  # a client that has given up
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def view():
    return starmine.variant("mini").new_game(seed=3).view(0)


OPENED = []


class Endpoint(starmine.text.Endpoint):
    """An endpoint that the fixture closes."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        OPENED.append(self)


@pytest.fixture(autouse=True)
def closed():
    pytest.importorskip("openai")
    yield
    while OPENED:
        OPENED.pop().close()


def test_games_are_played_and_tokens_are_summed():
    def answer(request):
        text = f"I think.\nMOVE: {first_move(request)}"
        details = {"reasoning_tokens": 2}
        return 200, completion(text, prompt_tokens=700, completion_tokens=9, completion_tokens_details=details)

    with served(answer) as (url, requests):
        model = Endpoint("fake", base_url=url, api_key="secret", prices=(1.0, 10.0), temperature=0)
        player = ChatPlayer(model, concurrency=4)
        games = starmine.play_games([player, player], 4, variant="mini")
    assert len(games.scores) == 4
    calls = len(requests)
    expected = {"prompt_tokens": 700 * calls, "completion_tokens": 9 * calls, "reasoning_tokens": 2 * calls}
    usage = player.totals()["usage"]
    assert usage.pop("cost") == pytest.approx(calls * 790 / 1e6)
    assert usage == expected
    request, key, _ = requests[0]
    assert (request["model"], request["temperature"], key) == ("fake", 0, "Bearer secret")
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert len({address for *_, address in requests}) <= 4  # connections are kept between turns


def test_a_tool_call_is_a_move():
    def answer(request):
        assert request["tool_choice"] == "required"
        name = request["tools"][0]["function"]["name"]
        return 200, completion(calls=[(name, json.dumps({"move": first_move(request)}))])

    with served(answer) as (url, _):
        player = ChatPlayer(Endpoint("fake", base_url=url, api_key="none", tools=True))
        assert player.act(view()) == view().legal_actions()[0]
    assert player.exchanges[0].usage == {}


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        ([("make_move", "{broken")], "are no JSON"),
        ([("make_move", "{}")], "it has {}: expected"),
        ([("make_move", '{"move": "play slot 0", "slot": 1}')], "it has {'move': 'play slot 0', 'slot': 1}: expected"),
        (
            [("make_move", '{"move": "play slot 0"}'), ("make_move", '{"move": "play slot 1"}')],
            "2 tool calls: make one",
        ),
        ([("shout", '{"slot": 1}')], "or a call of make_move"),
    ],
)
def test_tool_calls_that_name_no_move_are_refused(calls, problem):
    with served(lambda _: (200, completion(calls=calls))) as (url, _):
        player = ChatPlayer(Endpoint("fake", base_url=url, api_key="none"), replies=2, fallback="random")
        player.act(view())
    assert [exchange.outcome for exchange in player.exchanges] == ["unreadable"] * 2
    assert problem in player.exchanges[0].problem


@pytest.mark.filterwarnings("ignore:no call of")
@pytest.mark.parametrize(
    ("status", "body", "problem", "calls"),
    [
        (429, {"error": {"message": "slow down"}}, "RateLimitError", 2),
        (500, b"<html>no</html>", "InternalServerError", 2),
        (401, {"error": {"message": "no such key"}}, "AuthenticationError", 1),
        (200, completion("x") | {"choices": []}, "StarmineError", 1),
        (200, b"<html>hello</html>", "StarmineError: the endpoint answered text, not a completion", 1),
        (200, b"{}", "", 1),
        (200, b"not JSON", "", 1),
    ],
)
def test_the_client_repeats_calls_that_may_succeed_later_and_errors_are_reported(status, body, problem, calls):
    with served(lambda _: (status, body)) as (url, requests):
        model = Endpoint("fake", base_url=url, api_key="none", max_retries=1)
        player = ChatPlayer(model, fallback="random")
        player.act(view())
    assert len(requests) == calls
    (exchange,) = player.exchanges
    assert (exchange.outcome, player.fallbacks) == ("failed", 1)
    assert exchange.problem.startswith(problem)


def test_a_call_succeeds_after_an_error():
    statuses = iter([503, 200])

    def answer(request):
        status = next(statuses)
        return status, completion(f"MOVE: {first_move(request)}") if status == 200 else {}

    with served(answer) as (url, requests):
        player = ChatPlayer(Endpoint("fake", base_url=url, api_key="none"))
        assert player.act(view()) == view().legal_actions()[0]
    assert len(requests) == 2


@pytest.mark.filterwarnings("ignore:no call of")
def test_an_answer_that_takes_too_long_is_a_failed_call():
    def answer(request):
        time.sleep(0.5)
        return 200, completion("late")

    with served(answer) as (url, _):
        model = Endpoint("fake", base_url=url, api_key="none", timeout=0.1, max_retries=0)
        player = ChatPlayer(model, fallback="random")
        player.act(view())
    assert player.exchanges[0].outcome == "failed"
    assert player.exchanges[0].problem.startswith("APITimeoutError")


def test_nobody_listens():
    model = Endpoint("fake", base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0)
    player = ChatPlayer(model, fallback="random")
    with pytest.warns(UserWarning, match="no call of chat has succeeded, so its fallback plays: APIConnectionError"):
        player.act(view())
    assert player.exchanges[0].problem.startswith("APIConnectionError")


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_short_is_counted_and_refused(reason):
    with served(
        lambda _: (200, completion("MOVE: play slot 0", reason=reason, prompt_tokens=5, completion_tokens=3))
    ) as (url, _):
        player = ChatPlayer(Endpoint("fake", base_url=url, api_key="none"), replies=2, fallback="random")
        player.act(view())
    assert player.totals()["outcomes"] == {"unreadable": 2}
    assert player.totals()["usage"] == {"prompt_tokens": 10, "completion_tokens": 6, "cut_short": 2}


def test_a_key_leaves_neither_pickles_nor_texts(monkeypatch):
    model = Endpoint("fake", base_url="http://127.0.0.1:9/v1", api_key="secret", temperature=1)
    assert "secret" not in repr(model)
    assert b"secret" not in pickle.dumps(model)
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    again = pickle.loads(pickle.dumps(model))
    assert (again.model, again.parameters) == ("fake", {"temperature": 1})
    assert again._connected().api_key == "other"


def test_arguments_that_are_not_allowed(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for arguments, refusal in (
        ({"model": "fake", "stream": True}, "stream is not a parameter"),
        ({"model": "fake", "messages": []}, "messages is not a parameter"),
        ({"model": "fake", "prices": (1,)}, "prices="),
        ({"model": "fake", "api_key": "none", "temprature": 0}, 'did you mean "temperature"'),
        ({"model": "fake"}, "the endpoint cannot be used"),
    ):
        with pytest.raises(starmine.StarmineError, match=refusal):
            Endpoint(**arguments)


PLAYERS = """
from starmine.text import ChatPlayer, Endpoint
model = ChatPlayer(Endpoint("fake", base_url="{url}", api_key="none"), concurrency=4, name="fake")
"""


def test_the_command_line_evaluates_a_model_and_resumes(tmp_path):
    def answer(request):
        return 200, completion(f"MOVE: {first_move(request)}", prompt_tokens=7, completion_tokens=1)

    with served(answer) as (url, requests):
        (tmp_path / "models.py").write_text(PLAYERS.format(url=url))
        command = [sys.executable, "-m", "starmine", "eval", "models.py:model", "iggi", "--variant", "mini"]
        command += ["--games", "4", "--quiet", "--no-figure", "--output", "found"]
        first = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        calls = len(requests)
        assert first.returncode == 0, first.stderr
        assert f"model: {calls:,} calls: {calls:,} move; prompt_tokens {7 * calls:,}" in first.stdout
        again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert again.returncode == 0, again.stderr
        assert len(requests) == calls
    assert first.stdout.splitlines()[:12] == again.stdout.splitlines()[:12]
