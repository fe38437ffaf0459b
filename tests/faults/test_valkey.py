"""Valkey is killed with all that it knew, or can be reached badly: play and clocks go on."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from celery import Celery
from kombu import Connection
from redis import Redis

from matches.bots.policies import First
from matches.services import notices
from tests.faults import ours, proxy
from tests.faults.absent import Absent, live
from tests.faults.clients import Book, Playing, Sent, Table
from tests.faults.logbook import Log
from tests.faults.proxy import Proxy
from tests.faults.service import Service, tell
from tests.support.servers import OwnServers
from tests.support.waiting import until
from xqmj_site.settings.base import broker_options

pytestmark = pytest.mark.fault

Start = Callable[..., Service]
Spoil = Callable[[Proxy], None]

SEED = 20263
OUTAGE_S = 10.0
LATE_MS = 1_500
DEFAULT_LIMITS = "address=1000000/60,guest=1000000/60"
"""Moves and reads are counted in Valkey as often as they are where nobody set a limit."""
TABLES = 16
MEASURED_S = 4.0
GROWN_S = 0.1
"""A write may take so much longer."""
SLOWEST_S = 1.0
POLLED_S = 8.0
"""A draw comes 1.5 s after its discard, and a poll that hears of nothing looks every second."""
FOUND_S = 60.0
HEARD_S = 20.0
MATCH = uuid4()

WAYS: dict[str, Spoil] = {
    "hole": Proxy.hole,
    "cut": Proxy.cut,
    "delay": lambda network: network.delay(0.2),
}


@pytest.fixture
def network(lone_servers: OwnServers) -> Iterator[Proxy]:
    """The way to Valkey."""
    with proxy.before_tcp(lone_servers.valkey.port) as made:
        yield made


def through(network: Proxy, servers: OwnServers) -> dict[str, str]:
    """The addresses of Valkey and of the broker, as they are beyond the network."""
    port = f":{servers.valkey.port}/"
    addresses = servers.addresses
    urls = {"redis_url": addresses.redis_url, "broker_url": addresses.broker_url}
    return {name: url.replace(port, f":{network.port}/") for name, url in urls.items()}


@pytest.mark.slow
class TestOutage:
    def test_stops_neither_play_nor_clocks(self, service: Start, lone_servers: OwnServers) -> None:
        xqmj = service(**{ours.SHORT: "1"})
        xqmj.keep("web", instead="tests.faults.ours")
        xqmj.keep("worker", instead="tests.faults.ours")
        xqmj.begin()
        playing = Playing(xqmj.port, tables=4, seed=SEED)
        poller = seated(playing, xqmj.port)
        with Absent(xqmj, seed=SEED) as absent, playing:
            assert until(lambda: len(playing.book.acknowledged()) > 30, within_s=60)
            before = Counter(playing.book.tries)
            lone_servers.valkey.kill()
            killed_s = time.monotonic()
            polled_s = polled(poller)
            time.sleep(max(0.0, killed_s + OUTAGE_S - time.monotonic()))
            written = len(playing.book.acknowledged(since_s=killed_s))
            tried = Counter(playing.book.tries) - before
            lone_servers.valkey.start()
            back_s = time.monotonic()
            assert until(lambda: len(playing.book.acknowledged(since_s=back_s)) > 30, within_s=60)
        playing.check(xqmj)
        assert until(lambda: live(xqmj) <= len(playing.tables) + 1, within_s=30)

        late = sorted(row.late_ms for row in Log(xqmj).acts_of_the_table())
        tell(f"meanwhile {written} writes, {tried}, a poll of {polled_s:.2f} s")
        tell(f"{len(late)} acts, late by {quantiles(late, n=20)} ms, at most {late[-1]} ms")
        assert written > 10
        assert set(tried) <= {"200", "201", "409", "412"}
        assert polled_s < POLLED_S
        assert late[0] >= 0
        assert quantiles(late, n=20)[-1] <= LATE_MS
        assert not absent.book.wrong, xqmj.told_around(absent.book.wrong)
        assert xqmj.mistakes() == []


def seated(playing: Playing, port: int) -> Table:
    """A table beside those that play."""
    table = Table(port, playing.book, seed=f"poller/{SEED}")
    playing.beside.append(table)
    table.policy = First()
    table.resigns = 0
    table.enter()
    return table


def polled(table: Table) -> float:
    """How long a poll waits for the draw after a discard, which another process may see to."""
    while True:
        table.begin()
        table.step()
        told = table.players[0].get(f"matches/{table.match_id}")
        if told["match"]["hand"]["stage"] == "offer":
            break
    begun_s = time.monotonic()
    path = f"matches/{table.match_id}/events?after={told['seq']}&wait=20"
    kinds = [line["kind"] for line in table.players[0].get(path)["events"]]
    assert kinds[0] == "xqmj.tile_drawn"
    return time.monotonic() - begun_s


class Pace(msgspec.Struct, frozen=True):
    """How long writes took, in seconds."""

    half: float
    most: float
    number: int

    @classmethod
    def of(cls, writes: list[Sent]) -> Pace:
        spent = sorted(one.answered_s - one.tried_s for one in writes)
        return cls(median(spent), quantiles(spent, n=100)[-1], len(spent))


def pace(book: Book) -> Pace:
    """How long writes take now."""
    begun_s = time.monotonic()
    time.sleep(MEASURED_S)
    assert until(lambda: len(book.acknowledged(since_s=begun_s)) >= 20, within_s=60)
    return Pace.of(book.acknowledged(since_s=begun_s))


@pytest.mark.slow
class TestNetwork:
    """The way to Valkey swallows, resets or delays."""

    def test_costs_no_write_its_pace(
        self, service: Start, lone_servers: OwnServers, network: Proxy
    ) -> None:
        addresses = replace(lone_servers.addresses, **through(network, lone_servers))
        xqmj = service(addresses=addresses, XQMJ_THROTTLES=DEFAULT_LIMITS)
        xqmj.keep("web")
        xqmj.begin()
        with Playing(xqmj.port, tables=TABLES, seed=SEED) as playing:
            assert until(lambda: len(playing.book.acknowledged()) > 200, within_s=120)
            for name, spoil in WAYS.items():
                before = pace(playing.book)
                tried = Counter(playing.book.tries)
                spoil(network)
                meanwhile = pace(playing.book)
                tried = Counter(playing.book.tries) - tried
                network.heal()
                tell(f"{name}: {before} before, {meanwhile} meanwhile, {tried}")
                assert meanwhile.half <= before.half + GROWN_S
                assert meanwhile.most <= max(SLOWEST_S, 3 * before.most)
                assert set(tried) <= {"200", "201", "409", "412"}
        playing.check(xqmj)
        assert xqmj.mistakes() == []

    def test_is_found_again_by_a_worker(
        self, service: Start, lone_servers: OwnServers, network: Proxy, tmp_path: Path
    ) -> None:
        addresses = replace(lone_servers.addresses, **through(network, lone_servers))
        xqmj = service(addresses=addresses, WORKER_CONCURRENCY="1")
        xqmj.keep("worker", instead="tests.faults.probe")
        with Celery("sender", broker=lone_servers.addresses.broker_url) as sender:
            sender.conf.task_default_queue = "xqmj"
            for name, spoil in {"": lambda _: None, **WAYS}.items():
                spoil(network)
                time.sleep(3.0 if name else 0.0)
                network.heal(found=True)
                touched = tmp_path / f"touched-{name}"
                sender.send_task("tests.touch", (str(touched),))
                assert until(touched.exists, within_s=FOUND_S), (name, xqmj.log.read_text())


class TestBroker:
    @pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="the kernel has no such option")
    def test_is_looked_for_by_the_kernel_while_a_worker_waits(
        self, lone_servers: OwnServers
    ) -> None:
        url = lone_servers.addresses.broker_url
        with Connection(url, transport_options=broker_options(url)) as connection:
            channel: Any = connection.default_channel
            pool = channel.client.connection_pool
            used = pool.get_connection()
            option = used._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
            pool.release(used)

        assert option == 5


@pytest.fixture
def heard(network: Proxy, lone_servers: OwnServers, settings: Any) -> threading.Event:
    """Set whenever a notice comes over the network."""
    settings.REDIS_URL = through(network, lone_servers)["redis_url"]
    switchboard, heard = notices.Switchboard(), threading.Event()
    switchboard.add(MATCH, heard.set)
    notices.Listener(switchboard).start()
    return heard


def told(servers: OwnServers, heard: threading.Event, *, within_s: float) -> bool:
    """Whether a notice that is published again and again is heard in time."""

    def tell() -> bool:
        client.publish(notices.CHANNEL, msgspec.json.encode([MATCH]))
        return heard.wait(0.2)

    heard.clear()
    with Redis.from_url(servers.addresses.redis_url) as client:
        return until(tell, within_s=within_s)


class TestListener:
    @pytest.mark.parametrize("way", ["hole", "cut"])
    def test_hears_again_when_the_network_is_back(
        self, network: Proxy, lone_servers: OwnServers, heard: threading.Event, way: str
    ) -> None:
        assert told(lone_servers, heard, within_s=10)
        WAYS[way](network)
        time.sleep(0.2)
        assert not told(lone_servers, heard, within_s=1)

        network.heal()

        assert told(lone_servers, heard, within_s=HEARD_S)
