"""The NDJSON stream of a match: the same lines as REST, resumed, woken, and ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis
from asgiref.testing import ApplicationCommunicator
from knox.models import AuthToken

from matches.live import routing, streams
from matches.live.streams import MatchStream
from matches.services import tokens
from matches.services.throttling import Throttle
from tests.support.api import InProcess, Player, begun, guest, registered

pytestmark = pytest.mark.django_db


def _revoke_elsewhere(token: str) -> None:
    AuthToken.objects.filter(digest=tokens.digest_of(token)).delete()


def _begun() -> tuple[str, Player, Player]:
    one, two = registered(InProcess()), registered(InProcess())
    return begun(one, two), one, two


class Stream:
    """A client of the live process, without a socket."""

    def __init__(
        self, match_id: str, *, token: str | None = None, query: str = "", address: str = ""
    ) -> None:
        headers = [(b"x-forwarded-for", address.encode())]
        if token is not None:
            headers.append((b"authorization", f"Bearer {token}".encode()))
        path = f"/live/v1/matches/{match_id}/events"
        self._scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": query.encode(),
            "headers": headers,
        }
        self._talk = ApplicationCommunicator(routing.application, self._scope)
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.over = False
        self._buffer = b""

    async def open(self) -> Stream:
        await self._talk.send_input({"type": "http.request", "body": b"", "more_body": False})
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
        self._buffer += message.get("body", b"")
        self.over = not message.get("more_body", False)

    async def close(self) -> None:
        await self._talk.send_input({"type": "http.disconnect"})
        await self._talk.wait(5)


@pytest.fixture
def connects(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams a minute, of which none has been opened yet."""
    settings.XQMJ_THROTTLES = {**settings.XQMJ_THROTTLES, "connect": "2/60"}
    settings.XQMJ_NUM_PROXIES = 1
    monkeypatch.setattr(streams, "throttle", Throttle())
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for key in client.scan_iter("xqmj:throttle:connect:*"):
            client.delete(key)


def _opened(match_id: str, token: str | None, address: int) -> Stream:
    """What became of a stream that was opened from an address and left at once."""
    stream = Stream(match_id, token=token, address=f"192.0.2.{address}")

    async def then(_stream: Stream) -> None:
        pass

    _watch(stream, then)
    return stream


def _watch(stream: Stream, then: Callable[[Stream], Awaitable[None]]) -> None:
    async def run() -> None:
        await stream.open()
        try:
            await then(stream)
        finally:
            await stream.close()

    asyncio.run(run())


