"""A match as newline-delimited JSON: the same lines as REST, resumed with `after`.

A notice only wakes a stream; what it sends comes from the log, through the same
service and the same redaction as REST. A lost notice is healed by a look at the
log every second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer
from django.conf import settings

from matches.domain.visibility import Line
from matches.services import accounts, matches, notices, wire
from matches.services.errors import ServiceError
from matches.services.problems import CONTENT_TYPE, body_of
from matches.services.throttling import throttle
from matches.services.viewers import viewer_of

LOG = logging.getLogger("xqmj.live")

KEEP_ALIVE_S = 15.0
"""An empty line goes out after so long without an event."""
LOOK_S = 1.0
"""The log is looked at this often: a notice may be lost."""
LARGEST_SEQ = 1_000_000
RETRY_AFTER_S = 2
"""When somebody who found all places taken may look again."""

_NUMBER = re.compile(r"0|[1-9][0-9]{0,6}", re.ASCII)
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


class MatchStream(AsyncHttpConsumer):
    """One viewer's lines of one match until it ends, as `application/x-ndjson`.

    `Authorization: Bearer` names the player; one without a seat is a spectator.
    `after` is the last line the client has (0: from the first on). The stream
    ends with the match's last line, or when the token is no longer good; an
    empty line means that it is alive.
    """

    open_streams: ClassVar[Counter[str]] = Counter()
    """Streams of this process by player; the event loop is its only thread."""

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
        after = _after(self.scope["query_string"])
        player, token = await asyncio.to_thread(_admitted, self.scope)
        match_id = UUID(self.scope["url_route"]["kwargs"]["match_id"])
        with self._place(player):
            await self._stream(match_id, player, after, token)

    @contextlib.contextmanager
    def _place(self, player: str) -> Iterator[None]:
        """Count the stream while it is open, or refuse it where there are too many."""
        streams = self.open_streams
        if (
            streams.total() >= settings.XQMJ_LIVE_STREAMS
            or streams[player] >= settings.XQMJ_LIVE_STREAMS_A_PLAYER
        ):
            raise ServiceError("too_many_requests", retry_after_s=RETRY_AFTER_S)
        streams[player] += 1
        try:
            yield
        finally:
            streams[player] -= 1
            if not streams[player]:
                del streams[player]

    async def _stream(self, match_id: UUID, player: str, after: int, token: str) -> None:
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wake() -> None:
            loop.call_soon_threadsafe(woken.set)

        with notices.watching(match_id, wake):
            found = await _events(match_id, player, after, token)
            seq = found.entry.seq(viewer_of(found.entry.match, player))
            if after > seq:
                raise ServiceError("seq_ahead", {"seq": seq})
            self._has_begun = True
            await self.send_headers(headers=_headers(b"application/x-ndjson"))
            await self._follow(found, player, token, woken)

    async def _follow(
        self, found: matches.Events, player: str, token: str, woken: asyncio.Event
    ) -> None:
        """Send what there is, then what comes.

        Its own looks and its empty lines keep their beat whatever wakes it between
        them: else a pass that only the other seat knows of would move them.
        """
        began_s = sent_s = time.monotonic()
        await self.send_body(_lines(found.events) or b"\n", more_body=True)
        while found.entry.match.ended is None:
            look_s = LOOK_S - (time.monotonic() - began_s) % LOOK_S
            own_look = not await _told(woken, look_s)
            now_s = time.monotonic()
            try:
                found = await _events(found.entry.match_id, player, found.seq, token)
            except ServiceError as error:
                if error.code == "bad_token":
                    break
                # Headers are out already: what fails now is looked at again in a second.
            else:
                if found.events:
                    sent_s = now_s
                    await self.send_body(_lines(found.events), more_body=True)
            if own_look and now_s - sent_s >= KEEP_ALIVE_S:
                sent_s = now_s
                await self.send_body(b"\n", more_body=True)
        await self.send_body(b"")


async def _told(woken: asyncio.Event, within_s: float) -> bool:
    """Whether a notice came within the time."""
    try:
        await asyncio.wait_for(woken.wait(), within_s)
    except TimeoutError:
        return False
    woken.clear()
    return True


async def _events(match_id: UUID, player: str, after: int, token: str) -> matches.Events:
    return await asyncio.to_thread(_looked, match_id, player, after, token)


def _looked(match_id: UUID, player: str, after: int, token: str) -> matches.Events:
    """What there is after a line, for a token that is still good."""
    accounts.authenticate(token)
    return matches.events(match_id=match_id, player=player, after=after)


def _admitted(scope: Mapping[str, Any]) -> tuple[str, str]:
    """Who opens a stream and by which token, counted by address and by player."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    peer, _ = scope.get("client") or ("", 0)
    address = wire.address_of(peer, headers.get(b"x-forwarded-for", ""))
    throttle.spend("connect", address or "unknown")
    token = wire.token_of(headers.get(b"authorization", ""))
    if token is None:
        raise ServiceError("not_authenticated")
    player = accounts.authenticate(token).id
    throttle.spend("connect", player)
    return player, token


def _after(query: bytes) -> int:
    """The one parameter that there is, read as REST reads it."""
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    if any(name != "after" for name, _ in given):
        raise ServiceError("unknown_parameter")
    text, *more = [text for _, text in given] or ["0"]
    if more or not _NUMBER.fullmatch(text) or int(text) > LARGEST_SEQ:
        raise ServiceError("invalid_parameter")
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
