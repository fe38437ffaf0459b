"""How fast a match is rebuilt from its stored bytes, beside `json.loads` of the same bytes."""

from __future__ import annotations

import base64
import gc
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
ROUNDS = 80


def run() -> dict[str, float]:
    """µs of processor time a match, the best of some rounds, and how they compare.

    The stored bytes are the payloads, one JSON text an event, as the table holds
    them: `rebuild_to_json_loads` is decoding and folding them over `json.loads`
    of each. `load_to_json_loads` counts everything: reading the one document
    that a load brings, with all columns of all events, decoding and folding it,
    over one `json.loads` of that document.
    """
    logs = [finished(seed) for seed in SEEDS]
    events = sum(len(log.rows) for log in logs)
    documents = [document(log.rows) for log in logs]
    payloads = [row.payload for log in logs for row in log.rows]
    found = _best(
        read_us=lambda: [store.read_rows(one) for one in documents],
        decode_us=lambda: [codec.decode_rows(log.rows) for log in logs],
        rebuild_us=lambda: [rebuilt(log, log.rows) for log in logs],
        json_loads_us=lambda: [json.loads(payload) for payload in payloads],
        json_loads_of_document_us=lambda: [json.loads(one) for one in documents],
    )
    return {
        "events_a_match": events / len(logs),
        "payload_bytes_a_match": sum(map(len, payloads)) / len(logs),
        "document_bytes_a_match": sum(map(len, documents)) / len(logs),
        **{name: value / len(logs) for name, value in found.items()},
        "rebuild_us_an_event": found["rebuild_us"] / events,
        "rebuild_to_json_loads": found["rebuild_us"] / found["json_loads_us"],
        "load_to_json_loads": (found["read_us"] + found["rebuild_us"])
        / found["json_loads_of_document_us"],
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


def rebuilt(log: Recorder, rows: Sequence[Row]) -> Match:
    """The match decoded and folded from the rows of its log."""
    stampeds = codec.decode_rows(rows)
    first = matches.begin(match_id=log.match_id.bytes, created=stampeds[0], secret=log.secret)
    return matches.fold(first, stampeds[1:])


def _best(**works: Callable[[], object]) -> dict[str, float]:
    """The best µs of each work, all of them in turn, so that none has the machine to itself.

    Without the collector, whose visits to everything alive would be counted at random.
    """
    best = dict.fromkeys(works, float("inf"))
    gc.collect()
    gc.disable()
    try:
        for _ in range(ROUNDS):
            for name, work in works.items():
                begun = time.process_time()
                work()
                best[name] = min(best[name], (time.process_time() - begun) * 1e6)
    finally:
        gc.enable()
    return best
