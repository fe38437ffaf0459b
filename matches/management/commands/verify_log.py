"""`manage.py verify_log`: recompute what the log claims, and name the first event that is wrong."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from django.core.management.base import BaseCommand, CommandError

from matches.audit import database, protocol
from matches.audit.report import Report
from matches.audit.verify import verify
from matches.management.progress import ProgressLine
from xqmj_site.database.patience import unbounded

FILE_BYTES = 64 * 1024 * 1024
"""The largest export that is read from a file."""


class Command(BaseCommand):
    """Prove matches in the database, or exports in files."""

    help = (
        "Recompute chain, deal, legality of every event, clocks, scores, result, head and seats. "
        "Ends with 1 if anything is wrong, and names the first wrong event of each match."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which matches."""
        parser.add_argument("match", nargs="*", type=UUID, help="ids of matches")
        parser.add_argument("--all", action="store_true", help="every match")
        parser.add_argument(
            "--ended", action="store_true", help="with --all: no live match (needs no seal keys)"
        )
        parser.add_argument(
            "--file", action="append", default=[], type=Path, help="an export, as downloaded"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Verify, and raise `CommandError` unless all is proven."""
        wrong = 0
        for path in options["file"]:
            wrong += self._told(self._of_file(path))
        if options["match"]:
            wrong += self._some(options["match"])
        if options["all"]:
            wrong += self._all(ended_only=options["ended"])
        elif not options["match"] and not options["file"]:
            raise CommandError("Name a match or a --file, or say --all.")
        if wrong:
            raise CommandError(f"{wrong} not proven")

    def _of_file(self, path: Path) -> Report:
        try:
            if path.stat().st_size > FILE_BYTES:
                raise CommandError(f"{path} is larger than any export")
            return verify(msgspec.json.decode(path.read_bytes()))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CommandError(f"{path}: {error}") from error

    def _some(self, match_ids: list[UUID]) -> int:
        wrong, missing = 0, set(match_ids)
        for stored in database.some(match_ids):
            missing.discard(stored.match_id)
            wrong += self._told(database.check(stored))
        for match_id in sorted(missing):
            self.stdout.write(f"match {match_id}\n  there is no such match")
        return wrong + len(missing)

    def _told(self, report: Report) -> bool:
        self.stdout.write("\n".join(protocol.lines(report)))
        return not report.ok

    @unbounded()
    def _all(self, *, ended_only: bool) -> int:
        matches, events = database.total(ended_only=ended_only)
        progress = Progress(self, matches=matches, events=events)
        wrong = self._proven(database.all_matches(ended_only=ended_only), progress)
        for match_id in database.headless():
            wrong += 1
            progress.clear()
            self.stdout.write(f"match {match_id}: its events have no head")
        progress.end(wrong)
        return wrong

    def _proven(self, found: Iterable[database.Stored], progress: Progress) -> int:
        wrong = 0
        for stored in found:
            report = database.check(stored)
            progress.add(len(stored.rows))
            if not report.ok:
                wrong += 1
                progress.clear()
                self.stdout.write(f"match {stored.match_id}: {report.code}: {report.message}")
        return wrong


class Progress:
    """How far a verification is, on stderr.

    The totals are those at the start; matches that began later are counted on top.
    """

    def __init__(self, command: BaseCommand, *, matches: int, events: int) -> None:
        self._line = ProgressLine(command.stderr)
        self._command = command
        self._total = (matches, events)
        self._matches = self._events = 0
        self._began_s = time.monotonic()

    def add(self, events: int) -> None:
        """One more match was looked at, with so many events."""
        self._matches += 1
        self._events += events
        self._line.tell(self._text())

    def clear(self) -> None:
        """Make room for something else to be written."""
        self._line.clear()

    def end(self, wrong: int) -> None:
        """Sum up."""
        self.clear()
        rate = self._events / self._spent_s()
        self._command.stdout.write(
            f"{self._matches} matches, {self._events} events, {wrong} not proven "
            f"({rate:,.0f} events/s)"
        )

    def _text(self) -> str:
        matches, events = self._total
        rate = self._events / self._spent_s()
        left_s = max(0, events - self._events) / rate if rate else 0.0
        share = self._events / events if events else 1.0
        return (
            f"{self._matches}/{matches} matches  {min(share, 1.0):4.0%}  "
            f"{rate:,.0f} events/s  {left_s:,.0f} s left "
        )

    def _spent_s(self) -> float:
        return max(1e-6, time.monotonic() - self._began_s)
