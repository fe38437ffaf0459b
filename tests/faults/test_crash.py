"""A process dies between a commit and telling anybody: whoever waits finds out all the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import msgspec
import pytest

from tests.faults import ours
from tests.faults.clients import Book, Table
from tests.faults.service import Service, tell
from tests.support.waiting import until

pytestmark = [pytest.mark.fault, pytest.mark.slow]

Start = Callable[..., Service]

SEED = 20265
ROUNDS = 4
RATED_MS, LATEST_MS = 5_500, 15_000
"""Beat asks for ratings every five seconds: most of the time, and on the busiest machine."""
HEARD_S = 8.0
"""A poll that hears of nothing looks every second."""
_RATED = """
SELECT floor(extract(epoch FROM pg_xact_commit_timestamp(r.xmin)
                                - pg_xact_commit_timestamp(e.xmin)) * 1000)::bigint
  FROM ratings_ratingevent r, es.match_event e
 WHERE r.match_id = %s::uuid AND e.match_id = %s::uuid AND e.kind = 'match.ended'
"""


class Crash(msgspec.Struct, frozen=True):
    """How long after the end of a match it was heard of, and it was rated."""

    heard_s: float
    rated_ms: int


def crash(service: Service, table: Table, cue: Path) -> Crash:
    """End a rated match; the process that commits the end dies at once."""
    service.begin("web")
    table.begin()
    loser, other = table.players
    match = f"matches/{table.match_id}"
    seq = other.get(match)["seq"]
    with ThreadPoolExecutor(1) as threads:
        poll = threads.submit(other.get, f"{match}/events?after={seq}&wait=20")
        time.sleep(0.5)
        cue.touch()
        ended_s = time.monotonic()
        sent = table.send(loser, "resign")
        heard = poll.result()
        heard_s = time.monotonic() - ended_s

    assert not cue.exists()
    assert sent.status == 200
    assert len(sent.tries) > 1, "nobody died"
    assert [line["kind"] for line in heard["events"]] == ["match.ended"]
    ids = (table.match_id, table.match_id)
    assert until(lambda: service.query(_RATED, ids), within_s=60)
    rated = [ms for (ms,) in service.query(_RATED, ids)]
    assert len(rated) == 2
    return Crash(heard_s, rated[0])


class TestCrash:
    def test_after_the_commit_costs_those_who_wait_seconds(
        self, service: Start, tmp_path: Path
    ) -> None:
        cue = tmp_path / "cue"
        xqmj = service(**{ours.CUE: str(cue)})
        xqmj.keep("web", instead="tests.faults.ours")
        xqmj.keep("worker")
        xqmj.keep("beat")
        xqmj.begin()
        table = Table(xqmj.port, Book(), seed=f"{SEED}")
        table.rated = True
        table.enter()

        crashes = [crash(xqmj, table, cue) for _ in range(ROUNDS)]

        table.close()
        tell(f"{crashes}")
        assert table.players[0].book.wrong == []
        assert xqmj.mistakes() == []
        assert max(one.heard_s for one in crashes) <= HEARD_S
        assert median(one.rated_ms for one in crashes) <= RATED_MS
        assert max(one.rated_ms for one in crashes) <= LATEST_MS
