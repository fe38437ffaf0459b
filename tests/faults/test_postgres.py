"""PostgreSQL can be reached badly or not at all: requests end, and soon."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from psycopg import conninfo

from tests.faults import ours, proxy
from tests.faults.clients import Book, Caller, Table
from tests.faults.proxy import Proxy
from tests.faults.service import Service, kill, tell
from tests.support.servers import OwnServers
from tests.support.waiting import until

pytestmark = [pytest.mark.fault, pytest.mark.slow]

Start = Callable[..., Service]

SEED = 20264
ENDED_S, LATEST_S = 5.0, 10.0
"""A request has an answer by then: most of the time, and on the busiest machine."""
BACK_S = 30.0
AT_ONCE = 24
"""Requests at the same time: more than connections, fewer than threads."""


@pytest.fixture
def network(lone_servers: OwnServers) -> Iterator[Proxy]:
    """The way to PostgreSQL."""
    postgres = lone_servers.postgres
    with proxy.before_socket(str(postgres.socket_dir / ".s.PGSQL.5432")) as made:
        yield made


def through(network: Proxy, servers: OwnServers) -> str:
    """The address of the app's database, as it is beyond the network."""
    parts = conninfo.conninfo_to_dict(servers.addresses.app_url)
    password = quote(str(parts["password"]))
    return f"postgresql://{parts['user']}:{password}@127.0.0.1:{network.port}/{parts['dbname']}"


class Asked(msgspec.Struct, frozen=True):
    """A request, its answer's status (0: none), and how long it took."""

    what: str
    status: int
    spent_s: float


def ask(port: int, token: str | None, what: str, body: Any = None) -> Asked:
    """Ask once, for as long as a client has patience."""
    caller = Caller(port, Book(), chance=random.Random(0), persists=False)
    caller.token = token
    begun_s = time.monotonic()
    status = caller.look(what) if body is None else caller.post(what, body).status
    spent_s = time.monotonic() - begun_s
    caller.close()
    assert caller.book.wrong == []
    return Asked(what, status, spent_s)


def ask_everything(port: int, table: Table) -> list[Asked]:
    """Ask for one thing of each kind, again and again, all at the same time."""
    token, match = table.players[0].token, f"matches/{table.match_id}"
    wanted: list[tuple[str | None, str, Any]] = [
        (token, match, None),
        (token, f"{match}/events?after=0&wait=20", None),
        (token, f"{match}/act", {"action": {"type": "win"}}),
        (token, "matches", {"ruleset": "xqmj-32-2p", "control": "3+2"}),
        (token, "matches", None),
        (None, "auth/guest", {}),
        (None, "leaderboards/xqmj-32-2p-blitz", None),
    ]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        asked = [wanted[n % len(wanted)] for n in range(AT_ONCE)]
        return list(threads.map(lambda one: ask(port, *one), asked))


def answered(port: int, table: Table) -> bool:
    """Whether everything that is asked for at the same time is answered."""
    return all(0 < one.status < 500 for one in ask_everything(port, table))


def at_work(service: Service, folder: Path) -> list[str]:
    """The stacks of the web role's threads that are in a request."""
    pids = service.children("web")
    for pid in pids:
        kill(pid, signal.SIGUSR2)
    time.sleep(1)
    stacks = [(folder / str(pid)).read_text() for pid in pids]
    dumps = [text.rpartition("Current thread")[2] or text for text in stacks]
    return [one for text in dumps for one in text.split("\n\n") if "matches/api/gate.py" in one]


class TestHole:
    def test_ends_every_request_and_holds_no_thread(
        self, service: Start, lone_servers: OwnServers, network: Proxy, tmp_path: Path
    ) -> None:
        addresses = replace(lone_servers.addresses, app_url=through(network, lone_servers))
        stacks = tmp_path / "stacks"
        stacks.mkdir()
        xqmj = service(addresses=addresses, **{ours.STACKS: str(stacks)})
        xqmj.keep("web", instead="tests.faults.ours")
        xqmj.keep("worker", instead="tests.faults.ours")
        xqmj.begin()
        book = Book()
        table = Table(xqmj.port, book, seed=f"{SEED}")
        table.enter()
        table.begin()
        assert until(lambda: answered(xqmj.port, table), within_s=BACK_S)

        network.hole()
        holed = [one for _ in range(2) for one in ask_everything(xqmj.port, table)]
        network.heal()
        healed_s = time.monotonic()
        table.send(table.players[0], "resign")
        back_s = time.monotonic() - healed_s

        for one in sorted(holed, key=lambda one: one.spent_s):
            tell(f"{one.spent_s:6.2f} s {one.status} {one.what}")
        tell(f"back after {back_s:.2f} s")
        assert {one.status for one in holed} == {503}
        assert median(one.spent_s for one in holed) <= ENDED_S
        assert max(one.spent_s for one in holed) <= LATEST_S
        assert back_s < BACK_S
        assert until(lambda: not at_work(xqmj, stacks), within_s=20), at_work(xqmj, stacks)
        assert until(lambda: answered(xqmj.port, table), within_s=BACK_S)
        table.close()
        assert xqmj.mistakes() == []
