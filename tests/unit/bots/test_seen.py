"""What a seat has seen of a hand, read from its view (XM-74)."""

from __future__ import annotations

from matches.bots.seen import Seen
from matches.games.protocol import Seat, SeatViewer
from matches.games.tiles import NO_TILES, pack
from tests.support.xqmj import CHOW, DEALER, OTHER, Table, tiles


def chowed() -> Table:
    """The dealer's rC lies in a meld of the other seat, which has discarded bP."""
    table = Table("rC bA bA bE bE", "rR rH bP bK", "rP")
    table.discard(DEALER, "rC")
    table.do(OTHER, CHOW)
    table.discard(OTHER, "bP")
    return table


def of(table: Table, seat: Seat) -> Seen:
    return Seen.of(table.rules.view(table.state, SeatViewer(seat)))


class TestSeen:
    def test_counts_what_neither_lies_open_nor_is_held(self) -> None:
        """By kind from rK on. Four tiles are held, four lie open."""
        seen = of(chowed(), DEALER)

        assert seen.concealed == pack(tiles("bA bA bE bE"))
        assert seen.meld == NO_TILES
        assert seen.unseen == (1, 2, 2, 1, 1, 1, 5, 1, 0, 0, 2, 2, 2, 4)
        assert seen.left == 24
        assert seen.against_meld

    def test_knows_its_own_meld(self) -> None:
        seen = of(chowed(), OTHER)

        assert seen.concealed == pack(tiles("bK"))
        assert seen.meld == pack(tiles("rR rH rC"))
        assert seen.unseen == (1, 2, 2, 1, 1, 1, 5, 0, 2, 2, 2, 2, 2, 4)
        assert seen.left == 27
        assert not seen.against_meld

    def test_holds_the_tile_just_drawn(self) -> None:
        table = chowed()
        table.let_lie()

        seen = of(table, DEALER)

        assert seen.concealed == pack(tiles("bA bA bE bE rP"))
        assert seen.unseen[6] == 4
        assert seen.left == 23
