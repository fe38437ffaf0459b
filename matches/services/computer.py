"""The computer's seat: what is due is decided by its level's way of playing, and sent as anybody's.

It knows the view of its own seat and nothing else (XM-82). Its command carries
a key made of the match and the version that it was decided on, and is refused
where the seat has not seen everything: so two workers never play twice, and a
decision that comes too late does nothing.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable
from typing import Any, Protocol
from uuid import UUID

import msgspec

from matches.bots.misty import Misty, chance_for, time_limit
from matches.domain.commands import Act, Body, Ready
from matches.domain.visibility import view
from matches.eventstore import turns as stored
from matches.eventstore.rows import CommandKey
from matches.games.protocol import HandEvent, SeatViewer
from matches.services import computers, metrics
from matches.services.cache import Entry
from matches.services.engine import Engine, Executed
from matches.services.errors import ServiceError
from matches.services.ports import Turns
from matches.services.sweep import Backoff
from matches.services.turns import Place, due_ms, note, place_of

LOG = logging.getLogger("xqmj.services")

BATCH = 50


class Played(msgspec.Struct, frozen=True):
    """What came of the turns that were due: `taken` matches were looked at, `failed` could not be.

    `now_ms` is the database clock, `next_due_ms` when the next known turn is due.
    """

    taken: int
    failed: int
    now_ms: int
    next_due_ms: int | None


class Mapper(Protocol):
    """Calls a function for each item, perhaps several at a time."""

    def __call__(
        self, call: Callable[[UUID], Entry | None], items: Iterable[UUID], /
    ) -> Iterable[Entry | None]:
        """The results in the order of the items."""
        ...


class Computer:
    """Plays the computer's turns over one engine; any number of them may do so at once."""

    def __init__(
        self,
        engine: Engine,
        turns: Turns = stored,
        *,
        mapper: Mapper = map,
        backoff: Backoff | None = None,
    ) -> None:
        self._engine = engine
        self._turns = turns
        self._mapper = mapper
        self._backoff = Backoff() if backoff is None else backoff

    def play_due(self, limit: int = BATCH) -> Played:
        """Play up to `limit` turns whose rows are due; raises `Unavailable`."""
        taken = self._turns.take(limit, self._backoff.resting())
        entries = list(self._mapper(self._play, taken.match_ids))
        found = [entry for entry in entries if entry is not None]
        # What comes next is known now; and a row that was taken by mistake is put right.
        note(found, self._turns)
        failed = len(entries) - len(found)
        return Played(len(entries), failed, taken.now_ms, taken.next_due_ms)

    def heal(self, limit: int = BATCH) -> int:
        """Write rows that are missing or old, and forget those of matches that are over.

        Returns how many were written; raises `Unavailable`.
        """
        self._turns.forget_ended()
        lost = self._turns.lost(computers.IDS, limit, self._backoff.resting())
        entries = [entry for entry in map(self._peek, lost) if entry is not None]
        note(entries, self._turns)
        return len(entries)

    def play(self, match_id: UUID) -> Entry:
        """Let the computer do what is due for it in a match, if anything is; gives the match after.

        Raises `ServiceError` as a command does.
        """
        entry = self._engine.observe(match_id)
        place = place_of(entry.match)
        if place is None:
            return entry
        at_ms = due_ms(entry.match, place.seat)
        if at_ms is None or at_ms > entry.now_ms:
            return entry
        body = decided(entry, place)
        if body is None:
            return entry
        executed = self._engine.execute(
            match_id=match_id,
            player=place.player,
            body=body,
            key=key_of(match_id, entry.version),
            expected_seq=entry.seq(SeatViewer(place.seat)),
        )
        return executed.entry

    def _play(self, match_id: UUID) -> Entry | None:
        return self._tried(match_id, self.play)

    def _peek(self, match_id: UUID) -> Entry | None:
        return self._tried(match_id, self._engine.peek)

    def _tried(self, match_id: UUID, call: Callable[[UUID], Entry]) -> Entry | None:
        try:
            entry = call(match_id)
        except ServiceError as error:
            metrics.count(metrics.COMPUTER_FAILURES, error.code)
            # Any other refusal is a race: the row comes back, or a newer one is there already.
            if error.code == "unreadable_match":
                self._backoff.rest(match_id)
            return None
        except Exception:
            # One match that this code cannot play must not keep the others waiting.
            LOG.exception("the computer could not play", extra={"match_id": str(match_id)})
            metrics.count(metrics.COMPUTER_FAILURES, "internal_error")
            self._backoff.rest(match_id)
            return None
        self._backoff.settled(match_id)
        return entry


def get_ready(engine: Engine, made: Executed) -> Executed:
    """Let the computer in a match just made be ready at once (XM-57).

    Where that fails the match stands all the same, and a worker makes up for it.
    """
    place = place_of(made.entry.match)
    if place is None or made.replayed:
        return made
    match_id = made.entry.match_id
    key = key_of(match_id, made.entry.version)
    try:
        ready = engine.execute(match_id=match_id, player=place.player, body=Ready(), key=key)
    except ServiceError:
        return made
    return msgspec.structs.replace(made, entry=ready.entry)


def decided(entry: Entry, place: Place) -> Body | None:
    """What the computer does where it is due, from its seat's own view; None: it can do nothing."""
    match = entry.match
    if match.phase != "playing":
        return Ready()
    seen: Any = view(match, SeatViewer(place.seat))
    if not seen.legal:
        return None
    setup = match.setup
    chance = chance_for(setup.secret, setup.match_id, place.seat, _actions(entry, place))
    return Act(Misty(place.level, chance, time_limit()).choose(seen.hand, seen.legal))


def key_of(match_id: UUID, version: int) -> CommandKey:
    """The key of what the computer does at a version of a match: the same whoever decides it."""
    digest = hashlib.sha256(f"xqmj computer@1\0{match_id.hex}:{version}".encode()).digest()
    return CommandKey(UUID(bytes=digest[:16]), int.from_bytes(digest[16:24], "big", signed=True))


def _actions(entry: Entry, place: Place) -> int:
    """How many actions the seat has taken in the match so far (XM-84)."""
    return sum(
        stamped.actor == place.seat and isinstance(stamped.event, HandEvent)
        for stamped in entry.history.events(entry.version)
    )
