"""One player of the demo: a chair with a name, whose moves follow from what its seat is shown."""

from __future__ import annotations

import secrets
import time
from typing import Any

from matches.management.chair import PASSING, Chair
from matches.management.client import Client, Refused
from matches.management.demo import xqmj

READING_S = 2.0
"""How long a player looks at a hand's result before it is ready for the next."""
STUBBORN = 20
"""So many refusals in a row mean that the server and this client disagree."""


class Player(Chair):
    """Registers, sits down and plays by what the server shows to its seat, and nothing else."""

    def __init__(self, client: Client, name: str) -> None:
        super().__init__(client)
        self.name = name
        self.id = ""

    def register(self) -> None:
        """Make an account under the player's name, with a password nobody will know."""
        body = {"username": self.name, "password": secrets.token_urlsafe(24)}
        answer = self.client.post("/api/v1/auth/register", body)
        self.client.token = answer["token"]
        self.id = answer["player"]["id"]

    def play(self) -> None:
        """Play until the match has ended; raises what the client raises."""
        refusals = 0
        while self.sight["match"]["ended"] is None:
            try:
                self._step(self.sight["match"])
                refusals = 0
            except Refused as refused:
                refusals += 1
                if refused.status not in PASSING or refusals == STUBBORN:
                    raise
            self.look()

    def _step(self, match: dict[str, Any]) -> None:
        waiting = match["phase"] in ("readying", "intermission") and not match["ready"][self.seat]
        if match["legal"]:
            self.act(xqmj.chosen(match["hand"], match["legal"]))
        elif waiting and match["hand_no"] == 0:
            self.post("ready", {"nonce": secrets.token_hex(16)})
        elif waiting and match["hand_no"] < xqmj.HANDS:
            time.sleep(READING_S)
            self.post("ready")
        else:
            self.wait()
