"""Rematches: when a match is over either seat asks for another, and the other agrees."""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from matches.domain.events import HandDealt
from matches.domain.state import seat_of
from matches.eventstore.rows import CommandKey
from matches.games.protocol import Rejected, Seat
from matches.models import Rematch
from matches.services import computers, execute, lobby, offers
from matches.services.accounts import Identity
from matches.services.cache import Entry
from matches.services.drafts import Terms
from matches.services.engine import Executed
from matches.services.errors import ServiceError, refused
from matches.services.offers import REMATCHES
from matches.services.viewers import viewer_of

OPEN_MS = 600_000
"""A rematch that the other seat does not accept for so long is over."""


class Wanted(Exception):
    """The other seat has offered a rematch: it is there to be accepted."""


def offer(*, who: Identity, match_id: UUID) -> Rematch:
    """Ask for a rematch, or find that one has asked; for a transaction with the key of the request.

    The computer accepts at once: `finish` makes its match after the transaction.
    Raises `Wanted`, and `ServiceError`: unknown_match, not_a_seat,
    match_not_over, no_rematch, rated_needs_accounts, already_playing,
    cooling_down.
    """
    entry = _over(who, match_id)
    created, seat = entry.match.setup.created, seat_of(entry.match, who.id)
    opponent = str(entry.match.players[1 - seat])
    standing = REMATCHES.shown(lobby.now_ms()).filter(rematch_of=match_id).first()
    if standing is not None:
        return _own(standing, who)
    against_computer = computers.level_of(opponent) is not None
    if not against_computer:
        lobby.check_free(who, rated=created.rated)
    terms = Terms(
        ruleset=created.ruleset,
        control=created.control,
        rules_version=created.rules_version,
        options=created.options,
        rated=created.rated,
    )
    fields = offers.fields_of(who, terms, open_ms=OPEN_MS)
    if against_computer:
        fields |= {"taken_by": UUID(hex=opponent), "taken_ms": fields["created_ms"]}
    over = Q(taken_by=None) | Q(made=True)
    Rematch.objects.filter(over, rematch_of=match_id, expires_ms__lte=fields["created_ms"]).delete()
    try:
        with transaction.atomic():
            return Rematch.objects.create(
                **fields,
                rematch_of=match_id,
                opponent=UUID(hex=opponent),
                seat=seat,
                first_dealer=1 - _first_dealer(entry),
            )
    except IntegrityError:
        # The other seat, or a twin of this request, was faster.
        return _own(Rematch.objects.filter(rematch_of=match_id).first(), who)


def accept(*, who: Identity, match_id: UUID, key: CommandKey | None = None) -> Executed:
    """Agree to the rematch that the other seat offers: its match.

    A repeated `key` gives the match that it made. Raises `ServiceError`:
    no_rematch_offered, rated_needs_accounts, already_playing, cooling_down,
    rematch_over, key_reused, unavailable.
    """

    def check(offered: Rematch) -> None:
        lobby.check_free(who, rated=offered.rated)

    among = Rematch.objects.filter(rematch_of=match_id, opponent=who.id)
    return offers.accept(REMATCHES, who=who, among=among, check=check, key=key)


def accepted_before(*, who: Identity, key: CommandKey) -> UUID | None:
    """The match that this key has made by `accept`, if it has.

    Raises `ServiceError` key_reused, unavailable, unreadable_match.
    """
    made = execute.engine().created_before(creator=who.id, key=key)
    return None if made is None else made.entry.match_id


def finish(match_id: UUID) -> None:
    """Make the rematch of a match, where one is agreed to and not made yet."""
    agreed = Rematch.objects.filter(rematch_of=match_id, taken_by__isnull=False, made=False).first()
    if agreed is not None:
        offers.finish(REMATCHES, agreed)


def withdraw(*, who: Identity, match_id: UUID) -> None:
    """Take one's offer back, or decline the other's.

    Raises `ServiceError`: unknown_match, not_a_seat, no_rematch_offered, rematch_over.
    """
    _seated(who, match_id)
    offers.withdraw(REMATCHES, Rematch.objects.filter(rematch_of=match_id))


def state(*, who: Identity, match_id: UUID) -> Rematch | None:
    """The rematch that is offered, or was made; None where there is none, or no more.

    Raises `ServiceError`: unknown_match, not_a_seat.
    """
    _seated(who, match_id)
    return REMATCHES.shown(lobby.now_ms()).filter(rematch_of=match_id).first()


def _seated(who: Identity, match_id: UUID) -> Entry:
    entry = execute.observe(match_id=match_id)
    viewer_of(entry.match, who.id)
    try:
        seat_of(entry.match, who.id)
    except Rejected as refusal:
        raise refused(refusal) from None
    return entry


def _over(who: Identity, match_id: UUID) -> Entry:
    """The match, which must be over and have begun."""
    entry = _seated(who, match_id)
    if entry.match.ended is None:
        raise ServiceError("match_not_over")
    if entry.match.ended.reason == "aborted":
        raise ServiceError("no_rematch")
    return entry


def _first_dealer(entry: Entry) -> Seat:
    """Who dealt the first hand; a match that was not aborted has one."""
    events = (stamped.event for stamped in entry.history.events(entry.version))
    return next(event.dealer for event in events if isinstance(event, HandDealt))


def _own(standing: Rematch | None, who: Identity) -> Rematch:
    if standing is None or standing.player.hex != who.id:
        raise Wanted
    return standing
