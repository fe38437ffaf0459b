"""A whole match under test, played by hand: every instant is a number that the test writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from matches.domain import deal
from matches.domain import match as matches
from matches.domain.clock import Due, Gap
from matches.domain.commands import Act, Body, Command, Join, Ready
from matches.domain.events import Event, MatchCreated, MatchEnded, Stamped
from matches.domain.state import Match
from matches.games.protocol import Action, Rejected, Seat
from tests.support.xqmj import KEY, PASS, WIN, discard, order

ANA, BEN, EVE = "a" * 32, "b" * 32, "e" * 32
"""Seat 0, seat 1, and somebody else."""

SECRET = bytes(range(32))
MATCH_ID = bytes.fromhex("0199f2d0c0de7000800000000000c0de")
A, B = Seat(0), Seat(1)

CHOW_OFFERED = order("rC rA bK bR bH", "rR rH bE bP", "bC bP")
"""The dealer's rC may be taken for a sequence."""
PUNG_OFFERED = order("bP rA bK bR bH", "bP bP rR rE", "bC rK")
"""The dealer's bP may be taken for a triplet."""
WIN_OFFERED = order("rC rK bK bR bH", "rR rH rA rA", "bC bP")
"""The dealer's rC wins for the other seat, and may be taken for a sequence as well."""
NOTHING_OFFERED = order("rC rA bK bR bH", "rE rK bE bP", "bC bP")
"""The dealer's rC can only lie; the other seat then draws bC."""
DEALER_WINS = order("rR rH rC bA bA", "rE rK bE bP")
"""The dealer's five are a winning hand: heavenly, 6 points (XM-44, XM-46)."""
OTHER_WINS = order("rC bK bA rA rE", "rR rH rC bA", "rP")
"""The dealer's bA wins for the other seat: 1 point (rules, 15.1)."""


def created(**changes: Any) -> MatchCreated:
    """The first event of a match, with anything changed that `create` takes."""
    usual: dict[str, Any] = {
        "ruleset": KEY,
        "rules_version": 1,
        "options": {},
        "control": "3+2",
        "rated": False,
        "players": (ANA, None),
        "invited": None,
        "secret": SECRET,
        "sealed": "c2VhbGVk",
        "key_id": "k1",
    }
    return matches.create(**(usual | changes))


class Rig:
    """The walls that a test lays, and the seat that deals first; hands without a wall are real."""

    def __init__(self) -> None:
        self.walls: dict[int, tuple[str, ...]] = {}
        self.dealer = A
        self._order = deal.order

    def lay(self, *walls: tuple[str, ...]) -> None:
        """Lay the walls of hands 1, 2, …; the last one serves for all that follow."""
        self.walls = {number: walls[min(number, len(walls)) - 1] for number in range(1, 7)}

    def order(
        self,
        secret: bytes,
        match_id: bytes,
        nonces: tuple[bytes, ...],
        hand_no: int,
        deck: tuple[str, ...],
    ) -> tuple[str, ...]:
        """What `deal.order` answers while the rig is in place."""
        wall = self.walls.get(hand_no)
        return wall or self._order(secret, match_id, nonces, hand_no, deck)

    def first_dealer(self, *_: Any) -> Seat:
        """What `deal.first_dealer` answers while the rig is in place."""
        return self.dealer


