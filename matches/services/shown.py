"""What is said of players and matches, over REST and over live streams alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from matches.domain.state import Match
from matches.domain.visibility import Line, MatchView, view
from matches.games.protocol import Viewer
from matches.services import absence, matches, queries, standings
from matches.services.cache import Entry
from matches.services.matches import Now
from matches.services.people import PlayerRef
from matches.services.standings import Standings


class Person(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player. `kind` is guest, registered, computer or bot; a guest has no username.

    `level`, from 1 to 8, is how well the computer plays; nobody else has one.
    """

    id: str
    username: str | None
    kind: str
    level: int | None = None


class MatchAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A match as its viewer may know it; `seq` is the viewer's last event.

    `players` are by seat, None where a seat is free. `standings` say by seat how
    strong they were when it began and, of a rated match, what was at stake: for
    ever. They are missing while a seat is free or an earlier match of somebody
    is still to be rated, and where nothing is rated; None for whoever is not.
    """

    match: MatchView
    players: tuple[Person | None, ...]
    seq: int
    now: Now
    standings: Standings = ()


class CommandAnswer(msgspec.Struct, frozen=True):
    """What a command caused, as its player may know it; the same for every repetition but `now`."""

    seq: int
    events: tuple[Line, ...]
    now: Now


def person(player: PlayerRef) -> Person:
    """A player as answers show it."""
    return Person(player.public_id, player.username, player.kind, player.level)


def match_answer(entry: Entry, viewer: Viewer) -> MatchAnswer:
    """A match as its viewer may know it."""
    match, gone = entry.match, absence.shown(entry, viewer)
    told = matches.now(entry, absent=gone)
    started = standings.of(entry)
    return MatchAnswer(view(match, viewer), sitting(match), entry.seq(viewer), told, started)


def sitting(match: Match) -> tuple[Person | None, ...]:
    """Who sits, by seat: None where nobody does, or nobody is known any more."""
    known = queries.players(player for player in match.players if player is not None)
    return by_seat(match.players, known)


def by_seat(ids: Iterable[str | None], known: Mapping[str, PlayerRef]) -> tuple[Person | None, ...]:
    """Players (ids in hex) as they are shown, None for a free seat or for somebody unknown."""
    found = (None if one is None else known.get(one) for one in ids)
    return tuple(None if one is None else person(one) for one in found)
