"""Clients of the API, and of the raw application beside it, over connections that stay open.

Lines: `api <port> <threads> <seconds>` and `raw <port> <threads> <seconds>` for load, `move <port>`
and `look <port>` for one move in every match, or a look at it by both seats. The argument is how
many matches to deal first.
"""

from __future__ import annotations

import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Any
from uuid import UUID, uuid4

import django

CONNECTIONS = 4
"""Of each client, used in turn: so both processes of a server get their share of them."""
ACCOUNTS = 400
"""Enough that nobody is throttled."""
SETTING_UP = 4


class Connection:
    """HTTP/1.1 over one socket, without anything that a client need not do."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(
        self, path: str, headers: str, body: bytes, *, method: str = "POST"
    ) -> tuple[int, bytes]:
        """Status and body of the answer."""
        self._socket.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{headers}\r\n".encode()
            + body
        )
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._more()
        head = received[:end].lower()
        at = head.index(b"content-length:") + 15
        size = int(head[at:].split(b"\r\n", 1)[0])
        while len(received) < end + 4 + size:
            received += self._more()
        return int(head[9:12]), received[end + 4 :]

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _more(self) -> bytes:
        more = self._socket.recv(65536)
        if not more:
            raise ConnectionError("the server closed the connection")
        return more


class RawMatch:
    """A match of the raw application: only its version is known."""

    def __init__(self, match_id: UUID) -> None:
        self.path = f"/{match_id}"
        self.version = 1


class Clients:
    """The matches, and what the two kinds of client do with them."""

    def __init__(self, count: int) -> None:
        from matches.services import accounts, heartbeat
        from tests.bench import rings

        sessions = [accounts.guest() for _ in range(min(ACCOUNTS, 2 * count))]
        self._tokens = {session.identity.id: session.token for session in sessions}
        people = [session.identity for session in sessions]
        pairs = list(zip(people[::2], people[1::2], strict=True))
        with ThreadPoolExecutor(SETTING_UP) as threads:
            self._ring = deque(threads.map(rings.dealt, islice(cycle(pairs), count)))
        self._raw = deque(self._raw_matches(count))
        # From here on this is a client and no server.
        heartbeat.stop()

    def answer(self, kind: str, port: str, *load: str) -> dict[str, Any]:
        """Do what the line says."""
        if load:
            return self._load(self._act if kind == "api" else self._append, int(port), *load)
        once = self._act if kind == "move" else self._look
        connection, count = Connection(int(port)), len(self._ring)
        for _ in range(count):
            once(connection)
        connection.close()
        return {"matches": count, "left": len(self._ring)}

    def _load(
        self, once: Callable[[Connection], None], port: int, count: str, seconds: str
    ) -> dict[str, Any]:
        """Run so many clients for so long; requests a second, and what each took."""
        end = time.monotonic() + float(seconds)
        with ThreadPoolExecutor(int(count)) as threads:
            done = list(threads.map(lambda _: _run(port, once, end), range(int(count))))
        took = [one for _, times in done for one in times]
        return {"rate": sum(rate for rate, _ in done), "took_s": took, "left": len(self._ring)}

    def _act(self, connection: Connection) -> None:
        from msgspec.json import encode

        match = self._ring.popleft()
        step = match.next()
        if step is None:
            return
        seat, action = step
        token = self._tokens[match.players[seat]]
        status, body = connection.send(
            f"/api/v1/matches/{match.match_id.hex}/act",
            f"Authorization: Bearer {token}\r\nIdempotency-Key: {uuid4().hex}\r\n",
            encode({"action": action}),
        )
        if status != 200:
            raise RuntimeError(f"{status}: {body.decode()}")
        match.done(action)
        self._ring.append(match)

    def _look(self, connection: Connection) -> None:
        match = self._ring.popleft()
        for player in match.players:
            token = f"Authorization: Bearer {self._tokens[player]}\r\n"
            path = f"/api/v1/matches/{match.match_id.hex}"
            status, body = connection.send(path, token, b"", method="GET")
            if status != 200:
                raise RuntimeError(f"{status}: {body.decode()}")
        self._ring.append(match)

    def _append(self, connection: Connection) -> None:
        from tests.bench.pgbench import DRAW_AND_DISCARD

        match, command_id = self._raw.popleft(), uuid4()
        status, body = connection.send(
            f"{match.path}/{match.version}/{command_id}",
            "",
            (DRAW_AND_DISCARD % command_id).encode(),
        )
        if status != 200 or b'"ok"' not in body:
            raise RuntimeError(f"{status}: {body.decode()}")
        match.version += 2
        self._raw.append(match)

    @staticmethod
    def _raw_matches(count: int) -> list[RawMatch]:
        """As many, so that PostgreSQL has as many pages in hand."""
        import psycopg
        from django.conf import settings

        from tests.bench import pgbench

        made = [RawMatch(uuid4()) for _ in range(count)]
        with psycopg.connect(settings.DATABASE_URL, autocommit=True) as connection:
            for match in made:
                pgbench.create(connection, match.path[1:])
        return made


def _run(port: int, once: Callable[[Connection], None], end: float) -> tuple[float, list[float]]:
    connections = [Connection(port) for _ in range(CONNECTIONS)]
    took: list[float] = []
    started = begun = time.monotonic()
    while begun < end:
        once(connections[len(took) % CONNECTIONS])
        ended = time.monotonic()
        took.append(ended - begun)
        begun = ended
    for connection in connections:
        connection.close()
    return len(took) / (begun - started), took


def main() -> None:
    """Deal, then run as often as asked."""
    django.setup()
    from tests.bench import programs

    clients = Clients(int(sys.argv[1]))
    programs.serve(clients.answer)


if __name__ == "__main__":
    main()
