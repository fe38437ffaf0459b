"""The clocks of our processes are wrong, and jump: tables and tokens go by the database's."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from uuid import UUID

import pytest

from matches.services.tokens import TRUSTED_S
from tests.faults import ours
from tests.faults.absent import Absent, live
from tests.faults.clients import Book, Caller
from tests.faults.logbook import Log
from tests.faults.service import Service, tell
from tests.faults.skewed import sitecustomize as skewed
from tests.support.waiting import until

pytestmark = [pytest.mark.fault, pytest.mark.slow]

Start = Callable[..., Service]

SEED = 20268
HOUR_S = 3_600
JUMPS = ((HOUR_S, -HOUR_S), (-HOUR_S, HOUR_S), (0, 0))
"""How far the clocks of the web role and of the worker are off, one after the other."""
LATE_MS, LATEST_MS = 1_500, 15_000
TOKEN_S = 14 * 24 * HOUR_S
SLACK_S = 120
_LIVES = """
SELECT extract(epoch FROM t.expiry - pg_xact_commit_timestamp(t.xmin))::float8
  FROM knox_authtoken t JOIN matches_player p ON p.id = t.user_id WHERE p.public_id = %s::uuid
"""
_EXPIRE = """
UPDATE knox_authtoken SET expiry = clock_timestamp() + make_interval(secs => %s)
 WHERE user_id = (SELECT id FROM matches_player WHERE public_id = %s::uuid) RETURNING 1
"""


class Clocks:
    """The wrong clocks of a service's web role and worker."""

    def __init__(self, folder: Path) -> None:
        self._files = {role: folder / f"clock-{role}" for role in ("web", "worker")}
        self.jump(0, 0)

    def variables(self, role: str) -> dict[str, str]:
        """What a process of this role needs to go by its own."""
        folder = str(Path(skewed.__file__).parent)
        return {"PYTHONPATH": folder, skewed.SKEW: str(self._files[role])}

    def jump(self, web_s: int, worker_s: int) -> None:
        """Put them off by so much."""
        skewed.step(self._files["web"], web_s)
        skewed.step(self._files["worker"], worker_s)


def guest(service: Service) -> Caller:
    """A new guest, who asks once."""
    return Caller(service.port, Book(), chance=random.Random(0), persists=False).enter()


def expiring(service: Service, seconds: int) -> Caller:
    """A guest whose token expires so many seconds from now, by the database's clock."""
    caller = guest(service)
    assert service.query(_EXPIRE, (seconds, caller.id)) == [(1,)]
    return caller


def made_off_s(service: Service, match_id: str) -> float:
    """How far the clock was off of the process that made a match: its id holds the time."""
    begun = "SELECT created_at_ms FROM es.match_head WHERE match_id = %s::uuid"
    ((true_ms,),) = service.query(begun, (match_id,))
    return ((UUID(match_id).int >> 80) - int(true_ms)) / 1000


def check_tokens(service: Service, soon: Caller, over: Caller) -> None:
    """Tokens end when the database says so, and a new one lasts as long as any other."""
    caller = guest(service)
    for one in (soon, over):
        # An idle connection may have been closed.
        one.close()
    assert soon.look("me") == 200
    assert over.look("me") == 401
    ((life_s,),) = service.query(_LIVES, (caller.id,))
    assert abs(life_s - TOKEN_S) < SLACK_S
    caller.close()


class TestJump:
    def test_makes_nothing_early_or_late(self, service: Start, tmp_path: Path) -> None:
        clocks = Clocks(tmp_path)
        xqmj = service(**{ours.SHORT: "1"})
        xqmj.keep("web", instead="tests.faults.ours", **clocks.variables("web"))
        xqmj.keep("worker", instead="tests.faults.ours", **clocks.variables("worker"))
        xqmj.keep("beat")
        xqmj.begin()
        soon, over = expiring(xqmj, HOUR_S // 2), expiring(xqmj, -1)
        time.sleep(TRUSTED_S)

        with Absent(xqmj, seed=SEED) as absent:
            for web_s, worker_s in JUMPS:
                absent.wait_for(2)
                clocks.jump(web_s, worker_s)
                known = len(absent.matches)
                absent.wait_for(3)
                time.sleep(TRUSTED_S)
                check_tokens(xqmj, soon, over)
                assert abs(made_off_s(xqmj, absent.matches[known + 1]) - web_s) < SLACK_S
        assert until(lambda: live(xqmj) == 0, within_s=30)

        log = Log(xqmj)
        late = sorted(row.late_ms for row in log.acts_of_the_table())
        tell(f"{len(late)} acts, late by {quantiles(late, n=20)} and at most {late[-1]} ms")
        for rows in log.matches.values():
            assert [row.kind for row in rows].count("match.ended") == 1
        assert late[0] >= 0
        assert quantiles(late, n=20)[-1] <= LATE_MS
        assert late[-1] <= LATEST_MS
        assert log.gaps == []
        assert not absent.book.wrong, xqmj.told_around(absent.book.wrong)
        assert xqmj.mistakes() == []
        proof = xqmj.python("-m", "tests.faults.ours", "verify_log", "--all")
        assert proof.returncode == 0, proof.stdout + proof.stderr

    def test_reaches_all_of_python(self, service: Start, tmp_path: Path) -> None:
        clocks = Clocks(tmp_path)
        clocks.jump(HOUR_S, 0)
        asked = service(**clocks.variables("web")).python(
            "-c",
            "import time; from datetime import UTC, datetime, date; print(time.time(),"
            " time.time_ns() / 1e9, datetime.now(UTC).timestamp(), datetime.now().timestamp(),"
            " datetime.utcnow().replace(tzinfo=UTC).timestamp(), *time.gmtime()[:4])",
        )

        *told, year, month, day, hour = map(float, asked.stdout.split())
        there = time.time() + HOUR_S
        assert len(told) == 5
        assert max(abs(one - there) for one in told) < SLACK_S
        assert (year, month, day) == time.gmtime(there)[:3]
        assert hour in {time.gmtime(there - ago)[3] for ago in (0, SLACK_S)}
