"""The six ways to tamper with a log, with the hashes left as they were and with them mended."""

from __future__ import annotations

import msgspec
import pytest

from matches.audit.verify import verify
from tests.support.recording import Recorder, finished
from tests.unit.audit.forging import (
    against_its_head,
    edited,
    place,
    rechained,
    swapped_in,
    verdict,
)


@pytest.fixture(scope="module")
def log() -> Recorder:
    return finished(2)


class TestBodyEdited:
    def test_is_found_at_that_event(self, log: Recorder) -> None:
        at = place(log, "xqmj.hand_won")

        report = against_its_head(log, swapped_in(log.rows, at, edited(log.rows[at], points=9)))

        assert (report.code, report.first_wrong) == ("hash_mismatch", at + 1)
        assert report.events == at

    def test_is_found_with_the_chain_mended(self, log: Recorder) -> None:
        at = place(log, "xqmj.hand_won")
        rows = rechained(log, swapped_in(log.rows, at, edited(log.rows[at], points=9)))

        report = verdict(log, rows)

        assert (report.code, report.first_wrong) == ("wrong_score", at + 1)
        assert "points 9" in report.message
        assert "XM-50" in report.message


class TestMiddleDeleted:
    def test_is_found_where_it_is_missing(self, log: Recorder) -> None:
        report = against_its_head(log, [*log.rows[:40], *log.rows[41:]])

        assert (report.code, report.first_wrong) == ("not_dense", 41)

    def test_is_found_with_the_chain_mended(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_drawn", which=5)
        rows = rechained(log, [*log.rows[:at], *log.rows[at + 1 :]])

        report = verdict(log, rows)

        assert (report.code, report.first_wrong) == ("something_owed", at + 1)
        assert "xqmj.tile_drawn was due" in report.message

    def test_a_deleted_discard_is_found_with_the_chain_mended(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded", which=5)
        rows = rechained(log, [*log.rows[:at], *log.rows[at + 1 :]])

        report = verdict(log, rows)

        assert (report.ok, report.first_wrong) == (False, at + 1)


class TestTailCut:
    def test_is_found_by_the_head(self, log: Recorder) -> None:
        report = against_its_head(log, log.rows[:-3])

        assert (report.code, report.first_wrong) == ("no_end", len(log.rows) - 2)
        assert "tail_missing" in {fault.code for fault in report.faults}

    def test_is_found_with_the_head_mended(self, log: Recorder) -> None:
        report = verdict(log, log.rows[:-1])

        assert (report.code, report.first_wrong) == ("no_end", len(log.rows))


class TestTwoSwapped:
    def test_is_found_at_the_first(self, log: Recorder) -> None:
        rows = list(log.rows)
        rows[30], rows[31] = rows[31], rows[30]

        report = against_its_head(log, rows)

        assert (report.code, report.first_wrong) == ("not_dense", 31)

    def test_is_found_with_the_numbers_mended(self, log: Recorder) -> None:
        rows = list(log.rows)
        rows[30], rows[31] = rows[31], rows[30]
        numbered = [msgspec.structs.replace(row, seq=seq) for seq, row in enumerate(rows, 1)]

        report = against_its_head(log, numbered)

        assert (report.code, report.first_wrong) == ("hash_mismatch", 31)

    def test_is_found_with_the_chain_mended(self, log: Recorder) -> None:
        rows = list(log.rows)
        rows[30], rows[31] = rows[31], rows[30]

        report = verdict(log, rechained(log, rows))

        assert (report.ok, report.first_wrong) == (False, 31)


class TestOneInserted:
    def test_is_found_where_it_was_put_in(self, log: Recorder) -> None:
        report = against_its_head(log, [*log.rows[:50], log.rows[49], *log.rows[50:]])

        assert (report.code, report.first_wrong) == ("not_dense", 51)

    def test_is_found_with_the_chain_mended(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_drawn", which=4)
        rows = rechained(log, [*log.rows[: at + 1], log.rows[at], *log.rows[at + 1 :]])

        report = verdict(log, rows)

        assert (report.ok, report.first_wrong) == (False, at + 2)

    def test_an_event_after_the_end_is_found(self, log: Recorder) -> None:
        rows = rechained(log, [*log.rows, log.rows[-1]])

        report = verdict(log, rows)

        assert (report.code, report.first_wrong) == ("after_the_end", len(log.rows) + 1)


class TestHeadEdited:
    def test_a_wrong_hash_is_found(self, log: Recorder) -> None:
        report = verdict(log, log.rows, head=bytes(32))

        assert (report.code, report.first_wrong) == ("head_hash", None)
        assert report.events == len(log.rows)

    @pytest.mark.parametrize(("by", "code"), [(1, "tail_missing"), (-1, "head_count")])
    def test_a_wrong_count_is_found(self, log: Recorder, by: int, code: str) -> None:
        report = verdict(log, log.rows, version=len(log.rows) + by)

        assert (report.ok, report.code) == (False, code)


class TestWholeMatchOfAnother:
    def test_does_not_pass_under_another_id(self, log: Recorder) -> None:
        record = {**log.record, "match_id": finished(4).record["match_id"]}

        report = verify(record)

        assert (report.code, report.first_wrong) == ("hash_mismatch", 1)
