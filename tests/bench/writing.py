"""Recorded matches written into the log through the store, append by append as they were played."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

from matches.eventstore import store
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import FINISHED, LIVE, Row, Summary
from tests.support.recording import Recorder

THREADS = 4


def play(logs: Sequence[Recorder]) -> None:
    """Write whole matches side by side, an append of each in turn."""
    live = [(log, begin(log), batches(log.rows)[1:]) for log in logs]
    with ThreadPoolExecutor(THREADS) as threads:
        for turn in range(max(len(appends) for _, _, appends in live)):
            todo = [
                threads.submit(append, log, match_id, appends[turn])
                for log, match_id, appends in live
                if turn < len(appends)
            ]
            for one in todo:
                one.result()


def batches(rows: Sequence[Row]) -> list[tuple[Row, ...]]:
    """The rows as they were appended together: a command's effects, or what the table did."""
    found: list[tuple[Row, ...]] = []
    at = 0
    while at < len(rows):
        size = rows[at].effects or 1
        found.append(tuple(rows[at : at + size]))
        at += size
    return found


def begin(log: Recorder) -> UUID:
    """Create a match of the log's first event, under a new id."""
    match_id = new_match_id()
    created = store.create(
        match_id=match_id,
        creator=uuid4().hex,
        key=None,
        rows=log.rows[:1],
        ruleset="xqmj-32-2p",
        rules_version=1,
        control="3+2",
        rated=True,
        players=(uuid4().hex, uuid4().hex),
        due=None,
    )
    assert created.outcome == "ok"
    return match_id


def append(log: Recorder, match_id: UUID, batch: Sequence[Row]) -> None:
    """Append one batch; the last one ends the match."""
    over = batch[-1].seq == len(log.rows)
    done = store.append(
        match_id=match_id,
        expected_version=batch[0].seq - 1,
        prev_hash=log.rows[batch[0].seq - 2].hash,
        rows=batch,
        status=FINISHED if over else LIVE,
        due=None,
        summary=Summary("score", 0, (5, 3)) if over else None,
    )
    assert done.outcome == "ok"
