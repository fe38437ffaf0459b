"""Seeks: who looks for an opponent, and the one match that whoever accepts first plays.

Accepting is one conditional update, under the id that was reserved for the
match; making a match of an id may be repeated. So of any number who accept one
gets it, and whatever crashes between the two is finished by the next `tend`.
"""

from __future__ import annotations

import logging
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from matches.eventstore import ids
from matches.eventstore.rows import CommandKey
from matches.games.protocol import Rejected
from matches.models import Seek
from matches.services import execute, heartbeat, lobby
from matches.services.accounts import Identity
from matches.services.drafts import Terms, draft
from matches.services.engine import Executed
from matches.services.errors import ServiceError, refused
from matches.services.ports import RatingOf

LOG = logging.getLogger("xqmj.services")

OPEN_MS = 900_000
"""A seek that nobody accepts for so long is over."""
SHOWN_MS = 3_600_000
"""An accepted seek tells its player of the match for so long after it would have been over."""
LISTED = 100
BATCH = 50


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
    already_playing, bad_rating_range, unrated_control (of a range where nothing
    is rated), seek_open.
    """
    rating = rating_of(player=who.id, ruleset=terms.ruleset, control=terms.control)
    if wanted != Range() and rating is None:
        raise ServiceError("unrated_control")
    if wanted.lowest is not None and wanted.highest is not None and wanted.lowest > wanted.highest:
        raise ServiceError("bad_rating_range")
    lobby.check_free(who, rated=terms.rated)
    try:
        drafted = draft(terms, players=(who.id,))
    except Rejected as refusal:
        raise refused(refusal) from None
    now_ms = lobby.now_ms()
    Seek.objects.filter(player=who.id, taken_by=None, expires_ms__lte=now_ms).delete()
    try:
        with transaction.atomic():
            return Seek.objects.create(
                match_id=drafted.match_id,
                player=UUID(hex=who.id),
                ruleset=terms.ruleset,
                rules_version=terms.rules_version,
                options=drafted.created.options,
                control=terms.control,
                rated=terms.rated,
                rating=rating,
                rating_min=wanted.lowest,
                rating_max=wanted.highest,
                created_ms=now_ms,
                expires_ms=now_ms + OPEN_MS,
            )
    except IntegrityError:
        raise ServiceError("seek_open") from None


def open_seeks() -> list[Seek]:
    """The seeks that can be accepted now, the newest first."""
    return list(_open(lobby.now_ms()).order_by("-created_ms", "id")[:LISTED])


def mine(player: str) -> list[Seek]:
    """The player's own seeks, accepted ones for a while, the newest first."""
    now_ms = lobby.now_ms()
    own = Seek.objects.filter(player=player).filter(
        Q(taken_by=None, expires_ms__gt=now_ms)
        | Q(taken_by__isnull=False, expires_ms__gt=now_ms - SHOWN_MS)
    )
    return list(own.order_by("-created_ms", "id")[:LISTED])


def close(*, who: Identity, seek_id: UUID) -> None:
    """Look no longer. Raises `ServiceError` unknown_seek (also of another's seek), seek_taken."""
    own = Seek.objects.filter(pk=seek_id, player=who.id)
    if not own.filter(taken_by=None, expires_ms__gt=lobby.now_ms()).delete()[0]:
        raise ServiceError("seek_taken" if own.filter(made=True).exists() else "unknown_seek")


