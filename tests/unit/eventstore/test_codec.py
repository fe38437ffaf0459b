"""The codec: kinds as data, versions lifted at read, and nothing read that is not understood."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from matches.domain.events import HandDealt, MatchEvent, SeatReady, Stamped
from matches.eventstore import codec, hashing
from matches.eventstore.codec import Codec, UnknownEvent
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import CommandKey, Row
from matches.games.protocol import CorruptHistory, Seat
from matches.games.xqmj.events import TileDiscarded, TileDrawn


class BellRung(MatchEvent, frozen=True, kw_only=True):
    """A kind for tests, in its third version: it once counted strokes, then named the bell."""

    KIND: ClassVar[str] = "test.bell_rung"
    V: ClassVar[int] = 3

    bell: str
    strokes: int
    loud: bool


def name_the_bell(payload: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had one bell only."""
    return {**payload, "bell": "old"}


def say_how_loud(payload: dict[str, Any]) -> dict[str, Any]:
    """Version 2 knew no quiet bell."""
    return {**payload, "loud": True}


LIFTS = {("test.bell_rung", 1): name_the_bell, ("test.bell_rung", 2): say_how_loud}
BELLS = Codec((BellRung,), LIFTS)


def row(kind: str, v: int, payload: bytes, **more: Any) -> Row:
    """A row of which only these matter."""
    usual: dict[str, Any] = {
        "seq": 9,
        "actor": None,
        "command_id": None,
        "fingerprint": None,
        "effects": None,
        "at_ms": 5,
        "hash": bytes(32),
    }
    return Row(kind=kind, v=v, payload=payload, **(usual | more))


class TestEncode:
    def test_writes_sorted_keys_without_defaults(self) -> None:
        stamped = Stamped(SeatReady(seat=Seat(1), hand=2), 5, Seat(1))

        assert codec.encode(stamped) == ("match.seat_ready", 1, b'{"hand":2,"seat":1}')

    def test_writes_the_newest_version(self) -> None:
        stamped = Stamped(BellRung(bell="大鐘", strokes=3, loud=False), 5, None)

        assert BELLS.encode(stamped) == (
            "test.bell_rung",
            3,
            '{"bell":"大鐘","loud":false,"strokes":3}'.encode(),
        )


class TestDecode:
    def test_reads_kind_instant_and_actor(self) -> None:
        found = codec.decode(row("match.hand_dealt", 1, b'{"hand":3,"dealer":1}', actor=0))

        assert found == Stamped(HandDealt(hand=3, dealer=Seat(1)), 5, Seat(0))

    def test_reads_rows_in_order(self) -> None:
        rows = (
            row("xqmj.tile_drawn", 1, b"{}"),
            row("xqmj.tile_discarded", 1, b'{"tile":"rC","drawn":true,"clock":[1,2]}', at_ms=6),
        )

        assert codec.decode_rows(rows) == [
            Stamped(TileDrawn(), 5, None),
            Stamped(TileDiscarded(tile="rC", drawn=True, clock=(1, 2)), 6, None),
        ]

    @pytest.mark.parametrize(
        ("v", "payload", "event"),
        [
            (1, b'{"strokes":2}', BellRung(bell="old", strokes=2, loud=True)),
            (2, b'{"bell":"b","strokes":2}', BellRung(bell="b", strokes=2, loud=True)),
            (
                3,
                b'{"bell":"b","loud":false,"strokes":2}',
                BellRung(bell="b", strokes=2, loud=False),
            ),
        ],
    )
    def test_lifts_an_old_version_step_by_step(
        self, v: int, payload: bytes, event: BellRung
    ) -> None:
        assert BELLS.decode(row("test.bell_rung", v, payload)).event == event

    def test_refuses_a_kind_that_it_does_not_know(self) -> None:
        with pytest.raises(UnknownEvent, match=r"xqmj\.table_flipped@1"):
            codec.decode(row("xqmj.table_flipped", 1, b"{}"))

    def test_refuses_a_version_that_is_too_new(self) -> None:
        with pytest.raises(UnknownEvent, match=r"xqmj\.tile_drawn@2"):
            codec.decode(row("xqmj.tile_drawn", 2, b"{}"))

    @pytest.mark.parametrize(
        ("kind", "payload"),
        [
            ("xqmj.tile_drawn", b'{"tile":"rC"}'),
            ("xqmj.tile_discarded", b'{"tile":"xX","drawn":true}'),
            ("xqmj.tile_discarded", b"{}"),
            ("match.hand_dealt", b"[]"),
            ("match.hand_dealt", b'{"hand":1'),
        ],
    )
    def test_refuses_a_payload_that_cannot_be(self, kind: str, payload: bytes) -> None:
        with pytest.raises(CorruptHistory, match=f"event 9 is no {kind}@1"):
            codec.decode(row(kind, 1, payload))

    def test_refuses_an_old_payload_that_cannot_be(self) -> None:
        with pytest.raises(CorruptHistory, match=r"event 9 is no test\.bell_rung@1"):
            BELLS.decode(row("test.bell_rung", 1, b'{"strokes":"two"}'))


class TestCodec:
    def test_needs_a_lift_from_every_older_version(self) -> None:
        with pytest.raises(ValueError, match=r"test\.bell_rung from version 2"):
            Codec((BellRung,), {("test.bell_rung", 1): name_the_bell})

    def test_needs_one_type_a_kind(self) -> None:
        with pytest.raises(ValueError, match="two types"):
            Codec((BellRung, BellRung), LIFTS)


class TestNewRows:
    def test_name_the_command_on_the_first_event_that_it_caused(self) -> None:
        match_id = new_match_id()
        key = CommandKey(new_match_id(), -5)
        stampeds = [Stamped(TileDrawn(), at_ms, None) for at_ms in (5, 6, 7)]

        rows = codec.new_rows(
            stampeds,
            match_id=match_id,
            after=4,
            prev_hash=hashing.GENESIS,
            key=key,
            caused_from=1,
        )

        assert [(one.seq, one.command_id, one.fingerprint, one.effects) for one in rows] == [
            (5, None, None, None),
            (6, key.command_id, -5, 2),
            (7, None, None, None),
        ]
        assert hashing.first_break(hashing.GENESIS, match_id, rows) is None
