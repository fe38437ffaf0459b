"""Players with a socket each, who command over REST and over their sockets, and clients who idle.

Lines: `play <web port> <live port> <seconds>`, `idle <live port> <sockets>` and `close`. The
arguments are how many matches to deal first and how many sockets one player may have.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import django
import msgspec
from websockets.asyncio.client import ClientConnection, connect

if TYPE_CHECKING:
    from tests.bench.rings import Ring

PACE_S = 2.0
"""One command at each table in so long."""
DEALING = 4
IDLE_S = 5.0
"""A connection that was idle for longer is not used again: the server may be closing it."""
OPENING = 50
"""Sockets that are opened at a time."""


class Web:
    """REST over connections that stay open, one for each command under way."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def act(self, match_id: str, token: str, body: bytes) -> int:
        """The status of a command."""
        reader, writer = await self._connection()
        writer.write(
            f"POST /api/v1/matches/{match_id}/act HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Authorization: Bearer {token}\r\nIdempotency-Key: {uuid4().hex}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        at = head.index(b"content-length:") + 15
        await reader.readexactly(int(head[at:].split(b"\r\n", 1)[0]))
        self._free.append((time.monotonic(), reader, writer))
        status: bytes = head[9:12]
        return int(status)

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._free:
            used_s, reader, writer = self._free.pop()
            if time.monotonic() - used_s < IDLE_S:
                return reader, writer
            writer.close()
        return await asyncio.open_connection("127.0.0.1", self._port)

    def close(self) -> None:
        """Close them."""
        for _, _, writer in self._free:
            writer.close()


class Seat:
    """One player's socket: what it was told, and when."""

    def __init__(self, socket: ClientConnection, match_id: str, seat: int) -> None:
        self._socket = socket
        self._answers: dict[str, asyncio.Future[int]] = {}
        self.match_id = match_id
        self.seat = seat
        self.heard: list[tuple[str, int, float]] = []
        self.reading = asyncio.create_task(self._read())

    async def act(self, action: Any) -> int:
        """The status that a command over the socket has: 200, or that of its problem."""
        name = uuid4().hex
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._answers[name] = answer
        await self._socket.send(
            json.dumps({"id": name, "command": "act", "body": {"action": action}})
        )
        return await answer

    async def close(self) -> None:
        """Hang up."""
        self.reading.cancel()
        await self._socket.close()

    async def _read(self) -> None:
        async for text in self._socket:
            now_ms = time.time() * 1000
            if not text:
                continue
            line = json.loads(text)
            if "id" in line:
                status = line["problem"]["status"] if "problem" in line else 200
                self._answers.pop(line["id"]).set_result(status)
            elif line.get("kind") == "xqmj.tile_discarded" and line["actor"] != self.seat:
                self.heard.append((self.match_id, line["at_ms"], now_ms))


class Clients:
    """The matches and their players."""

    def __init__(self, count: int, sockets_a_player: int) -> None:
        from matches.services import accounts, heartbeat
        from tests.bench import rings

        people = [accounts.guest() for _ in range(2 * count)]
        self._tokens = {one.identity.id: one.token for one in people}
        sat = [one.identity for one in people]
        with ThreadPoolExecutor(DEALING) as threads:
            self._rings = list(threads.map(rings.dealt, zip(sat[::2], sat[1::2], strict=True)))
        self._sockets_a_player = sockets_a_player
        self._loop = asyncio.new_event_loop()
        self._idle: list[ClientConnection] = []
        self._status: Counter[int] = Counter()
        self._took: dict[str, list[float]] = {"rest": [], "socket": []}
        # From here on these are clients and no server.
        heartbeat.stop()

    def answer(self, what: str, *words: str) -> Any:
        """Do what the line says."""
        if what == "play":
            return self._loop.run_until_complete(self._play(*map(float, words)))
        if what == "idle":
            return self._loop.run_until_complete(self._open_idle(*map(int, words)))
        return self._loop.run_until_complete(self._close_idle())

    async def _play(self, web_port: float, live_port: float, seconds: float) -> dict[str, Any]:
        self._status.clear()
        self._took = {"rest": [], "socket": []}
        web, busy = Web(int(web_port)), asyncio.Semaphore(OPENING)
        tables = await asyncio.gather(
            *(self._sit(ring, int(live_port), busy) for ring in self._rings)
        )
        end = time.monotonic() + seconds
        began_ms = time.time() * 1000
        await asyncio.gather(
            *(
                self._table(ring, seats, web, end)
                for ring, seats in zip(self._rings, tables, strict=True)
            )
        )
        # What was commanded last is still on its way.
        await asyncio.sleep(1)
        seats = [seat for table in tables for seat in table]
        await asyncio.gather(*(seat.close() for seat in seats))
        web.close()
        return {
            "status": {str(status): count for status, count in self._status.items()},
            "took_s": self._took,
            "heard": [line for seat in seats for line in seat.heard],
            "from_ms": began_ms,
        }

    async def _sit(self, ring: Ring, port: int, busy: asyncio.Semaphore) -> list[Seat]:
        seats = []
        for number, player in enumerate(ring.players):
            async with busy:
                socket = await _opened(port, ring.match_id.hex, self._tokens[player], after=0)
            seats.append(Seat(socket, ring.match_id.hex, number))
        return seats

    async def _table(self, ring: Ring, seats: list[Seat], web: Web, end_s: float) -> None:
        chance = random.Random(ring.match_id.int)
        at_s = time.monotonic() + chance.uniform(0, PACE_S)
        while at_s < end_s:
            await asyncio.sleep(max(0.0, at_s - time.monotonic()))
            step = ring.next()
            if step is None:
                return
            await self._command(ring, step, seats, web)
            ring.done(step[1])
            at_s = max(at_s + PACE_S, time.monotonic())

    async def _command(self, ring: Ring, step: Any, seats: list[Seat], web: Web) -> None:
        """Seat 0 commands over REST, seat 1 over its socket."""
        seat, action = step
        way = "socket" if seat else "rest"
        begun_s = time.monotonic()
        if seat:
            status = await seats[1].act(msgspec.to_builtins(action))
        else:
            body = msgspec.json.encode({"action": action})
            status = await web.act(ring.match_id.hex, self._tokens[ring.players[0]], body)
        self._took[way].append(time.monotonic() - begun_s)
        self._status[status] += 1

    async def _open_idle(self, port: int, count: int) -> dict[str, int]:
        busy = asyncio.Semaphore(OPENING)
        places = islice(
            (
                (ring.match_id.hex, self._tokens[player])
                for _ in range(self._sockets_a_player)
                for ring in self._rings
                for player in ring.players
            ),
            count,
        )

        async def open_one(match_id: str, token: str) -> ClientConnection:
            async with busy:
                return await _opened(port, match_id, token, after=None)

        self._idle += await asyncio.gather(*(open_one(*place) for place in places))
        return {"open": len(self._idle)}

    async def _close_idle(self) -> dict[str, int]:
        idle, self._idle = self._idle, []
        await asyncio.gather(*(one.close() for one in idle))
        return {"closed": len(idle)}


async def _opened(port: int, match_id: str, token: str, *, after: int | None) -> ClientConnection:
    query = "" if after is None else f"?after={after}"
    return await connect(
        f"ws://127.0.0.1:{port}/live/v1/matches/{match_id}/events{query}",
        additional_headers={"Authorization": f"Bearer {token}"},
        proxy=None,
        max_size=None,
        ping_interval=None,
        compression=None,
        open_timeout=60,
    )


def main() -> None:
    """Deal, then run as often as asked."""
    django.setup()
    from tests.bench import programs

    clients = Clients(int(sys.argv[1]), int(sys.argv[2]))
    programs.serve(clients.answer)


if __name__ == "__main__":
    main()
