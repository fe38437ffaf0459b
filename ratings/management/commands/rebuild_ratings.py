"""`manage.py rebuild_ratings`: every rating again, from the log of matches."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ratings.models import RatingEvent
from ratings.rebuild import Difference, rebuild
from xqmj_site.database.patience import unbounded

REPORT_S = 1.0
"""A line of progress this often."""


class Command(BaseCommand):
    """Recompute all ratings; compare them with the live tables, or replace the projection."""

    help = (
        "Recompute every rating from the log of matches and compare the rating log byte for byte. "
        "Then the table of ratings is written anew, or with --check compared as well. The rating "
        "log itself is never changed. Exit code 1 where something differs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take --check."""
        parser.add_argument(
            "--check", action="store_true", help="compare only; change nothing at all"
        )

    @unbounded()
    def handle(self, *_args: Any, check: bool, **_options: Any) -> None:
        """Run, report progress, and fail where live and recomputed differ."""
        reporter = Reporter(self, RatingEvent.objects.count())
        outcome = rebuild(replace=not check, progress=reporter.report)
        reporter.summary(outcome.matches)
        if outcome.difference is not None:
            raise CommandError(told(outcome.difference))
        what = "equal" if check else "written anew"
        self.stdout.write(
            f"{outcome.entries:,} log entries equal, {outcome.standings:,} ratings {what}."
        )


class Reporter:
    """Says how far it is, once a second."""

    def __init__(self, command: BaseCommand, entries: int) -> None:
        self._command = command
        self._entries = entries
        self._began_s = self._told_s = time.monotonic()

    def report(self, matches: int, entries: int) -> None:
        """Say how far it is, unless that was said just now."""
        now_s = time.monotonic()
        if now_s - self._told_s < REPORT_S:
            return
        self._told_s = now_s
        share = entries / max(1, self._entries)
        rate = matches / (now_s - self._began_s)
        self._command.stdout.write(f"{share:4.0%}  {matches:,} matches, {rate:,.0f} a second")
        self._command.stdout.flush()

    def summary(self, matches: int) -> None:
        """Say how long it took."""
        self._command.stdout.write(
            f"{matches:,} matches in {time.monotonic() - self._began_s:.1f} s"
        )


def told(difference: Difference) -> str:
    """Return the difference in words."""
    return (
        f"{difference.where} differs; nothing was changed.\n"
        f"live:       {difference.live or 'nothing'}\n"
        f"recomputed: {difference.recomputed or 'nothing'}"
    )
