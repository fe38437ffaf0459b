"""What a WebSocket is held to, without a server around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from matches.live import connections
from matches.live.asking import Scope
from matches.live.connections import Connection, close_code
from matches.live.sockets import serve
from matches.services.errors import ServiceError
from matches.services.problems import Problem

Message = Mapping[str, Any]
Served = Callable[[Connection, Scope], Awaitable[None]]

CONNECT = {"type": "websocket.connect"}
SCOPE: Scope = {"type": "websocket", "headers": [], "query_string": b""}


def text(value: str) -> Message:
    return {"type": "websocket.receive", "text": value}


async def echo(connection: Connection, _scope: Scope) -> None:
    """Send back whatever comes."""
    async for found in connection.frames():
        await connection.tell(found)


def sent(
    said: Sequence[Message], served: Served = echo, *, taken: int | None = None
) -> list[Message]:
    """What a client is sent that says this and then nothing, and takes so many messages."""
    heard: list[Message] = []

    async def run() -> None:
        coming: asyncio.Queue[Message] = asyncio.Queue()
        for message in (CONNECT, *said):
            coming.put_nowait(message)

        async def send(message: Message) -> None:
            if taken is not None and len(heard) >= taken:
                await asyncio.sleep(60)
            heard.append(message)

        await serve(served, SCOPE, coming.get, send)

    asyncio.run(run())
    return heard[1:]


def closed(code: int) -> Message:
    return {"type": "websocket.close", "code": code}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SILENCE_S", 0.05)
    monkeypatch.setattr(connections, "SEND_S", 0.05)


class TestConnection:
    def test_of_a_client_that_has_gone_silent_is_closed(self) -> None:
        assert sent([]) == [closed(4408)]

    def test_hears_and_takes_signs_of_life_for_nothing_else(self) -> None:
        found = sent([text(""), text("a"), text(""), {"type": "websocket.disconnect"}])

        assert found == [{"type": "websocket.send", "text": "a"}]

    def test_of_a_client_that_takes_nothing_is_let_go(self) -> None:
        assert sent([text("a"), text("b")], taken=2) == [{"type": "websocket.send", "text": "a"}]

    @pytest.mark.parametrize(
        ("message", "code"),
        [
            (text("x" * 16_385), 1009),
            (text("\u8c61" * 5_462), 1009),
            ({"type": "websocket.receive", "bytes": b"{}"}, 1003),
            ({"type": "websocket.receive", "text": None, "bytes": b"{}"}, 1003),
        ],
    )
    def test_takes_no_frame_beyond_its_measure(self, message: Message, code: int) -> None:
        assert sent([message]) == [closed(code)]

    @pytest.mark.parametrize("value", ["x" * 16_384, "\u8c61" * 5_461])
    def test_takes_a_frame_up_to_its_measure(self, value: str) -> None:
        assert sent([text(value)])[0] == {"type": "websocket.send", "text": value}

    def test_of_a_client_that_floods_it_is_closed(self) -> None:
        found = sent([text("a")] * 25)

        assert found[-1] == closed(1008)
        assert 20 <= len(found) - 1 <= 22

    def test_that_fails_is_closed_and_says_nothing_of_itself(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def broken(_connection: Connection, _scope: Scope) -> None:
            raise ZeroDivisionError("a secret")

        said, goodbye = sent([], broken)

        assert '"internal_error"' in said["text"]
        assert "secret" not in said["text"]
        assert goodbye == closed(1011)
        assert [record.getMessage() for record in caplog.records] == ["a socket failed"]

    def test_that_is_refused_is_told_why(self) -> None:
        async def refused(_connection: Connection, _scope: Scope) -> None:
            raise ServiceError("unavailable", retry_after_s=1)

        said, goodbye = sent([], refused)

        assert said["text"] == (
            '{"id":null,"problem":{"type":"/api/v1/errors#unavailable","title":"Unavailable",'
            '"status":503,"code":"unavailable","detail":"The server cannot do this now; try again."'
            '},"retry_after_s":1}'
        )
        assert goodbye == closed(1013)


class TestCloseCode:
    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            ("invalid_parameter", 4400),
            ("bad_token", 4401),
            ("forbidden", 4403),
            ("unknown_match", 4404),
            ("seq_ahead", 4409),
            ("too_many_requests", 1013),
            ("unreadable_match", 1013),
            ("internal_error", 1011),
        ],
    )
    def test_follows_the_status(self, code: str, expected: int) -> None:
        assert close_code(Problem(code)) == expected
