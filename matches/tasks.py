"""Tasks only nudge: they name a match at most, and call the service that looks for itself.

Doubled, late, lost or reordered deliveries change nothing.
"""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.db import OperationalError

from matches.eventstore.pool import Unavailable
from matches.services import fairness, housekeeping
from matches.services import sweep as sweeps
from matches.services.errors import ServiceError


@shared_task(
    name="matches.sweep", acks_late=True, ignore_result=True, soft_time_limit=10, time_limit=15
)
def sweep() -> int:
    """Settle what is due; returns how many matches moved on. Beat sends it every second."""
    try:
        return sweeps.sweeper().settle_due().settled
    except Unavailable:
        # The next one will find everything that this one would have.
        return 0


@shared_task(
    name="matches.settle_match",
    acks_late=True,
    ignore_result=True,
    soft_time_limit=10,
    time_limit=15,
)
def settle_match(match_id: str) -> int:
    """Settle one match (id in hex) if it owes anything; returns how many events that were."""
    try:
        return len(sweeps.sweeper().settle_one(UUID(hex=match_id)).events)
    except ServiceError:
        # A hint about a match that is not there, or cannot be had now, is no hint.
        return 0


@shared_task(name="matches.look_for_flags", acks_late=True, ignore_result=True)
def look_for_flags() -> int:
    """Write down facts for moderators. Beat sends it every hour."""
    try:
        return fairness.look()
    except OperationalError:
        # The next one will find everything that this one would have.
        return 0


@shared_task(name="matches.forget_expired", acks_late=True, ignore_result=True)
def forget_expired() -> int:
    """Delete expired tokens, and the answers of writes as old. Beat sends it every hour."""
    try:
        return housekeeping.forget_expired()
    except OperationalError:
        # The next one will find everything that this one would have.
        return 0
