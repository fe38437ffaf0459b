"""Facts for moderators: accounts that share an address, pairs that play again and again.

They are written down and nothing follows from them by itself: a family shares an
address, and friends play all day.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from matches.models import Flag, SeenAddress

MATCHES_A_DAY = 10
"""A pair with more rated matches begun on one day (UTC) is flagged."""
CROWD = 10
"""An address from which more accounts come is a school's or a carrier's, and says nothing."""

_SHARED = """
INSERT INTO matches_flag (kind, one, other, day, count)
SELECT 'shared_address', a.player, b.player, (now() AT TIME ZONE 'UTC')::date, count(*)
  FROM matches_seenaddress a JOIN matches_seenaddress b USING (address)
 WHERE a.player < b.player AND greatest(a.last_at, b.last_at) > now() - interval '1 day'
   AND (SELECT count(*) FROM matches_seenaddress c WHERE c.address = a.address) <= %s
 GROUP BY a.player, b.player
    ON CONFLICT (kind, one, other, day) DO UPDATE SET count = excluded.count
"""
_OFTEN = """
INSERT INTO matches_flag (kind, one, other, day, count)
SELECT 'many_matches', least(a.player, b.player), greatest(a.player, b.player),
       (to_timestamp(a.created_at_ms / 1000) AT TIME ZONE 'UTC')::date AS day, count(*)
  FROM es.match_head h
  JOIN es.match_seat a ON a.match_id = h.match_id AND a.seat = 0
  JOIN es.match_seat b ON b.match_id = h.match_id AND b.seat = 1
 WHERE h.rated AND h.created_at_ms >= es.now_ms() / 86400000 * 86400000 - 86400000
 GROUP BY 2, 3, 4 HAVING count(*) > %s
    ON CONFLICT (kind, one, other, day) DO UPDATE SET count = excluded.count
"""


def note_address(player: str, address: str | None) -> None:
    """Note that a player (id in hex) came from an address; None: it cannot be told.

    The hash is keyed by `SECRET_KEY`, which the database does not hold: nobody can
    try addresses on a stolen table.
    """
    if address is None:
        return
    hidden = salted_hmac("xqmj.address", address, algorithm="sha256").hexdigest()[:32]
    seen = SeenAddress.objects.filter(player=player, address=hidden)
    if not seen.update(last_at=Now()):
        SeenAddress.objects.bulk_create(
            [SeenAddress(player=UUID(hex=player), address=hidden)], ignore_conflicts=True
        )


def look() -> int:
    """Write down today's and yesterday's facts; done again it changes counts alone."""
    with connection.cursor() as cursor:
        cursor.execute(_SHARED, [CROWD])
        found = cursor.rowcount
        cursor.execute(_OFTEN, [MATCHES_A_DAY])
        return int(found + cursor.rowcount)


def forgettable() -> tuple[QuerySet[Any], ...]:
    """Addresses and facts that have been kept long enough."""
    kept = timedelta(days=settings.XQMJ_ADDRESS_DAYS)
    return (
        SeenAddress.objects.filter(last_at__lt=Now() - kept).order_by("last_at"),
        Flag.objects.filter(day__lt=Now() - timedelta(days=settings.XQMJ_FLAG_DAYS)).order_by(
            "day"
        ),
    )
