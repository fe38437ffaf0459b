"""How long the computer takes before its answers are shown: as long as a person might (XM-86).

What a delay depends on is public but for the secret: which moment of the match
it is, and never what the seat holds or may do. So it tells nobody anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from matches.bots.misty import Draws
from matches.games.protocol import Seat

Moment = Literal["answer", "discard", "ready"]
"""Another seat's discard lies there; the own turn; the pause between two hands."""

RANGES_MS: Mapping[Moment, tuple[int, int]] = MappingProxyType(
    {"answer": (300, 900), "discard": (600, 2_500), "ready": (600, 1_500)}
)
"""The shortest and the longest delay; an answer falls into the table's pause of 1,500 ms, and
early enough that a late one still does: a pass in it is seen by nobody (XM-38)."""


def delay_ms(moment: Moment, *, secret: bytes, match_id: bytes, seat: Seat, number: int) -> int:
    """The delay of a seat at the moment `number` of its kind in a match.

    Like every chance of the computer's it follows from the match's secret, so
    that nobody can foretell it before the end, and everybody draw it again after.
    """
    shortest, longest = RANGES_MS[moment]
    place = bytes([seat]) + number.to_bytes(4, "big")
    chance = Draws(f"xqmj pace@1 {moment}\0".encode() + secret + match_id + place)
    return shortest + chance.randrange(longest - shortest + 1)
