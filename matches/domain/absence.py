"""A seat that has gone while it is its turn: from when on the other seat may claim the win (XM-87).

Who was heard of when is no event. Whoever asks brings the newest instant at
which the seat can have been active, and a claim that stands keeps in the log
what it was decided by.
"""

from __future__ import annotations

import msgspec

from matches.domain.state import Match
from matches.games.protocol import Seat

SHOWN_AFTER_MS = 10_000
"""A seat that has shown nothing for so long is called absent; nobody is told anything before."""


class Absence(msgspec.Struct, frozen=True):
    """`seat` is to act and may have been active until `since_ms`.

    The other seat may claim the win from `claim_at_ms` on, unless the seat
    shows itself before.
    """

    seat: Seat
    since_ms: int
    claim_at_ms: int


def absence(match: Match, *, seen_ms: int) -> Absence | None:
    """The absence of the seat to act, active until `seen_ms` at the latest.

    None where no seat is to act or the match is played without such claims.
    Only its own turn counts against a seat, and no time in which the service
    was down.
    """
    wait_ms = match.setup.rules.absence_claim_ms
    if match.phase != "playing" or match.on_clock is None or not wait_ms:
        return None
    since_ms = max(seen_ms, match.clock_from_ms, match.credited_ms)
    return Absence(match.on_clock, since_ms, since_ms + wait_ms)
