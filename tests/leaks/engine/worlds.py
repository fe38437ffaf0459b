"""A match as its engine has it, and all that a watcher can get hold of (I9)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
import pytest

from matches.domain import deal, visibility
from matches.domain import match as matches
from matches.domain.clock import Gap
from matches.domain.commands import Act, Body, Command, Join, Leave, Ready, Resign
from matches.domain.events import Stamped
from matches.domain.state import Match
from matches.games.protocol import Action, Rejected, Seat, SeatViewer, Spectator, Viewer
from matches.games.registry import rules_for
from matches.games.tiles import KINDS
from matches.games.xqmj.events import TileDrawn
from tests.support.sitting import ANA, BEN, EVE, MATCH_ID, SECRET, created
from tests.support.xqmj import CHOW, PASS, PUNG, WIN, discard

RULES = rules_for("xqmj-32-2p")
PLAYERS = (ANA, BEN)
SPECTATOR = Spectator()

Wall = tuple[str, ...]

PROBES: tuple[Body, ...] = (
    *(Act(action) for action in (CHOW, PUNG, WIN, PASS)),
    *(Act(discard(kind, drawn=drawn)) for kind in KINDS for drawn in (False, True)),
    Ready(),
    Join(),
    Resign(),
    Leave(),
)
"""What a seat may try at any time, to learn from the answer."""


_laid: list[Mapping[int, Wall]] = [{}]


@contextmanager
def rigged() -> Iterator[None]:
    """Deal from the walls that the acting world has laid; seat 0 deals first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deal, "order", lambda *given: _laid[0][min(given[3], 2)])
        patch.setattr(deal, "first_dealer", lambda *_: Seat(0))
        yield


def etag(view: bytes, match: Match) -> str:  # noqa: ARG001 - a planted leak reads the match
    """The version of a view, as a client gets it."""
    return hashlib.sha256(view).hexdigest()


class World:
    """One match, and what each watcher has been told of it so far."""

    def __init__(
        self, wall: Wall, later: Wall, watchers: Sequence[Viewer] = (), gap: Gap | None = None
    ) -> None:
        self.walls = {1: wall, 2: later}
        self.gaps = () if gap is None else (gap,)
        self.told: dict[Viewer, list[bytes]] = {viewer: [] for viewer in watchers}
        self.log: list[tuple[Stamped, Match]] = []
        self.pass_at_ms: int | None = None
        first = Stamped(created(players=PLAYERS), 0, None)
        self.match = matches.begin(match_id=MATCH_ID, created=first, secret=SECRET)
        for player in PLAYERS:
            self.send(0, player, Ready())

    def reach(self, now_ms: int) -> None:
        """Let time pass: q's private pass, where one is planned, and what the table owes."""
        if self.pass_at_ms is not None and self.pass_at_ms <= now_ms:
            at_ms, self.pass_at_ms = self.pass_at_ms, None
            self.send(at_ms, PLAYERS[self.match.hand.turn], Act(PASS))
        _, settled = matches.settle(self.match, now_ms=now_ms, deadline_ms=now_ms, gaps=self.gaps)
        self._follow(settled)

    def send(self, at_ms: int, player: str, body: Body) -> None:
        """Let a player command something that must be possible."""
        self.reach(at_ms)
        self._follow(matches.decide(self.match, Command(at_ms, player, body)).events)

    def legal(self, seat: Seat) -> tuple[Action, ...]:
        """What the seat may do in the hand."""
        return () if self.match.phase != "playing" else RULES.legal(self.match.hand, seat)

    def seen(self, viewer: Viewer, at_ms: int, probes: Sequence[Body]) -> list[bytes]:
        """All that the viewer can get hold of now; `SEEN` names it, then come the probes."""
        view = msgspec.json.encode(visibility.view(self.match, viewer))
        told = self.told[viewer]
        clocks = (visibility.visible_due_ms(self.match), visibility.clocks(self.match))
        seen = [
            view,
            etag(view, self.match).encode(),
            b"%d: %b" % (len(told), b" ".join(told[-6:])),
            msgspec.json.encode(clocks),
        ]
        player = PLAYERS[viewer.seat] if isinstance(viewer, SeatViewer) else EVE
        seen += [self._answer(viewer, Command(at_ms, player, probe)) for probe in probes]
        return seen

    def _answer(self, viewer: Viewer, command: Command) -> bytes:
        """What the viewer would be told if it sent the command now; nothing is changed.

        A draw that a pass would cause is left out: its tile is one that the
        viewer does not get to see in this run, so it may be a swapped one.
        """
        try:
            _, decided = matches.decide(self.match, command)
        except Rejected as refused:
            return msgspec.json.encode((refused.code, refused.detail, str(refused)))
        after, seq = self.match, len(self.told[viewer])
        answer = b""
        for stamped in decided:
            if isinstance(stamped.event, TileDrawn):
                break
            after = self._evolved(after, stamped)
            line = _line(after, stamped, viewer, seq + 1)
            if line is not None:
                seq, answer = seq + 1, answer + line
        return answer

    def _follow(self, stampeds: Sequence[Stamped]) -> None:
        for stamped in stampeds:
            self.match = self._evolved(self.match, stamped)
            self.log.append((stamped, self.match))
            for viewer, told in self.told.items():
                line = _line(self.match, stamped, viewer, len(told) + 1)
                if line is not None:
                    told.append(line)

    def _evolved(self, match: Match, stamped: Stamped) -> Match:
        _laid[0] = self.walls
        return matches.evolve(match, stamped)


def _line(after: Match, stamped: Stamped, viewer: Viewer, seq: int) -> bytes | None:
    line = visibility.line(after, stamped, viewer, seq=seq)
    return None if line is None else msgspec.json.encode(line)
