"""Every kind and version of event ever released, as it stands in logs: bytes, meaning and hash.

`events.jsonl` is one chain. Lines are only ever added: a line that fails is a
log that would no longer be read as it was written.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest

from matches.domain.events import EndReason, Event
from matches.eventstore import codec, hashing
from matches.eventstore.rows import Row
from matches.games.xqmj.scoring import How

MATCH_ID = UUID("0199f2d0-c0de-7000-8000-00000000c0de")
LINES: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("events.jsonl").read_text("utf-8").splitlines()
]


def row_of(line: dict[str, Any]) -> Row:
    """The row that a line describes."""
    command_id, fingerprint, effects = line["command"] or (None, None, None)
    return Row(
        seq=line["seq"],
        kind=line["kind"],
        v=line["v"],
        payload=line["payload"].encode(),
        actor=line["actor"],
        command_id=None if command_id is None else UUID(command_id),
        fingerprint=fingerprint,
        effects=effects,
        at_ms=line["at_ms"],
        hash=bytes.fromhex(line["hash"]),
    )


def plain(event: Event) -> dict[str, Any]:
    """Every field of an event, those at their default too."""
    fields = {
        field.name: msgspec.to_builtins(getattr(event, field.name))
        for field in msgspec.structs.fields(event)
    }
    return {"type": type(event).__name__, **json.loads(json.dumps(fields))}


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['seq']}-{line['kind']}")
class TestGoldenEvent:
    def test_is_read_as_it_was_meant(self, line: dict[str, Any]) -> None:
        stamped = codec.decode(row_of(line))

        assert plain(stamped.event) == line["event"]
        assert (stamped.at_ms, stamped.actor) == (line["at_ms"], line["actor"])

    def test_is_written_in_the_same_bytes(self, line: dict[str, Any]) -> None:
        row = row_of(line)
        if row.v != codec.CODEC.kinds[row.kind]:
            pytest.skip("old versions are only read")

        assert codec.encode(codec.decode(row)) == (row.kind, row.v, row.payload)

    def test_is_canonical(self, line: dict[str, Any]) -> None:
        assert hashing.canonical(json.loads(line["payload"])).decode() == line["payload"]

    def test_has_the_hash_that_a_second_implementation_finds(self, line: dict[str, Any]) -> None:
        seq = line["seq"]
        before = bytes(32) if seq == 1 else bytes.fromhex(LINES[seq - 2]["hash"])
        chained = [
            str(MATCH_ID),
            seq,
            line["kind"],
            line["v"],
            line["at_ms"],
            line["actor"],
            line["command"],
            json.loads(line["payload"]),
        ]
        text = json.dumps(chained, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

        assert hashlib.sha256(before + text.encode()).hexdigest() == line["hash"]


class TestGoldenFile:
    def test_is_a_chain(self) -> None:
        rows = [row_of(line) for line in LINES]

        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        assert hashing.first_break(hashing.GENESIS, MATCH_ID, rows) is None

    def test_holds_every_kind_in_every_version(self) -> None:
        released = {
            (kind, v) for kind, newest in codec.CODEC.kinds.items() for v in range(1, newest + 1)
        }

        assert {(line["kind"], line["v"]) for line in LINES} == released

    def test_holds_every_field_at_its_default_and_not(self) -> None:
        seen: dict[tuple[str, str], set[bool]] = {}
        for line in LINES:
            event = codec.decode(row_of(line)).event
            for field in msgspec.structs.fields(event):
                if not field.required:
                    at_default = getattr(event, field.name) == field.default
                    seen.setdefault((line["kind"], field.name), set()).add(at_default)

        # A claim, a pass and a draw never end a turn that ran on a clock.
        never = {
            f"xqmj.{name}" for name in ("tile_drawn", "claim_passed", "chow_made", "pung_made")
        }
        assert {kind for (kind, _), both in seen.items() if both != {True, False}} == never

    def test_holds_every_way_of_ending_and_of_winning(self) -> None:
        ended = {line["event"]["reason"] for line in LINES if line["kind"] == "match.ended"}
        won = {line["event"]["how"] for line in LINES if line["kind"] == "xqmj.hand_won"}

        assert ended == set(get_args(EndReason))
        assert won == set(get_args(How))
