"""`manage.py flags`: what a moderator may want to look into."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.db.models.functions import Now

from matches.models import Flag
from matches.services import fairness, people


class Command(BaseCommand):
    """List facts, the newest first."""

    help = (
        "List accounts that share an address, and pairs with more than ten rated matches on one "
        "day (UTC): day, kind, count, and the two players. Nothing is done about them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take --days."""
        parser.add_argument("--days", type=int, default=7, help="of so many days (7)")

    def handle(self, *_args: Any, days: int, **_options: Any) -> None:
        """Look once more, and list."""
        fairness.look()
        found = list(
            Flag.objects.filter(day__gt=Now() - timedelta(days=days)).order_by(
                "-day", "kind", "-count", "id"
            )
        )
        known = people.by_ids(player.hex for flag in found for player in (flag.one, flag.other))
        for flag in found:
            names = (
                known[one.hex].username or one.hex if one.hex in known else one.hex
                for one in (flag.one, flag.other)
            )
            self.stdout.write(f"{flag.day} {flag.kind} {flag.count} {' '.join(names)}")
