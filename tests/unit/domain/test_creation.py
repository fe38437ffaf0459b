from __future__ import annotations

import hashlib

import msgspec
import pytest

from matches.domain import match as matches
from matches.domain.clock import Control
from matches.domain.events import MatchCreated, SeatTaken, Stamped
from matches.games.protocol import CorruptHistory, Rejected
from tests.support.sitting import ANA, BEN, MATCH_ID, SECRET, A, Sitting, created


def _begun(event: object, secret: bytes = SECRET) -> object:
    stamped = Stamped(event, 0, None)  # type: ignore[arg-type]
    return matches.begin(match_id=MATCH_ID, created=stamped, secret=secret)


class TestCreate:
    def test_records_everything_that_stays_fixed(self) -> None:
        event = created(invited=BEN, rated=True)

        assert event == MatchCreated(
            ruleset="xqmj-32-2p",
            rules_version=1,
            options={"last_discard_claims": "win_only", "absence_claim_ms": 60_000},
            control="3+2",
            rated=True,
            players=(ANA, None),
            invited=BEN,
            deal="deal@1",
            flow="match@1",
            commitment="630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd",
            sealed="c2VhbGVk",
            key_id="k1",
        )
        assert event.commitment == hashlib.sha256(SECRET).hexdigest()

    def test_keeps_the_secret_out_of_the_event(self) -> None:
        text = msgspec.json.encode(created()).decode()

        assert SECRET.hex() not in text

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"ruleset": "xqmj-31-2p"}, "unknown_ruleset"),
            ({"rules_version": 2}, "unknown_ruleset"),
            ({"options": {"speed": 1}}, "unknown_option"),
            ({"options": {"last_discard_claims": "none"}}, "bad_option"),
            ({"control": "2+2"}, "unknown_control"),
            ({"control": "3+2 "}, "unknown_control"),
            ({"control": "10+5", "rated": True}, "unrated_control"),
            ({"players": (ANA, ANA)}, "already_seated"),
            ({"invited": ANA}, "already_seated"),
        ],
    )
    def test_refuses(self, changes: dict[str, object], code: str) -> None:
        with pytest.raises(Rejected) as refused:
            created(**changes)

        assert refused.value.code == code

    def test_of_a_rematch_records_what_it_follows_and_who_deals_first(self) -> None:
        event = created(players=(ANA, BEN), rematch_of="c0de" * 8, first_dealer=1)

        assert (event.rematch_of, event.first_dealer) == ("c0de" * 8, 1)
        assert (created().rematch_of, created().first_dealer) == (None, None)

    @pytest.mark.parametrize(
        "changes",
        [
            {"first_dealer": 1},
            {"rematch_of": "c0de" * 8},
            {"rematch_of": "c0de" * 8, "first_dealer": 2},
            {"rematch_of": "c0de" * 8, "first_dealer": -1},
            {"rematch_of": "c0de" * 8, "first_dealer": 1, "players": (ANA, None)},
        ],
    )
    def test_is_not_asked_for_half_a_rematch(self, changes: dict[str, object]) -> None:
        with pytest.raises(ValueError, match="a rematch names"):
            created(**{"players": (ANA, BEN), **changes})

    @pytest.mark.parametrize("control", ["1+1", "3+2", "5+5"])
    def test_allows_rated_play_with_the_three_shorter_controls(self, control: str) -> None:
        """XM-72, XM-73."""
        assert created(control=control, rated=True).rated

    @pytest.mark.parametrize(
        "changes", [{"players": (ANA,)}, {"players": (ANA, None, None)}, {"secret": bytes(31)}]
    )
    def test_is_not_asked_for_a_match_that_cannot_be(self, changes: dict[str, object]) -> None:
        with pytest.raises(ValueError, match="one entry a seat"):
            created(**changes)


class TestBegin:
    def test_waits_for_a_second_player(self) -> None:
        match = Sitting(at_ms=7).match

        assert (match.phase, match.version, match.at_ms, match.since_ms) == ("open", 1, 7, 7)
        assert match.players == (ANA, None)

    def test_waits_for_ready_where_both_sit_already(self) -> None:
        assert Sitting(players=(ANA, BEN)).match.phase == "readying"

    @pytest.mark.parametrize(
        ("control", "base_ms", "increment_ms"),
        [
            ("1+1", 60_000, 1_000),
            ("3+2", 180_000, 2_000),
            ("5+5", 300_000, 5_000),
            ("10+5", 600_000, 5_000),
        ],
    )
    def test_gives_each_seat_the_control_s_time(
        self, control: str, base_ms: int, increment_ms: int
    ) -> None:
        """XM-62."""
        match = Sitting(control=control).match

        assert match.clocks == (base_ms, base_ms)
        assert match.setup.control == Control(control, base_ms, increment_ms)

    @pytest.mark.parametrize(
        "changes",
        [
            {"deal": "deal@2"},
            {"flow": "match@2"},
            {"commitment": "0" * 64},
            {"control": "2+2"},
            {"ruleset": "xqmj-31-2p"},
            {"rules_version": 2},
            {"options": {"last_discard_claims": "none"}},
        ],
    )
    def test_calls_a_first_event_it_does_not_know_corrupt(self, changes: dict[str, object]) -> None:
        with pytest.raises(CorruptHistory):
            _begun(msgspec.structs.replace(created(), **changes))

    def test_calls_another_secret_corrupt(self) -> None:
        with pytest.raises(CorruptHistory):
            _begun(created(), secret=bytes(32))

    def test_calls_another_first_event_corrupt(self) -> None:
        with pytest.raises(CorruptHistory):
            _begun(SeatTaken(seat=A, player=ANA))
