"""A move and the fall of its flag at the same instant: exactly one wins, by the move's stamp."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from matches.bots.policies import First
from matches.domain.clock import CONTROLS, GRACE_MS, Control
from matches.domain.commands import Act
from matches.domain.events import MatchEnded
from matches.domain.visibility import view
from matches.eventstore import codec, store
from matches.games.protocol import Seat, SeatViewer
from matches.services.accounts import Identity
from matches.services.engine import Executed
from matches.services.errors import ServiceError
from tests.support.seated import Seated, at_once, process

Make = Callable[..., Identity]

BASE_MS = 400
THREADS = 16


@pytest.fixture(autouse=True)
def _short_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONTROLS, "1+1", Control("1+1", BASE_MS, 0))


class SlowStore:
    """The log, reached by an append that takes its time."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self.loaded_ms: int | None = None
        self.appended_ms = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(store, name)

    def load(self, *args: Any, **options: Any) -> Any:
        loaded = store.load(*args, **options)
        if self.loaded_ms is None and loaded is not None:
            self.loaded_ms = loaded.now_ms
        return loaded

    def append(self, **row: Any) -> Any:
        time.sleep(self._delay_s)
        appended = store.append(**row)
        self.appended_ms = store.now()
        return appended


class Race(msgspec.Struct):
    """What came of one race; instants on the database clock."""

    zero_ms: int
    received_ms: int | None
    in_flight_ms: int
    moved: bool
    refusal: str | None
    ended: list[MatchEnded]
    ended_ms: list[int]
    moved_ms: list[int]


def race(players: tuple[Identity, Identity], chance: random.Random) -> Race:
    seated = Seated(players, control="1+1").deal()
    match = seated.observe().match
    seat = match.on_clock
    assert seat is not None
    zero_ms = match.clock_from_ms + BASE_MS
    seen: Any = view(match, SeatViewer(Seat(seat)))
    slow = SlowStore(chance.random() * 0.06)
    mover, sweeper, reader = process(over=slow), process(may_beat=False), process()
    for engine in (mover, sweeper, reader):
        engine.observe(seated.match_id)
    slow.loaded_ms = None
    until_s = time.monotonic() + (zero_ms - store.now() + chance.randrange(-6, 6)) / 1000

    def move() -> Executed:
        time.sleep(max(0.0, until_s - time.monotonic()))
        return mover.execute(
            match_id=seated.match_id,
            player=seated.players[seat],
            body=Act(First().choose(seen.hand, seen.legal)),
        )

    def watch(settle: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            time.sleep(max(0.0, until_s - time.monotonic()))
            for _ in range(40):
                settle()
                time.sleep(0.005)

        return run

    done, *_ = at_once(
        move,
        watch(lambda: sweeper.settle(seated.match_id, by="sweep")),
        watch(lambda: reader.observe(seated.match_id)),
    )
    assert isinstance(done, Executed | ServiceError), done
    return _outcome(seated, zero_ms, done, slow)


def _outcome(seated: Seated, zero_ms: int, done: Any, slow: SlowStore) -> Race:
    log = codec.decode_rows(seated.rows)
    return Race(
        zero_ms=zero_ms,
        received_ms=slow.loaded_ms,
        in_flight_ms=slow.appended_ms - (slow.loaded_ms or 0),
        moved=isinstance(done, Executed),
        refusal=done.code if isinstance(done, ServiceError) else None,
        ended=[one.event for one in log if isinstance(one.event, MatchEnded)],
        ended_ms=[one.at_ms for one in log if isinstance(one.event, MatchEnded)],
        # Nearly always a discard; now and then the opening five win.
        moved_ms=[one.at_ms for one in log if one.event.KIND.startswith("xqmj.")],
    )


def check(one: Race) -> None:
    """Exactly one of the two won, and it was the right one."""
    assert one.received_ms is not None
    if one.moved:
        assert one.moved_ms == [one.received_ms], one
        assert one.received_ms <= one.zero_ms, one
    else:
        assert one.moved_ms == [], one
        assert one.refusal == "match_ended", one
        assert one.ended_ms == [one.zero_ms + 1], one
        assert one.ended[0].reason == "flag", one
        # In time, it may lose only by having been on its way for longer than the grace.
        assert one.received_ms > one.zero_ms or one.in_flight_ms >= GRACE_MS, one
    assert len(one.ended) <= 1, one


def races(player: Make, number: int) -> list[Race]:
    chances = [random.Random(index) for index in range(THREADS)]
    pairs = [(player(), player()) for _ in range(THREADS)]
    left = iter(range(number))
    lock, found = threading.Lock(), list[Race]()

    def run(index: int) -> None:
        while True:
            with lock:
                if next(left, None) is None:
                    return
            one = race(pairs[index], chances[index])
            with lock:
                found.append(one)

    faults = [one for one in at_once(*[lambda i=i: run(i) for i in range(THREADS)]) if one]
    assert faults == []
    return found


class TestMoveAgainstFlag:
    def test_is_won_by_one_of_them(self, player: Make) -> None:
        found = races(player, 48)

        for one in found:
            check(one)
        assert {one.moved for one in found} == {True, False}, "the races were not close"

    @pytest.mark.slow
    def test_is_won_by_one_of_them_five_hundred_times(self, player: Make) -> None:
        found = races(player, 500)

        for one in found:
            check(one)
        assert 50 < sum(one.moved for one in found) < 450
