"""Seeks: who looks for an opponent, whoever that may be."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction

from matches.eventstore.rows import CommandKey
from matches.models import Seek
from matches.services import lobby, offers
from matches.services.accounts import Identity
from matches.services.drafts import Terms
from matches.services.engine import Executed
from matches.services.errors import ServiceError
from matches.services.offers import SEEKS
from matches.services.ports import RatingOf

OPEN_MS = 900_000
"""A seek that nobody accepts for so long is over."""


class Range(msgspec.Struct, frozen=True):
    """The ratings a seek is for, both ends included; None: no end."""

    lowest: int | None = None
    highest: int | None = None

    def holds(self, rating: int) -> bool:
        """Whether the rating is within."""
        return (self.lowest is None or self.lowest <= rating) and (
            self.highest is None or rating <= self.highest
        )


def open_seek(*, who: Identity, terms: Terms, wanted: Range, rating_of: RatingOf) -> Seek:
    """Begin to look for an opponent; for a transaction with the key of the request.

    Raises `ServiceError`: what `create_match` refuses of such terms,
    already_playing, cooling_down, bad_rating_range, unrated_control (of a range
    where nothing is rated), seek_open.
    """
    rating = rating_of(player=who.id, ruleset=terms.ruleset, control=terms.control)
    if wanted != Range() and rating is None:
        raise ServiceError("unrated_control")
    if wanted.lowest is not None and wanted.highest is not None and wanted.lowest > wanted.highest:
        raise ServiceError("bad_rating_range")
    lobby.check_free(who, rated=terms.rated)
    fields = offers.fields_of(who, terms, open_ms=OPEN_MS)
    SEEKS.lapsed(fields["created_ms"]).filter(player=who.id).delete()
    try:
        with transaction.atomic():
            return Seek.objects.create(
                **fields, rating=rating, rating_min=wanted.lowest, rating_max=wanted.highest
            )
    except IntegrityError:
        raise ServiceError("seek_open") from None


def open_seeks() -> list[Seek]:
    """The seeks that can be accepted now, the newest first."""
    return offers.listed(SEEKS.open(lobby.now_ms()))


def mine(player: str) -> list[Seek]:
    """The player's own seeks, accepted ones for a while, the newest first."""
    return offers.listed(SEEKS.shown(lobby.now_ms()).filter(player=player))


def close(*, who: Identity, seek_id: UUID) -> None:
    """Look no longer. Raises `ServiceError` unknown_seek (also of another's seek), seek_taken."""
    offers.withdraw(SEEKS, Seek.objects.filter(pk=seek_id, player=who.id))


def accept(
    *, who: Identity, seek_id: UUID, rating_of: RatingOf, key: CommandKey | None = None
) -> Executed:
    """Take a seek and sit down in its match, in seat 1.

    A repeated `key` gives the match that it made. Raises `ServiceError`:
    unknown_seek, own_opponent, seek_taken, rated_needs_accounts,
    already_playing, cooling_down, rating_out_of_range (`rating`), key_reused,
    unavailable.
    """

    def check(seek: Seek) -> None:
        lobby.check_free(who, rated=seek.rated)
        rating = rating_of(player=who.id, ruleset=seek.ruleset, control=seek.control)
        if rating is not None and not Range(seek.rating_min, seek.rating_max).holds(rating):
            raise ServiceError("rating_out_of_range", {"rating": rating})

    among = Seek.objects.filter(pk=seek_id)
    return offers.accept(SEEKS, who=who, among=among, check=check, key=key)
