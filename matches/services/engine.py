"""How a match moves on: load, settle, decide, append. Nothing is answered before its commit.

The order of a command's steps keeps promises apart: a command that is in the
log already is answered from it, whatever has happened since; then the table
does what it owes; then the end of the match, the sender's place in it, and the
rules, in that order, may refuse. A refused command writes nothing of its own
and does not bind its key (docs/adr/0008).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol, TypeVar
from uuid import UUID

import msgspec

from matches.domain import match as domain
from matches.domain.clock import GRACE_MS, Due
from matches.domain.commands import Body, Command
from matches.domain.events import MatchCreated, Stamped
from matches.domain.state import Match
from matches.eventstore import codec, hashing
from matches.eventstore.pool import Unavailable
from matches.eventstore.rows import CommandKey, Created
from matches.eventstore.sealing import SealBroken
from matches.eventstore.store import GAP_THRESHOLD_MS
from matches.games.protocol import CorruptHistory, Rejected
from matches.services import metrics, steps
from matches.services.cache import Cache, Entry, History
from matches.services.errors import ServiceError, refused, unavailable
from matches.services.ports import Store
from matches.services.steps import Found
from matches.services.viewers import viewer_of

LOG = logging.getLogger("xqmj.services")

TRIES = 12
"""Lost races and waits that one request may go through before it gives up."""
SHORTEST_WAIT_MS = 5

T = TypeVar("T")


class Executed(msgspec.Struct, frozen=True):
    """A command that is in the log: `effects` events from `first_version` on.

    `replayed`: it had been there before; `entry` may then be far beyond it.
    """

    entry: Entry
    first_version: int
    effects: int
    replayed: bool


class Settled(msgspec.Struct, frozen=True):
    """A match after the table did what it owed; `events` are those of this call."""

    entry: Entry
    events: tuple[Stamped, ...]


class Committed(Protocol):
    """Told of every commit, after it; it must neither block nor raise."""

    def __call__(self, entry: Entry, due: Due | None) -> None:
        """The match stands at the entry; the table acts next at `due`."""
        ...


Prepare = Callable[[Entry, str], Body]
"""Makes the body of a player's (id in hex) command from the match that it is for, after the table
did what it owed; may refuse it."""


class _Asked(msgspec.Struct, frozen=True):
    """A command as it came."""

    player: str
    body: Body
    key: CommandKey | None
    expected_seq: int | None
    prepare: Prepare | None
    hold_ms: int


class _Again(Exception):
    """Somebody else was faster, or something had to be waited for: load once more."""


class _Run:
    """One request for one match, over all its tries."""

    def __init__(self, match_id: UUID) -> None:
        self.match_id = match_id
        self.received_ms: int | None = None
        self.beaten = False
        self.held = False

    def stamp(self, now_ms: int) -> int:
        """When the request was received: the database clock of its first load, kept for good."""
        if self.received_ms is None:
            self.received_ms = now_ms
        return self.received_ms


class Engine:
    """Moves matches on over one store; one of it serves all threads of a process.

    `may_beat` says that this process answers players, so that its being alive
    means that players can reach the service.
    """

    def __init__(
        self,
        *,
        store: Store,
        cache: Cache,
        may_beat: bool,
        committed: Committed,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.store = store
        self.cache = cache
        self._may_beat = may_beat
        self._committed = committed
        self._sleep = sleep

    # --- what is asked ------------------------------------------------------------------------

    def execute(
        self,
        *,
        match_id: UUID,
        player: str,
        body: Body,
        key: CommandKey | None = None,
        expected_seq: int | None = None,
        prepare: Prepare | None = None,
        hold_ms: int = 0,
    ) -> Executed:
        """Let a player (public id in hex) command something; two trips where nobody interferes.

        `expected_seq` is the last line the player has seen. `prepare` may refuse a
        command that is not in the log yet, or put another body in its place. One
        that would stand is decided anew after `hold_ms`, by what is known then of
        the instant at which it was received.
        Raises `ServiceError`: unknown_match, key_reused, match_ended, stale_seq
        (`seq` is the newest line), unavailable, unreadable_match, and every
        refusal of the match and of its rules.
        """
        asked = _Asked(player, body, key, expected_seq, prepare, hold_ms)
        run = _Run(match_id)
        try:
            executed = self._try(match_id, lambda: self._execute(run, asked))
        except ServiceError as error:
            metrics.count(metrics.COMMANDS, error.code)
            raise
        metrics.count(metrics.COMMANDS, "replayed" if executed.replayed else "ok")
        return executed

    def observe(self, match_id: UUID) -> Entry:
        """The match as it stands, after the table did what it owes.

        Raises `ServiceError`: unknown_match, unavailable, unreadable_match.
        """
        return self.settle(match_id, by="read").entry

    def peek(self, match_id: UUID) -> Entry:
        """The match as the log holds it, whatever the table owes; raises as `observe` does."""
        return self._try(match_id, lambda: self._load(match_id).entry)

    def settle(self, match_id: UUID, *, by: str) -> Settled:
        """Let the table do what it owes; `by` says who noticed, for the metrics."""
        run = _Run(match_id)
        return self._try(match_id, lambda: self._settle(run, by))

    def create(
        self,
        *,
        creator: str,
        key: CommandKey | None,
        match_id: UUID,
        created: MatchCreated,
        secret: bytes,
    ) -> Executed:
        """Begin a match; a repeated `key` gives the match it began before.

        Raises `ServiceError`: key_reused, already_playing, unavailable.
        """
        return self._try(match_id, lambda: self._create(creator, key, match_id, created, secret))

    def created_before(self, *, creator: str, key: CommandKey) -> Executed | None:
        """The match that this key began, None where it began none.

        Raises `ServiceError`: key_reused, unavailable, unreadable_match.
        """
        try:
            made = self.store.created_by(creator, key)
        except Unavailable as error:
            raise unavailable() from error
        return None if made is None else self._made_before(made)

    # --- one try ------------------------------------------------------------------------------

    def _execute(self, run: _Run, asked: _Asked) -> Executed:
        found = self._load(run.match_id)
        received_ms = run.stamp(found.entry.now_ms)
        viewer = viewer_of(found.entry.match, asked.player)
        replayed = _replayed(found.entry, asked.key)
        if replayed is not None:
            return replayed
        match, owed = steps.owed_before(found, viewer, received_ms)
        at_ms = max(received_ms, match.at_ms)
        self._beat_if_needed(run, found, domain.due_at(match), at_ms)
        try:
            steps.check_open(match)
            steps.check_seen(found.entry, owed, viewer, asked.expected_seq)
            body = asked.body
            if asked.prepare is not None:
                settled = msgspec.structs.replace(found.entry, match=match)
                body = asked.prepare(settled, asked.player)
            after, decided = domain.decide(match, Command(at_ms, asked.player, body))
            self._hold(run, asked.hold_ms)
            entry = self._append(
                found.entry, after, (*owed, *decided), by="command", owed=len(owed), key=asked.key
            )
        except domain.Unsettled as blocked:
            self._await(blocked.due, found.entry.now_ms)
        except (Rejected, ServiceError) as refusal:
            # What the table owed is due whether or not the command stands.
            if owed:
                self._append(found.entry, match, owed, by="command")
            raise refusal if isinstance(refusal, ServiceError) else refused(refusal) from None
        return Executed(entry, match.version + 1, len(decided), replayed=False)

    def _settle(self, run: _Run, by: str) -> Settled:
        found = self._load(run.match_id)
        match, now_ms = found.entry.match, found.entry.now_ms
        limit_ms = min(now_ms - GRACE_MS, found.alive_ms)
        match, owed = domain.settle(match, now_ms=now_ms, deadline_ms=limit_ms, gaps=found.gaps)
        self._beat_if_needed(run, found, domain.due_at(match), now_ms - GRACE_MS)
        if not owed:
            return Settled(found.entry, ())
        return Settled(self._append(found.entry, match, owed, by=by), owed)

    def _create(
        self,
        creator: str,
        key: CommandKey | None,
        match_id: UUID,
        created: MatchCreated,
        secret: bytes,
    ) -> Executed:
        first = Stamped(created, self.store.now(), None)
        match = domain.begin(match_id=match_id.bytes, created=first, secret=secret)
        rows = codec.new_rows((first,), match_id=match_id, after=0, prev_hash=hashing.GENESIS)
        due = domain.due_at(match)
        made = self.store.create(
            match_id=match_id,
            creator=creator,
            key=key,
            rows=rows,
            ruleset=created.ruleset,
            rules_version=created.rules_version,
            control=created.control,
            rated=created.rated,
            players=created.players,
            due=due,
        )
        if made.outcome != "ok":
            return self._made_before(made)
        entry = Entry(match_id, match, rows[-1].hash, first.at_ms, History(match, first))
        self._remember(entry, due)
        return Executed(entry, 1, 1, replayed=False)

    def _made_before(self, made: Created) -> Executed:
        if made.outcome == "key_reused":
            raise ServiceError("key_reused")
        if made.outcome == "busy":
            raise ServiceError("already_playing")
        return Executed(self.observe(made.match_id), 1, 1, replayed=True)

    def _beat_if_needed(self, run: _Run, found: Found, due: Due | None, at_ms: int) -> None:
        """Record that the service is back, or reachable up to a deadline, before judging by it."""
        if not self._may_beat or run.beaten or found.entry.match.ended is not None:
            return
        overdue = due is not None and due.deadline and found.alive_ms < due.at_ms <= at_ms
        if overdue or found.entry.now_ms - found.alive_ms > GAP_THRESHOLD_MS:
            run.beaten = True
            self.store.beat()
            raise _Again

    def _hold(self, run: _Run, hold_ms: int) -> None:
        """Let what was received before reach the log, once."""
        if hold_ms and not run.held:
            run.held = True
            self._sleep(hold_ms / 1000)
            raise _Again

    def _await(self, due: Due, now_ms: int) -> NoReturn:
        """Let a move that was stamped in time reach the log before another's deadline counts."""
        wait_ms = max(SHORTEST_WAIT_MS, due.at_ms + GRACE_MS - now_ms)
        self._sleep(wait_ms / 1000)
        raise _Again

    # --- the store ----------------------------------------------------------------------------

    def _load(self, match_id: UUID) -> Found:
        known = self.cache.get(match_id)
        after = 0 if known is None else known.version
        loaded = self.store.load(match_id, after_version=after)
        if known is not None and (loaded is None or loaded.hash_at != known.head_hash):
            # The log is the truth: what this process remembers is not its beginning.
            self.cache.drop(match_id)
            known = None
            loaded = self.store.load(match_id)
        if loaded is None:
            raise ServiceError("unknown_match")
        entry = steps.read(match_id, loaded) if known is None else steps.advanced(known, loaded)
        self.cache.put(entry)
        return Found(entry, loaded.alive_ms, loaded.gaps)

    def _append(
        self,
        entry: Entry,
        after: Match,
        events: Sequence[Stamped],
        *,
        by: str,
        owed: int | None = None,
        key: CommandKey | None = None,
    ) -> Entry:
        """Append events that lead to `after`; the first `owed` (None: all) are the table's own."""
        owed = len(events) if owed is None else owed
        rows = codec.new_rows(
            events,
            match_id=entry.match_id,
            after=entry.version,
            prev_hash=entry.head_hash,
            key=key,
            caused_from=owed,
        )
        due = domain.due_at(after)
        appended = self.store.append(
            match_id=entry.match_id,
            expected_version=entry.version,
            prev_hash=entry.head_hash,
            rows=rows,
            status=steps.status_of(after),
            due=due,
            taken=steps.taken_by(events),
            summary=steps.summary_of(after),
        )
        if appended.outcome == "busy":
            raise ServiceError("already_playing")
        if appended.outcome != "ok":
            metrics.count(metrics.RETRIES, appended.outcome)
            raise _Again
        entry.history.grow(entry.version, events, steps.commands(rows))
        entry = Entry(entry.match_id, after, rows[-1].hash, entry.now_ms, entry.history)
        metrics.count(metrics.SETTLED, by, number=owed)
        self._remember(entry, due)
        return entry

    def _remember(self, entry: Entry, due: Due | None) -> None:
        self.cache.put(entry)
        self._committed(entry, due)

    def _try(self, match_id: UUID, once: Callable[[], T]) -> T:
        try:
            for _ in range(TRIES):
                try:
                    return once()
                except _Again:
                    continue
        except Unavailable as error:
            raise unavailable() from error
        except (CorruptHistory, SealBroken) as error:
            LOG.exception("a match cannot be read", extra={"match_id": str(match_id)})
            self.cache.drop(match_id)
            raise ServiceError("unreadable_match") from error
        raise unavailable()


def _replayed(entry: Entry, key: CommandKey | None) -> Executed | None:
    """The command as the log holds it; key_reused where its key stands for another request."""
    done = None if key is None else entry.command(key.command_id)
    if done is None or key is None:
        return None
    if done.fingerprint != key.fingerprint:
        raise ServiceError("key_reused")
    return Executed(entry, done.first_version, done.effects, replayed=True)
