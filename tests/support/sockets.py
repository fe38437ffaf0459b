"""A client of the live role's WebSockets that is not ours: the library `websockets`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

WAIT_S = 10.0


class Socket:
    """One WebSocket; lines are what the server sent, its signs of life left out."""

    def __init__(
        self,
        port: int,
        path: str,
        *,
        token: str | None = None,
        origin: str | None = None,
        protocols: Sequence[str] = (),
        host: str = "127.0.0.1",
    ) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if origin is not None:
            headers["Origin"] = origin
        made = connect(
            f"ws://{host}:{port}{path}",
            additional_headers=headers,
            subprotocols=[Subprotocol(one) for one in protocols] or None,
            proxy=None,
            max_size=None,
            # With a queue that is full the library stops reading, and waits in vain for a goodbye.
            max_queue=None,
            close_timeout=2,
            ping_interval=None,
        )
        self._open = contextlib.ExitStack()
        self.wire: ClientConnection = self._open.enter_context(made)
        self.lines: list[dict[str, Any]] = []
        """Lines of events that came before what was asked for."""

    def line(self, *, within_s: float = WAIT_S) -> dict[str, Any]:
        """The next line."""
        while True:
            text = self.wire.recv(timeout=within_s)
            if text:
                found: dict[str, Any] = json.loads(text)
                return found

    def take(self, count: int) -> list[dict[str, Any]]:
        """The next lines."""
        return [self.line() for _ in range(count)]

    def command(self, name: str, command: str, body: Any = None) -> dict[str, Any]:
        """Send a command; the line that answers it. Lines before it are kept in `lines`."""
        frame = {"id": name, "command": command}
        return self.answer(json.dumps(frame if body is None else {**frame, "body": body}), name)

    def answer(self, frame: str, name: str | None) -> dict[str, Any]:
        """Send a frame as it is; the line that answers it."""
        self.wire.send(frame)
        while True:
            line = self.line()
            if "id" in line:
                assert line["id"] == name
                return line
            self.lines.append(line)

    def rest(self, *, within_s: float = WAIT_S) -> list[dict[str, Any]]:
        """The lines until the server closes."""
        found = []
        try:
            while True:
                found.append(self.line(within_s=within_s))
        except ConnectionClosed:
            return found

    def code(self, *, within_s: float = WAIT_S) -> int | None:
        """The code with which the server closes, after whatever it says before."""
        self.lines += self.rest(within_s=within_s)
        return self.wire.close_code

    def cut(self) -> None:
        """Be gone without a goodbye."""
        self.wire.socket.close()

    def close(self) -> None:
        """Say goodbye."""
        self._open.close()