class Sitting:
    """A match and its log; settles before each command, as the services do.

    `effects` stands beside the log: how many events a command caused, at the
    first of them, and None at all others.
    """

    def __init__(self, *, at_ms: int = 0, secret: bytes = SECRET, **changes: Any) -> None:
        first = Stamped(created(secret=secret, **changes), at_ms, None)
        self.match: Match = matches.begin(match_id=MATCH_ID, created=first, secret=secret)
        self.log: list[Stamped] = [first]
        self.effects: list[int | None] = [1]

    def settle(
        self, now_ms: int, *, deadline_ms: int | None = None, gaps: Sequence[Gap] = ()
    ) -> tuple[Stamped, ...]:
        """Let the table do what it owes by then; deadlines exactly, unless said otherwise."""
        deadline_ms = now_ms if deadline_ms is None else deadline_ms
        _, settled = matches.settle(
            self.match, now_ms=now_ms, deadline_ms=deadline_ms, gaps=tuple(gaps)
        )
        return self._write(settled)

    def send(
        self, at_ms: int, player: str, body: Body, *, gaps: Sequence[Gap] = ()
    ) -> tuple[Stamped, ...]:
        """What a command causes by itself, after the table did what it owed before."""
        self.settle(at_ms, gaps=gaps)
        _, decided = matches.decide(self.match, Command(at_ms, player, body))
        self._write(decided)
        self.effects[-len(decided)] = len(decided)
        return decided

    def refusal(self, at_ms: int, player: str, body: Body) -> str:
        """The code with which a command is refused; it must be, and must change nothing."""
        self.settle(at_ms)
        before = self.match
        with pytest.raises(Rejected) as refused:
            matches.decide(self.match, Command(at_ms, player, body))
        assert self.match == before
        return refused.value.code

    def act(self, at_ms: int, seat: Seat, action: Action) -> tuple[Stamped, ...]:
        """Let a seat act in the hand."""
        return self.send(at_ms, self.player(seat), Act(action))

    def discard(
        self, at_ms: int, seat: Seat, tile: str, *, drawn: bool = False
    ) -> tuple[Stamped, ...]:
        """Let a seat discard."""
        return self.act(at_ms, seat, discard(tile, drawn=drawn))

    def legal(self, seat: Seat) -> tuple[Action, ...]:
        """What the seat may do in the hand."""
        return self.match.setup.rules.legal(self.match.hand, seat)

    def player(self, seat: Seat) -> str:
        """Who sits there."""
        player = self.match.players[seat]
        assert player is not None
        return player

    @property
    def due(self) -> Due:
        """What the table does next; there must be something."""
        due = matches.due_at(self.match)
        assert due is not None
        return due

    @property
    def ended(self) -> MatchEnded:
        """The end; there must be one."""
        assert self.match.ended is not None
        return self.match.ended

    def refolded(self, stampeds: Iterable[Stamped] | None = None) -> Match:
        """The match folded again from its first event, by the log or by another one."""
        setup, log = self.match.setup, self.log if stampeds is None else list(stampeds)
        first = matches.begin(match_id=setup.match_id, created=log[0], secret=setup.secret)
        return matches.fold(first, log[1:])

    def _write(self, stampeds: tuple[Stamped, ...]) -> tuple[Stamped, ...]:
        self.match = matches.fold(self.match, stampeds)
        self.log += stampeds
        self.effects += [None] * len(stampeds)
        return stampeds


def dealt(*, at_ms: int = 0, **changes: Any) -> Sitting:
    """A match whose first hand is dealt at `at_ms`."""
    sitting = Sitting(at_ms=at_ms, **changes)
    sitting.send(at_ms, BEN, Join())
    sitting.send(at_ms, ANA, Ready())
    sitting.send(at_ms, BEN, Ready())
    return sitting


def events(stampeds: Iterable[Stamped]) -> list[Event]:
    """The bare events."""
    return [stamped.event for stamped in stampeds]


def kinds(stampeds: Iterable[Stamped]) -> list[str]:
    """The kinds of the events."""
    return [stamped.event.KIND for stamped in stampeds]


def timeline(stampeds: Iterable[Stamped]) -> list[tuple[str, int]]:
    """Each event's kind and instant."""
    return [(stamped.event.KIND, stamped.at_ms) for stamped in stampeds]


def win_quickly(sitting: Sitting, at_ms: int, winner: Seat) -> tuple[Stamped, ...]:
    """Play a hand of `DEALER_WINS` or `OTHER_WINS` out at one instant; gives its last events."""
    dealer = sitting.match.dealer
    assert dealer is not None
    if winner != dealer:
        sitting.discard(at_ms, dealer, "bA")
    return sitting.act(at_ms, winner, WIN)


def idle(sitting: Sitting, at_ms: int, *, wall_left: int) -> int:
    """Let both seats discard what they draw at once, until so many wall tiles are left.

    Nobody claims or wins, and no clock loses time. Gives the last discard's
    instant; it then lies on offer.
    """
    if sitting.match.hand.phase == "opening":
        first = next(action for action in sitting.legal(_turn(sitting)) if action != WIN)
        sitting.act(at_ms, _turn(sitting), first)
    while sitting.match.hand.wall_left > wall_left:
        if sitting.legal(_turn(sitting)):
            sitting.act(at_ms, _turn(sitting), PASS)
        at_ms = sitting.match.pause_until_ms
        sitting.settle(at_ms)
        sitting.discard(at_ms, _turn(sitting), sitting.match.hand.drawn, drawn=True)
    return at_ms


def _turn(sitting: Sitting) -> Seat:
    turn: Seat = sitting.match.hand.turn
    return turn
