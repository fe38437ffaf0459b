"""Old code and new code serve together, and the new code writes what the old one cannot read."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults import ours
from tests.faults.clients import Book, Caller, Table
from tests.faults.logbook import Log
from tests.faults.service import Service
from tests.support.waiting import until
from xqmj_site.devstack import processes

pytestmark = [pytest.mark.fault, pytest.mark.slow]

Start = Callable[..., Service]

SEED = 20267
UNREADABLE = "a match cannot be read"


def caller(port: int, token: str | None) -> Caller:
    """Somebody who asks once."""
    found = Caller(port, Book(), chance=random.Random(0), persists=False)
    found.token = token
    return found


def discarded(table: Table, new: Caller) -> None:
    """Let the dealer discard through the new code."""
    told = [player.get(f"matches/{table.match_id}")["match"] for player in table.players]
    dealer = next(n for n, match in enumerate(told) if match["legal"])
    new.token = table.players[dealer].token
    action = next(one for one in told[dealer]["legal"] if one["type"] == "discard")
    assert new.post(f"matches/{table.match_id}/act", {"action": action}).status == 200


def refused(old: Caller, match_id: str, what: str) -> Any:
    """What the old code says to a write."""
    sent = old.post(f"matches/{match_id}/{what}", {})
    assert sent.status == 503
    return sent.answer["code"]


class TestDeploy:
    def test_lets_old_code_write_nothing_upon_what_it_cannot_read(self, service: Start) -> None:
        xqmj, port = service(**{ours.SHORT: "1"}), processes.free_port()
        xqmj.keep("web", instead="tests.faults.ours")
        xqmj.keep("web", name="web-new", instead="tests.faults.newer", PORT=str(port))
        xqmj.keep("worker", instead="tests.faults.ours")
        xqmj.begin()
        book = Book()
        table, other = (Table(xqmj.port, book, seed=f"{SEED}/{n}", control="1+1") for n in range(2))
        table.enter()
        other.enter()
        other.begin()
        table.begin()
        old, new = caller(xqmj.port, table.players[0].token), caller(port, None)
        assert until(lambda: new.look("health") == 200, within_s=60)

        discarded(table, new)
        overdue = "SELECT due_at_ms < es.now_ms() - 2000 FROM es.match_head WHERE match_id = %s"
        assert until(lambda: xqmj.query(overdue, (table.match_id,)) == [(True,)], within_s=60)

        # Nothing of the old code's goes on from there: not the sweep, not a read, not a write.
        rows = Log(xqmj).matches[table.match_id]
        assert rows[-1].kind == "xqmj.tile_discarded"
        assert old.look(f"matches/{table.match_id}") == 503
        codes = {refused(old, table.match_id, what) for what in ("resign", "leave", "ready")}
        assert codes == {"unreadable_match"}
        assert Log(xqmj).matches[table.match_id] == rows
        proof = xqmj.manage("verify_log", table.match_id)
        assert proof.returncode == 1
        assert "xqmj.tile_discarded@2" in proof.stdout + proof.stderr

        # All other matches do, and so does this one by the new code.
        ended = "SELECT status > 1 FROM es.match_head WHERE match_id = %s"
        assert until(lambda: xqmj.query(ended, (other.match_id,)) == [(True,)], within_s=30)
        assert until(lambda: new.look(f"matches/{table.match_id}") == 200, within_s=30)
        assert len(Log(xqmj).matches[table.match_id]) > len(rows)
        assert book.wrong == []
        assert {line.partition(UNREADABLE)[1] for line in xqmj.mistakes()} == {UNREADABLE}
        for one in (table, other, old, new):
            one.close()