def accept(
    *, who: Identity, seek_id: UUID, rating_of: RatingOf, key: CommandKey | None = None
) -> Executed:
    """Take a seek and sit down in its match, in seat 1.

    A repeated `key` gives the match that it made. Raises `ServiceError`:
    unknown_seek, own_opponent, seek_taken, rated_needs_accounts,
    already_playing, rating_out_of_range (`rating`), key_reused, unavailable.
    """
    heartbeat.ensure()
    made = None if key is None else execute.engine().created_before(creator=who.id, key=key)
    if made is not None:
        return made
    seek, now_ms = Seek.objects.filter(pk=seek_id).first(), lobby.now_ms()
    if seek is None or (seek.taken_by is None and seek.expires_ms <= now_ms):
        raise ServiceError("unknown_seek")
    if seek.player.hex == who.id:
        raise ServiceError("own_opponent")
    if seek.taken_by is None:
        _check_fits(who, seek, rating_of)
        _open(now_ms).filter(pk=seek_id).update(taken_by=who.id, taken_ms=now_ms)
        seek = Seek.objects.filter(pk=seek_id).first()
    if seek is None:
        raise ServiceError("unknown_seek")
    if seek.taken_by != UUID(hex=who.id):
        raise ServiceError("seek_taken")
    return _finish(seek, key)


def tend() -> int:
    """Make the matches of accepted seeks whose accepting did not come to its end; returns how many.

    Raises `ServiceError` unavailable.
    """
    left = Seek.objects.filter(
        taken_by__isnull=False, made=False, taken_ms__lte=lobby.now_ms() - lobby.FINISH_AFTER_MS
    )
    finished = 0
    for seek in left.order_by("taken_ms")[:BATCH]:
        try:
            _finish(seek, None)
        except ServiceError as error:
            if error.code == "unavailable":
                raise
            LOG.warning("a seek came to nothing: %s", error.code, extra={"seek": seek.pk.hex})
        else:
            finished += 1
    return finished


def forgettable() -> QuerySet[Seek]:
    """Seeks that nobody asks for any more."""
    return Seek.objects.filter(
        Q(taken_by=None) | Q(made=True), expires_ms__lte=lobby.now_ms() - SHOWN_MS
    ).order_by("expires_ms")


def _open(now_ms: int) -> QuerySet[Seek]:
    return Seek.objects.filter(taken_by=None, expires_ms__gt=now_ms)


def _check_fits(who: Identity, seek: Seek, rating_of: RatingOf) -> None:
    """Refuse whom the seek is not for."""
    lobby.check_free(who, rated=seek.rated)
    wanted = Range(seek.rating_min, seek.rating_max)
    rating = rating_of(player=who.id, ruleset=seek.ruleset, control=seek.control)
    if rating is not None and not wanted.holds(rating):
        raise ServiceError("rating_out_of_range", {"rating": rating})


def _finish(seek: Seek, key: CommandKey | None) -> Executed:
    """Make the match of an accepted seek, or find it made."""
    if seek.taken_by is None:
        raise ValueError(f"{seek} is open")
    terms = Terms(
        ruleset=seek.ruleset,
        control=seek.control,
        rules_version=seek.rules_version,
        options=seek.options,
        rated=seek.rated,
    )
    taker = seek.taken_by.hex
    try:
        done = lobby.begin(
            terms,
            players=(seek.player.hex, taker),
            creator=taker,
            match_id=seek.match_id,
            key=key,
        )
    except ServiceError as error:
        if error.code == "already_playing":
            raise _given_back(seek, taker) from None
        if error.code not in ("key_reused", "unavailable"):
            # A newer release may know of fewer rulesets.
            Seek.objects.filter(pk=seek.pk, made=False).delete()
        raise
    Seek.objects.filter(pk=seek.pk, taken_by=taker).update(made=True)
    return done


def _given_back(seek: Seek, taker: str) -> ServiceError:
    """Open the seek again, or end it where it is its player who plays; returns what to refuse with.

    Under another id: whoever still makes the match of the old one meets nobody.
    """
    own = Seek.objects.filter(pk=seek.pk, taken_by=taker, made=False)
    if lobby.playing(seek.player.hex):
        own.delete()
        return ServiceError("seek_taken")
    try:
        with transaction.atomic():
            own.update(taken_by=None, taken_ms=None, match_id=ids.new_match_id())
    except IntegrityError:
        # Its player looks for somebody by another seek already.
        own.delete()
    return ServiceError("already_playing")
