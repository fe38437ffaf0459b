"""Two worlds around the computer's seat: what it may not know, and what it may not show."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from matches.bots.misty import Misty
from matches.domain import deal
from matches.domain.visibility import Line
from matches.games.protocol import Action, SeatViewer, Spectator, Viewer
from matches.games.xqmj.actions import Discard, Pass
from matches.games.xqmj.pieces import DECK_32
from matches.services import turns
from tests.support.opposed import Opposed
from tests.support.sitting import CHOW_OFFERED, NOTHING_OFFERED, A, B, Rig
from tests.support.xqmj import discard

PAIRS = 25
FIRST_DRAW = 9
"""The dealer holds places 0 to 4, the computer 5 to 8 and then draws the tile of place 9."""

Wall = tuple[Any, ...]


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    """Walls laid by the test; seat 0 deals first."""
    laid = Rig()
    monkeypatch.setattr(deal, "order", laid.order)
    monkeypatch.setattr(deal, "first_dealer", laid.first_dealer)
    return laid


def played(rig: Rig, wall: Wall, tile: Any, *, secret: bytes, level: int = 4) -> Opposed:
    """A hand up to the computer's first discard, or to its end: ANA discards the tile at once."""
    rig.lay(wall)
    opposed = Opposed(level=level, secret=secret)
    opposed.begin()
    opposed.act(A, discard(tile))
    for _ in range(100):
        opposed.advance(50)
        opposed.observe()
        opposed.worker.play_due()
        if opposed.kinds.count("xqmj.tile_discarded") == 2 or opposed.match.phase != "playing":
            return opposed
    raise AssertionError(opposed.kinds)


def facts(opposed: Opposed) -> list[tuple[str, bytes, int]]:
    """Every event as the log holds it: nothing of them is a hidden tile."""
    return [(row.kind, row.payload, row.at_ms) for row in opposed.store.rows(opposed.match_id)[2:]]


def lines(opposed: Opposed, viewer: Viewer) -> tuple[Line, ...]:
    """What a viewer was told after the deal."""
    found = opposed.observe().lines(viewer)
    return tuple(line for line in found if line.seq > 4)


class TestWhatTheComputerMayNotKnow:
    def test_moves_neither_its_actions_nor_their_instants(self, rig: Rig) -> None:
        for seed in range(PAIRS):
            chance = random.Random(seed)
            wall = list(DECK_32)
            chance.shuffle(wall)
            # Hidden from it: what the dealer keeps, and the wall after its own first draw.
            hidden = [1, 2, 3, 4, *range(FIRST_DRAW + 1, len(wall))]
            tiles = [wall[place] for place in hidden]
            chance.shuffle(tiles)
            other = list(wall)
            for place, tile in zip(hidden, tiles, strict=True):
                other[place] = tile
            secret, level = chance.randbytes(32), chance.randint(1, 8)

            first, second = (
                facts(played(rig, tuple(one), wall[0], secret=secret, level=level))
                for one in (wall, other)
            )

            assert first == second, seed
            assert len(first) >= 4


class TestPassesOfTheComputer:
    @pytest.fixture(autouse=True)
    def _passes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the computer pass wherever it can, and discard an rH that both worlds give it."""

        def choose(_misty: Misty, _view: object, legal: Sequence[Action]) -> Action:
            return legal[-1] if isinstance(legal[-1], Discard) else Pass()

        monkeypatch.setattr(Misty, "choose", choose)

    def pair(self, rig: Rig, secret: bytes) -> tuple[Opposed, Opposed]:
        """The same up to the computer's tiles: in the first world it could take the rC."""
        offered = played(rig, CHOW_OFFERED, "rC", secret=secret)
        nothing = played(rig, NOTHING_OFFERED, "rC", secret=secret)
        return offered, nothing

    @pytest.mark.parametrize("seed", range(5))
    def test_do_not_show(self, rig: Rig, seed: int) -> None:
        offered, nothing = self.pair(rig, random.Random(seed).randbytes(32))

        assert "xqmj.claim_passed" in offered.kinds
        assert "xqmj.claim_passed" not in nothing.kinds
        for viewer in (SeatViewer(A), Spectator()):
            assert self.told(offered, viewer) == self.told(nothing, viewer)

    def test_do_not_show_before_they_are_made(self, rig: Rig) -> None:
        """The reminder itself is the same whether or not there is anything to answer."""
        noted: list[int | None] = []
        for wall in (CHOW_OFFERED, NOTHING_OFFERED):
            rig.lay(wall)
            opposed = Opposed()
            opposed.begin()
            opposed.act(A, discard("rC"))
            noted.append(turns.due_ms(opposed.match, B))

        assert noted[0] is not None
        assert noted[0] == noted[1]

    def told(self, opposed: Opposed, viewer: Viewer) -> bytes:
        return msgspec.json.encode(lines(opposed, viewer))
