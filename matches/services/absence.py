"""Whether the seat to act has gone: what its opponent is told, and what a claim rests on (XM-87).

Only the other seat is told, and only of a turn that has lasted for a while: by
then the pause in which a private answer might have been given is long over.
"""

from __future__ import annotations

from matches.domain.absence import SHOWN_AFTER_MS, Absence, absence
from matches.domain.commands import Body, ClaimAbsence
from matches.domain.state import Match
from matches.eventstore import presence
from matches.eventstore.pool import Unavailable
from matches.games.protocol import SeatViewer, Viewer
from matches.services.cache import Entry
from matches.services.computers import level_of
from matches.services.errors import unavailable
from matches.services.presence import UNCERTAIN_MS

HOLD_MS = 300
"""A claim waits so long for signs of life that came before it: moves on their way into the log, and
notes on their way into the table."""


def shown(entry: Entry, viewer: Viewer) -> Absence | None:
    """The absence of the other seat, where it is to act and has been absent for a while.

    It costs a trip in a turn that has lasted so long, and none before. Where the
    trip fails nothing is said.
    """
    match = entry.match
    if not isinstance(viewer, SeatViewer) or match.on_clock in (None, viewer.seat):
        return None
    gone = absence(match, seen_ms=0)
    if gone is None or entry.now_ms - gone.since_ms < SHOWN_AFTER_MS:
        return None
    try:
        gone = absence(match, seen_ms=_seen_ms(entry))
    except Unavailable:
        return None
    return gone if gone and entry.now_ms - gone.since_ms >= SHOWN_AFTER_MS else None


def claim(entry: Entry, _player: str) -> Body:
    """The claim, resting on when the seat to act was last there; raises `ServiceError`."""
    try:
        return ClaimAbsence(_seen_ms(entry))
    except Unavailable as error:
        raise unavailable() from error


def _seen_ms(entry: Entry) -> int:
    """Up to when the seat to act may have been there. The computer always is."""
    player = _to_act(entry.match)
    if player is None:
        return 0
    if level_of(player) is not None:
        return entry.now_ms
    seen_ms = presence.seen_ms(player)
    return 0 if seen_ms is None else seen_ms + UNCERTAIN_MS


def _to_act(match: Match) -> str | None:
    return None if match.on_clock is None else match.players[match.on_clock]
