"""`manage.py ladder`: how much stronger each level of the computer is than the one below."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from matches.management.demo.ink import ink_for
from matches.management.ladder import report
from matches.management.ladder.climb import STEPS, Step, Tally, climb
from matches.management.progress import ProgressLine

BAR_CELLS = 30


class Command(BaseCommand):
    """Play every level against the one below it, and the highest against greedy."""

    help = (
        "Play matches without clocks between the levels of the computer, and print a table of "
        "their scores. Ends with 1 if a score is off its target by more than two standard errors."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own way to say: none

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How much to play."""
        parser.add_argument("--matches", type=_at_least_one, default=1_000, help="matches a step")
        parser.add_argument("--seed", default="1", help="the same seed gives the same matches")
        parser.add_argument("--jobs", type=_at_least_one, default=1, help="processes to play in")
        parser.add_argument("--json", type=Path, help="a file for the table as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Play, and raise `CommandError` unless every score meets its target."""
        path: Path | None = options["json"]
        if path is not None:
            try:
                path.touch()
            except OSError as error:
                # Better now than after minutes of play.
                raise CommandError(str(error)) from error
        found = self._played(options["matches"], options["seed"], options["jobs"])
        self.stdout.write("\n".join(report.table(found)))
        if path is not None:
            path.write_bytes(report.document(found, seed=options["seed"]))
        missed = [step.name for step, tally in found.items() if not tally.meets(step.target)]
        if missed:
            raise CommandError(f"off target: {', '.join(missed)}")

    def _played(self, matches: int, seed: str, jobs: int) -> dict[Step, Tally]:
        found = {step: Tally() for step in STEPS}
        line, ink = ProgressLine(self.stderr), ink_for(sys.stderr)
        total, begun_s = matches * len(STEPS), time.monotonic()
        for step, tally in climb(STEPS, matches=matches, seed=seed, jobs=jobs):
            found[step] += tally
            done = sum(one.matches for one in found.values())
            left_s = (time.monotonic() - begun_s) * (total - done) / done
            bar = ink.bar(done / total, BAR_CELLS)
            text = f"[{bar}] {done:,} of {total:,} matches  {step.name}  {left_s:.0f} s left"
            line.tell(text)
        line.clear()
        return found


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a number from 1 on")
    return int(text)
