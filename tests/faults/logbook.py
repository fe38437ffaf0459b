"""The log as it stands in the database, held against what players were told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import msgspec

from tests.faults.clients import Book, Caller, Sent
from tests.faults.service import Service

_EVENTS = """
SELECT replace(match_id::text, '-', ''), seq, kind, actor, at_ms, command_id, effects,
       floor(extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000)::bigint
  FROM es.match_event ORDER BY match_id, seq
"""
_SEATS = """
SELECT replace(match_id::text, '-', ''), replace(player::text, '-', ''), seat FROM es.match_seat
"""
_GAPS = "SELECT from_ms, until_ms FROM es.service_gap ORDER BY until_ms"


class Logged(msgspec.Struct, frozen=True):
    """A row; `written_ms` is when its transaction was committed, on the database clock."""

    match_id: str
    seq: int
    kind: str
    actor: int | None
    at_ms: int
    command_id: UUID | None
    effects: int | None
    written_ms: int

    @property
    def late_ms(self) -> int:
        """From its own instant to its being written."""
        return self.written_ms - self.at_ms


class Log:
    """Every row of every match, as one snapshot found them."""

    def __init__(self, service: Service) -> None:
        self.rows = [Logged(*row) for row in service.query(_EVENTS)]
        self.gaps = [(from_ms, until_ms) for from_ms, until_ms in service.query(_GAPS)]
        self.seats = {(match, player): seat for match, player, seat in service.query(_SEATS)}
        self.matches: dict[str, list[Logged]] = {}
        for row in self.rows:
            self.matches.setdefault(row.match_id, []).append(row)

    def seen_by(self, seat: int, rows: Iterable[Logged]) -> list[Logged]:
        """The rows that a seat knows of: a pass is known to who passed (XM-77)."""
        return [row for row in rows if row.kind != "xqmj.claim_passed" or row.actor == seat]

    def acts_of_the_table(self) -> list[Logged]:
        """What nobody commanded and no command caused."""
        found = []
        for rows in self.matches.values():
            caused = 0
            for row in rows:
                caused = row.effects or max(0, caused - 1)
                if not caused and row.kind not in ("match.created", "match.clock_credited"):
                    found.append(row)
        return found


def command_id(sent: Sent) -> UUID:
    """The name that a player's key has in the log."""
    return UUID(bytes=hashlib.sha256(f"{sent.player}:{sent.key}".encode()).digest()[:16])


def check(book: Book, service: Service) -> None:
    """Every acknowledged command stands in the log once, with its effects, and no other does."""
    log = Log(service)
    named = {row.command_id: row for row in log.rows if row.command_id is not None}
    commands = [one for one in book.writes if "/matches/" in one.path]
    for sent in commands:
        if sent.acknowledged:
            _check_one(sent, named[command_id(sent)], log)
    assert set(named) == {command_id(one) for one in commands if one.acknowledged}
    _check_creations(book, service, log)


def _check_one(sent: Sent, first: Logged, log: Log) -> None:
    assert first.match_id == sent.match_id
    assert first.effects is not None
    rows = log.matches[sent.match_id]
    last = first.seq + first.effects - 1
    caused = [(row.kind, row.at_ms, row.actor) for row in rows[first.seq - 1 : last]]
    told = [(one["kind"], one["at_ms"], one["actor"]) for one in sent.answer["events"]]
    assert told == caused, sent
    seat = log.seats[sent.match_id, sent.player]
    assert sent.answer["seq"] == len(log.seen_by(seat, rows[:last])), sent


def _check_creations(book: Book, service: Service, log: Log) -> None:
    made = {
        command_id(one): one.match_id
        for one in book.writes
        if one.path.endswith("/matches") and one.acknowledged
    }
    statement = "SELECT command_id, replace(match_id::text, '-', '') FROM es.match_creation"
    assert dict(service.query(statement)) == made
    assert set(log.matches) == set(made.values())


def check_feeds(book: Book, callers: Iterable[Caller], service: Service) -> None:
    """What the API tells now about each match holds, line for line, what it told then."""
    log, of = Log(service), {caller.id: caller for caller in callers}
    told: dict[tuple[str, str], list[Any]] = {}
    for sent in book.acknowledged():
        if "/matches/" in sent.path:
            told.setdefault((sent.match_id, sent.player), []).extend(sent.answer["events"])
    for (match_id, player), lines in told.items():
        feed = of[player].get(f"matches/{match_id}/events")["events"]
        assert [line["seq"] for line in feed] == list(range(1, len(feed) + 1))
        seat = log.seats[match_id, player]
        seen = log.seen_by(seat, log.matches[match_id])
        assert [line["kind"] for line in feed][: len(seen)] == [row.kind for row in seen]
        assert [feed[line["seq"] - 1] for line in lines] == lines
