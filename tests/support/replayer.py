"""A second, small reading of what makes a log true, to hold others against.

It trusts no event: each stands only where `decide` or `settle`, asked in the
state before it, answers the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import msgspec

from matches.domain import match as matches
from matches.domain.clock import Gap
from matches.domain.commands import Act, Body, Command, Join, Leave, Ready, Resign
from matches.domain.events import (
    ClockCredited,
    MatchCreated,
    MatchEnded,
    SeatReady,
    SeatTaken,
    Stamped,
)
from matches.domain.state import Match
from matches.games.protocol import CorruptHistory, HandEvent, Rejected


class Untrue(Exception):
    """The log cannot have come about: `version` is its first event that does not follow."""

    def __init__(self, version: int, why: str) -> None:
        super().__init__(f"{version}: {why}")
        self.version = version


class Logged(msgspec.Struct, frozen=True):
    """An event as it stands in the log; `effects` as in the log's column of that name."""

    stamped: Stamped
    effects: int | None


def replay(log: Sequence[Logged], *, match_id: bytes, secret: bytes, gaps: Sequence[Gap]) -> Match:
    """The match that the log proves; raises `Untrue`.

    `gaps` are all downtimes that were recorded, in order.
    """
    match = _beginning(log, match_id, secret)
    while match.version < len(log):
        rest = log[match.version :]
        expected = _expected(match, rest[0].stamped, gaps)
        _compare(match, rest, expected)
        match = matches.fold(match, expected)
    return match


def _beginning(log: Sequence[Logged], match_id: bytes, secret: bytes) -> Match:
    if not log or not isinstance(log[0].stamped.event, MatchCreated):
        raise Untrue(1, "no creation")
    event = log[0].stamped.event
    follows = {"deal", "flow", "commitment"}
    asked: dict[str, Any] = {
        name: getattr(event, name) for name in event.__struct_fields__ if name not in follows
    }
    try:
        again = matches.create(**asked, secret=secret)
        match = matches.begin(match_id=match_id, created=log[0].stamped, secret=secret)
    except (Rejected, CorruptHistory, ValueError) as refusal:
        raise Untrue(1, str(refusal)) from refusal
    if again != event or log[0].effects not in (None, 1):
        raise Untrue(1, "another creation")
    return match


def _expected(match: Match, found: Stamped, gaps: Sequence[Gap]) -> tuple[Stamped, ...]:
    version = match.version + 1
    if found.actor is None:
        expected = _tables(match, found, gaps)
        if not expected:
            raise Untrue(version, "the table owed nothing")
        return expected
    command = Command(found.at_ms, *_command(match, found))
    over = tuple(gap for gap in gaps if gap.until_ms <= found.at_ms)
    _, owed = matches.settle(match, now_ms=found.at_ms, deadline_ms=found.at_ms, gaps=over)
    if owed:
        raise Untrue(version, f"{owed[0]} was owed before it")
    try:
        return matches.decide(match, command).events
    except Rejected as refusal:
        raise Untrue(version, f"refused: {refusal.code}") from refusal


def _tables(match: Match, found: Stamped, gaps: Sequence[Gap]) -> tuple[Stamped, ...]:
    """The table's next batch: all that it owes up to the instant of the event found."""
    if isinstance(found.event, ClockCredited):
        gap = Gap(found.event.down_from_ms, found.event.down_until_ms)
        if gap not in gaps:
            raise Untrue(match.version + 1, "no such downtime")
        upto_ms = max(gap.until_ms, match.at_ms)
        _, owed = matches.settle(match, now_ms=upto_ms, deadline_ms=gap.from_ms, gaps=(gap,))
        return owed[:1]
    upto_ms = found.at_ms
    begun = tuple(gap for gap in gaps if gap.from_ms < upto_ms)
    _, owed = matches.settle(match, now_ms=upto_ms, deadline_ms=upto_ms, gaps=begun)
    # What a gap that was still going on brought after this instant came later.
    return tuple(takewhile(lambda stamped: stamped.at_ms <= upto_ms, owed))


def _command(match: Match, found: Stamped) -> tuple[str, Body]:
    event, seat = found.event, found.actor
    if isinstance(event, SeatTaken):
        return event.player, Join()
    if seat is None or seat not in range(len(match.players)):
        raise Untrue(match.version + 1, "no such seat")
    body: Body | None = None
    if isinstance(event, SeatReady):
        body = Ready(event.nonce)
    elif isinstance(event, MatchEnded):
        body = Resign() if event.reason == "resignation" else Leave()
    elif isinstance(event, HandEvent) and match.phase == "playing":
        action = match.setup.rules.action_of(match.hand, event)
        body = None if action is None else Act(action)
    player = match.players[seat]
    if player is None and isinstance(body, Leave):
        player = match.setup.created.invited
    if body is None or player is None:
        raise Untrue(match.version + 1, "nothing that a seat can ask for")
    return player, body


def _compare(match: Match, rest: Sequence[Logged], expected: tuple[Stamped, ...]) -> None:
    commanded = expected[0].actor is not None
    for offset, right in enumerate(expected):
        version = match.version + 1 + offset
        if offset == len(rest) or rest[offset].stamped != right:
            raise Untrue(version, f"{right} should stand here")
        effects = len(expected) if commanded and offset == 0 else None
        if rest[offset].effects != effects:
            raise Untrue(version, f"it caused {effects}")
