"""A match against the computer over a log in memory, and its reminders in memory too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from matches.domain.clock import Due
from matches.domain.commands import Ready
from matches.domain.events import Stamped
from matches.eventstore import sealing
from matches.eventstore.rows import LIVE
from matches.eventstore.turns import LEASE_MS, Taken, Turn
from matches.services.cache import Entry
from matches.services.computer import Computer, get_ready
from matches.services.computers import id_of
from matches.services.turns import turn_of
from tests.support.memory_store import MemoryStore
from tests.support.parlour import Parlour
from tests.support.sitting import ANA, MATCH_ID, SECRET, B, created


class MemoryTurns:
    """Reminders that end with the test; it answers as `matches.eventstore.turns` does."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.rows: dict[UUID, Turn] = {}

    def note(self, turns: Iterable[Turn], /) -> None:
        for turn in turns:
            known = self.rows.get(turn.match_id)
            if known is None or known.version < turn.version:
                self.rows[turn.match_id] = turn

    def take(self, limit: int, exclude: Collection[UUID] = (), /) -> Taken:
        now_ms = self.store.clock()
        waiting = sorted(
            (turn.due_ms, turn.match_id, turn.version)
            for turn in self.rows.values()
            if turn.due_ms is not None
        )
        due = [one for one in waiting if one[0] <= now_ms and one[1] not in exclude][:limit]
        for _, match_id, version in due:
            self.rows[match_id] = Turn(match_id, version, now_ms + LEASE_MS)
        later = [due_ms for due_ms, _, _ in waiting if due_ms > now_ms]
        return Taken(tuple(match_id for _, match_id, _ in due), now_ms, min(later, default=None))

    def lost(
        self, players: Sequence[str], limit: int, exclude: Collection[UUID] = (), /
    ) -> list[UUID]:
        found = [
            match_id
            for match_id, stream in self.store.streams.items()
            if stream.status == LIVE
            and not set(players).isdisjoint(stream.seats.values())
            and match_id not in exclude
            and (match_id not in self.rows or self.rows[match_id].version != len(stream.rows))
        ]
        return found[:limit]

    def forget_ended(self) -> int:
        over = [one for one in self.rows if self.store.streams[one].status != LIVE]
        for match_id in over:
            del self.rows[match_id]
        return len(over)


class Opposed(Parlour):
    """ANA in seat 0 plays a level of the computer; `worker` is another process, which plays it.

    Every commit of either process is noted at once, unless `noting` is False.
    """

    def __init__(self, *, level: int = 3, secret: bytes = SECRET) -> None:
        super().__init__()
        self.noting = True
        self.turns = MemoryTurns(self.store)
        self.worker = self.process()
        self.match_id = UUID(bytes=MATCH_ID)
        sealed, key_id = sealing.seal(secret, self.match_id)
        self.made = self.engine.create(
            creator=ANA,
            key=None,
            match_id=self.match_id,
            created=created(
                secret=secret, sealed=sealed, key_id=key_id, players=(ANA, id_of(level))
            ),
            secret=secret,
        )

    def process(self) -> Computer:
        """The computer as another process plays it."""
        return Computer(self.beside(may_beat=False).engine, self.turns)

    def begin(self) -> None:
        """Let both be ready, so that the first hand is dealt."""
        get_ready(self.engine, self.made)
        self.send(ANA, Ready())

    @property
    def due_ms(self) -> int:
        """When the computer acts next; it must be about to."""
        turn = self.turns.rows[self.match_id]
        assert turn.due_ms is not None
        return turn.due_ms

    def play_next(self) -> Stamped:
        """Let the computer act at the very instant that it is due; gives its first event."""
        self.to(max(self.due_ms, self.clock()))
        before = len(self.log)
        assert self.worker.play_due().failed == 0
        (first, *_) = [one for one in self.log[before:] if one.actor == B]
        return first

    def _committed(self, entry: Entry, due: Due | None) -> None:
        super()._committed(entry, due)
        turn = turn_of(entry)
        if self.noting and turn is not None:
            self.turns.note([turn])
