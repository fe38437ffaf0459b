"""A guest at a table with the computer, in the real log and in real time."""

from __future__ import annotations

import time
from typing import Any

from matches.domain.commands import Act, Ready
from matches.domain.visibility import view
from matches.games.protocol import Seat, SeatViewer
from matches.games.xqmj.events import TileDiscarded
from matches.services import execute, matches
from matches.services.accounts import Identity
from matches.services.cache import Entry


class GuestsTable:
    """The guest claims nothing and discards its last tile; the first hand is dealt."""

    def __init__(self, guest: Identity, *, level: int = 5) -> None:
        self.guest = guest.id
        made = matches.create_match(
            creator=guest, ruleset="xqmj-32-2p", control="10+5", computer=level
        )
        self.match_id = made.entry.match_id
        execute.execute(match_id=self.match_id, player=self.guest, body=Ready())

    def observe(self) -> Entry:
        """The match, settled."""
        return execute.observe(match_id=self.match_id)

    def discards(self) -> int:
        """How often the computer has discarded."""
        entry = self.observe()
        log = entry.history.events(entry.version)
        return sum(isinstance(one.event, TileDiscarded) and one.actor == 1 for one in log)

    def step(self) -> None:
        """Let the guest do what it can."""
        match = self.observe().match
        legal: Any = view(match, SeatViewer(Seat(0))).legal
        if legal:
            execute.execute(match_id=self.match_id, player=self.guest, body=Act(legal[-1]))
        elif match.phase == "intermission" and not match.ready[0]:
            execute.execute(match_id=self.match_id, player=self.guest, body=Ready())

    def play(self, *, until: int, within_s: float) -> bool:
        """Whether the computer has discarded so often in time."""
        end_s = time.monotonic() + within_s
        while time.monotonic() < end_s:
            if self.discards() >= until:
                return True
            self.step()
            time.sleep(0.05)
        return False
