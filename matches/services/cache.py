"""Folded matches that this process remembers, and what each viewer has seen of them.

The log is the only truth: an entry is what some load found, and the next load
asks for what came after it. Entries are immutable values; what all entries of
one match share is its `History`, which only grows and is guarded by one lock.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec

from matches.domain import match as domain
from matches.domain.events import Stamped
from matches.domain.state import Match
from matches.domain.visibility import Line, line
from matches.games.protocol import Viewer
from matches.services import metrics

ENDED_SHARE = 32
"""For so many live matches one that is over is remembered."""


class Done(msgspec.Struct, frozen=True, gc=False):
    """Where a command's events stand: `effects` of them from `first_version` on."""

    first_version: int
    effects: int
    fingerprint: int


class _Feed:
    """What one viewer has seen. `seen[v]` is how many lines there are at version v."""

    __slots__ = ("lines", "seen", "viewer")

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self.lines: list[Line] = []
        self.seen = [0]

    def show(self, after: Match, event: Stamped) -> None:
        """Add an event, given the match after it."""
        shown = line(after, event, self.viewer, seq=len(self.lines) + 1)
        if shown is not None:
            self.lines.append(shown)
        self.seen.append(len(self.lines))


class History:
    """Every event of one match that this process has read, and the feeds made of them.

    All feeds stand at one version, so that one fold serves them all.
    """

    def __init__(self, first: Match, created: Stamped) -> None:
        self._lock = threading.Lock()
        self._first = first
        self._shown = first
        self._events = [created]
        self._commands: dict[UUID, Done] = {}
        self._feeds: dict[Viewer, _Feed] = {}

    def grow(
        self, version: int, events: Sequence[Stamped], commands: Iterable[tuple[UUID, Done]]
    ) -> None:
        """Add the events after `version`; those that another thread added already are skipped."""
        with self._lock:
            self._events.extend(events[len(self._events) - version :])
            self._commands.update(commands)

    def command(self, command_id: UUID) -> Done | None:
        """What a command did, if it is in the log as far as it was read."""
        with self._lock:
            return self._commands.get(command_id)

    def events(self, version: int) -> tuple[Stamped, ...]:
        """The first `version` events."""
        with self._lock:
            return tuple(self._events[:version])

    def between(self, viewer: Viewer, first: int, last: int) -> tuple[int, tuple[Line, ...]]:
        """The viewer's lines of the events from version `first` to `last`, both included.

        With them the number of its last line at `last`.
        """
        with self._lock:
            feed = self._fed(viewer, last)
            seq = feed.seen[last]
            return seq, tuple(feed.lines[feed.seen[first - 1] : seq])

    def after(self, viewer: Viewer, version: int, seq: int) -> tuple[Line, ...]:
        """The viewer's lines after its line `seq`, as far as `version`."""
        with self._lock:
            feed = self._fed(viewer, version)
            return tuple(feed.lines[max(0, seq) : feed.seen[version]])

    def seq(self, viewer: Viewer, version: int) -> int:
        """The number of the viewer's last line at `version`."""
        with self._lock:
            return self._fed(viewer, version).seen[version]

    def _fed(self, viewer: Viewer, version: int) -> _Feed:
        if self._shown.version < version:
            for event in self._events[self._shown.version : version]:
                self._shown = domain.evolve(self._shown, event)
                for feed in self._feeds.values():
                    feed.show(self._shown, event)
        found = self._feeds.get(viewer)
        if found is None:
            found = self._feeds[viewer] = self._begun(viewer)
        return found

    def _begun(self, viewer: Viewer) -> _Feed:
        """A new feed, which is as far as the others."""
        feed, after = _Feed(viewer), self._first
        feed.show(after, self._events[0])
        for event in self._events[1 : self._shown.version]:
            after = domain.evolve(after, event)
            feed.show(after, event)
        return feed


class Entry(msgspec.Struct, frozen=True):
    """A match as one load found it. `now_ms` is the database clock of that load."""

    match_id: UUID
    match: Match
    head_hash: bytes
    now_ms: int
    history: History

    @property
    def version(self) -> int:
        """How many events there are. Never leaves the server: it counts what a viewer may not."""
        return self.match.version

    def seq(self, viewer: Viewer) -> int:
        """The number of the viewer's last line."""
        return self.history.seq(viewer, self.version)

    def lines(self, viewer: Viewer, *, after: int = 0) -> tuple[Line, ...]:
        """The viewer's lines after its line number `after`."""
        return self.history.after(viewer, self.version, after)

    def command(self, command_id: UUID) -> Done | None:
        """What a command did, if it is among the entry's events."""
        done = self.history.command(command_id)
        return done if done is not None and done.first_version <= self.version else None


class _Shelf:
    """Entries in the order of their last use, at most `capacity`."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self.entries: OrderedDict[UUID, Entry] = OrderedDict()

    def put(self, entry: Entry) -> None:
        self.entries[entry.match_id] = entry
        self.entries.move_to_end(entry.match_id)
        while len(self.entries) > self._capacity:
            self.entries.popitem(last=False)


class Cache:
    """The entries used last, at most `capacity` live ones; safe for threads.

    Of matches that are over it keeps a few only: nobody moves in them any more.
    """

    def __init__(self, capacity: int) -> None:
        self._lock = threading.Lock()
        self._live = _Shelf(capacity)
        self._ended = _Shelf(capacity // ENDED_SHARE)

    def __len__(self) -> int:
        return len(self._live.entries) + len(self._ended.entries)

    def get(self, match_id: UUID) -> Entry | None:
        """The newest entry of the match that is still remembered."""
        with self._lock:
            entry = None
            for shelf in (self._live, self._ended):
                entry = shelf.entries.get(match_id)
                if entry is not None:
                    shelf.entries.move_to_end(match_id)
                    break
        metrics.count(metrics.CACHE, "miss" if entry is None else "hit")
        return entry

    def put(self, entry: Entry) -> None:
        """Remember an entry, unless a newer one of the same match is known."""
        match_id = entry.match_id
        with self._lock:
            live, ended = self._live.entries.get(match_id), self._ended.entries.get(match_id)
            known = live or ended
            if known is not None and known.version > entry.version:
                return
            if entry.match.ended is None:
                self._live.put(entry)
            else:
                self._live.entries.pop(match_id, None)
                self._ended.put(entry)

    def drop(self, match_id: UUID) -> None:
        """Forget a match: the log says something else."""
        with self._lock:
            self._live.entries.pop(match_id, None)
            self._ended.entries.pop(match_id, None)
        metrics.count(metrics.CACHE, "dropped")
