"""Sockets: how soon the other seat is told, what idle ones cost, and how much load all bears."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import quantiles
from typing import Any

import psutil
import psycopg

from tests.bench.figures import Figure, Target
from tests.bench.stage import Say, Size, Stage
from tests.support.servers import Servers

TOLD_MATCHES = 200
LOADS = (50, 200, 1_000)
IDLE = 2_000
A_PLAYER = 5
LEFT_OVER = "100000"
"""More sockets than a process holds as delivered, where the bench wants more."""
ROUNDS = 3
CLIENTS = 2
"""Of REST beside the idle sockets: few, so that what they wait for is not each other."""

_COMMITTED = """
SELECT replace(match_id::text, '-', ''), at_ms,
       extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000
  FROM es.match_event WHERE kind = 'xqmj.tile_discarded' AND at_ms >= %s
"""
_LATE = """
SELECT floor(extract(epoch FROM pg_xact_commit_timestamp(e.xmin)) * 1000)::bigint - e.at_ms
  FROM es.match_event e
  LEFT JOIN es.match_event c
    ON c.match_id = e.match_id AND c.xmin = e.xmin AND c.command_id IS NOT NULL
 WHERE e.actor IS NULL AND e.kind <> 'match.created' AND e.at_ms >= %s
   AND (c.match_id IS NULL OR c.at_ms > e.at_ms)
"""


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """The figures of sockets, each on a database of its own."""
    loads = (8,) if size.quick else LOADS
    found = [figure for count in loads for figure in _load(stage, size, say, count)]
    return [*found, *_idle(stage, size, say)]


def _load(stage: Stage, size: Size, say: Say, count: int) -> list[Figure]:
    """So many matches played at a command every two seconds each, half of them over sockets."""
    servers = stage.database()
    seconds = 6.0 if size.quick else size.sweep_s / 2
    with ExitStack() as stack:
        say(f"dealing {count} matches")
        clients = stack.enter_context(stage.program(servers, "socket_clients", count, A_PLAYER))
        clients.answer()
        worker = stack.enter_context(stage.worker(servers))
        web = stack.enter_context(stage.web(servers))
        live, live_pid = stack.enter_context(_live(stage, servers))
        say(f"{count} matches for {seconds:.0f} s")
        answer = clients.ask("play", web, live, seconds)
        rss = {name: _rss(pid) for name, pid in (("live", live_pid), ("worker", worker))}
        late = sorted(row[0] for row in _rows(servers, _LATE, answer["from_ms"]))
    return _told(servers, answer, count) + _bore(answer, late, rss, count, seconds)


def _told(servers: Servers, answer: Any, count: int) -> list[Figure]:
    committed = {
        (match_id, at_ms): float(commit_ms)
        for match_id, at_ms, commit_ms in _rows(servers, _COMMITTED, answer["from_ms"])
    }
    waits = [
        heard_ms - committed[match_id, at_ms]
        for match_id, at_ms, heard_ms in answer["heard"]
        if (match_id, at_ms) in committed
    ]
    cuts = quantiles(waits, n=100)
    return [
        Figure(
            bench="live",
            name=f"commit to the other's socket p99, {count} live",
            value=cuts[98],
            unit="ms",
            target=Target("<=", 50) if count == TOLD_MATCHES else None,
            note=f"{len(waits)} lines; median {cuts[49]:.1f}, latest {max(waits):.0f} ms",
        )
    ]


def _bore(
    answer: Any, late: list[int], rss: dict[str, float], count: int, seconds: float
) -> list[Figure]:
    status: dict[str, int] = answer["status"]
    sent = sum(status.values())
    failed = sent - status.get("200", 0)
    ways = {way: quantiles(took, n=100) for way, took in answer["took_s"].items()}
    tails = "; ".join(
        f"over {way} {1000 * cuts[49]:.1f}, {1000 * cuts[94]:.1f} and {1000 * cuts[98]:.1f} ms"
        for way, cuts in ways.items()
    )
    acts = quantiles(late, n=100)
    held = ", ".join(f"{name} {mb:.0f} MB" for name, mb in rss.items())
    return [
        Figure(
            bench="live",
            name=f"commands at {count} matches",
            value=sent / seconds,
            unit="/s",
            note=(
                f"p50, p95 and p99 {tails}; {2 * count} sockets; the table's acts were late by"
                f" {acts[49]:.0f} ms at the median, {acts[98]:.0f} at p99; {held}"
            ),
        ),
        Figure(
            bench="live",
            name=f"commands refused or failed at {count} matches",
            value=100 * failed / max(1, sent),
            unit="%",
            target=Target("==", 0) if count == TOLD_MATCHES else None,
            note=", ".join(f"{code}: {number}" for code, number in sorted(status.items())),
        ),
    ]


def _idle(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Idle sockets: what one weighs, and what a move over REST takes beside all of them."""
    servers = stage.database()
    sockets = 20 if size.quick else IDLE
    with ExitStack() as stack:
        say("dealing")
        count = max(4, sockets // 2 // A_PLAYER)
        idle = stack.enter_context(stage.program(servers, "socket_clients", count, A_PLAYER))
        rest = stack.enter_context(
            stage.program(servers, "http_clients", 30 if size.quick else 2_400)
        )
        idle.answer()
        rest.answer()
        web = stack.enter_context(stage.web(servers))
        live, pid = stack.enter_context(_live(stage, servers))
        rest.ask("api", web, CLIENTS, size.round_s)
        without, beside, weights = [], [], []
        for number in range(1 if size.quick else ROUNDS):
            say(f"round {number + 1}")
            without += rest.ask("api", web, CLIENTS, size.round_s)["took_s"]
            before = _rss(pid)
            idle.ask("idle", live, sockets)
            weights.append((_rss(pid) - before) * 1024 / sockets)
            beside += rest.ask("api", web, CLIENTS, size.round_s)["took_s"]
            idle.ask("close")
    alone, crowded = quantiles(without, n=100), quantiles(beside, n=100)
    return [
        Figure(
            bench="live",
            name=f"an idle socket of {sockets:,}",
            value=weights[0],
            unit="kB",
            target=Target("<=", 60),
            note="of the live process, from the first that is opened",
        ),
        Figure(
            bench="live",
            name=f"a move over REST beside {sockets:,} idle sockets, p99",
            value=1000 * crowded[98],
            unit="ms",
            compared="beside none",
            beside=1000 * alone[98],
            ratio=crowded[98] / alone[98],
            target=Target("<=", 1.3),
            note=f"medians {1000 * crowded[49]:.2f} and {1000 * alone[49]:.2f} ms",
        ),
    ]


def _live(stage: Stage, servers: Servers) -> Any:
    """The live role with room for all; yields its port and the process that holds the sockets."""
    return stage.live(
        servers, XQMJ_LIVE_STREAMS=LEFT_OVER, XQMJ_THROTTLES=_UNCOUNTED, XQMJ_CACHE_MATCHES="8192"
    )


_UNCOUNTED = "address=100000000/60,guest=100000000/60,connect=100000000/60,new_match=100000000/60"


def _rss(pid: int) -> float:
    """Megabytes of the process and its children."""
    process = psutil.Process(pid)
    every = [process, *process.children(recursive=True)]
    return sum(one.memory_info().rss for one in every) / 2**20


def _rows(servers: Servers, statement: Any, from_ms: float) -> list[Any]:
    with psycopg.connect(servers.app_url, autocommit=True) as connection:
        found: list[Any] = connection.execute(statement, (int(from_ms),)).fetchall()
    return found
