"""What has had its time and is kept for nothing: answers of writes, tokens, and offers.

A guest whose last token has expired can never come back, but stays a player:
the log names it, and whoever audits a match must find it.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Model, QuerySet
from django.db.models.functions import Now
from knox.models import AuthToken
from knox.settings import knox_settings

from matches.eventstore import presence
from matches.models import WriteKey
from matches.services import fairness, offers, pairing

BATCH = 1_000
"""So many rows are deleted at a time, well within what a statement may take."""


def forget_expired() -> int:
    """Delete what has had its time; returns how many rows that were."""
    forgotten = _delete(AuthToken.objects.filter(expiry__lt=Now()).order_by("expiry"))
    forgotten += sum(map(_delete, offers.forgettable()))
    forgotten += _delete(pairing.forgettable())
    forgotten += presence.forget_old()
    forgotten += sum(map(_delete, fairness.forgettable()))
    lifetime = knox_settings.TOKEN_TTL
    if lifetime is not None:
        expired = WriteKey.objects.filter(created_at__lt=Now() - lifetime)
        forgotten += _delete(expired.order_by("created_at"))
    return forgotten


def _delete(expired: QuerySet[Any]) -> int:
    kind: type[Model] = expired.model
    forgotten = 0
    while batch := list(expired.values_list("pk", flat=True)[:BATCH]):
        forgotten += kind._default_manager.filter(pk__in=batch).delete()[0]  # noqa: SLF001
    return forgotten
