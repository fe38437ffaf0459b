"""What a player has to know wherever it is: matches, challenges, seeks, pairing, ratings.

All that is asked here is asked for many players at once. Of a match it tells
what everybody may know of it, so that nothing here changes with a private answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast
from uuid import UUID

import msgspec
from django.conf import settings
from django.utils.module_loading import import_string

from matches.domain.state import Match
from matches.eventstore import pool
from matches.eventstore.rows import LIVE
from matches.games.protocol import Seat
from matches.services import execute, people
from matches.services.errors import ServiceError
from matches.services.ports import RatingsOf
from matches.services.shown import Person, person

KEPT_MS = 3_600_000
"""What is over is told of for so long."""
LONGEST_MS = 48 * 3_600_000
"""A match that was made longer ago is over."""


class MatchNews(msgspec.Struct, frozen=True):
    """A match of mine: `phase` as in its view, or `ended`, which is the end of `reason`.

    `your_turn`: my clock runs, so the hand waits for me.
    """

    you: Seat
    opponent: Person | None
    phase: str
    your_turn: bool
    reason: str | None
    winner: Seat | None


class ChallengeNews(msgspec.Struct, frozen=True):
    """A challenge of mine or to me, which is open, or declined for a reason, or has a match."""

    player: Person | None
    opponent: Person | None
    ruleset: str
    control: str
    rated: bool
    expires_at_ms: int
    declined: str | None
    match_id: str | None


class SeekNews(msgspec.Struct, frozen=True):
    """A seek of mine, and the match as soon as somebody has accepted it."""

    expires_at_ms: int
    match_id: str | None


class PairingNews(msgspec.Struct, frozen=True):
    """My wait to be paired, and the match as soon as there is one."""

    expires_at_ms: int
    match_id: str | None


class RatingNews(msgspec.Struct, frozen=True):
    """My rating in a pool, in whole points."""

    rating: int


News = MatchNews | ChallengeNews | SeekNews | PairingNews | RatingNews
Key = tuple[str, str]
"""What kind of thing it is, and its id: of a match, an offer or a pool; of the wait my own."""

_CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_MATCHES = f"""
SELECT s.player, s.seat, h.match_id, h.version, h.status, h.reason, h.winner,
       (SELECT o.player FROM es.match_seat o
         WHERE o.match_id = s.match_id AND o.player <> s.player LIMIT 1)
  FROM es.match_seat s JOIN es.match_head h USING (match_id)
 WHERE s.player = ANY (%s::uuid[]) AND s.created_at_ms > {_CLOCK} - {LONGEST_MS}
   AND (h.status = {LIVE} OR h.ended_at_ms > {_CLOCK} - {KEPT_MS})
"""  # noqa: S608 - numbers of ours
_CHALLENGES = f"""
SELECT id, player, opponent, ruleset, control, rated, expires_ms, declined, match_id, made
  FROM matches_challenge
 WHERE (player = ANY (%s::uuid[]) OR opponent = ANY (%s::uuid[]))
   AND expires_ms > {_CLOCK}
       - CASE WHEN taken_by IS NULL AND declined IS NULL THEN 0 ELSE {KEPT_MS} END
"""  # noqa: S608
_SEEKS = f"""
SELECT id, player, expires_ms, match_id, made FROM matches_seek
 WHERE player = ANY (%s::uuid[])
   AND expires_ms > {_CLOCK} - CASE WHEN taken_by IS NULL THEN 0 ELSE {KEPT_MS} END
"""  # noqa: S608
_PAIRINGS = f"""
SELECT player, expires_ms, match_id, made FROM matches_pairing
 WHERE player = ANY (%s::uuid[])
   AND expires_ms > {_CLOCK} - CASE WHEN match_id IS NULL THEN 0 ELSE {KEPT_MS} END
"""  # noqa: S608


def of(players: Collection[str]) -> dict[str, dict[Key, News]]:
    """What there is now for each of the players (ids in hex), in five trips for all of them.

    A match that has moved on since this process last read it costs one more.
    Raises `Unavailable`, `ServiceError` unavailable.
    """
    wanted = "{" + ",".join(sorted(players)) + "}"
    found: dict[str, dict[Key, News]] = {player: {} for player in players}
    _add_matches(found, pool.run(_MATCHES, (wanted,)).rows)
    _add_challenges(found, pool.run(_CHALLENGES, (wanted, wanted)).rows)
    for row in pool.run(_SEEKS, (wanted,)).rows:
        seek_id, player, expires_ms, match_id, made = row
        found[player.hex]["seek", seek_id.hex] = SeekNews(expires_ms, _match_id(match_id, made))
    for player, expires_ms, match_id, made in pool.run(_PAIRINGS, (wanted,)).rows:
        told = PairingNews(expires_ms, _match_id(match_id, made))
        found[player.hex]["pairing", player.hex] = told
    ratings_of = cast("RatingsOf", import_string(settings.XQMJ_RATINGS_OF))
    for public_id, ratings in ratings_of(players).items():
        for name, rating in ratings.items():
            found[public_id]["rating", name] = RatingNews(rating)
    return found


def _add_matches(found: Mapping[str, dict[Key, News]], rows: Iterable[Any]) -> None:
    rows = list(rows)
    known = people.by_ids({row[7].hex for row in rows if row[7] is not None})
    for player, seat, match_id, version, status, reason, winner, other in rows:
        opponent = None if other is None else known.get(other.hex)
        shown = None if opponent is None else person(opponent)
        if status == LIVE:
            match = _match(match_id, version)
            told = None if match is None else _live(match, Seat(seat), shown)
        else:
            told = _ended(Seat(seat), shown, reason, winner)
        if told is not None:
            found[player.hex]["match", match_id.hex] = told


def _live(match: Match, seat: Seat, opponent: Person | None) -> MatchNews:
    if match.ended is not None:
        # It ended between the two trips.
        return _ended(seat, opponent, match.ended.reason, match.ended.winner)
    turn = match.on_clock == seat
    return MatchNews(seat, opponent, match.phase, your_turn=turn, reason=None, winner=None)


def _ended(seat: Seat, opponent: Person | None, reason: str, winner: int | None) -> MatchNews:
    won = None if winner is None else Seat(winner)
    return MatchNews(seat, opponent, "ended", your_turn=False, reason=reason, winner=won)


def _match(match_id: UUID, version: int) -> Match | None:
    """The match as it stands, None where this process cannot read it."""
    entry = execute.engine().cache.get(match_id)
    if entry is None or entry.version < version:
        try:
            entry = execute.engine().peek(match_id)
        except ServiceError as error:
            if error.code == "unavailable":
                raise
            return None
    return entry.match


def _add_challenges(found: Mapping[str, dict[Key, News]], rows: Iterable[Any]) -> None:
    rows = list(rows)
    known = people.by_ids({one.hex for row in rows for one in row[1:3]})
    shown = {public_id: person(ref) for public_id, ref in known.items()}
    for row in rows:
        pk, player, opponent, ruleset, control, rated, expires_ms, declined, match_id, made = row
        told = ChallengeNews(
            player=shown.get(player.hex),
            opponent=shown.get(opponent.hex),
            ruleset=ruleset,
            control=control,
            rated=rated,
            expires_at_ms=expires_ms,
            declined=declined,
            match_id=_match_id(match_id, made),
        )
        for public_id in (player.hex, opponent.hex):
            if public_id in found:
                found[public_id]["challenge", pk.hex] = told


def _match_id(match_id: UUID | None, made: bool) -> str | None:
    """The match's id once the match has been made: it was reserved before."""
    return match_id.hex if made and match_id is not None else None
