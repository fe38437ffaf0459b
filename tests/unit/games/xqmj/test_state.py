"""Folding: what a history can and cannot hold."""

from __future__ import annotations

import pytest

from matches.games.protocol import CorruptHistory, HandEvent
from matches.games.xqmj.events import (
    ChowMade,
    ClaimPassed,
    HandVoided,
    HandWon,
    PungMade,
    TileDiscarded,
    TileDrawn,
)
from matches.games.xqmj.scoring import ScoreLine
from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, Table, tiles

WON = HandWon(
    seat=OTHER,
    how="discard",
    tiles=tiles("rR rH rC bP bP"),
    lines=(ScoreLine("win", 1),),
    points=1,
)


def opening() -> Table:
    return Table("rC bA bA bE bE", "rR rH bP bP")


def offer() -> Table:
    table = opening()
    table.discard(DEALER, "rC")
    return table


def passed() -> Table:
    table = offer()
    table.do(OTHER, PASS)
    return table


def drawn() -> Table:
    table = passed()
    table.table()
    return table


def claimed() -> Table:
    table = offer()
    table.do(OTHER, CHOW)
    return table


class TestCorruptHistory:
    @pytest.mark.parametrize(
        ("table", "event"),
        [
            (opening(), TileDrawn()),
            (opening(), ClaimPassed()),
            (opening(), ChowMade(tile="rC")),
            (opening(), HandVoided()),
            (opening(), WON),
            (opening(), TileDiscarded(tile="rR", drawn=False)),
            (offer(), TileDiscarded(tile="rR", drawn=False)),
            (offer(), PungMade(tile="rC")),
            (offer(), ChowMade(tile="rR")),
            (offer(), PungMade(tile="bP")),
            (offer(), HandVoided()),
            (passed(), ClaimPassed()),
            (drawn(), TileDrawn()),
            (drawn(), ClaimPassed()),
            (drawn(), ChowMade(tile="rC")),
            (drawn(), TileDiscarded(tile="bC", drawn=False)),
            (claimed(), TileDrawn()),
            (claimed(), ChowMade(tile="rC")),
        ],
    )
    def test_is_an_event_that_cannot_follow(self, table: Table, event: HandEvent) -> None:
        with pytest.raises(CorruptHistory):
            table.rules.evolve(table.state, event)

    def test_is_a_draw_from_an_empty_wall(self) -> None:
        table = Table("rA rR rH bA bK", "rE rE bE bE")
        table.idle(wall_left=0)

        with pytest.raises(CorruptHistory):
            table.rules.evolve(table.state, TileDrawn())

    def test_is_a_meld_of_tiles_that_the_seat_does_not_hold(self) -> None:
        table = Table("rC bA bA bE bE", "rR bH bP bP")
        table.discard(DEALER, "rC")

        with pytest.raises(CorruptHistory):
            table.rules.evolve(table.state, ChowMade(tile="rC"))


class TestFold:
    def test_takes_the_recorded_score_as_it_is(self) -> None:
        """A later change of the rules must not change what an old hand was worth."""
        table = offer()
        event = HandWon(seat=OTHER, how="discard", tiles=WON.tiles, lines=(), points=99)

        after = table.rules.evolve(table.state, event)

        outcome = table.rules.outcome(after)
        assert outcome is not None
        assert outcome.points == (0, 99)

    def test_does_not_ask_whether_a_claim_was_open(self) -> None:
        """What was legal is judged when it is decided, and by whoever verifies a log."""
        table = offer()

        assert table.rules.evolve(table.state, TileDrawn()).phase == "after_draw"

    def test_leaves_the_clock_evidence_to_the_match(self) -> None:
        table = opening()
        plain = TileDiscarded(tile="rC", drawn=False)
        charged = TileDiscarded(tile="rC", drawn=False, clock=(400, 59_600))

        assert table.rules.evolve(table.state, plain) == table.rules.evolve(table.state, charged)
