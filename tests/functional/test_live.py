"""The NDJSON stream of a match: the same lines as REST, resumed, woken, and ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis
from knox.models import AuthToken

from matches.live import asking, places
from matches.services import matches, tokens
from matches.services.throttling import Throttle
from tests.support.api import Api, InProcess, Player, begun, guest, registered
from tests.support.live import Live, Stream, to_match

pytestmark = pytest.mark.django_db

WORDED = {"invalid_parameter", "unknown_parameter"}
"""Codes whose detail quotes the reader of the query."""


def _revoke_elsewhere(token: str) -> None:
    AuthToken.objects.filter(digest=tokens.digest_of(token)).delete()


def _begun() -> tuple[str, Player, Player]:
    one, two = registered(InProcess()), registered(InProcess())
    return begun(one, two), one, two


def _broken(**_: Any) -> None:
    raise ZeroDivisionError


def _failures(caplog: pytest.LogCaptureFixture) -> list[tuple[str, Any]]:
    """What was logged of errors: message and kind."""
    return [
        (record.getMessage(), record.exc_info and record.exc_info[0])
        for record in caplog.records
        if record.name == "xqmj.live"
    ]


@pytest.fixture
def connects(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams a minute, of which none has been opened yet."""
    settings.XQMJ_THROTTLES = {**settings.XQMJ_THROTTLES, "connect": "2/60"}
    settings.XQMJ_NUM_PROXIES = 1
    monkeypatch.setattr(asking, "throttle", Throttle())
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for key in client.scan_iter("xqmj:throttle:connect:*"):
            client.delete(key)


def _opened(match_id: str, token: str | None, address: int) -> Stream:
    """What became of a stream that was opened from an address and left at once."""
    stream = to_match(match_id, token=token, address=f"192.0.2.{address}")

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
        _watch(to_match(match_id, token=one.token), then)

    def test_shows_a_spectator_no_tiles(self) -> None:
        match_id, one, two = _begun()
        watcher = guest(InProcess())
        public = watcher.get(f"matches/{match_id}/events?after=0").json["events"]

        async def then(stream: Stream) -> None:
            assert await stream.lines(len(public)) == public

        _watch(to_match(match_id, token=watcher.token), then)
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
        _watch(to_match(match_id, token=one.token, query="after=3"), then)

    def test_is_woken_by_a_commit_and_ends_with_the_match(self) -> None:
        match_id, one, two = _begun()

        async def then(stream: Stream) -> None:
            await stream.lines(5)
            answer = await asyncio.to_thread(two.post, f"matches/{match_id}/resign")
            assert answer.status == 200
            (last,) = await stream.lines(1)
            assert (last["kind"], last["data"]["reason"]) == ("match.ended", "resignation")
            assert await stream.rest() == b""

        _watch(to_match(match_id, token=one.token), then)

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

        _watch(to_match(match_id, token=token, query=query), then)

    @pytest.mark.parametrize(
        ("query", "token", "code"),
        [
            ("events?after=6", "seat", "seq_ahead"),
            ("events?after=00", "seat", "invalid_parameter"),
            ("events?after=1000001", "seat", "invalid_parameter"),
            ("events?after=1&after=2", "seat", "invalid_parameter"),
            ("events?before=1", "seat", "unknown_parameter"),
            ("events", None, "not_authenticated"),
            ("events", "unknown", "bad_token"),
            ("nothing", "seat", "not_found"),
        ],
    )
    def test_refuses_in_the_words_of_rest(self, query: str, token: str | None, code: str) -> None:
        match_id, one, _ = _begun()
        token = one.token if token == "seat" else token
        path = f"v1/matches/{match_id}/{query}"

        rest = Api(InProcess(), token).get(f"/api/{path}")
        live = Api(Live(), token).get(f"/live/{path}")

        assert (live.status, live.code) == (rest.status, code)
        told, expected = live.json, rest.json
        if code in WORDED:
            told.pop("detail"), expected.pop("detail")
        assert told == expected
        for name in ("content-type", "www-authenticate", "cache-control"):
            assert live.headers.get(name) == rest.headers.get(name), name

    def test_refuses_another_method_and_names_its_own(self) -> None:
        match_id, one, _ = _begun()

        answer = Api(Live(), one.token).post(f"/live/v1/matches/{match_id}/events")

        assert (answer.status, answer.code) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "GET"

    def test_ends_when_its_token_is_revoked(self) -> None:
        match_id, one, _ = _begun()

        async def then(stream: Stream) -> None:
            await stream.lines(5)
            answer = await asyncio.to_thread(one.post, "auth/logout")
            assert answer.status in {200, 204}
            await stream.rest()
            assert stream.over

        _watch(to_match(match_id, token=one.token), then)

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

        _watch(to_match(match_id, token=one.token), then)

    def test_waits_for_no_body(self) -> None:
        match_id, one, _ = _begun()

        async def run() -> None:
            stream = await to_match(match_id, token=one.token).open(sent=b"{", more=True)
            assert stream.status == 200
            assert [line["seq"] for line in await stream.lines(2)] == [1, 2]
            await stream.close()

        asyncio.run(run())

    @pytest.mark.parametrize("path", ["matches/{id}/events", "health", "nothing"])
    def test_takes_no_chunked_body(self, path: str) -> None:
        match_id, one, _ = _begun()
        headers = {"Authorization": f"Bearer {one.token}", "Transfer-Encoding": "chunked"}

        async def run() -> None:
            stream = Stream(f"/live/v1/{path.format(id=match_id)}", headers=headers)
            await stream.open(sent=b"{", more=True)
            assert stream.status == 411
            assert json.loads(await stream.rest())["code"] == "length_required"
            await stream.close()

        asyncio.run(run())

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
            second = await to_match(match_id, token=one.token).open()
            assert second.status == 429
            await second.close()

        _watch(to_match(match_id, token=one.token), then)
        assert places.taken.total() == 0

    def test_that_fails_before_it_has_begun_is_refused_and_logged(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        match_id, one, _ = _begun()
        monkeypatch.setattr(matches, "events", _broken)

        answer = Api(Live(), one.token).get(f"/live/v1/matches/{match_id}/events")

        assert (answer.status, answer.code) == (500, "internal_error")
        assert answer.headers["content-type"] == "application/problem+json"
        assert _failures(caplog) == [("a stream failed", ZeroDivisionError)]

    def test_that_fails_after_its_beginning_ends_and_is_logged(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        match_id, one, _ = _begun()

        async def then(stream: Stream) -> None:
            await stream.lines(5)
            monkeypatch.setattr(matches, "events", _broken)
            assert await stream.rest() == b""

        _watch(to_match(match_id, token=one.token), then)
        assert _failures(caplog) == [("a stream failed", ZeroDivisionError)]
        assert places.taken.total() == 0
