"""A WebSocket within limits: what comes is bounded, what goes out is never piled up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from matches.live.asking import PROTOCOL, Scope
from matches.services.notices import Allowance
from matches.services.problems import Problem, ProblemBody

FRAME_BYTES = 16 * 1024
"""The largest frame of a client."""
FRAMES_PER_S = 20
"""Frames of a client, of whatever kind, and no more at once than a second's worth."""
SILENCE_S = 60.0
"""A client that says nothing for so long, not even an empty frame, is gone."""
SEND_S = 10.0
"""A client that takes nothing for so long is too slow."""

ENDED, UNREADABLE, FLOODED, TOO_BIG, FAILED, TRY_LATER = 1000, 1003, 1008, 1009, 1011, 1013
TIMED_OUT = 4408

_CLOSES: Mapping[int, int] = MappingProxyType({429: TRY_LATER, 500: FAILED, 503: TRY_LATER})

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class Closed(Exception):
    """The connection is to end with a close code; None: the client has hung up."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A problem as REST answers it; `id` is the command's, null where none is known."""

    id: str | None
    problem: ProblemBody
    retry_after_s: int | None = None


def refusal_of(problem: Problem, command_id: str | None = None) -> Refusal:
    """The line for a refusal."""
    return Refusal(id=command_id, problem=problem.body, retry_after_s=problem.retry_after_s)


def close_code(problem: Problem) -> int:
    """The close code of a refusal: 4000 and its HTTP status, where the protocol has none.

    >>> close_code(Problem("unknown_match")), close_code(Problem("too_many_requests"))
    (4404, 1013)
    """
    return _CLOSES.get(problem.body.status, 4000 + problem.body.status)


class Connection:
    """One WebSocket of a client. Whatever ends it raises `Closed`."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._sending = asyncio.Lock()
        self._allowance = Allowance(FRAMES_PER_S)
        self._protocol = PROTOCOL if PROTOCOL in scope.get("subprotocols", ()) else None

    async def accept(self) -> None:
        """Open it: only then can a browser be told why it is refused."""
        await self._receive()
        await self._put({"type": "websocket.accept", "subprotocol": self._protocol})

    async def tell(self, text: str) -> None:
        """Send a frame; whoever else has something to send waits until it is out."""
        await self._put({"type": "websocket.send", "text": text})

    async def tell_value(self, value: Any) -> None:
        """Send a value as a line of JSON."""
        await self.tell(msgspec.json.encode(value).decode())

    async def close(self, code: int) -> None:
        """Say goodbye."""
        await self._put({"type": "websocket.close", "code": code})

    async def frames(self) -> AsyncIterator[str]:
        """The client's frames as they come, its signs of life left out, until it hangs up."""
        while True:
            text = await self._frame()
            if text:
                yield text

    async def _frame(self) -> str:
        try:
            message = await asyncio.wait_for(self._receive(), SILENCE_S)
        except TimeoutError:
            raise Closed(TIMED_OUT) from None
        if message["type"] == "websocket.disconnect":
            raise Closed(None)
        if not self._allowance.spend():
            raise Closed(FLOODED)
        text = message.get("text")
        if text is None:
            raise Closed(UNREADABLE)
        # Characters first: a text of megabytes is not to be encoded to be measured.
        if len(text) > FRAME_BYTES or len(text.encode("utf-8", "surrogatepass")) > FRAME_BYTES:
            raise Closed(TOO_BIG)
        return str(text)

    async def _put(self, message: Mapping[str, Any]) -> None:
        try:
            async with asyncio.timeout(SEND_S), self._sending:
                await self._send(message)
        except TimeoutError:
            raise Closed(TIMED_OUT) from None
