"""The least WSGI application that makes the append of a move: no matches, nobody asked who.

`POST /<match id>/<version>/<command id>` with the rows as its body. It has the same pool of
connections as the server and sends the same statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import django

django.setup()

from matches.eventstore import pool, store  # noqa: E402 - the pool reads the settings
from tests.bench.pgbench import HASH  # noqa: E402

_HASH = bytes.fromhex(HASH)
_AT_MS = "1700000000000"
_DUE_MS = 1_900_000_000_000
_REST = ("t", None, None, None, None)
"""The instant due is a deadline; no seat was taken, the match goes on."""
_HEADERS = [("Content-Type", "application/json")]


def application(
    environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], Any]
) -> Iterable[bytes]:
    """Append the rows and say what became of it."""
    if environ["REQUEST_METHOD"] != "POST":
        # Whoever started it asks whether it is there.
        start_response("200 OK", [*_HEADERS, ("Content-Length", "2")])
        return [b"{}"]
    _, match_id, version, command_id = environ["PATH_INFO"].split("/")
    rows = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])).decode()
    stream = (match_id, version, _HASH, rows, "2", _HASH, _AT_MS, command_id)
    # As with every move the table has something else to do at another instant.
    head = ("1", str(_DUE_MS + int(version)), *_REST)
    ((outcome, after),) = pool.run(store._APPEND, (*stream, *head)).rows
    answer = b'{"outcome":"%s","version":%d}' % (outcome.encode(), after)
    start_response("200 OK", [*_HEADERS, ("Content-Length", str(len(answer)))])
    return [answer]
