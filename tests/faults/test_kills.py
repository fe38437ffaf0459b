"""Everything that serves is killed in turn, in the middle of writes, while matches are played."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from statistics import median

import msgspec
import pytest

from tests.faults import logbook
from tests.faults.clients import Playing, Table
from tests.faults.logbook import Log
from tests.faults.service import Service, kill, tell
from tests.support.waiting import until

pytestmark = [pytest.mark.fault, pytest.mark.slow, pytest.mark.timeout(900)]

Start = Callable[..., Service]

SEED = 20261
NEEDED = {
    "a web worker": ("web",),
    "the web master": ("web",),
    "the Celery worker": ("worker",),
    "PostgreSQL, at once": ("postgres",),
    "PostgreSQL, immediately": ("postgres",),
    "a session of PostgreSQL": ("postgres",),
}
"""What is killed, and what has to be whole before: the rest may still be on its way back."""
ROUNDS = 30
TABLES = 12
ROUNDS_WITH_ABSENT = range(0, 20, 2)
"""The rounds that begin with a match whose players never get ready, or never move."""
BACK_S, LONGEST_S = 10.0, 60.0
"""From a kill to the next write that is done: most of the time, and on the busiest machine."""
WRITES = 12
"""So much is written between two kills."""


class Round(msgspec.Struct, frozen=True):
    """A kill, and how long nothing was written after it."""

    kind: str
    back_s: float


def strike(service: Service, kind: str, chance: random.Random) -> str:
    """Kill it; gives the name of what the runner has to start again, if it has."""
    if kind == "a web worker":
        kill(chance.choice(service.children("web")))
        return ""
    if kind == "the web master":
        kill(service.pid("web"))
        return "web"
    if kind == "the Celery worker":
        kill(service.pid("worker"))
        return "worker"
    if kind == "a session of PostgreSQL":
        # PostgreSQL then ends all others too, and recovers: shared memory may be in pieces.
        kill(chance.choice(service.sessions()))
        return ""
    kill(service.pid("postgres"), signal.SIGKILL if "at once" in kind else signal.SIGQUIT)
    return "postgres"


def play_round(service: Service, playing: Playing, kind: str, chance: random.Random) -> Round:
    """Kill one in the middle of a write, and play on."""
    book = playing.book
    service.begin(*NEEDED[kind])
    assert book.wait_for_a_write(within_s=LONGEST_S)
    time.sleep(chance.uniform(0, 0.01))
    killed_s = time.monotonic()
    before = {name: service.pid(name) for name in NEEDED[kind]}
    name = strike(service, kind, chance)
    if name:
        assert service.replaced(name, before[name])
    came_s = time.monotonic()
    written = until(lambda: len(book.acknowledged(since_s=came_s)) >= WRITES, within_s=LONGEST_S)
    assert written, service.log.read_text()[-4000:]
    back_s = min(one.answered_s for one in book.acknowledged(since_s=came_s)) - killed_s
    return Round(kind, back_s)


def leave_alone(playing: Playing, port: int, number: int) -> str:
    """The id of a match whose players never get ready, or leave the first move to the clock."""
    table = Table(port, playing.book, seed=f"left alone/{number}", control="1+1")
    playing.beside.append(table)
    table.enter()
    return table.pair() if number % 4 else table.begin()


def check_deadlines(log: Log, matches: list[str]) -> None:
    """Each of these matches was ended by its deadline, once, and lost no time to an outage."""
    for match_id in matches:
        kinds = [row.kind for row in log.matches[match_id]]
        assert kinds.count("match.ended") == 1, kinds
        *_, last = rows = log.matches[match_id]
        dealt = [row for row in rows if row.kind == "match.hand_dealt"]
        taken = [row for row in rows if row.kind == "match.seat_taken"]
        # The dealer has a minute for the move (XM-62); both have half of one to be ready (XM-57).
        begun, limit_ms = (dealt[0], 60_000) if dealt else (taken[0], 30_000)
        away_ms = sum(
            min(until_ms, last.at_ms) - max(from_ms, begun.at_ms)
            for from_ms, until_ms in log.gaps
            if from_ms < last.at_ms and until_ms > begun.at_ms
        )
        assert last.at_ms == begun.at_ms + limit_ms + away_ms + 1
        assert last.written_ms > last.at_ms


def strike_all(service: Service, playing: Playing) -> tuple[list[Round], list[str]]:
    """Kill everything in turn; gives how long each took, and the matches that were left alone."""
    chance = random.Random(SEED)
    order = [kind for kind in NEEDED for _ in range(ROUNDS // len(NEEDED))]
    chance.shuffle(order)
    tell(f"seed {SEED}: {'; '.join(order)}")
    rounds, left_alone = list[Round](), list[str]()
    for number, kind in enumerate(order):
        if number in ROUNDS_WITH_ABSENT:
            left_alone.append(leave_alone(playing, service.port, number))
        rounds.append(play_round(service, playing, kind, chance))
        tell(f"{number + 1:2} {kind}: back after {rounds[-1].back_s:.2f} s")
    return rounds, left_alone


class TestKills:
    def test_lose_nothing_that_was_acknowledged(self, service: Start) -> None:
        everything = service()
        everything.keep_postgres()
        everything.keep("web")
        everything.keep("worker")
        everything.begin()

        with Playing(everything.port, tables=TABLES, seed=SEED) as playing:
            rounds, left_alone = strike_all(everything, playing)
        playing.check(everything)
        ended = (
            "SELECT count(*) FROM es.match_head WHERE match_id = ANY (%s::uuid[]) AND status > 1"
        )
        assert until(
            lambda: everything.query(ended, (left_alone,)) == [(len(left_alone),)], within_s=120
        )

        logbook.check(playing.book, everything)
        logbook.check_feeds(playing.book, playing.callers, everything)
        check_deadlines(Log(everything), left_alone)
        proof = everything.manage("verify_log", "--all")
        tell(f"{playing.book.tries}; {proof.stdout.splitlines()[-1]}")
        assert proof.returncode == 0, proof.stdout[-2000:] + proof.stderr[-2000:]
        assert everything.mistakes() == []
        assert median(one.back_s for one in rounds) <= BACK_S
        assert max(one.back_s for one in rounds) <= LONGEST_S
