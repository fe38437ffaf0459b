"""Offers of a match, and the one match that whoever accepts first plays.

Accepting is one conditional update, under the id that was reserved for the
match; making a match of an id may be repeated. So of any number who accept one
gets it, and whatever crashes between the two is finished by the next `tend`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from matches.eventstore import ids
from matches.eventstore.rows import CommandKey
from matches.games.protocol import Rejected, Seat
from matches.models import Challenge, Offer, Rematch, Seek
from matches.services import drafts, execute, heartbeat, lobby
from matches.services.accounts import Identity
from matches.services.drafts import Terms, draft
from matches.services.engine import Executed
from matches.services.errors import ServiceError, refused

LOG = logging.getLogger("xqmj.services")

SHOWN_MS = 3_600_000
"""An offer that was answered tells of it for so long after it would have been over."""
LISTED = 100
BATCH = 50

O = TypeVar("O", bound=Offer)  # noqa: E741 - an offer


class Kind(msgspec.Struct, Generic[O], frozen=True):
    """One kind of offer: its rows, and how whoever cannot have one is refused."""

    model: type[O]
    unknown: Callable[[], ServiceError]
    over: Callable[[], ServiceError]

    @property
    def rows(self) -> QuerySet[O]:
        """Every offer of the kind."""
        return self.model._default_manager.all()  # noqa: SLF001 - Django's public name for it

    def open(self, now_ms: int) -> QuerySet[O]:
        """The offers that can be accepted now."""
        return self.rows.filter(self.model.OPEN, expires_ms__gt=now_ms)

    def shown(self, now_ms: int) -> QuerySet[O]:
        """The open offers, and for a while those that were answered."""
        open_now = self.model.OPEN & Q(expires_ms__gt=now_ms)
        return self.rows.filter(open_now | ~self.model.OPEN, expires_ms__gt=now_ms - SHOWN_MS)

    def lapsed(self, now_ms: int) -> QuerySet[O]:
        """The offers that nobody answered in time."""
        return self.rows.filter(self.model.OPEN, expires_ms__lte=now_ms)


SEEKS = Kind(
    Seek, unknown=lambda: ServiceError("unknown_seek"), over=lambda: ServiceError("seek_taken")
)
CHALLENGES = Kind(
    Challenge,
    unknown=lambda: ServiceError("unknown_challenge"),
    over=lambda: ServiceError("challenge_over"),
)
REMATCHES = Kind(
    Rematch,
    unknown=lambda: ServiceError("no_rematch_offered"),
    over=lambda: ServiceError("rematch_over"),
)
KINDS: tuple[Kind[Any], ...] = (SEEKS, CHALLENGES, REMATCHES)


def fields_of(who: Identity, terms: Terms, *, open_ms: int) -> dict[str, Any]:
    """What a new offer of the player begins with, open for `open_ms`.

    Raises `ServiceError`: what `create_match` refuses of such terms.
    """
    try:
        drafted = draft(terms, players=(who.id,))
    except Rejected as refusal:
        raise refused(refusal) from None
    now_ms = lobby.now_ms()
    return {
        "match_id": drafted.match_id,
        "player": UUID(hex=who.id),
        "ruleset": terms.ruleset,
        "rules_version": terms.rules_version,
        "options": drafted.created.options,
        "control": terms.control,
        "rated": terms.rated,
        "created_ms": now_ms,
        "expires_ms": now_ms + open_ms,
    }


def listed(found: QuerySet[O]) -> list[O]:
    """The newest of them first, as many as one list holds."""
    return list(found.order_by("-created_ms", "id")[:LISTED])


def accept(
    kind: Kind[O],
    *,
    who: Identity,
    among: QuerySet[O],
    check: Callable[[O], None],
    key: CommandKey | None,
) -> Executed:
    """Take the offer that there is in `among`, unless `check` refuses, and make its match.

    A repeated `key` gives the match that it made. Raises `ServiceError`: that the
    offer is unknown or over, own_opponent, already_playing, key_reused, unavailable.
    """
    heartbeat.ensure()
    made = None if key is None else execute.engine().created_before(creator=who.id, key=key)
    if made is not None:
        return made
    offer, now_ms = among.first(), lobby.now_ms()
    if offer is None or (not offer.answered and offer.expires_ms <= now_ms):
        raise kind.unknown()
    if offer.player.hex == who.id:
        raise ServiceError("own_opponent")
    if not offer.answered:
        check(offer)
        kind.open(now_ms).filter(pk=offer.pk).update(taken_by=who.id, taken_ms=now_ms)
        offer = kind.rows.filter(pk=offer.pk).first()
    if offer is None:
        raise kind.unknown()
    if offer.taken_by != UUID(hex=who.id):
        raise kind.over()
    return finish(kind, offer, key)


def withdraw(kind: Kind[O], own: QuerySet[O]) -> None:
    """Take back the open one of `own`; raises `ServiceError` that it is unknown, or over."""
    if not own.filter(kind.model.OPEN, expires_ms__gt=lobby.now_ms()).delete()[0]:
        raise kind.over() if own.exclude(kind.model.OPEN).exists() else kind.unknown()


def finish(kind: Kind[O], offer: O, key: CommandKey | None = None) -> Executed:
    """Make the match of an accepted offer, or find it made; raises `ServiceError`."""
    if offer.taken_by is None:
        raise ValueError(f"{offer} is open")
    taker = offer.taken_by.hex
    try:
        done = lobby.begin(
            _terms(offer),
            players=_hex(offer.sides(offer.taken_by)),
            creator=taker,
            match_id=offer.match_id,
            key=key,
        )
    except ServiceError as error:
        if error.code == "already_playing":
            raise _given_back(kind, offer, taker) from None
        if error.code not in ("key_reused", "unavailable"):
            # A newer release may know of fewer rulesets.
            kind.rows.filter(pk=offer.pk, made=False).delete()
        raise
    kind.rows.filter(pk=offer.pk, taken_by=taker).update(made=True)
    return done


def tend() -> int:
    """Make the matches of accepted offers that were left without; returns how many.

    Raises `ServiceError` unavailable.
    """
    return sum(_tend(kind) for kind in KINDS)


def forgettable() -> Iterator[QuerySet[Any]]:
    """Offers that nobody asks for any more, by kind."""
    for kind in KINDS:
        over = Q(taken_by=None) | Q(made=True)
        yield kind.rows.filter(over, expires_ms__lte=lobby.now_ms() - SHOWN_MS).order_by(
            "expires_ms"
        )


def _tend(kind: Kind[O]) -> int:
    left = kind.rows.filter(
        taken_by__isnull=False, made=False, taken_ms__lte=lobby.now_ms() - lobby.FINISH_AFTER_MS
    )
    finished = 0
    for offer in left.order_by("taken_ms")[:BATCH]:
        try:
            finish(kind, offer)
        except ServiceError as error:
            if error.code == "unavailable":
                raise
            LOG.warning("an offer came to nothing: %s", error.code, extra={"offer": offer.pk.hex})
        else:
            finished += 1
    return finished


def _given_back(kind: Kind[O], offer: O, taker: str) -> ServiceError:
    """Open the offer again, or end it where its player plays; returns what to refuse with.

    Under another id: whoever still makes the match of the old one meets nobody.
    """
    own = kind.rows.filter(pk=offer.pk, taken_by=taker, made=False)
    if lobby.playing(offer.player.hex):
        own.delete()
        return kind.over()
    try:
        with transaction.atomic():
            own.update(taken_by=None, taken_ms=None, match_id=ids.new_match_id())
    except IntegrityError:
        # Its player has another such offer open already.
        own.delete()
    return ServiceError("already_playing")


def _terms(offer: Offer) -> Terms:
    rematch = None
    if isinstance(offer, Rematch):
        rematch = drafts.Rematch(offer.rematch_of.hex, Seat(offer.first_dealer))
    return Terms(
        ruleset=offer.ruleset,
        control=offer.control,
        rules_version=offer.rules_version,
        options=offer.options,
        rated=offer.rated,
        rematch=rematch,
    )


def _hex(players: tuple[UUID, UUID]) -> tuple[str, str]:
    return players[0].hex, players[1].hex
