"""Sweeps and tasks over PostgreSQL: doubled, late, lost, without a broker, under wrong clocks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from matches import tasks
from matches.domain import clock as domain_clock
from matches.domain import match as domain
from matches.domain import settle as domain_settle
from matches.domain.commands import Act, Join
from matches.domain.visibility import view
from matches.eventstore import store
from matches.games.protocol import Seat, SeatViewer
from matches.games.xqmj.actions import Pass
from matches.services import execute, notices, sweep
from matches.services.accounts import Identity
from matches.services.engine import Settled
from matches.services.sweep import Sweeper
from tests.support.seated import Seated, at_once, process
from xqmj_site.celery import app

Make = Callable[..., Identity]


@pytest.fixture
def _soon_unready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seats get 300 ms to be ready."""
    monkeypatch.setattr(domain_settle, "READY_MS", 300)


def paired(player: Make) -> Seated:
    """A match whose seats have to get ready."""
    seated = Seated([player(), player()])
    seated.send(1, Join())
    return seated


def until_due(seated: Seated, *, more_ms: int = 0) -> int:
    """Wait until the table has something to do; gives the instant."""
    due = domain.due_at(seated.engine.peek(seated.match_id).match)
    assert due is not None
    grace_ms = domain_clock.GRACE_MS if due.deadline else 0
    time.sleep(max(0, due.at_ms + grace_ms + more_ms - store.now()) / 1000)
    # On a busy machine the heartbeat may come a little later than that.
    while due.deadline and alive_ms(seated) < due.at_ms:
        time.sleep(0.01)
    return due.at_ms


def alive_ms(seated: Seated) -> int:
    """The newest heartbeat."""
    loaded = store.load(seated.match_id)
    assert loaded is not None
    return loaded.alive_ms


def discarded(player: Make) -> Seated:
    """A match in which the dealer's discard lies, and is let lie where it could be taken."""
    seated = Seated([player(), player()]).deal()
    match = seated.observe().match
    seat = match.on_clock
    assert seat is not None
    seen: Any = view(match, SeatViewer(Seat(seat)))
    discard = next(action for action in seen.legal if hasattr(action, "tile"))
    seated.send(seat, Act(discard))
    seen = view(seated.observe().match, SeatViewer(Seat(1 - seat)))
    if Pass() in seen.legal:
        seated.send(1 - seat, Act(Pass()))
    return seated


def swept(engine_sweeper: Sweeper, seated: Seated, *, timeout_s: float = 10) -> Settled | None:
    """Sweep until the match has moved on."""
    before = len(seated.rows)
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        engine_sweeper.settle_due()
        if len(seated.rows) > before:
            return None
        time.sleep(0.01)
    raise AssertionError("nothing was swept")


class TestSweep:
    def test_draws_at_the_pauses_end(self, player: Make) -> None:
        seated = discarded(player)
        discarded_ms = next(
            row.at_ms for row in reversed(seated.rows) if row.kind == "xqmj.tile_discarded"
        )

        swept(Sweeper(process(may_beat=False)), seated)

        assert seated.rows[-1].kind == "xqmj.tile_drawn"
        assert seated.rows[-1].at_ms == discarded_ms + 1_500

    @pytest.mark.usefixtures("_soon_unready")
    def test_of_many_at_once_settles_each_once(self, player: Make) -> None:
        tables = [paired(player) for _ in range(12)]
        until_due(tables[-1], more_ms=20)

        at_once(*[Sweeper(process(may_beat=False)).settle_due for _ in range(6)])
        Sweeper(process(may_beat=False)).settle_due()

        for seated in tables:
            assert seated.kinds == ["match.created", "match.seat_taken", "match.ended"]
            assert seated.rows[-1].at_ms == seated.rows[1].at_ms + 301

    @pytest.mark.usefixtures("_soon_unready")
    def test_finds_nothing_early(self, player: Make) -> None:
        seated = paired(player)
        sweeper = Sweeper(process(may_beat=False))
        due = domain.due_at(seated.engine.peek(seated.match_id).match)
        assert due is not None
        while store.now() < due.at_ms + domain_clock.GRACE_MS - 20:
            sweeper.settle_due()
            if store.now() < due.at_ms + domain_clock.GRACE_MS:
                assert len(seated.rows) == 2
            time.sleep(0.01)

        swept(sweeper, seated)

        assert seated.rows[-1].at_ms == due.at_ms

    @pytest.mark.usefixtures("_soon_unready")
    def test_by_sixteen_threads_on_one_match_writes_one_event(self, player: Make) -> None:
        for _ in range(12):
            seated = paired(player)
            engines = [process(may_beat=False) for _ in range(16)]
            until_due(seated)

            results = at_once(
                *(partial(engine.settle, seated.match_id, by="sweep") for engine in engines)
            )

            assert sum(len(one.events) for one in results if isinstance(one, Settled)) == 1
            assert [one for one in results if not isinstance(one, Settled)] == []
            assert seated.kinds.count("match.ended") == 1


