"""The live role without a socket: streams to listen to, and a transport that reads one whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from asgiref.testing import ApplicationCommunicator

from matches.live import routing
from tests.support.api import Answer


class Stream:
    """A client of the live process."""

    def __init__(
        self, path: str, *, method: str = "GET", headers: Mapping[str, str] | None = None
    ) -> None:
        path, _, query = path.partition("?")
        given = [(name.lower().encode(), text.encode()) for name, text in (headers or {}).items()]
        self._scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": given,
        }
        self._talk = ApplicationCommunicator(routing.application, self._scope)
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.over = False
        self._buffer = b""

    async def open(self, *, sent: bytes = b"", more: bool = False) -> Stream:
        """Ask, with what has come of a body so far."""
        await self._talk.send_input({"type": "http.request", "body": sent, "more_body": more})
        begun = await self._talk.receive_output(5)
        self.status, self.headers = begun["status"], dict(begun["headers"])
        return self

    async def lines(self, count: int) -> list[dict[str, Any]]:
        """The next `count` lines, keep-alives left out."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            line = await self._line()
            if line:
                found.append(json.loads(line))
        return found

    async def rest(self) -> bytes:
        """Everything until the stream ends."""
        while not self.over:
            await self._read()
        return self._buffer

    async def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            await self._read()
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    async def _read(self) -> None:
        message = await self._talk.receive_output(5)
        assert message["type"] == "http.response.body"
        self._buffer += message.get("body", b"")
        self.over = not message.get("more_body", False)

    async def close(self) -> None:
        await self._talk.send_input({"type": "http.disconnect"})
        await self._talk.wait(5)


class Frames:
    """A WebSocket of the live process."""

    def __init__(self, path: str, headers: Mapping[str, str]) -> None:
        path, _, query = path.partition("?")
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
            "subprotocols": [],
        }
        self._talk = ApplicationCommunicator(routing.application, scope)

    async def open(self) -> Frames:
        await self._talk.send_input({"type": "websocket.connect"})
        begun = await self._talk.receive_output(5)
        assert begun["type"] == "websocket.accept"
        return self

    async def send(self, text: str) -> None:
        await self._talk.send_input({"type": "websocket.receive", "text": text})

    async def line(self) -> Any:
        """The next line, or the close code."""
        while True:
            message = await self._talk.receive_output(5)
            if message["type"] == "websocket.close":
                return message["code"]
            if message["text"]:
                return json.loads(message["text"])

    async def close(self) -> None:
        await self._talk.send_input({"type": "websocket.disconnect"})
        await self._talk.wait(5)


class Live:
    """A transport to the live process, for streams that end."""

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,  # noqa: ARG002 - a stream's request has none
    ) -> Answer:
        return asyncio.run(_read(Stream(path, method=method, headers=headers)))


async def _read(stream: Stream) -> Answer:
    await stream.open()
    raw = await stream.rest()
    await stream.close()
    found = {name.decode().lower(): value.decode() for name, value in stream.headers.items()}
    return Answer(stream.status, found, raw)


def to_match(
    match_id: str, *, token: str | None = None, query: str = "", address: str = ""
) -> Stream:
    """A stream of a match, asked for from an address."""
    headers = {"X-Forwarded-For": address}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return Stream(f"/live/v1/matches/{match_id}/events?{query}", headers=headers)
