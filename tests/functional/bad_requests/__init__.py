"""Requests that must be refused: written by hand, each with the answer it gets.

In paths, bodies and headers `{live}` is a match in its first hand (of ada and
bob), `{open}` one of ada's that waits for anybody, `{kept}` one that waits for
bob, `{paired}` one that waits for both to be ready, `{ended}` one that was
resigned, `{hidden}` one of two others that is kept for a third, `{missing}` no
match at all; `{held}` and `{absent}` are a tile that the seat to move holds and
one that it does not, `{seq}` is its last event. `who` is ada, bob, eve (who sits nowhere), `mover` or
`waiter` (of the live match), or anon.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Bad:
    """A request and its refusal; `body` is bytes, or a value to send as JSON."""

    name: str
    status: int
    code: str
    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    who: str = "ada"
    key: bool = True


def post(name: str, status: int, code: str, path: str, body: Any = None, **more: Any) -> Bad:
    """A bad write."""
    return Bad(name, status, code, "POST", path, body, **more)


def get(name: str, status: int, code: str, path: str, **more: Any) -> Bad:
    """A bad read."""
    return Bad(name, status, code, "GET", path, key=False, **more)
