from __future__ import annotations

import msgspec
import pytest

from matches.audit.report import CHECKS, Report
from matches.audit.verify import verify
from matches.domain.commands import Join, Leave, Ready, Resign
from matches.games.protocol import Seat
from tests.support.recording import Recorder, finished, left, prove, resigned
from tests.support.sitting import ANA, BEN, A, B


def states(report: Report) -> set[str]:
    return {check.state for check in report.checks}


class TestMatchPlayedToItsScore:
    @pytest.mark.parametrize("seed", range(8))
    def test_is_proven_whole(self, seed: int) -> None:
        log = finished(seed)

        report = verify(log.record)

        assert report.ok, report.message
        assert (report.events, report.first_wrong, report.code) == (len(log.rows), None, None)
        assert states(report) == {"proven"}

    def test_counts_what_each_check_has_proven(self) -> None:
        log = finished(2)

        counts = {check.name: check.count for check in verify(log.record).checks}

        assert list(counts) == list(CHECKS)
        assert (counts["deals"], counts["scores"], counts["nonces"], counts["result"]) == (
            6,
            6,
            2,
            1,
        )
        assert counts["chain"] == len(log.rows)
        # Everything but the creation is either a command, its consequence, or the table's.
        assert counts["commands"] + counts["table"] == len(log.rows) - 1

    def test_is_proven_under_the_other_option(self) -> None:
        log = finished(3, options={"last_discard_claims": "all"})

        assert verify(log.record).ok

    def test_survives_being_written_as_json_by_somebody_else(self) -> None:
        import json

        log = finished(4)
        text = json.dumps(log.record, indent=3, sort_keys=True, ensure_ascii=True)

        assert verify(json.loads(text)).ok


class TestOtherEnds:
    @pytest.mark.parametrize("make", [resigned, left])
    def test_a_match_given_up_is_proven(self, make: type[Recorder]) -> None:
        assert verify(make(4).record).ok

    def test_a_flag_is_proven(self) -> None:
        log = Recorder(5, control="1+1")
        log.start()
        log.play(until_hand=2)
        log.step()
        while log.match.ended is None:
            log.to_due()

        report = verify(log.record)

        assert log.match.ended.reason == "flag"
        assert report.ok, report.message

    def test_a_match_nobody_joined_is_proven(self) -> None:
        log = Recorder(6)
        log.to_due()

        report = verify(log.record)

        assert report.ok, report.message
        assert report.counts == {"match.created": 1, "match.ended": 1}

    def test_a_match_nobody_was_ready_for_is_proven(self) -> None:
        log = Recorder(6)
        log.send(BEN, Join())
        log.advance(5)
        log.send(ANA, Ready())
        log.to_due()

        assert verify(log.record).ok

    def test_a_seat_that_left_before_the_first_deal_is_proven(self) -> None:
        log = Recorder(6)
        log.send(BEN, Join())
        log.send(ANA, Leave())

        assert verify(log.record).ok

    def test_an_invitation_that_was_declined_is_proven(self) -> None:
        log = Recorder(6, invited=BEN)
        log.send(BEN, Leave())

        report = verify(log.record)

        assert report.ok, report.message
        assert report.counts == {"match.created": 1, "match.ended": 1}


class TestRematch:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("dealer", [A, B])
    def test_is_proven_with_the_dealer_it_names(self, seed: int, dealer: Seat) -> None:
        log = Recorder(seed, rematch_of="c0de" * 8, first_dealer=dealer)
        log.start()
        log.play()

        report = verify(log.record)

        assert report.ok, report.message
        dealt = [row.payload for row in log.rows if row.kind == "match.hand_dealt"]
        assert dealt[0] == b'{"dealer":%d,"hand":1}' % dealer


class TestDowntime:
    def outage(self) -> Recorder:
        log = Recorder(7)
        log.start()
        log.outage(400_000)
        log.play(until_hand=2)
        log.outage(5_000)
        log.play()
        return log

    def test_a_credit_is_proven_offline(self) -> None:
        log = self.outage()

        report = verify(log.record)

        assert report.ok, report.message
        assert report.counts["match.clock_credited"] >= 1

    def test_a_credit_is_proven_against_the_recorded_gaps(self) -> None:
        log = self.outage()

        report = prove(
            match_id=log.match_id,
            version=len(log.rows),
            head_hash=log.rows[-1].hash,
            rows=log.rows,
            gaps=tuple(log.gaps),
        )

        assert report.ok, report.message


class TestLiveMatch:
    def test_is_proven_with_its_secret(self) -> None:
        log = Recorder(8)
        log.start()
        log.play(until_hand=3)

        report = prove(
            match_id=log.match_id,
            version=len(log.rows),
            head_hash=log.rows[-1].hash,
            rows=log.rows,
            secret=log.secret,
        )

        assert report.ok, report.message
        assert report.message.endswith("the match goes on")
        assert {check.name: check.state for check in report.checks}["result"] == "open"

    def test_is_not_proven_without_it(self) -> None:
        log = Recorder(8)
        log.start()

        report = verify(log.record)

        assert (report.ok, report.code, report.first_wrong) == (False, "no_end", len(log.rows) + 1)

    def test_is_not_proven_with_another_secret(self) -> None:
        log = Recorder(8)
        log.start()

        report = prove(
            match_id=log.match_id,
            version=len(log.rows),
            head_hash=log.rows[-1].hash,
            rows=log.rows,
            secret=bytes(32),
        )

        assert (report.ok, report.code) == (False, "secret_mismatch")


class TestNonces:
    def test_a_seat_that_sent_none_has_the_derived_one(self) -> None:
        log = Recorder(9)
        log.start()
        log.send(BEN, Resign())

        nonces = [
            msgspec.json.decode(row.payload).get("nonce")
            for row in log.rows
            if row.kind == "match.seat_ready"
        ]

        assert nonces[0] == "00112233445566778899aabbccddeeff"
        assert len(nonces[1]) == 32
        assert verify(log.record).ok