class TestMatchStream:
    def test_carries_the_lines_that_the_seat_gets_over_rest(self) -> None:
        match_id, one, _ = _begun()
        expected = one.get(f"matches/{match_id}/events?after=0").json["events"]

        async def then(stream: Stream) -> None:
            assert stream.status == 200
            assert await stream.lines(len(expected)) == expected

        assert expected[-1]["kind"] == "match.hand_dealt"
        _watch(Stream(match_id, token=one.token), then)

    def test_shows_a_spectator_no_tiles(self) -> None:
        match_id, one, two = _begun()
        watcher = guest(InProcess())
        public = watcher.get(f"matches/{match_id}/events?after=0").json["events"]

        async def then(stream: Stream) -> None:
            assert await stream.lines(len(public)) == public

        _watch(Stream(match_id, token=watcher.token), then)
        assert public[-1]["kind"] == "match.hand_dealt"
        assert "concealed" not in json.dumps(public)
        for seat in (one, two):
            own = seat.get(f"matches/{match_id}/events?after=0").raw
            assert b'"concealed"' in own

    def test_resumes_after_a_line(self) -> None:
        match_id, one, _ = _begun()
        expected = one.get(f"matches/{match_id}/events?after=3").json["events"]

        async def then(stream: Stream) -> None:
            assert await stream.lines(len(expected)) == expected

        assert [line["seq"] for line in expected] == [4, 5]
        _watch(Stream(match_id, token=one.token, query="after=3"), then)

    def test_is_woken_by_a_commit_and_ends_with_the_match(self) -> None:
        match_id, one, two = _begun()

        async def then(stream: Stream) -> None:
            await stream.lines(5)
            answer = await asyncio.to_thread(two.post, f"matches/{match_id}/resign")
            assert answer.status == 200
            (last,) = await stream.lines(1)
            assert (last["kind"], last["data"]["reason"]) == ("match.ended", "resignation")
            assert await stream.rest() == b""

        _watch(Stream(match_id, token=one.token), then)

    @pytest.mark.parametrize(
        ("match_id", "token", "query", "status"),
        [
            ("0190a5a000007000800000000000000f", "known", "", 404),
            ("0190a5a000007000800000000000000f", None, "", 401),
            ("0190a5a000007000800000000000000f", "unknown", "", 401),
            ("0190a5a000007000800000000000000f", None, "after=-1", 400),
            ("0190a5a000007000800000000000000f", None, "after=99999999999", 400),
            ("nonsense", None, "", 404),
        ],
    )
    def test_refuses_what_it_cannot_serve(
        self, match_id: str, token: str | None, query: str, status: int
    ) -> None:
        if token == "known":
            token = guest(InProcess()).token

        async def then(stream: Stream) -> None:
            assert stream.status == status

        _watch(Stream(match_id, token=token, query=query), then)

    def test_refuses_a_number_that_no_line_has_yet(self) -> None:
        match_id, one, _ = _begun()

        async def then(stream: Stream) -> None:
            assert stream.status == 409

        _watch(Stream(match_id, token=one.token, query="after=6"), then)

    def test_ends_when_its_token_is_revoked(self) -> None:
        match_id, one, _ = _begun()

        async def then(stream: Stream) -> None:
            await stream.lines(5)
            answer = await asyncio.to_thread(one.post, "auth/logout")
            assert answer.status in {200, 204}
            await stream.rest()
            assert stream.over

        _watch(Stream(match_id, token=one.token), then)

    def test_tells_nothing_once_its_token_is_known_to_be_revoked(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another process revoked it; this one trusts what it knows for a while, and no longer."""
        monkeypatch.setattr(tokens, "TRUSTED_S", 0.0)
        match_id, one, two = _begun()

        async def then(stream: Stream) -> None:
            await stream.lines(5)
            await asyncio.to_thread(_revoke_elsewhere, one.token or "")
            await asyncio.to_thread(two.post, f"matches/{match_id}/resign")
            assert await stream.rest() == b""
            assert stream.over

        _watch(Stream(match_id, token=one.token), then)

    @pytest.mark.usefixtures("connects")
    def test_is_not_opened_over_and_over(self) -> None:
        match_id, one, two = _begun()

        answers = [_opened(match_id, one.token, n) for n in (1, 2, 3)]
        other = _opened(match_id, two.token, 4)

        assert [answer.status for answer in answers] == [200, 200, 429]
        assert 1 <= int(answers[2].headers[b"retry-after"]) <= 60
        assert other.status == 200

    @pytest.mark.usefixtures("connects")
    def test_is_not_asked_for_over_and_over_from_one_address(self) -> None:
        match_id, _, _ = _begun()

        answers = [_opened(match_id, "no-token", 9) for _ in range(3)]

        assert [answer.status for answer in answers] == [401, 401, 429]

    @pytest.mark.parametrize("setting", ["XQMJ_LIVE_STREAMS", "XQMJ_LIVE_STREAMS_A_PLAYER"])
    def test_holds_no_more_streams_than_it_may(self, settings: Any, setting: str) -> None:
        match_id, one, _ = _begun()
        setattr(settings, setting, 1)

        async def then(_first: Stream) -> None:
            second = await Stream(match_id, token=one.token).open()
            assert second.status == 429
            await second.close()

        _watch(Stream(match_id, token=one.token), then)
        assert MatchStream.open_streams.total() == 0
