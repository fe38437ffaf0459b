"""The task that wakes the catch-up. It names nothing and decides nothing: it only nudges."""

from __future__ import annotations

from celery import shared_task
from django.db import OperationalError

from matches.services import queries
from ratings import services


@shared_task(
    name="ratings.apply_finished",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=20,
    time_limit=30,
)
def apply_finished() -> int:
    """Rate what has finished. Beat sends it every few seconds, and whoever ends a rated match.

    Doubled, lost or late deliveries change nothing: the next one does the rest.
    """
    try:
        return services.apply_finished()
    except (OperationalError, queries.Unavailable):
        # The next one will find everything that this one would have.
        return 0
