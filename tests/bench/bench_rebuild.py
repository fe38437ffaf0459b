"""How fast a match is rebuilt from its stored bytes, beside `json.loads` of the same bytes."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence

from matches.domain import match as matches
from matches.domain.state import Match
from matches.eventstore import codec, store
from matches.eventstore.rows import Row
from tests.support.recording import Recorder, finished

SEEDS = (5, 7, 13, 21)
"""Matches of about 250 events."""
ROUNDS = 40


def run() -> dict[str, float]:
    """Times in µs a match, the best of some rounds, and their ratios.

    `document` is what one load brings: every column of every event as one JSON
    text. `payloads` are the payload columns alone, parsed one by one and as one
    list: the strictest reading of "the same bytes".
    """
    logs = [finished(seed) for seed in SEEDS]
    events = sum(len(log.rows) for log in logs) / len(logs)
    documents = [document(log.rows) for log in logs]
    payloads = [[row.payload for row in log.rows] for log in logs]
    lists = [b"[" + b",".join(one) + b"]" for one in payloads]
    rebuild = _best(lambda: [rebuilt(*both) for both in zip(logs, documents, strict=True)])
    decode = _best(lambda: [codec.decode_rows(store.read_rows(one)) for one in documents])
    loads = _best(lambda: [json.loads(one) for one in documents])
    each = _best(lambda: [[json.loads(payload) for payload in one] for one in payloads])
    as_list = _best(lambda: [json.loads(one) for one in lists])
    return {
        "events": events,
        "document_bytes": sum(map(len, documents)) / len(logs),
        "rebuild_us": rebuild / len(logs),
        "decode_us": decode / len(logs),
        "evolve_us_an_event": (rebuild - decode) / len(logs) / events,
        "json_loads_us": loads / len(logs),
        "rebuild_to_json_loads": rebuild / loads,
        "rebuild_to_json_loads_of_each_payload": rebuild / each,
        "rebuild_to_json_loads_of_payload_list": rebuild / as_list,
    }


def document(rows: Sequence[Row]) -> bytes:
    """The JSON in which es.load_match brings the rows."""
    return b"[" + b",".join(map(_line, rows)) + b"]"


def _line(row: Row) -> bytes:
    before = json.dumps([row.seq, row.kind, row.v], separators=(",", ":"))[:-1]
    command_id = None if row.command_id is None else str(row.command_id)
    rest = [row.actor, command_id, row.fingerprint, row.effects, row.at_ms]
    after = json.dumps([*rest, base64.b64encode(row.hash).decode()], separators=(",", ":"))[1:]
    return before.encode() + b"," + row.payload + b"," + after.encode()


def rebuilt(log: Recorder, stored: bytes) -> Match:
    """The match folded from the stored bytes of its events."""
    stampeds = codec.decode_rows(store.read_rows(stored))
    first = matches.begin(match_id=log.match_id.bytes, created=stampeds[0], secret=log.secret)
    return matches.fold(first, stampeds[1:])


def _best(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best * 1e6
