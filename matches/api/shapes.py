"""What each game puts where the match around it leaves room: for the schema that clients read.

Nothing at run time depends on it. A test holds it to the games: every kind of
event of every ruleset must be here, and every line of a real match must fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any

import msgspec

from matches.domain.visibility import Ending
from matches.games.protocol import Seat
from matches.games.registry import rules_for, rulesets
from matches.games.xqmj import view as xqmj


class CreatedSeen(msgspec.Struct, frozen=True, omit_defaults=True):
    """The match exists. `commitment` is the sha256 of the deal's secret, in hex.

    A rematch names the match that it follows, and the seat that deals first.
    """

    ruleset: str
    rules_version: int
    options: dict[str, str | int | bool]
    control: str
    rated: bool
    players: tuple[str | None, ...]
    deal: str
    flow: str
    commitment: str
    rematch_of: str | None = None
    first_dealer: Seat | None = None


class TakenSeen(msgspec.Struct, frozen=True):
    """A player (id) sat down."""

    seat: Seat
    player: str


class ReadySeen(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seat is ready for hand `hand`; `nonce` is its part in the deal, before the first hand."""

    seat: Seat
    hand: int
    nonce: str | None = None


class DealtSeen(msgspec.Struct, frozen=True):
    """A hand was dealt; `deal` is one's view of it."""

    hand: int
    dealer: Seat
    deal: xqmj.HandView


class CreditedSeen(msgspec.Struct, frozen=True):
    """The service was down, and the time was given back to whoever's ran."""

    down_from_ms: int
    down_until_ms: int
    credit_ms: int


SEEN: Mapping[str, type[msgspec.Struct]] = MappingProxyType(
    {
        "match.created": CreatedSeen,
        "match.seat_taken": TakenSeen,
        "match.seat_ready": ReadySeen,
        "match.hand_dealt": DealtSeen,
        "match.clock_credited": CreditedSeen,
        "match.ended": Ending,
        "xqmj.tile_drawn": xqmj.DrawSeen,
        "xqmj.tile_discarded": xqmj.DiscardSeen,
        "xqmj.chow_made": xqmj.MeldSeen,
        "xqmj.pung_made": xqmj.MeldSeen,
        "xqmj.claim_passed": xqmj.PassSeen,
        "xqmj.hand_won": xqmj.WinSeen,
        "xqmj.hand_voided": xqmj.VoidSeen,
    }
)
"""The type of `data` by the kind of event."""

HAND_VIEWS: tuple[type[msgspec.Struct], ...] = (xqmj.HandView,)
"""The views of a hand, one a family of games."""


def actions() -> Any:
    """The union of the actions of all games."""
    unions = {rules_for(one.key, one.version).action for one in rulesets()}
    return reduce(or_, unions)
