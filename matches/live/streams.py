"""A match as newline-delimited JSON: the same lines as REST, resumed with `after`.

A notice only wakes a stream; what it sends comes from the log, through the same
service and the same redaction as REST. A lost notice is healed by a look at the
log every second.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import msgspec
from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer
from django.conf import settings

from matches.domain.visibility import Line
from matches.services import accounts, matches, notices
from matches.services.errors import CODES, ServiceError

KEEP_ALIVE_S = 15.0
"""An empty line goes out after so long without an event."""
LOOK_S = 1.0
"""The log is looked at this often: a notice may be lost."""
LARGEST_SEQ = 2**31 - 1

Headers = list[tuple[bytes, bytes]]


class Health(AsyncHttpConsumer):
    """Whether this process answers."""

    async def handle(self, _body: bytes) -> None:
        """Say so."""
        await self.send_response(200, b'{"status":"ok"}', headers=_headers(b"application/json"))


class Nothing(AsyncHttpConsumer):
    """Whatever is not an address of this process."""

    async def handle(self, _body: bytes) -> None:
        """Refuse it like everything that may not be seen."""
        await _refuse(self, "not_found", 404, "There is nothing here.")


class MatchStream(AsyncHttpConsumer):
    """One viewer's lines of one match until it ends, as `application/x-ndjson`.

    `Authorization: Bearer` names the player; one without a seat is a spectator.
    `after` is the last line the client has (0: from the first on). The stream
    ends with the match's last line; an empty line means that it is alive.
    """

    open_streams = 0
    """Streams of this process; the event loop is its only thread."""

    _task: asyncio.Task[None] | None = None

    async def http_request(self, message: Mapping[str, Any]) -> None:
        """Begin once the request is read to its end; its body means nothing."""
        if not message.get("more_body") and self._task is None:
            self._task = asyncio.create_task(self._run())

    async def http_disconnect(self, _message: Mapping[str, Any]) -> None:
        """Stop sending to nobody."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        raise StopConsumer

    async def _run(self) -> None:
        cls = type(self)
        if cls.open_streams >= settings.XQMJ_LIVE_STREAMS:
            await _refuse(self, "too_many_requests", 429, "This process holds no more streams.")
            return
        cls.open_streams += 1
        try:
            await self._stream()
        except ServiceError as error:
            await _refuse(self, error.code, error.status, CODES[error.code].meaning)
        finally:
            cls.open_streams -= 1

    async def _stream(self) -> None:
        if self.scope["method"] != "GET":
            await _refuse(self, "method_not_allowed", 405, "A stream is only read.")
            return
        match_id = UUID(self.scope["url_route"]["kwargs"]["match_id"])
        after = _after(self.scope["query_string"])
        if after is None:
            await _refuse(self, "invalid_parameter", 400, "`after` is the number of a line.")
            return
        player = await asyncio.to_thread(_player, self.scope["headers"])
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(woken.set)

        with notices.watching(match_id, wake):
            await self._follow(match_id, player, after, woken)

    async def _follow(self, match_id: UUID, player: str, after: int, woken: asyncio.Event) -> None:
        found = await asyncio.to_thread(
            matches.events, match_id=match_id, player=player, after=after
        )
        await self.send_headers(headers=_headers(b"application/x-ndjson"))
        silent_s = KEEP_ALIVE_S  # so that the headers go out at once, with an empty line
        while True:
            if found.events:
                await self.send_body(_lines(found.events), more_body=True)
                silent_s = 0.0
            elif silent_s >= KEEP_ALIVE_S:
                await self.send_body(b"\n", more_body=True)
                silent_s = 0.0
            if found.entry.match.ended is not None:
                await self.send_body(b"")
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), LOOK_S)
            silent_s += 0.0 if woken.is_set() else LOOK_S
            woken.clear()
            found = await self._more(match_id, player, found)

    async def _more(self, match_id: UUID, player: str, found: matches.Events) -> matches.Events:
        try:
            return await asyncio.to_thread(
                matches.events, match_id=match_id, player=player, after=found.seq
            )
        except ServiceError:
            # Headers are out already: stay, and look again in a second.
            return msgspec.structs.replace(found, events=())


def _player(headers: Iterable[tuple[bytes, bytes]]) -> str:
    for name, value in headers:
        if name.lower() == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            if scheme.lower() == "bearer":
                return accounts.authenticate(token.strip()).id
    raise ServiceError("bad_token")


def _after(query: bytes) -> int | None:
    given = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("after", ["0"])
    text = given[-1]
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= LARGEST_SEQ):
        return None
    return int(text)


def _lines(events: Iterable[Line]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in events)


def _headers(content_type: bytes) -> Headers:
    return [
        (b"content-type", content_type),
        (b"cache-control", b"private, no-store"),
        (b"vary", b"Authorization"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-accel-buffering", b"no"),
    ]


async def _refuse(consumer: AsyncHttpConsumer, code: str, status: int, meaning: str) -> None:
    body = {"status": status, "code": code, "title": meaning}
    headers = _headers(b"application/problem+json")
    if status in {429, 503}:
        headers.append((b"retry-after", b"2"))
    await consumer.send_response(status, msgspec.json.encode(body), headers=headers)
