"""Who may look at a match, and as whom."""

from __future__ import annotations

from matches.domain.state import Match
from matches.games.protocol import Seat, SeatViewer, Spectator
from matches.services.errors import ServiceError


def viewer_of(match: Match, player: str | None) -> SeatViewer | Spectator:
    """As whom the player (public id in hex, None: nobody known) sees the match, for ever.

    A seat stays a seat after the end. A match whose free seat is kept for
    somebody is seen by its two players only, also when that player has declined;
    for everybody else `ServiceError` unknown_match, as if it did not exist.
    """
    if player is not None and player in match.players:
        return SeatViewer(Seat(match.players.index(player)))
    invited = match.setup.created.invited
    if invited is not None and None in match.players and player != invited:
        raise ServiceError("unknown_match")
    return Spectator()
