"""The example script plays at a local server of chat completions and writes the moves of the model."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from chat_models import first_move

import starmine

pytest.importorskip("openai")
language_model = pytest.importorskip("language_model")


def completion(text, reason):
    message = {"role": "assistant", "content": text}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 9, "total_tokens": 709},
    }


@contextmanager
def served(answer):
    """The URL of a server that answers chat messages with a text and the reason why it ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = json.dumps(completion(*answer(request["messages"]))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("partner", [None, "iggi"])
def test_a_model_plays_and_its_moves_are_written(tmp_path, monkeypatch, capsys, partner):
    def answer(messages):
        number = sum(map(ord, messages[-1]["content"])) % 8
        return ("Hello." if number == 0 else first_move(messages)), ("length" if number == 1 else "stop")

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with served(answer) as url:
        args = language_model.Args("fake", base_url=url, partner=partner, variant="mini", games=4, out=tmp_path)
        language_model.main(args)
    told = rows(tmp_path / "transcript.jsonl")
    assert {row["outcome"] for row in told} == {"move", "unreadable"}
    assert {row["seat"] for row in told} == ({0, 1} if partner is None else {0})
    found = rows(tmp_path / "examples.jsonl")
    named = [row for row in told if row["outcome"] == "move"]
    assert [(row["game"], row["turn"], row["seat"]) for row in found] == [
        (row["game"], row["turn"], row["seat"]) for row in named
    ]
    for row, said in zip(found, named, strict=True):
        assert row["messages"] == [*said["messages"], {"role": "assistant", "content": said["reply"]}]
        assert 0 <= row["score"] <= starmine.variant("mini").max_score
    assert f"{700 * len(told)} tokens of prompts" in capsys.readouterr().out
