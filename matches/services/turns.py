"""When the computer has something to do in a match, and the rows that remind workers of it.

A row is a hint: whoever takes one looks at the match itself. Rows that are
late, lost, doubled or old change no result (docs/adr/0016).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from matches.bots.pace import Moment, delay_ms
from matches.domain.state import Match
from matches.eventstore import turns as stored
from matches.eventstore.turns import Turn
from matches.games.protocol import Seat, Spectator
from matches.games.xqmj.view import HandView
from matches.services import computers
from matches.services.cache import Entry
from matches.services.ports import Turns

MOST_DISCARDS = 100
"""More than a hand has (XM-43): hand and discard make one number."""


class Place(NamedTuple):
    """A seat that the computer plays."""

    seat: Seat
    player: str
    level: int


def place_of(match: Match) -> Place | None:
    """Where the computer sits, None where it does not play."""
    for seat, player in enumerate(match.players):
        level = computers.level_of(player)
        if player is not None and level is not None:
            return Place(Seat(seat), player, level)
    return None


def due_ms(match: Match, seat: Seat) -> int | None:
    """When the computer in this seat acts next, None while it waits for others.

    It follows from what everybody may see and from the secret alone: never from
    what the seat holds, may do or has passed on unseen (XM-76). So it may be an
    answer to a discard that can only lie.
    """
    if match.phase == "playing":
        return _due_in_hand_ms(match, seat)
    if match.phase not in ("readying", "intermission") or match.ready[seat]:
        return None
    # Before the first hand it is ready at once (XM-57).
    waits = match.phase == "intermission"
    return match.since_ms + (_delay_ms(match, seat, "ready", match.hand_no) if waits else 0)


def turn_of(entry: Entry) -> Turn | None:
    """The row that an entry calls for; None where the computer does not play."""
    place = place_of(entry.match)
    if place is None:
        return None
    return Turn(entry.match_id, entry.version, due_ms(entry.match, place.seat))


def note(entries: Iterable[Entry], rows: Turns = stored) -> None:
    """Write the rows for these entries; raises `Unavailable`."""
    turns = [turn for turn in map(turn_of, entries) if turn is not None]
    if turns:
        rows.note(turns)


def _due_in_hand_ms(match: Match, seat: Seat) -> int | None:
    rules = match.setup.rules
    seen: Any = rules.view(match.hand, Spectator())
    hand: HandView = seen
    if hand.turn != seat:
        return None
    number = match.hand_no * MOST_DISCARDS + _discards(hand)
    if hand.stage != "offer":
        return match.at_ms + _delay_ms(match, seat, "discard", number)
    discarded_ms = match.pause_until_ms - rules.pause_ms
    return discarded_ms + _delay_ms(match, seat, "answer", number)


def _discards(hand: HandView) -> int:
    """How many discards there were: those that lie there, and those in melds (XM-29)."""
    return sum(len(side.discards) + (side.meld is not None) for side in hand.sides)


def _delay_ms(match: Match, seat: Seat, moment: Moment, number: int) -> int:
    secret, match_id = match.setup.secret, match.setup.match_id
    return delay_ms(moment, secret=secret, match_id=match_id, seat=seat, number=number)
