"""Rigged hands of two-player xiangqi mahjong, and what a test says to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import msgspec
import pytest

from matches.games.protocol import Action, Auditor, HandEvent, Rejected, Seat
from matches.games.registry import rules_for
from matches.games.tiles import Tile
from matches.games.xqmj.actions import Chow, Discard, Pass, Pung, Win
from matches.games.xqmj.pieces import DECK_32
from matches.games.xqmj.rules import TwoPlayerRules
from matches.games.xqmj.state import HandState
from matches.games.xqmj.view import Side

KEY = "xqmj-32-2p"
DEALER, OTHER = Seat(0), Seat(1)
WIN, CHOW, PUNG, PASS = Win(), Chow(), Pung(), Pass()


def two_player_rules(options: Mapping[str, str] | None = None) -> TwoPlayerRules:
    """The rules with their own types, which the registry does not promise."""
    rules = rules_for(KEY, options=options)
    assert isinstance(rules, TwoPlayerRules)
    return rules


def tiles(text: str) -> tuple[Tile, ...]:
    """Tiles written with spaces between them."""
    return cast("tuple[Tile, ...]", tuple(text.split()))


def order(dealer: str, other: str, wall: str = "", *, last: str = "") -> tuple[Tile, ...]:
    """A legal order of the deal.

    The wall begins with `wall` and ends with `last`; between them come all
    tiles that are left, in canonical order.
    """
    dealt, first, end = tiles(dealer) + tiles(other), tiles(wall), tiles(last)
    rest = Counter(DECK_32)
    rest.subtract(dealt + first + end)
    assert len(tiles(dealer)) == 5, dealer
    assert len(tiles(other)) == 4, other
    assert min(rest.values()) >= 0, f"too many of {rest}"
    middle = tuple(tile for tile in DECK_32 if _take(rest, tile))
    return dealt + first + middle + end


def _take(rest: Counter[Tile], tile: Tile) -> bool:
    rest[tile] -= 1
    return rest[tile] >= 0


def discard(tile: str, *, drawn: bool = False) -> Discard:
    """The action; `drawn`: of the tile just drawn."""
    return Discard(tile=cast("Tile", tile), drawn=drawn)


class Table:
    """A hand under way. Seat 0 deals."""

    def __init__(
        self,
        dealer: str = "rA rR bK bR bC",
        other: str = "rE rH bA bH",
        wall: str = "",
        *,
        last: str = "",
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.rules = two_player_rules(options)
        self.state: HandState = self.rules.deal(order(dealer, other, wall, last=last), DEALER)
        self.events: list[HandEvent] = []

    def do(self, seat: Seat, action: Action) -> HandEvent:
        """Let a seat act; gives the one event it caused."""
        return self._apply(self.rules.decide(self.state, seat, action))

    def table(self) -> HandEvent:
        """Let the table act, as at the pause's end."""
        return self._apply(self.rules.table(self.state))

    def discard(self, seat: Seat, tile: str, *, drawn: bool = False) -> HandEvent:
        """Let a seat discard."""
        return self.do(seat, discard(tile, drawn=drawn))

    def legal(self, seat: Seat) -> tuple[Action, ...]:
        """What the seat may do."""
        return self.rules.legal(self.state, seat)

    def sides(self) -> tuple[Side, Side]:
        """Both sides as an auditor sees them."""
        return self.rules.view(self.state, Auditor()).sides

    def melded(self, seat: Seat) -> tuple[Tile, ...]:
        """The tiles of a seat's exposed meld."""
        meld = self.sides()[seat].meld
        return meld.tiles if meld else ()

    def refusal(self, seat: Seat, action: Action) -> tuple[str, str]:
        """Code and rule of the refusal of an action; the action must be refused."""
        with pytest.raises(Rejected) as refused:
            self.rules.decide(self.state, seat, action)
        return refused.value.code, str(refused.value.detail["rule"])

    def idle(self, *, wall_left: int) -> None:
        """Let both seats discard what they draw until so many wall tiles are left.

        Nobody claims or wins. At the end a discard lies on offer.
        """
        if self.state.phase == "opening":
            self.do(self.state.turn, self.legal(self.state.turn)[0])
        while self.state.wall_left > wall_left:
            self.let_lie()
            self.discard(self.state.turn, str(self.state.drawn), drawn=True)

    def let_lie(self) -> HandEvent:
        """Pass the discard on offer where it could be claimed, and let the table go on."""
        if self.legal(self.state.turn):
            self.do(self.state.turn, PASS)
        return self.table()

    def _apply(self, events: tuple[HandEvent, ...]) -> HandEvent:
        (event,) = events
        self.state = self.rules.evolve(self.state, event)
        self.events.append(event)
        return event


def facts(event: HandEvent) -> dict[str, Any]:
    """The event as the log keeps it, its kind added."""
    return {"kind": event.KIND, **msgspec.to_builtins(event)}
