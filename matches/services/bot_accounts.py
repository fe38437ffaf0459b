"""Bots: accounts that say that a program plays, and how many matches they play at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from matches.eventstore import store
from matches.eventstore.pool import Unavailable
from matches.models import Challenge, Pairing, Player, Seek
from matches.services import people, tokens
from matches.services.errors import ServiceError, unavailable
from matches.services.people import PlayerRef


def become(player: str) -> PlayerRef:
    """Make a bot of a fresh account (public id in hex), for ever; for a transaction.

    Whoever has played is what it was when it did: nobody's opponent becomes a
    program afterwards. Raises `ServiceError` not_fresh.
    """
    fresh = Player.objects.filter(public_id=player, kind=Player.Kind.REGISTERED, is_staff=False)
    if not fresh.update(kind=Player.Kind.BOT) or _has_matches(player):
        raise ServiceError("not_fresh")
    transaction.on_commit(lambda: _known_anew(player))
    return PlayerRef(player, Player.objects.get(public_id=player).username, Player.Kind.BOT)


@contextmanager
def places(players: Iterable[str], *, match_id: UUID) -> Iterator[bool]:
    """Tell whether a bot among the players (ids in hex) has no place for this match.

    Matches of a bot begin one after the other: its row is locked until this one is
    in the log, so the count is right whoever counts. Raises `ServiceError` unavailable.
    """
    known = people.by_ids(players)
    bots = sorted(one for one, player in known.items() if player.kind == Player.Kind.BOT)
    if not bots:
        yield False
        return
    with transaction.atomic():
        list(
            Player.objects.select_for_update(no_key=True).filter(public_id__in=bots).order_by("id")
        )
        yield any(_playing(bot, match_id) >= settings.XQMJ_BOT_MATCHES for bot in bots)


def _playing(bot: str, match_id: UUID) -> int:
    try:
        return store.live_seats(bot, without=match_id)
    except Unavailable as error:
        raise unavailable() from error


def _has_matches(player: str) -> bool:
    """Whether it has played, or is about to."""
    try:
        seated = store.ever_seated(player)
    except Unavailable as error:
        raise unavailable() from error
    asked = Challenge.objects.filter(Q(player=player) | Q(opponent=player))
    return (
        seated
        or asked.exists()
        or Seek.objects.filter(player=player).exists()
        or Pairing.objects.filter(player=player).exists()
    )


def _known_anew(player: str) -> None:
    people.forget(player)
    tokens.forget(player)
