"""One player of the demo: a client with a name, a seat, and what it was last told."""

from __future__ import annotations

import secrets
import time
from typing import Any

from matches.management.client import Client, Refused
from matches.management.demo import xqmj

POLL_S = 25
"""The longest a server holds a request for events back."""
READING_S = 2.0
"""How long a player looks at a hand's result before it is ready for the next."""
STUBBORN = 20
"""So many refusals in a row mean that the server and this client disagree."""

_PASSING = frozenset({404, 409, 410, 412})
"""Refusals after which a player looks again: the match went on in the meantime."""


class Player:
    """Registers, sits down and plays by what the server shows to its seat, and nothing else.

    `sight` is the newest answer about the match, `told_at` the instant of the
    monotonic clock at which it came. Both are replaced, never changed, so
    another thread may read them.
    """

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name
        self.id = ""
        self.match_id = ""
        self.sight: dict[str, Any] = {}
        self.told_at = 0.0

    def register(self) -> None:
        """Make an account under the player's name, with a password nobody will know."""
        body = {"username": self.name, "password": secrets.token_urlsafe(24)}
        answer = self.client.post("/api/v1/auth/register", body)
        self.client.token = answer["token"]
        self.id = answer["player"]["id"]

    def create(self, *, ruleset: str, control: str, opponent: str) -> str:
        """Make a rated match whose other seat is kept for `opponent`; gives its id."""
        body = {"ruleset": ruleset, "control": control, "rated": True, "opponent": opponent}
        self._tell(self.client.post("/api/v1/matches", body))
        return self.match_id

    def join(self, match_id: str) -> None:
        """Take the other seat."""
        self.client.post(f"/api/v1/matches/{match_id}/join")
        self.match_id = match_id
        self.look()

    def look(self) -> None:
        """Ask for the match as it stands."""
        self._tell(self.client.get(f"/api/v1/matches/{self.match_id}"))

    def play(self) -> None:
        """Play until the match has ended; raises what the client raises."""
        refusals = 0
        while self.sight["match"]["ended"] is None:
            try:
                self._step(self.sight["match"])
                refusals = 0
            except Refused as refused:
                refusals += 1
                if refused.status not in _PASSING or refusals == STUBBORN:
                    raise
            self.look()

    def _step(self, match: dict[str, Any]) -> None:
        waiting = match["phase"] in ("readying", "intermission") and not match["ready"][self.seat]
        if match["legal"]:
            action = xqmj.chosen(match["hand"], match["legal"])
            self._post("act", {"action": action, "expected_seq": self.sight["seq"]})
        elif waiting and match["hand_no"] == 0:
            self._post("ready", {"nonce": secrets.token_hex(16)})
        elif waiting and match["hand_no"] < xqmj.HANDS:
            time.sleep(READING_S)
            self._post("ready", {})
        else:
            path = f"/api/v1/matches/{self.match_id}/events"
            self.client.get(path, wait_s=POLL_S, after=self.sight["seq"], wait=POLL_S)

    def _post(self, what: str, body: dict[str, Any]) -> None:
        self.client.post(f"/api/v1/matches/{self.match_id}/{what}", body)

    def _tell(self, answer: dict[str, Any]) -> None:
        self.match_id = answer["match"]["match_id"]
        self.told_at = time.monotonic()
        self.sight = answer

    @property
    def seat(self) -> int:
        """The seat the player sits on, as the server says."""
        return int(self.sight["match"]["you"])
