"""What may be asked of a match."""

from __future__ import annotations

from typing import Any

import msgspec


class Join(msgspec.Struct, frozen=True):
    """Take the open seat."""


class Ready(msgspec.Struct, frozen=True):
    """Be ready for the next hand; before the first, with a nonce of one's own (hex, 8-32 bytes)."""

    nonce: str | None = None


class Act(msgspec.Struct, frozen=True):
    """Do something in the hand: `action` is one of the game's actions."""

    action: Any


class Resign(msgspec.Struct, frozen=True):
    """Give the match up."""


class Leave(msgspec.Struct, frozen=True):
    """Leave the table: before the first deal the match is aborted, afterwards it is lost.

    Whoever a seat is kept for declines by it, and the match is aborted too.
    """


class ClaimAbsence(msgspec.Struct, frozen=True):
    """Claim the win because the seat to act has gone (XM-87).

    `seen_ms` is up to when that seat may have been active; not the claimer
    says so, but whoever keeps account of it.
    """

    seen_ms: int


Body = Join | Ready | Act | Resign | Leave | ClaimAbsence


class Command(msgspec.Struct, frozen=True):
    """A request of one player at one instant of the database clock."""

    at_ms: int
    player: str
    body: Body
