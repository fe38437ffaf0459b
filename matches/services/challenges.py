"""Challenges: one player asks another, by name, for a match of certain terms."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from matches.eventstore.rows import CommandKey
from matches.models import Challenge, Player
from matches.services import execute, lobby, offers, people
from matches.services.accounts import Identity
from matches.services.drafts import Terms
from matches.services.engine import Executed
from matches.services.errors import ServiceError
from matches.services.offers import CHALLENGES
from matches.services.people import PlayerRef

OPEN_MS = 3_600_000
"""A challenge that nobody answers for so long is over."""
AT_ONCE = 20
"""So many of a player's challenges may be open at a time."""

Reason = Literal[
    "generic", "later", "too_fast", "too_slow", "rated", "casual", "ruleset", "no_bots", "only_bots"
]
"""Why a challenge is declined."""


def challenge(*, who: Identity, opponent: str, terms: Terms) -> Challenge:
    """Ask the player of that name; for a transaction with the key of the request.

    Raises `ServiceError`: what `create_match` refuses of such terms,
    unknown_player, own_opponent, computer_opponent, already_playing,
    cooling_down, challenge_open (to the same player), too_many_challenges.
    """
    asked = _opponent(opponent, who)
    lobby.check_free(who, rated=terms.rated)
    if terms.rated:
        execute.check_may_be_rated(asked)
    fields = offers.fields_of(who, terms, open_ms=OPEN_MS)
    # Whoever challenges twice at once is counted once at a time.
    Player.objects.select_for_update(no_key=True).get(public_id=who.id)
    CHALLENGES.lapsed(fields["created_ms"]).filter(player=who.id).delete()
    if CHALLENGES.open(fields["created_ms"]).filter(player=who.id).count() >= AT_ONCE:
        raise ServiceError("too_many_challenges")
    try:
        with transaction.atomic():
            return Challenge.objects.create(**fields, opponent=UUID(hex=asked.public_id))
    except IntegrityError:
        raise ServiceError("challenge_open") from None


def received(player: str) -> list[Challenge]:
    """The challenges to the player, answered ones for a while, the newest first."""
    return offers.listed(CHALLENGES.shown(lobby.now_ms()).filter(opponent=player))


def sent(player: str) -> list[Challenge]:
    """The player's own challenges, answered ones for a while, the newest first."""
    return offers.listed(CHALLENGES.shown(lobby.now_ms()).filter(player=player))


def accept(*, who: Identity, challenge_id: UUID, key: CommandKey | None = None) -> Executed:
    """Take a challenge to oneself and sit down in its match, in seat 1.

    A repeated `key` gives the match that it made. Raises `ServiceError`:
    unknown_challenge (also one to somebody else), own_opponent, challenge_over,
    rated_needs_accounts, already_playing, cooling_down, key_reused, unavailable.
    """

    def check(asked: Challenge) -> None:
        lobby.check_free(who, rated=asked.rated)

    among = Challenge.objects.filter(Q(opponent=who.id) | Q(player=who.id), pk=challenge_id)
    return offers.accept(CHALLENGES, who=who, among=among, check=check, key=key)


def decline(*, who: Identity, challenge_id: UUID, reason: Reason) -> Challenge:
    """Refuse a challenge to oneself; its challenger is told the reason.

    Raises `ServiceError`: unknown_challenge, challenge_over.
    """
    mine = Challenge.objects.filter(pk=challenge_id, opponent=who.id)
    if not mine.filter(Challenge.OPEN, expires_ms__gt=lobby.now_ms()).update(declined=reason):
        raise CHALLENGES.over() if mine.exclude(Challenge.OPEN).exists() else CHALLENGES.unknown()
    return mine.get()


def cancel(*, who: Identity, challenge_id: UUID) -> None:
    """Ask no longer. Raises `ServiceError` unknown_challenge (also another's), challenge_over."""
    offers.withdraw(CHALLENGES, Challenge.objects.filter(pk=challenge_id, player=who.id))


def _opponent(name: str, who: Identity) -> PlayerRef:
    found = people.by_username(name)
    if found is None:
        raise ServiceError("unknown_player")
    if found.public_id == who.id:
        raise ServiceError("own_opponent")
    if found.level is not None:
        # It accepts nothing: a match against it begins without being asked for.
        raise ServiceError("computer_opponent")
    return found
