"""Streams of newline-delimited JSON: of a match the same lines as REST, resumed with `after`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import msgspec
from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer

from matches.live import asking, following, kinds
from matches.live.places import place
from matches.services import wire
from matches.services.errors import ServiceError
from matches.services.problems import CONTENT_TYPE, body_of

LOG = logging.getLogger("xqmj.live")

_CHALLENGED = frozenset({"not_authenticated", "bad_token"})

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
        await _refuse(self, ServiceError("not_found"))


class Chunked(AsyncHttpConsumer):
    """Whatever comes with a chunked body."""

    async def handle(self, _body: bytes) -> None:
        """Refuse it as REST does."""
        await _refuse(self, ServiceError("length_required"))


class LineStream(AsyncHttpConsumer):
    """Lines as `application/x-ndjson` until they end, or the token is no longer good.

    `Authorization: Bearer` names the player. An empty line means that the
    stream is alive.
    """

    _task: asyncio.Task[None] | None = None
    _has_begun = False

    async def http_request(self, _message: Mapping[str, Any]) -> None:
        """Begin; of a request that is served here there is one message."""
        self._task = asyncio.create_task(self._run())

    async def http_disconnect(self, _message: Mapping[str, Any]) -> None:
        """Stop sending to nobody."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        raise StopConsumer

    async def _run(self) -> None:
        try:
            await self._asked()
        except ServiceError as refused:
            await self._break_off(refused)
        except Exception:
            LOG.exception("a stream failed")
            await self._break_off(ServiceError("internal_error"))

    async def _break_off(self, error: ServiceError) -> None:
        """Refuse the stream; where it has begun already, end it."""
        if self._has_begun:
            await self.send_body(b"")
        else:
            await _refuse(self, error)

    async def _asked(self) -> None:
        if self.scope["method"] != "GET":
            raise ServiceError("method_not_allowed")
        await self._streamed()
        await self.send_body(b"")

    async def _streamed(self) -> None:
        """Send what there is to send."""
        raise NotImplementedError

    async def _tell(self, lines: tuple[msgspec.Struct, ...]) -> None:
        if not self._has_begun:
            self._has_begun = True
            await self.send_headers(headers=_headers(b"application/x-ndjson"))
        await self.send_body(_lines(lines) or b"\n", more_body=True)


class MatchStream(LineStream):
    """One viewer's lines of one match until it ends.

    A player without a seat is a spectator. `after` is the last line the client
    has (0: from the first on).
    """

    async def _streamed(self) -> None:
        after = asking.after(self.scope) or 0
        asker = await asyncio.to_thread(asking.admitted, self.scope)
        match_id = UUID(self.scope["url_route"]["kwargs"]["match_id"])
        with place(asker.player), following.woken_by(match_id) as woken:
            found = await following.begin(match_id, asker, after)
            await self._tell(found.events)
            await following.follow(found, asker, woken, self._tell)


class BoardStream(LineStream):
    """A board: all things of it, then what changes."""

    async def _streamed(self) -> None:
        asking.no_query(self.scope)
        asker = await asyncio.to_thread(asking.admitted, self.scope)
        with place(asker.player):
            await self._follow(asker)

    async def _follow(self, asker: asking.Asker) -> None:
        raise NotImplementedError


class MyStream(BoardStream):
    """What concerns the player."""

    async def _follow(self, asker: asking.Asker) -> None:
        await kinds.personal.follow(asker, asker.player, self._tell)


class LobbyStream(BoardStream):
    """The open seeks."""

    async def _follow(self, asker: asking.Asker) -> None:
        await kinds.lobby.follow(asker, kinds.LOBBY, self._tell)


def _lines(events: Iterable[msgspec.Struct]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in events)


def _headers(content_type: bytes) -> Headers:
    return [
        (b"content-type", content_type),
        (b"cache-control", b"private, no-store"),
        (b"vary", b"Authorization"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-accel-buffering", b"no"),
    ]


async def _refuse(consumer: AsyncHttpConsumer, error: ServiceError) -> None:
    """Answer the problem that REST would."""
    body = body_of(error.code, facts=error.detail)
    headers = _headers(CONTENT_TYPE.encode())
    if error.retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % error.retry_after_s))
    if error.code in _CHALLENGED:
        headers.append((b"www-authenticate", wire.SCHEME.encode()))
    if error.code == "method_not_allowed":
        headers.append((b"allow", b"GET"))
    await consumer.send_response(body.status, msgspec.json.encode(body), headers=headers)
