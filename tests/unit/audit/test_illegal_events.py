"""What no rule can have written, in a log whose hashes all fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from matches.audit.report import CODES
from matches.domain.clock import Gap
from matches.domain.commands import Resign
from matches.domain.deal import commitment
from matches.domain.events import ClockCredited, Stamped
from matches.eventstore import codec
from matches.eventstore.rows import Row
from tests.support.recording import Recorder, finished, prove
from tests.support.sitting import ANA, BEN
from tests.unit.audit.forging import edited, place, rechained, swapped_in, verdict


@pytest.fixture(scope="module")
def log() -> Recorder:
    return finished(2)


def found(log: Recorder, at: int, row: Row) -> tuple[str | None, int | None]:
    """Code and place of the first fault when a row stands at `at` (from 0) with fitting hashes."""
    report = verdict(log, rechained(log, swapped_in(log.rows, at, row)))
    assert not report.ok
    return report.code, report.first_wrong


def rest(log: Recorder, at: int, row: Row) -> str:
    """The message of the first fault."""
    return verdict(log, rechained(log, swapped_in(log.rows, at, row))).message


class TestDiscard:
    def test_of_a_tile_not_held_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded")
        told = msgspec.json.decode(log.rows[at].payload)["tile"]
        for tile in ("rK", "rA", "rE", "bK", "bA", "bE", "bR", "rH"):
            row = edited(log.rows[at], tile=tile)
            if tile != told and found(log, at, row) == ("illegal_command", at + 1):
                assert "XM-21" in rest(log, at, row)
                return
        pytest.fail("the dealer held all eight")

    def test_called_drawn_at_the_opening_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded")

        assert found(log, at, edited(log.rows[at], drawn=True)) == ("illegal_command", at + 1)

    def test_by_the_other_seat_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded")
        other = msgspec.structs.replace(log.rows[at], actor=1 - (log.rows[at].actor or 0))

        assert found(log, at, other) == ("illegal_command", at + 1)
        assert "not_your_turn" in rest(log, at, other)

    def test_by_nobody_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded")
        nobody = msgspec.structs.replace(
            log.rows[at], actor=None, command_id=None, fingerprint=None, effects=None
        )

        assert found(log, at, nobody) == ("wrong_event", at + 1)

    def test_by_a_seat_that_is_not_there_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded")
        third = msgspec.structs.replace(log.rows[at], actor=7)

        assert found(log, at, third) == ("no_command", at + 1)

    def test_before_the_draw_was_due_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_drawn")
        early = msgspec.structs.replace(log.rows[at], at_ms=log.rows[at].at_ms - 1)

        assert found(log, at, early) == ("wrong_instant", at + 1)
        assert "XM-34" in rest(log, at, early)


class TestClock:
    @pytest.mark.parametrize("change", [(1, 0), (0, 1), (-1, 1)])
    def test_charged_or_left_wrongly_is_found(self, log: Recorder, change: tuple[int, int]) -> None:
        at = place(log, "xqmj.tile_discarded", which=3)
        spent, left = msgspec.json.decode(log.rows[at].payload)["clock"]
        row = edited(log.rows[at], clock=[spent + change[0], left + change[1]])

        assert found(log, at, row) == ("wrong_clock", at + 1)
        assert "XM-66" in rest(log, at, row)

    def test_not_charged_at_all_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded", which=3)

        assert found(log, at, edited(log.rows[at], clock=None)) == ("wrong_clock", at + 1)

    def test_received_earlier_than_charged_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded")
        early = msgspec.structs.replace(log.rows[at], at_ms=log.rows[at].at_ms + 1)

        assert found(log, at, early)[0] in {"wrong_clock", "wrong_instant"}

    def test_time_running_backwards_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded", which=1)
        back = msgspec.structs.replace(log.rows[at], at_ms=log.rows[at - 1].at_ms - 5)

        assert found(log, at, back) == ("wrong_instant", at + 1)


class TestDeal:
    def test_by_the_wrong_dealer_is_found(self, log: Recorder) -> None:
        at = place(log, "match.hand_dealt", which=1)
        dealer = msgspec.json.decode(log.rows[at].payload)["dealer"]
        row = edited(log.rows[at], dealer=1 - dealer)

        assert found(log, at, row) == ("wrong_dealer", at + 1)
        assert "XM-13" in rest(log, at, row)

    def test_of_the_wrong_hand_is_found(self, log: Recorder) -> None:
        at = place(log, "match.hand_dealt", which=1)

        assert found(log, at, edited(log.rows[at], hand=3)) == ("wrong_body", at + 1)

    def test_from_another_nonce_is_found(self, log: Recorder) -> None:
        # The tiles are others then: no dealer, or a discard that was not held.
        at = place(log, "match.seat_ready")
        row = edited(log.rows[at], nonce="ff" * 16)
        report = verdict(log, rechained(log, swapped_in(log.rows, at, row)))

        assert not report.ok
        assert report.first_wrong is not None
        assert report.first_wrong > at + 1

    @pytest.mark.parametrize("nonce", ["", "00", "0" * 66, "zz" * 8, "AA" * 8])
    def test_from_an_impossible_nonce_is_found(self, log: Recorder, nonce: str) -> None:
        at = place(log, "match.seat_ready")

        assert found(log, at, edited(log.rows[at], nonce=nonce)) == ("illegal_command", at + 1)


class TestScoreAndResult:
    @pytest.mark.parametrize(
        ("field", "value"),
        [("how", "heavenly"), ("points", 1_000), ("lines", []), ("tiles", ["rK"] * 5)],
    )
    def test_a_wrong_score_is_found(self, log: Recorder, field: str, value: Any) -> None:
        at = place(log, "xqmj.hand_won")

        assert found(log, at, edited(log.rows[at], **{field: value})) == ("wrong_score", at + 1)

    @pytest.mark.parametrize(
        ("field", "value", "code"),
        [
            ("winner", None, "wrong_result"),
            ("scores", [50, 0], "wrong_result"),
            ("reason", "flag", "wrong_result"),
            ("seat", 0, "wrong_body"),
            ("secret", "00" * 32, "secret_mismatch"),
        ],
    )
    def test_a_wrong_end_is_found(self, log: Recorder, field: str, value: Any, code: str) -> None:
        last = len(log.rows) - 1

        assert found(log, last, edited(log.rows[last], **{field: value})) == (code, last + 1)

    def test_a_resignation_nobody_sent_is_found(self, log: Recorder) -> None:
        resigned = finished(2)
        at = place(log, "xqmj.tile_discarded", which=2)
        fake = Recorder(2)
        fake.start()
        fake.send(BEN, Resign())
        rows = [*log.rows[:at], msgspec.structs.replace(fake.rows[-1], actor=None)]

        report = verdict(resigned, rechained(log, rows))

        assert (report.ok, report.first_wrong) == (False, at + 1)


class TestCommand:
    def test_claiming_more_effects_than_it_had_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_discarded")
        row = msgspec.structs.replace(log.rows[at], effects=2)

        assert found(log, at, row) == ("wrong_effects", at + 1)

    def test_that_stands_twice_is_found(self, log: Recorder) -> None:
        first, second = (place(log, "xqmj.tile_discarded", which=n) for n in (0, 1))
        row = msgspec.structs.replace(log.rows[second], command_id=log.rows[first].command_id)

        assert found(log, second, row) == ("repeated_command", second + 1)

    def test_at_an_act_of_the_table_is_found(self, log: Recorder) -> None:
        at = place(log, "xqmj.tile_drawn")
        key = log.rows[place(log, "xqmj.tile_discarded")]
        row = msgspec.structs.replace(
            log.rows[at], command_id=log.match_id, fingerprint=key.fingerprint, effects=1
        )

        assert found(log, at, row) == ("stray_command", at + 1)

    def test_at_its_own_consequence_is_found(self, log: Recorder) -> None:
        # The second seat's readiness causes the deal in the same batch.
        at = place(log, "match.hand_dealt")
        row = msgspec.structs.replace(
            log.rows[at], command_id=log.match_id, fingerprint=1, effects=1
        )

        assert found(log, at, row) == ("stray_command", at + 1)

    def test_whose_consequence_was_cut_off_is_found(self, log: Recorder) -> None:
        at = place(log, "match.hand_dealt")
        rows = rechained(log, log.rows[:at])

        report = prove(
            match_id=log.match_id,
            version=len(rows),
            head_hash=rows[-1].hash,
            rows=rows,
            secret=log.secret,
        )

        assert (report.code, report.first_wrong) == ("missing_effect", at + 1)

    def test_whose_consequence_is_another_is_found(self, log: Recorder) -> None:
        at = place(log, "match.hand_dealt")

        report = verdict(log, rechained(log, swapped_in(log.rows, at, log.rows[-1])))

        assert (report.code, report.first_wrong) == ("wrong_event", at + 1)


class TestBeginning:
    @pytest.mark.parametrize(
        "changes",
        [
            {"ruleset": "xqmj-99"},
            {"rules_version": 99},
            {"options": {}},
            {"options": {"absence_claim_ms": 60_000}},
            {"options": {"last_discard_claims": "win_only", "absence_claim_ms": 59_999}},
            {"options": {"last_discard_claims": "none"}},
            {"control": "10+5"},
            {"control": "0+0"},
            {"players": [ANA]},
            {"players": [ANA, ANA]},
            {"players": ["", BEN]},
            {"deal": "deal@2"},
            {"flow": "match@2"},
            {"first_dealer": 1},
            {"rematch_of": "c0de" * 8, "first_dealer": 2, "players": [ANA, BEN]},
            {"rematch_of": "c0de" * 8, "first_dealer": 1},
        ],
    )
    def test_of_an_impossible_match_is_found(self, log: Recorder, changes: dict[str, Any]) -> None:
        assert found(log, 0, edited(log.rows[0], **changes)) == ("bad_beginning", 1)

    def test_with_another_event_is_found(self, log: Recorder) -> None:
        assert found(log, 0, log.rows[1]) == ("bad_beginning", 1)

    def test_with_effects_it_cannot_have_is_found(self, log: Recorder) -> None:
        row = msgspec.structs.replace(log.rows[0], effects=2)

        assert found(log, 0, row) == ("wrong_effects", 1)

    def test_by_a_seat_that_is_not_there_is_found(self, log: Recorder) -> None:
        assert found(log, 0, msgspec.structs.replace(log.rows[0], actor=2)) == ("wrong_actor", 1)

    def test_with_another_commitment_is_found_at_the_secret(self, log: Recorder) -> None:
        row = edited(log.rows[0], commitment=commitment(bytes(32)))

        assert found(log, 0, row) == ("secret_mismatch", len(log.rows))


class TestUnreadableEvent:
    @pytest.mark.parametrize(
        "forge",
        [
            lambda row: msgspec.structs.replace(row, kind="xqmj.tile_stolen"),
            lambda row: msgspec.structs.replace(row, v=2),
            lambda row: msgspec.structs.replace(row, payload=b"[]"),
            lambda row: edited(row, hidden="rK"),
            lambda row: edited(row, tile="zz"),
        ],
    )
    def test_is_found(self, log: Recorder, forge: Callable[[Row], Row]) -> None:
        at = place(log, "xqmj.tile_discarded", which=2)

        assert found(log, at, forge(log.rows[at])) == ("unknown_event", at + 1)


class TestCredit:
    @pytest.fixture
    def outage(self) -> Recorder:
        log = Recorder(7)
        log.start()
        log.outage(5_000)
        log.send(BEN, Resign())
        return log

    @pytest.mark.parametrize(
        "changes",
        [
            {"credit_ms": 4_999},
            {"credit_ms": 5_001},
            {"down_from_ms": 1_700_000_004_000},
            {"down_from_ms": 2_000_000_000_000},
            {"down_until_ms": 1},
        ],
    )
    def test_of_another_time_is_found(self, outage: Recorder, changes: dict[str, int]) -> None:
        at = place(outage, "match.clock_credited")

        assert found(outage, at, edited(outage.rows[at], **changes)) == ("wrong_credit", at + 1)

    def test_of_downtime_that_nobody_recorded_is_found(self, outage: Recorder) -> None:
        at = place(outage, "match.clock_credited")

        report = prove(
            match_id=outage.match_id,
            version=len(outage.rows),
            head_hash=outage.rows[-1].hash,
            rows=outage.rows,
            gaps=(Gap(1, 2),),
        )

        assert (report.code, report.first_wrong) == ("wrong_credit", at + 1)

    def test_that_was_never_made_is_found(self) -> None:
        log = Recorder(7)
        log.start()
        began_ms = log.now_ms
        log.advance(5_000)
        log.send(BEN, Resign())

        report = prove(
            match_id=log.match_id,
            version=len(log.rows),
            head_hash=log.rows[-1].hash,
            rows=log.rows,
            gaps=(Gap(began_ms + 10, began_ms + 4_000),),
        )

        assert (report.code, report.first_wrong) == ("missing_credit", len(log.rows))

    def test_a_flag_that_fell_in_downtime_is_found(self) -> None:
        log = Recorder(7, control="1+1")
        log.start()
        log.to_due()
        flag_ms = log.rows[-1].at_ms

        report = prove(
            match_id=log.match_id,
            version=len(log.rows),
            head_hash=log.rows[-1].hash,
            rows=log.rows,
            gaps=(Gap(flag_ms - 2_000, flag_ms + 2_000),),
        )

        assert (report.code, report.first_wrong) == ("missing_credit", len(log.rows))

    def test_while_no_clock_ran_is_found(self) -> None:
        log = Recorder(8)
        log.start()
        while log.match.phase != "intermission":
            log.step()
        credit = ClockCredited(
            down_from_ms=log.now_ms + 1, down_until_ms=log.now_ms + 2_001, credit_ms=2_000
        )
        rows = [
            *log.rows,
            *codec.new_rows(
                [Stamped(credit, log.now_ms + 2_001, None)],
                match_id=log.match_id,
                after=len(log.rows),
                prev_hash=log.rows[-1].hash,
            ),
        ]

        report = prove(
            match_id=log.match_id,
            version=len(rows),
            head_hash=rows[-1].hash,
            rows=rows,
            secret=log.secret,
        )

        assert (report.code, report.first_wrong) == ("wrong_credit", len(rows))


class TestCodes:
    def test_are_all_explained_in_one_line(self) -> None:
        assert all(meaning.endswith(".") and "\n" not in meaning for meaning in CODES.values())
