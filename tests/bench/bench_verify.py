"""How fast a log is verified, the legality of every event included, beside its bare chain."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import UUID

import msgspec

from matches.audit.export import parsed, rows_of
from matches.audit.verify import examine, verify
from matches.eventstore import hashing
from tests.support.recording import Recorder, finished

SEEDS = range(16)
ROUNDS = 7


def run() -> dict[str, float]:
    """Events a second of processor time on one core, the best of some rounds.

    `export` is everything from the bytes of an export on; `log` begins with the
    rows as the database gives them; `chain` recomputes hashes and nothing else,
    `chain_export` does so from the bytes of an export on.
    """
    logs = [finished(seed) for seed in SEEDS]
    exports = [msgspec.json.encode(log.record) for log in logs]
    events = sum(len(log.rows) for log in logs)
    rates = {
        "export_per_s": _rate(lambda: all(map(_verified, exports)), events),
        "log_per_s": _rate(lambda: all(map(_examined, logs)), events),
        "chain_per_s": _rate(lambda: all(map(_linked, logs)), events),
        "chain_export_per_s": _rate(lambda: all(map(_linked_export, exports)), events),
    }
    return {
        "events": events,
        **rates,
        "log_to_chain": rates["log_per_s"] / rates["chain_per_s"],
        "export_to_chain_export": rates["export_per_s"] / rates["chain_export_per_s"],
    }


def _rate(work: Callable[[], bool], events: int) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        assert work(), "everything is true"
        best = min(best, time.process_time() - begun)
    return events / best


def _verified(export: bytes) -> bool:
    return verify(msgspec.json.decode(export)).ok


def _examined(log: Recorder) -> bool:
    found = examine(
        match_id=log.match_id,
        version=len(log.rows),
        head_hash=log.rows[-1].hash,
        rows=log.rows,
        gaps=(),
    )
    return not found.faults


def _linked(log: Recorder) -> bool:
    return hashing.first_break(hashing.GENESIS, log.match_id, log.rows) is None


def _linked_export(export: bytes) -> bool:
    found = parsed(msgspec.json.decode(export))
    rows = rows_of(found)
    return hashing.first_break(hashing.GENESIS, UUID(found.match_id), rows) is None
