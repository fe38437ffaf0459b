"""Whatever a record holds, the answer is a report, and only what was exported passes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest

from matches.audit.export import EVENTS_LIMIT, parsed, rows_of
from matches.audit.report import CODES, Wrong
from matches.audit.verify import verify
from matches.eventstore import hashing
from tests.support.recording import Recorder, finished, prove, resigned

JUNK: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**70), 10**400, 0.5, 1.0, float("nan"),
    float("inf"), "", "x", "0" * 64, "\0", "\ud800", "真", "a" * 100_000, [], [1], {}, {"a": 1},
    [[[[[[]]]]]], "match.ended", "rK", "00" * 32,
)  # fmt: skip


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def slots(value: Any) -> list[tuple[Any, Any]]:
    """Every place in the record that holds something: (container, key)."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        found += [(value, key) for key in value]
    elif isinstance(value, list):
        found += [(value, index) for index in range(len(value))]
    for container, key in list(found):
        found += slots(container[key])
    return found


def replace(record: Any, chance: random.Random) -> None:
    container, key = chance.choice(slots(record))
    container[key] = chance.choice(JUNK)


def remove(record: Any, chance: random.Random) -> None:
    container, key = chance.choice(slots(record))
    del container[key]


def rename(record: Any, chance: random.Random) -> None:
    places = [(box, key) for box, key in slots(record) if isinstance(box, dict)]
    container, key = chance.choice(places)
    container[chance.choice(["x", "", key + " "])] = container.pop(key)


def nudge(record: Any, chance: random.Random) -> None:
    places = [(box, key) for box, key in slots(record) if type(box[key]) is int]
    container, key = chance.choice(places)
    container[key] += chance.choice((-1_000, -1, 1, 2, 1_000))


def exchange(record: Any, chance: random.Random) -> None:
    places = slots(record)
    (one, first), (other, second) = chance.choice(places), chance.choice(places)
    one[first], other[second] = copy.deepcopy(other[second]), copy.deepcopy(one[first])


def repeat(record: Any, chance: random.Random) -> None:
    events = record["events"]
    events.insert(chance.randrange(len(events)), copy.deepcopy(chance.choice(events)))


MUTATIONS: tuple[Callable[[Any, random.Random], None], ...] = (
    replace, remove, rename, nudge, exchange, repeat,
)  # fmt: skip


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return resigned(4).record


def mutated(record: Any, chance: random.Random) -> Any:
    changed = copy.deepcopy(record)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        try:
            chance.choice(MUTATIONS)(changed, chance)
        except (IndexError, KeyError, TypeError, AttributeError):
            break  # an earlier mutation took away what this one changes
    return changed


class TestMutatedRecord:
    @pytest.mark.parametrize("block", range(20))
    def test_is_refused_unless_it_says_the_same(self, record: Any, block: int) -> None:
        for seed in range(50 * block, 50 * block + 50):
            changed = mutated(record, random.Random(seed))

            report = verify(changed)

            same = json.dumps(changed, sort_keys=True) == json.dumps(record, sort_keys=True)
            assert report.ok == same, seed
            assert report.ok or (report.code in CODES and report.message), seed

    @pytest.mark.parametrize("block", range(20))
    def test_with_every_hash_mended_still_gets_a_report(self, record: Any, block: int) -> None:
        for seed in range(50 * block, 50 * block + 50):
            try:
                rows = rows_of(parsed(mutated(record, random.Random(seed))))
            except Wrong:
                continue
            match_id = UUID(record["match_id"])
            rows = [msgspec.structs.replace(row, seq=seq) for seq, row in enumerate(rows, 1)]
            rows = list(hashing.chain(hashing.GENESIS, match_id, rows))

            report = prove(
                match_id=match_id,
                version=len(rows),
                head_hash=rows[-1].hash if rows else b"",
                rows=rows,
            )

            assert report.ok or (report.code in CODES and report.first_wrong is not None), seed

    def test_of_a_whole_match_is_refused_as_well(self) -> None:
        whole = finished(2).record
        for seed in range(60):
            chance = random.Random(seed)
            changed = copy.deepcopy(whole)
            chance.choice((nudge, repeat))(changed, chance)

            assert not verify(changed).ok


class TestNoRecord:
    @pytest.mark.parametrize("junk", [*JUNK, {"events": 5}, {"events": None}, {"events": "x" * 9}])
    def test_is_refused(self, junk: Any) -> None:
        report = verify(junk)

        assert (report.ok, report.code, report.match_id) == (False, "bad_format", None)

    def test_of_another_version_is_refused(self, record: dict[str, Any]) -> None:
        assert verify({**record, "format": "xqmj-export@2"}).code == "bad_format"


class TestHugeRecord:
    def test_with_too_many_events_is_refused_unread(self, record: dict[str, Any]) -> None:
        # None is no event: whoever reads one finds a bad format first.
        report = verify({**record, "events": [None] * (EVENTS_LIMIT + 1)})

        assert report.code == "too_large"

    def test_with_a_huge_body_is_refused(self, record: dict[str, Any]) -> None:
        changed = copy.deepcopy(record)
        changed["events"][0]["payload"]["key_id"] = "k" * 20_000

        assert (verify(changed).code, verify(changed).first_wrong) == ("too_large", 1)

    @pytest.mark.parametrize("depth", [100, 900, 50_000])
    def test_with_a_deep_body_is_refused(self, record: dict[str, Any], depth: int) -> None:
        events = [{**record["events"][0], "payload": nested(depth)}, *record["events"][1:]]

        assert not verify({**record, "events": events}).ok

    def test_with_the_most_events_is_refused_in_the_end(self, record: dict[str, Any]) -> None:
        events = [{**record["events"][0], "seq": seq} for seq in range(1, EVENTS_LIMIT + 1)]

        report = verify({**record, "events": events})

        assert not report.ok


class TestHeadlessRecord:
    def test_is_refused(self) -> None:
        log = Recorder(3)
        log.start()
        record = log.record

        assert not verify({**record, "events": record["events"][1:]}).ok