class TestTask:
    @pytest.mark.usefixtures("_soon_unready")
    def test_run_a_hundred_times_changes_nothing_more(self, player: Make) -> None:
        seated = paired(player)
        until_due(seated)
        named = seated.match_id.hex

        first = tasks.settle_match(named)
        again = at_once(*[lambda: sum(tasks.settle_match(named) for _ in range(25))] * 4)

        assert first == 1
        assert again == [0] * 4
        assert seated.kinds.count("match.ended") == 1

    def test_before_its_time_does_nothing(self, player: Make) -> None:
        seated = discarded(player)
        rows = seated.rows

        assert tasks.settle_match(seated.match_id.hex) == 0
        assert seated.rows == rows

    @pytest.mark.usefixtures("_soon_unready")
    def test_that_was_lost_is_made_up_for_by_the_sweep(self, player: Make) -> None:
        seated = paired(player)
        until_due(seated)

        tasks.sweep()

        assert seated.kinds[-1] == "match.ended"

    @pytest.mark.usefixtures("_soon_unready")
    def test_that_was_lost_is_made_up_for_by_a_read(self, player: Make) -> None:
        seated = paired(player)
        until_due(seated)

        assert execute.observe(match_id=seated.match_id).match.ended is not None

    def test_of_an_unknown_match_does_nothing(self) -> None:
        assert tasks.settle_match("0" * 32) == 0

    @pytest.mark.usefixtures("_soon_unready")
    @pytest.mark.parametrize("wrong_s", [-3600, 3600])
    def test_on_a_machine_with_a_wrong_clock_changes_nothing(
        self, player: Make, monkeypatch: pytest.MonkeyPatch, wrong_s: int
    ) -> None:
        right = time.time
        monkeypatch.setattr(time, "time", lambda: right() + wrong_s)
        seated = paired(player)
        tasks.settle_match(seated.match_id.hex)
        assert seated.kinds[-1] == "match.seat_taken"
        until_due(seated)

        tasks.settle_match(seated.match_id.hex)

        assert seated.rows[-1].at_ms == seated.rows[1].at_ms + 301


class TestWithoutABroker:
    def test_commands_leave_it_to_another_thread_to_find_out(
        self, player: Make, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        settings.XQMJ_NUDGE_WITHIN_MS = 60_000
        monkeypatch.setattr(notices, "_hub", notices._Hub())
        senders: list[int] = []

        def away(_nudges: Sequence[object]) -> None:
            senders.append(threading.get_ident())
            raise ConnectionError("no broker")

        monkeypatch.setattr(notices._hub.nudges, "_send", away)
        players = [player(), player()]
        for _ in range(20):
            seated = Seated(players)
            execute.execute(match_id=seated.match_id, player=players[1].id, body=Join())

        notices._hub.nudges.close()
        assert senders
        assert threading.get_ident() not in senders


class TestNudge:
    def test_names_the_match_and_comes_when_the_table_acts(
        self, player: Make, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.XQMJ_NUDGE_WITHIN_MS = 60_000
        hub = notices._Hub()
        monkeypatch.setattr(notices, "_hub", hub)
        with app.connection_for_read() as broker, broker.SimpleQueue("xqmj") as queue:
            queue.clear()
            entry = Seated([player()]).observe()
            notices.committed(entry, domain_clock.Due(entry.now_ms + 1_500, deadline=False))
            hub.nudges.close()
            message = queue.get(timeout=10)
            message.ack()

        assert message.headers["task"] == "matches.settle_match"
        assert message.payload[0] == [entry.match_id.hex]
        assert message.headers["eta"] is not None

    def test_is_not_sent_for_a_long_wait(
        self, player: Make, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.XQMJ_NUDGE_WITHIN_MS = 60_000
        hub = notices._Hub()
        monkeypatch.setattr(notices, "_hub", hub)
        put: list[object] = []
        monkeypatch.setattr(hub.nudges, "put", put.append)
        entry = Seated([player()]).observe()

        notices.committed(entry, domain_clock.Due(entry.now_ms + 60_001, deadline=True))
        notices.committed(entry, None)

        assert put == []


class TestSweeperOfThisProcess:
    def test_is_one(self) -> None:
        assert sweep.sweeper() is sweep.sweeper()
