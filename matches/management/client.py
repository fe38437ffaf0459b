"""A client of the REST API on the standard library alone, for commands that play or look.

It holds on through what a server in trouble does: refused and cut connections,
429 and 5xx are tried again until its patience ends, a write always under the
Idempotency-Key of its first try, so that nothing happens twice.
"""

from __future__ import annotations

import http.client
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec

DEFAULT_URL = "http://127.0.0.1:8000"
"""Where `manage.py up` serves."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.05, 2.0
"""Between two tries: the first wait, and the longest that doubling leads to."""
ANSWER_TIMEOUT_S = 10.0
"""A request that is answered at once takes no longer."""

_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})


class Refused(Exception):
    """The server's refusal: its HTTP `status`, stable `code` and `detail` for people."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code} ({status}): {detail}")
        self.status = status
        self.code = code


class Unreachable(Exception):
    """The server did not answer for as long as the client's patience lasts."""


class Client:
    """One user's connection to the server at `base_url`, such as http://127.0.0.1:8000.

    `patience_s` is how long one request is tried again before `Unreachable`.
    `on_trouble` is told what went wrong before each new try, and an empty text
    once the server answers again. Not for use by two threads at once.
    """

    def __init__(
        self,
        base_url: str,
        *,
        patience_s: float = 60.0,
        on_trouble: Callable[[str], None] = lambda _text: None,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"{base_url} is not the address of a server")
        self._secure = parts.scheme == "https"
        self._host = parts.netloc
        self._root = parts.path.rstrip("/")
        self._patience_s = patience_s
        self._on_trouble = on_trouble
        self._connection: http.client.HTTPConnection | None = None
        self.token: str | None = None

    def get(self, path: str, *, wait_s: float = 0.0, **query: str | int) -> Any:
        """What stands at the path, decoded; `wait_s` is how long the server may hold it back."""
        return msgspec.json.decode(self.get_bytes(path, wait_s=wait_s, **query))

    def get_bytes(self, path: str, *, wait_s: float = 0.0, **query: str | int) -> bytes:
        """What stands at the path, as it was sent."""
        target = f"{path}?{urlencode(query)}" if query else path
        return self._persist("GET", target, None, {}, ANSWER_TIMEOUT_S + wait_s)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Write, once, and give the decoded answer; None where there is none."""
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": secrets.token_hex(16),
        }
        sent = msgspec.json.encode(body or {})
        answer = self._persist("POST", path, sent, headers, ANSWER_TIMEOUT_S)
        return msgspec.json.decode(answer) if answer else None

    def close(self) -> None:
        """Close the connection, if there is one; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _persist(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], timeout_s: float
    ) -> bytes:
        give_up_at = time.monotonic() + self._patience_s
        wait_s, troubled = FIRST_WAIT_S, False
        while True:
            pause_s = 0.0
            try:
                status, answer, pause_s = self._once(method, path, body, headers, timeout_s)
                if status not in _TRY_AGAIN:
                    if troubled:
                        self._on_trouble("")
                    return _checked(status, answer)
                trouble = str(_refusal(status, answer))
            except (OSError, http.client.HTTPException) as error:
                self.close()
                trouble = type(error).__name__
            pause_s = max(wait_s, pause_s)
            if time.monotonic() + pause_s > give_up_at:
                raise Unreachable(trouble)
            troubled = True
            self._on_trouble(trouble)
            time.sleep(pause_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], timeout_s: float
    ) -> tuple[int, bytes, float]:
        """Status, body and Retry-After (seconds, or 0) of one try."""
        connection = self._connection or self._connect()
        connection.timeout = timeout_s
        if connection.sock is not None:
            connection.sock.settimeout(timeout_s)
        sent = {"Accept": "application/json", **headers}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        connection.request(method, self._root + path, body=body, headers=sent)
        answer = connection.getresponse()
        content = answer.read()
        retry_after = answer.getheader("Retry-After", "")
        return answer.status, content, float(retry_after) if retry_after.isdecimal() else 0.0

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        self._connection = kind(self._host)
        return self._connection


def _checked(status: int, answer: bytes) -> bytes:
    if status >= 400:
        raise _refusal(status, answer)
    return answer


def _refusal(status: int, answer: bytes) -> Refused:
    """The refusal in an answer; one that is no problem document has the code `http_<status>`."""
    try:
        problem = msgspec.json.decode(answer)
        return Refused(status, str(problem["code"]), str(problem["detail"]))
    except (msgspec.DecodeError, KeyError, TypeError):
        return Refused(status, f"http_{status}", answer[:200].decode(errors="replace"))
