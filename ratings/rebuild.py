"""Recomputes every rating from the log of matches, and compares or replaces what is live.

The rating log itself is never replaced: where it differs from what the matches say, a rebuild
says so and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec
from django.db import transaction

from ratings import source
from ratings.fold import Entry, Ledger, Position
from ratings.models import CatchUp, Rating, RatingEvent
from ratings.services import position, step

CHUNK = 500
"""Matches compared, or rows written, at a time."""


class Difference(msgspec.Struct, frozen=True):
    """The first place where live and recomputed part; None: there is nothing on that side."""

    where: str
    live: str | None
    recomputed: str | None


class Outcome(msgspec.Struct, frozen=True):
    """What a rebuild went through, and what it found."""

    matches: int
    entries: int
    standings: int
    difference: Difference | None


Progress = Callable[[int, int], None]
"""Called with the number of matches and of log entries that have been gone through so far."""


class _Parted(Exception):
    """Live and recomputed differ."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.where)
        self.difference = difference


def rebuild(*, replace: bool, progress: Progress) -> Outcome:
    """Fold every match up to where the live tables stand, and compare byte for byte.

    With `replace` the projection is written anew, provided that the rating log is as it must be;
    without, it is compared too. Most of the work is done beside the live system; only the last
    matches and the comparison or replacement hold the lock that orders all application.
    """
    shadow = _Shadow(progress)
    try:
        shadow.advance(position(CatchUp.objects.get()))
        with transaction.atomic():
            shadow.advance(position(CatchUp.objects.select_for_update().get()))
            shadow.finish()
            if replace:
                shadow.replace_projection()
            else:
                shadow.compare_projection()
    except _Parted as parted:
        return shadow.outcome(parted.difference)
    return shadow.outcome(None)


class _Shadow:
    """What the log of matches says, as far as it has been folded."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._ledger = Ledger()
        self._at: Position | None = None
        self._matches = 0
        self._entries = 0

    def outcome(self, difference: Difference | None) -> Outcome:
        """What has been gone through."""
        return Outcome(
            self._matches,
            self._entries,
            sum(len(held) for held in self._ledger.standings.values()),
            difference,
        )

    def advance(self, end: Position | None) -> None:
        """Fold the matches up to and including `end`, comparing each with the rating log."""
        while end is not None and (self._at is None or self._at < end):
            found = source.finished_rated(after=self._at, limit=CHUNK)
            due = [match for match in found if source.position_of(match) <= end]
            if not due:
                raise _Parted(Difference("the matches", f"applied up to {end}", None))
            entries: list[Entry] = []
            for match in due:
                self._at = step(self._at, match)
                entries += self._ledger.apply(match)
            self._compare_entries(entries)
            self._matches += len(due)
            self._entries += len(entries)
            self._progress(self._matches, self._entries)

    def _compare_entries(self, entries: Sequence[Entry]) -> None:
        rows = RatingEvent.objects.filter(match_id__in={entry.match_id for entry in entries})
        live = {(row.match_id, row.seat): row.entry.line() for row in rows}
        for entry in entries:
            _compare(
                f"rating log {entry.pool} {entry.seq}",
                live.pop((entry.match_id, entry.seat), None),
                entry.line(),
            )
        for line in live.values():
            _compare("rating log", line, None)

    def finish(self) -> None:
        """Compare the length of the rating log: nothing may stand in it beside the matches."""
        live = RatingEvent.objects.count()
        if live != self._entries:
            raise _Parted(Difference("rating log", f"{live} entries", f"{self._entries} entries"))

    def compare_projection(self) -> None:
        """Compare every live row with its standing, and see that no standing lacks its row."""
        wanting = {(row.pool, row.player): row.line() for row in self._rows()}
        for live in Rating.objects.iterator(CHUNK):
            ours = wanting.pop((live.pool, live.player), None)
            _compare(f"rating {live}", live.line(), ours)
        for (pool, player), line in wanting.items():
            _compare(f"rating {pool} {player}", None, line)

    def replace_projection(self) -> None:
        """Write every standing anew."""
        Rating.objects.all().delete()
        rows = self._rows()
        while chunk := list(islice(rows, CHUNK)):
            Rating.objects.bulk_create(chunk)

    def _rows(self) -> Iterator[Rating]:
        for pool, held in self._ledger.standings.items():
            for player, standing in held.items():
                yield Rating.of(pool=pool, player=player, standing=standing)


def _compare(where: str, live: bytes | None, recomputed: bytes | None) -> None:
    if live != recomputed:
        raise _Parted(Difference(where, _text(live), _text(recomputed)))


def _text(line: bytes | None) -> str | None:
    return None if line is None else line.decode()
