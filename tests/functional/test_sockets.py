"""What only a real server over real sockets shows: bodies that lie, drip, or never end."""

from __future__ import annotations

import json
import secrets
import socket
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.support import api
from tests.support.api import OverHttp, Player
from tests.support.servers import Servers
from tests.support.serving import Serving, serving


@pytest.fixture(scope="module")
def web(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """The web role as it runs in production, with one worker."""
    with serving(
        "web",
        servers=servers,
        folder=tmp_path_factory.mktemp("web"),
        health="/api/v1/health",
        WEB_WORKERS="1",
        WEB_THREADS="8",
    ) as found:
        yield found


@pytest.fixture(scope="module")
def seat(web: Serving) -> tuple[Player, str]:
    """A player with a token, and a match of its own."""
    address = f"http://127.0.0.1:{web.port}"
    ada, bob = (api.registered(OverHttp(address)) for _ in range(2))
    return ada, api.begun(ada, bob)


def head(token: str, path: str, *lines: str) -> bytes:
    """The beginning of a POST."""
    return "\r\n".join(
        [
            f"POST {path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {token}",
            f"Idempotency-Key: {secrets.token_hex(12)}",
            "Content-Type: application/json",
            *lines,
            "",
            "",
        ]
    ).encode()


def answered(port: int, *pieces: bytes, shut: bool = False, wait_s: float = 20) -> bytes:
    """Send the pieces one by one and read until the server has nothing more to say."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait_s) as connection:
        for piece in pieces:
            connection.sendall(piece)
        if shut:
            connection.shutdown(socket.SHUT_WR)
        connection.settimeout(wait_s)
        found = b""
        try:
            while b"\r\n\r\n" not in found or _missing(found):
                more = connection.recv(65_536)
                if not more:
                    break
                found += more
        except (TimeoutError, ConnectionResetError):
            pass
        return found


def _missing(found: bytes) -> bool:
    before, _, body = found.partition(b"\r\n\r\n")
    for line in before.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) < int(value)
    return False


def code_of(found: bytes) -> tuple[int, str]:
    """Status and code of the first answer; the rest of a cut body may have got another one."""
    status = int(found.split(b" ", 2)[1])
    body, _ = json.JSONDecoder().raw_decode(found.partition(b"\r\n\r\n")[2].decode())
    return status, body["code"]


@pytest.mark.django_db
class TestBody:
    def test_that_is_chunked_is_refused(self, web: Serving, seat: tuple[Player, str]) -> None:
        ada, match_id = seat
        start = head(
            ada.token or "", f"/api/v1/matches/{match_id}/act", "Transfer-Encoding: chunked"
        )
        body = b'1b\r\n{"action": {"type": "win"}}\r\n0\r\n\r\n'

        assert code_of(answered(web.port, start, body)) == (411, "length_required")

    def test_that_is_shorter_than_it_says_changes_nothing(
        self, web: Serving, seat: tuple[Player, str]
    ) -> None:
        ada, match_id = seat
        seq = ada.get(f"matches/{match_id}").json["seq"]
        start = head(ada.token or "", f"/api/v1/matches/{match_id}/resign", "Content-Length: 500")

        found = answered(web.port, start, b"{}", shut=True, wait_s=5)

        assert not found.startswith(b"HTTP/1.1 2")
        assert b" 500 " not in found.split(b"\r\n")[0]
        assert ada.get(f"matches/{match_id}").json["seq"] == seq

    def test_that_is_longer_than_it_says_is_cut(
        self, web: Serving, seat: tuple[Player, str]
    ) -> None:
        ada, match_id = seat
        start = head(ada.token or "", f"/api/v1/matches/{match_id}/act", "Content-Length: 9")

        found = answered(web.port, start, b'{"action": {"type": "win"}}')

        assert code_of(found) == (400, "malformed_json")

    def test_that_says_it_is_huge_is_refused_before_it_comes(
        self, web: Serving, seat: tuple[Player, str]
    ) -> None:
        ada, match_id = seat
        length = "Content-Length: 10000000000"
        start = head(ada.token or "", f"/api/v1/matches/{match_id}/act", length)

        found = answered(web.port, start, wait_s=5)

        assert code_of(found) == (413, "body_too_large")

    def test_of_ten_megabytes_fifty_times_costs_no_memory(
        self, web: Serving, seat: tuple[Player, str]
    ) -> None:
        ada, match_id = seat
        piece = b" " * 1_000_000
        path = f"/api/v1/matches/{match_id}/act"
        answered(web.port, head(ada.token or "", path, "Content-Length: 10000000"))
        before = _memory(web.pid)

        for _ in range(50):
            start = head(ada.token or "", path, "Content-Length: 10000000")
            try:
                found = answered(web.port, start, *[piece] * 10, wait_s=5)
            except (BrokenPipeError, ConnectionResetError):
                continue  # the server has answered and hung up while we were still sending
            assert not found or code_of(found) == (413, "body_too_large")

        assert _memory(web.pid) - before < 20_000_000
        assert ada.get("me").status == 200

    def test_that_drips_holds_up_nobody_else(self, web: Serving, seat: tuple[Player, str]) -> None:
        ada, match_id = seat
        start = head(ada.token or "", f"/api/v1/matches/{match_id}/act", "Content-Length: 27")
        dripping = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(50)]
        try:
            for connection in dripping:
                connection.sendall(start[:60])
            began = time.monotonic()
            statuses = {ada.get("me").status for _ in range(20)}
            took_s = time.monotonic() - began
        finally:
            for connection in dripping:
                connection.close()

        assert statuses == {200}
        assert took_s < 10


@pytest.mark.django_db
class TestLine:
    @pytest.mark.parametrize(
        "raw",
        [
            b"GET /api/v1/me HTTP/1.1\r\n\r\n",
            b"GET /api/v1/me\r\n\r\n",
            b"GARBAGE\r\n\r\n",
            b"GET /api/v1/me HTTP/9.9\r\nHost: localhost\r\n\r\n",
            b"GET /api/v1/m\0e HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n",
            b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: b\r\n" * 300 + b"\r\n",
            b"GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
            b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            b"POST /api/v1/me HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        ],
    )
    def test_that_no_client_writes_is_refused_or_hung_up_on(
        self, web: Serving, seat: tuple[Player, str], raw: bytes
    ) -> None:
        found = answered(web.port, raw, shut=True, wait_s=5)

        assert not found or int(found.split(b" ", 2)[1]) in {400, 401, 414, 431, 505}
        assert seat[0].get("me").status == 200


def _memory(pid: int) -> int:
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return sum(int(one.memory_info().rss) for one in family)
