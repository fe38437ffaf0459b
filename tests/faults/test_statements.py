"""Each statement of each write fails in turn: nothing is half done, and the same key goes on."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import pytest
from django.db import OperationalError, close_old_connections

from matches.domain import deal
from matches.eventstore.pool import Unavailable
from ratings import services as ratings
from ratings.models import Rating, RatingEvent
from tests.faults.breaking import WAYS, breaking
from tests.faults.service import tell
from tests.support import ahead, api, sitting
from tests.support.ahead import AheadStore
from tests.support.api import PASSWORD, Answer, Api, InProcess
from tests.support.servers import Servers
from tests.support.waiting import until

pytestmark = [pytest.mark.fault, pytest.mark.slow, pytest.mark.django_db]

Counts = dict[str, int]
Send = Callable[[], Answer]
Rows = set[tuple[Any, ...]]

FOR_GOOD = 1_000_000
COUNTED = {
    "head": "es.match_head",
    "event": "es.match_event",
    "seat": "es.match_seat",
    "creation": "es.match_creation",
    "player": "matches_player",
    "token": "knox_authtoken",
    "key": "matches_writekey",
    "rating": "ratings_rating",
    "rated": "ratings_ratingevent",
}
"""Every table that a write may touch."""
_COUNTS = " UNION ALL ".join(
    [f"SELECT '{name}', count(*) FROM {table}" for name, table in COUNTED.items()]
    + ["SELECT 'version', coalesce(sum(version), 0) FROM es.match_head"]
    + ["SELECT 'ended', count(*) FROM es.match_head WHERE status = 2"]
)
DISCARD = {"action": {"type": "discard", "tile": "rC", "drawn": False}}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[AheadStore]:
    """A clock that the test sets ahead, over a deal whose first discard may be taken."""
    monkeypatch.setattr(deal, "first_dealer", lambda *_: 0)
    monkeypatch.setattr(deal, "order", lambda *_: sitting.CHOW_OFFERED)
    with ahead.clock() as found:
        yield found


class Ledger:
    """How many rows there are."""

    def __init__(self, servers: Servers) -> None:
        self._session = psycopg.connect(servers.superuser_url, autocommit=True)

    def rows(self) -> Counts:
        """Of each table."""
        return {name: int(n) for name, n in self._session.execute(_COUNTS)}

    def since(self, before: Counts) -> Counts:
        """What came to them, where anything did."""
        now = self.rows()
        return {name: now[name] - n for name, n in before.items() if now[name] != n}

    def close(self) -> None:
        self._session.close()


@pytest.fixture
def ledger(servers: Servers) -> Iterator[Ledger]:
    found = Ledger(servers)
    yield found
    found.close()


def keyed(caller: Api, path: str, body: Any = None) -> Send:
    """Sends the same request again and again, under one key."""
    key = secrets.token_hex(12)
    return lambda: caller.post(path, body, key=key)


class Stage:
    """What a write is prepared with: two players with names, a guest, and the clock."""

    def __init__(self, clock: AheadStore) -> None:
        self.clock = clock
        self.ada, self.eve = api.registered(InProcess()), api.registered(InProcess())
        self.bob = api.guest(InProcess())
        self.ids = [UUID(self.ada.id), UUID(self.eve.id)]

    def begun(self) -> str:
        """A match whose first hand is dealt."""
        return api.begun(self.ada, self.bob)


@pytest.fixture
def stage(clock: AheadStore) -> Stage:
    return Stage(clock)


def register(_stage: Stage) -> Send:
    body = {"username": api.fresh_name(), "password": PASSWORD}
    return keyed(Api(InProcess()), "auth/register", body)


def login(stage: Stage) -> Send:
    body = {"username": stage.ada.username, "password": PASSWORD}
    return keyed(Api(InProcess()), "auth/login", body)


def guest(_stage: Stage) -> Send:
    return keyed(Api(InProcess()), "auth/guest")


def logout(_stage: Stage) -> Send:
    return keyed(api.guest(InProcess()), "auth/logout")


def create(stage: Stage) -> Send:
    return keyed(stage.ada, "matches", {"ruleset": "xqmj-32-2p", "control": "3+2"})


def join(stage: Stage) -> Send:
    return keyed(stage.bob, f"matches/{api.created(stage.ada)}/join")


def ready(stage: Stage) -> Send:
    match_id = api.paired(stage.ada, stage.bob)
    stage.ada.post(f"matches/{match_id}/ready")
    return keyed(stage.bob, f"matches/{match_id}/ready")


def act(stage: Stage) -> Send:
    return keyed(stage.ada, f"matches/{stage.begun()}/act", DISCARD)


def resign(stage: Stage) -> Send:
    return keyed(stage.bob, f"matches/{stage.begun()}/resign")


def resign_after_a_draw(stage: Stage) -> Send:
    match_id = stage.begun()
    stage.ada.post(f"matches/{match_id}/act", DISCARD)
    stage.bob.post(f"matches/{match_id}/act", {"action": {"type": "pass"}})
    # The draw is owed by then, and comes before the command.
    stage.clock.ahead_ms += 2_000
    return keyed(stage.ada, f"matches/{match_id}/resign")


def leave(stage: Stage) -> Send:
    return keyed(stage.ada, f"matches/{stage.begun()}/leave")


class Write(NamedTuple):
    """Something to ask for, the status that says it is done, and the rows that it makes."""

    prepare: Callable[[Stage], Send]
    status: int
    rows: Mapping[str, int]


WRITES: dict[str, Write] = {
    "register": Write(register, 201, {"player": 1, "token": 1, "key": 1}),
    "login": Write(login, 201, {"token": 1, "key": 1}),
    "guest": Write(guest, 201, {"player": 1, "token": 1, "key": 1}),
    "logout": Write(logout, 204, {"token": -1, "key": 1}),
    "create": Write(create, 201, {"head": 1, "event": 1, "version": 1, "seat": 1, "creation": 1}),
    "join": Write(join, 200, {"event": 1, "version": 1, "seat": 1}),
    "ready": Write(ready, 200, {"event": 2, "version": 2}),
    "act": Write(act, 200, {"event": 1, "version": 1}),
    "resign after a draw": Write(resign_after_a_draw, 200, {"event": 2, "version": 2, "ended": 1}),
    "resign": Write(resign, 200, {"event": 1, "version": 1, "ended": 1}),
    "leave": Write(leave, 200, {"event": 1, "version": 1, "ended": 1}),
}
"""Every write of the API that changes anything."""


class Tried(NamedTuple):
    """What a request with a fault in it came to."""

    status: int
    statements: int
    broken: int


def try_one(write: Write, stage: Stage, ledger: Ledger, way: str, span: range) -> Tried:
    """Ask once with a fault, then in peace and under the same key, and check both."""
    send, full = write.prepare(stage), dict(write.rows)
    before = ledger.rows()
    with breaking(way, first=span.start, last=span.stop - 1) as faults:
        answer = send()
    came, where = ledger.since(before), f"{way} at {span}: {answer.status} {answer.raw!r}"
    if answer.status == write.status:
        assert came == full, where
    else:
        assert (answer.status, answer.code) == (503, "unavailable"), where
        assert answer.headers["retry-after"] == "1", where
        assert came in ({}, full), where

    again = [send() for _ in range(2)]

    assert [one.status for one in again] == [write.status] * 2, (where, again)
    assert ledger.since(before) == full, where
    told = [without_now(one) for one in again]
    assert told[0] == told[1], where
    if answer.status == write.status:
        assert without_now(answer) == told[0], where
    return Tried(answer.status, faults.statements, faults.broken)


def without_now(answer: Answer) -> Any:
    """The body but for the time."""
    found = answer.json if answer.raw else {}
    found.pop("now", None)
    return found


class TestWrite:
    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize("name", WRITES)
    def test_is_done_or_not_done_whatever_statement_fails(
        self, name: str, way: str, stage: Stage, ledger: Ledger
    ) -> None:
        found = list[Tried]()
        for number in range(1, 100):
            tried = [
                try_one(WRITES[name], stage, ledger, way, range(number, number + length))
                for length in (1, FOR_GOOD)
            ]
            if not any(one.broken for one in tried):
                break
            found += tried

        tell(f"{name}, {way}: {[(one.status, one.statements) for one in found]}")
        assert not any(one.broken for one in tried)
        assert 503 in {one.status for one in found}


def rate_one(stage: Stage, ledger: Ledger, way: str, number: int) -> int:
    """Rate a match with a fault from a statement on, then in peace; how many were broken."""
    assert until(lambda: ratings.apply_finished() == 0, within_s=30)
    before, match_id = ledger.rows(), api.begun(stage.ada, stage.eve, rated=True)
    stage.ada.post(f"matches/{match_id}/resign")
    with (
        breaking(way, first=number, last=FOR_GOOD) as faults,
        contextlib.suppress(OperationalError, Unavailable),
    ):
        ratings.apply_finished()
    close_old_connections()
    came = ledger.since(before)
    if faults.broken:
        assert came.get("rated", 0) in (0, 2), number

    def rated() -> bool:
        ratings.apply_finished()
        return ledger.since(before).get("rated") == 2

    # A match counts as finished when nothing older is under way in the whole server.
    assert until(rated, within_s=30), (way, number)
    assert ratings.apply_finished() == 0
    assert projected(stage) == logged(stage)
    return faults.broken


def projected(stage: Stage) -> Rows:
    """What their ratings are."""
    mine = Rating.objects.filter(player__in=stage.ids)
    return set(mine.values_list("player", "rating", "rd", "vol"))


def logged(stage: Stage) -> Rows:
    """What the log says last of each."""
    events = RatingEvent.objects.filter(player__in=stage.ids).order_by("seq")
    fields = ("after_rating", "after_rd", "after_vol")
    return set({row[0]: row for row in events.values_list("player", *fields)}.values())


class TestRatings:
    @pytest.mark.parametrize("way", WAYS)
    def test_are_written_whole_or_not_at_all(self, way: str, stage: Stage, ledger: Ledger) -> None:
        numbers = range(1, 100)
        broken = next(n for n in numbers if not rate_one(stage, ledger, way, n)) - 1

        tell(f"ratings, {way}: {broken} statements")
        assert broken > 5
