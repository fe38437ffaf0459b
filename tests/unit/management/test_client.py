from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from matches.management.client import Client, Refused, Unreachable


class Script:
    """A server that does what a test wrote down, one entry a request, the last one for ever.

    An entry is (status, headers, body); None cuts the connection.
    """

    def __init__(self, *answers: tuple[int, dict[str, str], bytes] | None) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []

    def next(self) -> tuple[int, dict[str, str], bytes] | None:
        """What comes next."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self.script.requests.append(
            {
                "method": self.command,
                "path": self.path,
                "key": self.headers.get("Idempotency-Key"),
                "token": self.headers.get("Authorization"),
                "body": self.rfile.read(length),
            }
        )
        answer = self.script.next()
        if answer is None:
            self.close_connection = True
            return
        status, headers, body = answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


def ok(value: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, json.dumps(value).encode()


def problem(status: int, code: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return status, headers, json.dumps({"code": code, "detail": "because"}).encode()


class Server:
    """A running server of one script."""

    def __init__(self) -> None:
        class Scripted(Handler):
            """The handler of this server alone."""

        self._handler = Scripted
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def plays(self, *answers: tuple[int, dict[str, str], bytes] | None) -> Script:
        """Answer by this script from now on."""
        self._handler.script = Script(*answers)
        return self._handler.script

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.stop()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    found = Client(server.url, patience_s=5)
    yield found
    found.close()


class TestRequest:
    def test_brings_the_decoded_answer(self, server: Server, client: Client) -> None:
        script = server.plays(ok({"seq": 3}))

        assert client.get("/events", after=2, wait=25) == {"seq": 3}
        assert script.requests[0]["path"] == "/events?after=2&wait=25"

    def test_carries_the_token(self, server: Server, client: Client) -> None:
        script = server.plays(ok({}))
        client.token = "t-1"

        client.get("/me")

        assert script.requests[0]["token"] == "Bearer t-1"

    def test_is_refused_with_the_servers_code(self, server: Server, client: Client) -> None:
        server.plays(problem(409, "not_your_turn"))

        with pytest.raises(Refused, match="not_your_turn") as refused:
            client.post("/act", {})

        assert (refused.value.status, refused.value.code) == (409, "not_your_turn")

    @pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"code": 1}', b"\xff"])
    def test_that_is_refused_without_a_problem_has_a_code_all_the_same(
        self, server: Server, client: Client, body: bytes
    ) -> None:
        server.plays((404, {}, body))

        with pytest.raises(Refused) as refused:
            client.get("/nothing")

        assert refused.value.code == "http_404"


class TestWriteInTrouble:
    def test_is_repeated_under_its_first_key(self, server: Server, client: Client) -> None:
        script = server.plays(
            None, problem(503, "unavailable"), problem(500, "internal_error"), ok({"seq": 1})
        )

        assert client.post("/act", {"action": 1}) == {"seq": 1}

        assert len(script.requests) == 4
        assert {request["key"] for request in script.requests} == {script.requests[0]["key"]}
        assert {request["body"] for request in script.requests} == {b'{"action":1}'}

    def test_has_another_key_than_the_next_write(self, server: Server, client: Client) -> None:
        script = server.plays(ok({}))

        client.post("/act", {})
        client.post("/act", {})

        assert script.requests[0]["key"] != script.requests[1]["key"]

    def test_waits_for_as_long_as_the_server_asks(self, server: Server, client: Client) -> None:
        server.plays(problem(429, "too_many_requests", **{"Retry-After": "1"}), ok({}))
        began_s = time.monotonic()

        client.post("/act", {})

        assert time.monotonic() - began_s >= 1

    def test_tells_what_is_wrong_and_when_it_is_over(self, server: Server) -> None:
        told: list[str] = []
        client = Client(server.url, patience_s=5, on_trouble=told.append)
        server.plays(problem(503, "unavailable"), None, ok({}))

        client.get("/me")
        client.close()

        assert told == ["unavailable (503): because", "RemoteDisconnected", ""]


class TestServerThatIsGone:
    def test_is_given_up_after_the_clients_patience(self) -> None:
        client = Client("http://127.0.0.1:1", patience_s=0.3)
        began_s = time.monotonic()

        with pytest.raises(Unreachable, match="ConnectionRefusedError"):
            client.get("/me")

        assert time.monotonic() - began_s < 20

    @pytest.mark.parametrize("url", ["", "ftp://x", "127.0.0.1:8000", "http://"])
    def test_without_an_address_is_refused_at_once(self, url: str) -> None:
        with pytest.raises(ValueError, match="not the address"):
            Client(url)
