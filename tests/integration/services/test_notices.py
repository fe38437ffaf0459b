"""Polls that wait: woken through Valkey, by their own process, or by looking themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

import msgspec
import pytest
from django.conf import settings as django_settings
from redis import Redis

from matches.domain.commands import Body, Join, Leave, Ready, Resign
from matches.services import execute, matches, metrics, notices
from matches.services.accounts import Identity
from matches.services.matches import Events
from tests.support.seated import Seated, at_once
from xqmj_site.celery import app

Make = Callable[..., Identity]

RESIGNED: tuple[tuple[int, Body], ...] = ((1, Join()), (0, Ready()), (1, Ready()), (0, Resign()))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[notices._Hub]:
    """What another process would have."""
    fresh = notices._Hub()
    monkeypatch.setattr(notices, "_hub", fresh)
    yield fresh
    fresh.notices.close()


@pytest.fixture
def seated(player: Make) -> Seated:
    return Seated([player(), player()])


def later(delay_s: float, call: Callable[[], Any]) -> threading.Timer:
    timer = threading.Timer(delay_s, call)
    timer.start()
    return timer


def poll(seated: Seated, *, after: int, wait_s: float) -> tuple[Events, float]:
    begun_s = time.monotonic()
    found = matches.events(
        match_id=seated.match_id, player=seated.players[0], after=after, wait_s=wait_s
    )
    return found, time.monotonic() - begun_s


class TestPoll:
    def test_with_something_to_tell_does_not_wait(self, seated: Seated) -> None:
        found, spent_s = poll(seated, after=0, wait_s=20)

        assert [one.kind for one in found.events] == ["match.created"]
        assert found.seq == 1
        assert spent_s < 15

    def test_without_a_wait_comes_back_empty(self, seated: Seated) -> None:
        found, _ = poll(seated, after=1, wait_s=0)

        assert (found.seq, found.events) == (1, ())

    def test_comes_back_empty_when_its_time_is_over(self, seated: Seated) -> None:
        found, spent_s = poll(seated, after=1, wait_s=0.3)

        assert found.events == ()
        assert 0.3 <= spent_s < 15

    def test_is_woken_by_its_own_process(
        self, seated: Seated, hub: notices._Hub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(matches, "FALLBACK_POLL_S", 30.0)
        monkeypatch.setattr(hub, "listen", lambda: None)

        def join() -> None:
            done = seated.send(1, Join())
            notices.committed(done.entry, None)

        timer = later(0.2, join)
        found, spent_s = poll(seated, after=1, wait_s=20)
        timer.join()

        assert [one.kind for one in found.events] == ["match.seat_taken"]
        assert spent_s < 15

    def test_is_woken_by_another_process_through_valkey(
        self, seated: Seated, hub: notices._Hub, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(matches, "FALLBACK_POLL_S", 30.0)
        hub.listen()

        def join() -> None:
            # The engine of `seated` tells nobody; the notice comes as from elsewhere.
            done = seated.send(1, Join())
            with Redis.from_url(django_settings.REDIS_URL) as elsewhere:
                elsewhere.publish(notices.CHANNEL, msgspec.json.encode([done.entry.match_id]))

        timer = later(0.5, join)
        found, spent_s = poll(seated, after=1, wait_s=20)
        timer.join()

        assert [one.kind for one in found.events] == ["match.seat_taken"]
        assert spent_s < 15

    def test_looks_for_itself_where_valkey_is_away(
        self, seated: Seated, settings: Any, hub: notices._Hub
    ) -> None:
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        assert hub is notices._hub

        timer = later(0.2, lambda: seated.send(1, Join()))
        found, spent_s = poll(seated, after=1, wait_s=20)
        timer.join()

        assert found.events
        assert spent_s < 15

    def test_is_not_ended_by_what_it_may_not_know(self, seated: Seated) -> None:
        def wake() -> None:
            notices._hub.switchboard.tell(seated.match_id)

        timers = [later(0.1 * n, wake) for n in range(1, 4)]
        found, spent_s = poll(seated, after=1, wait_s=0.6)
        for timer in timers:
            timer.join()

        assert found.events == ()
        assert spent_s >= 0.6

    def test_beyond_the_places_comes_back_at_once(self, seated: Seated, settings: Any) -> None:
        settings.XQMJ_LONGPOLL_WAITERS = 2

        results = at_once(*[lambda: poll(seated, after=1, wait_s=4)[1]] * 6)

        waited = sorted(round(one, 1) for one in results if isinstance(one, float))
        assert [one >= 4 for one in waited] == [False] * 4 + [True] * 2

    def test_of_a_match_that_is_over_does_not_wait(self, seated: Seated) -> None:
        seated.send(1, Join())
        seated.send(0, Ready())
        seated.send(0, Leave())

        found, spent_s = poll(seated, after=4, wait_s=20)

        assert found.events == ()
        assert spent_s < 15

    def test_gives_its_place_back(self, seated: Seated) -> None:
        for _ in range(3):
            poll(seated, after=1, wait_s=0.05)

        assert notices._hub.switchboard._waiting == 0
        assert seated.match_id not in notices._hub.switchboard._calls


class TestRatedTask:
    @pytest.fixture
    def sent(self, hub: notices._Hub, settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
        found: list[UUID] = []
        settings.XQMJ_RATED_TASK = "ratings.apply_finished"
        monkeypatch.setattr(hub.rated, "_send", found.extend)
        return found

    def played(self, player: Make, *bodies: tuple[int, Body], rated: bool) -> UUID:
        """A match that went through these commands, by this process's own engine."""
        players = [player(), player()]
        seated = Seated(players, rated=rated, opponent=players[1].username if rated else None)
        for seat, body in bodies:
            execute.execute(match_id=seated.match_id, player=players[seat].id, body=body)
        return seated.match_id

    def test_is_sent_once_for_a_rated_end(
        self, player: Make, hub: notices._Hub, sent: list[UUID]
    ) -> None:
        match_id = self.played(player, *RESIGNED, rated=True)
        hub.rated.close()

        assert sent == [match_id]

    def test_is_not_sent_for_another_end_or_before_it(
        self, player: Make, hub: notices._Hub, sent: list[UUID]
    ) -> None:
        self.played(player, *RESIGNED, rated=False)
        self.played(player, *RESIGNED[:-1], rated=True)
        self.played(player, (1, Join()), (0, Leave()), rated=True)
        hub.rated.close()

        assert sent == []

    def test_may_fail(
        self, player: Make, hub: notices._Hub, sent: list[UUID], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def away(_ended: Sequence[UUID]) -> None:
            raise ConnectionError("no broker")

        monkeypatch.setattr(hub.rated, "_send", away)
        failed = metrics.OUTBOX.labels("rated", "failed")
        before = failed._value.get()

        match_id = self.played(player, *RESIGNED, rated=True)
        hub.rated.close()

        assert execute.observe(match_id=match_id).match.ended is not None
        assert (failed._value.get() - before, sent) == (1, [])

    def test_is_the_one_that_the_setting_names(self, settings: Any) -> None:
        settings.XQMJ_RATED_TASK = "ratings.apply_finished"
        with app.connection_for_read() as broker, broker.SimpleQueue("xqmj") as queue:
            queue.clear()
            notices._rate([UUID(int=1), UUID(int=2)])
            message = queue.get(timeout=10)
            message.ack()
            # One for all of them.
            with pytest.raises(queue.Empty):
                queue.get_nowait()

        assert message.headers["task"] == "ratings.apply_finished"
        assert message.payload[:2] == [[], {}]
