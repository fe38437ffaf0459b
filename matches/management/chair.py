"""A client that sits at a table: what it was last told, and how it goes on from there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from matches.management.client import Client

POLL_S = 25
"""The longest a server holds a request for events back."""
PASSING = frozenset({404, 409, 410, 412})
"""Statuses of refusals after which one looks again: the match went on in the meantime."""


class Chair:
    """A seat in a match, seen through the API.

    `sight` is the newest answer about the match, `told_at` the instant of the
    monotonic clock at which it came. Both are replaced, never changed, so
    another thread may read them.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.match_id = ""
        self.sight: dict[str, Any] = {}
        self.told_at = 0.0

    def create(self, body: Mapping[str, Any]) -> str:
        """Make a match and sit down; gives its id."""
        self._tell(self.client.post("/api/v1/matches", body))
        return self.match_id

    def join(self, match_id: str) -> None:
        """Take a seat in somebody else's match."""
        self.client.post(f"/api/v1/matches/{match_id}/join")
        self.match_id = match_id
        self.look()

    def look(self) -> None:
        """Ask for the match as it stands."""
        self._tell(self.client.get(f"/api/v1/matches/{self.match_id}"))

    def post(self, what: str, body: Mapping[str, Any] | None = None) -> None:
        """Command something; raises what the client raises."""
        self.client.post(f"/api/v1/matches/{self.match_id}/{what}", body)

    def act(self, action: Any) -> None:
        """Do something in the hand, unless there is something that was not seen."""
        self.post("act", {"action": action, "expected_seq": self.sight["seq"]})

    def wait(self) -> None:
        """Come back when something has happened, or after a while without."""
        path = f"/api/v1/matches/{self.match_id}/events"
        self.client.get(path, wait_s=POLL_S, after=self.sight["seq"], wait=POLL_S)

    @property
    def seat(self) -> int:
        """The seat, as the server says."""
        return int(self.sight["match"]["you"])

    @property
    def server_ms(self) -> int:
        """The time on the server's clock now, as far as it can be told here."""
        passed_s = time.monotonic() - self.told_at
        return int(self.sight["now"]["server_time_ms"]) + int(passed_s * 1000)

    @property
    def clocks(self) -> tuple[str, str]:
        """What both clocks show now, in minutes and seconds."""
        clocks = self.sight["match"]["clocks"]
        left = list(clocks["left_ms"])
        if clocks["running"] is not None:
            left[clocks["running"]] -= max(0, self.server_ms - clocks["from_ms"])
        first, second = (f"{max(0, ms) // 60_000}:{max(0, ms) // 1_000 % 60:02}" for ms in left)
        return first, second

    def _tell(self, answer: dict[str, Any]) -> None:
        self.match_id = answer["match"]["match_id"]
        self.told_at = time.monotonic()
        self.sight = answer
