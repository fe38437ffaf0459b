"""The heartbeat of a process that answers players."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from matches.eventstore import pool, store
from matches.eventstore.pool import Unavailable
from matches.services import heartbeat
from matches.services.heartbeat import Heartbeat


@pytest.fixture
def beats(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """When this process beat."""
    made: list[float] = []
    beat = store.beat

    def counted() -> Any:
        made.append(time.monotonic())
        return beat()

    heartbeat.stop()
    monkeypatch.setattr(store, "beat", counted)
    yield made
    monkeypatch.undo()
    heartbeat.ensure()


def await_beats(beats: list[float], count: int) -> None:
    """Wait until so many were made."""
    end_s = time.monotonic() + 20
    while len(beats) < count:
        assert time.monotonic() < end_s, "the heart stands still"
        time.sleep(0.01)


class TestHeartbeat:
    def test_beats_before_anything_is_served_and_goes_on(self, beats: list[float]) -> None:
        beating = Heartbeat(every_s=0.02)
        beating.start()
        assert len(beats) >= 1
        await_beats(beats, 4)
        beating.stop()
        stopped = len(beats)

        time.sleep(0.1)
        assert len(beats) == stopped

    def test_outlives_a_log_that_is_away(
        self, beats: list[float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run, away = pool.run, [True]

        def refused(statement: str, params: Any) -> Any:
            if away and "es.beat" in statement:
                raise Unavailable("away")
            return run(statement, params)

        monkeypatch.setattr(pool, "run", refused)
        beating = Heartbeat(every_s=0.02)
        beating.start()
        time.sleep(0.1)
        away.clear()
        before_ms = store.now()
        await_beats(beats, len(beats) + 3)
        beating.stop()

        assert store.beat().now_ms >= before_ms

    def test_is_not_begun_by_a_worker(self, beats: list[float], settings: Any) -> None:
        settings.XQMJ_IS_WEB = False

        heartbeat.ensure()
        time.sleep(0.2)

        assert beats == []

    def test_is_begun_once(self, beats: list[float]) -> None:
        heartbeat.ensure()
        begun = heartbeat._heartbeat
        heartbeat.ensure()

        assert beats
        assert heartbeat._heartbeat is begun
        heartbeat.stop()
