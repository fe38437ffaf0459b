"""What every way to a match with somebody else shares."""

from __future__ import annotations

from uuid import UUID

from matches.eventstore import store
from matches.eventstore.pool import Unavailable
from matches.eventstore.rows import CommandKey
from matches.games.protocol import Rejected
from matches.services import cooldown, execute, people
from matches.services.accounts import Identity
from matches.services.computer import get_ready
from matches.services.drafts import Terms, draft
from matches.services.engine import Executed
from matches.services.errors import ServiceError, refused, unavailable

FINISH_AFTER_MS = 2_000
"""Two who have found each other and have no match yet are given theirs by others after this."""


def begin(
    terms: Terms,
    *,
    players: tuple[str, str],
    creator: str,
    match_id: UUID,
    key: CommandKey | None = None,
) -> Executed:
    """Make the match of a reserved id, or find it made; a computer in it is ready at once.

    Raises `ServiceError`: already_playing (one of them), key_reused,
    unavailable, and of terms that a newer release does not know.
    """
    try:
        drafted = draft(terms, players=players, match_id=match_id)
    except Rejected as refusal:
        raise refused(refusal) from None
    return get_ready(execute.engine(), execute.create(drafted, creator=creator, key=key))


def check_free(who: Identity, *, rated: bool) -> None:
    """Refuse whoever cannot be matched so now.

    Raises `ServiceError`: rated_needs_accounts, already_playing, cooling_down, unavailable.
    """
    if rated:
        execute.check_may_be_rated(people.by_id(who.id))
        if playing(who.id):
            raise ServiceError("already_playing")
    cooldown.check(who.id, now_ms=now_ms())


def playing(player: str) -> bool:
    """Whether the player (id in hex) sits in a live rated match."""
    try:
        return store.rated_seat(player) is not None
    except Unavailable as error:
        raise unavailable() from error


def now_ms() -> int:
    """The database clock."""
    try:
        return execute.engine().store.now()
    except Unavailable as error:
        raise unavailable() from error
