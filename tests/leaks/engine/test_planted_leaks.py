"""Leaks planted one at a time: what the pairs of worlds would find, they are shown to find."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from matches.domain import match as matches
from matches.domain import settle, visibility
from matches.domain.clock import Due
from matches.domain.events import HandDealt
from matches.domain.state import Match
from matches.games.protocol import HandEvent, Rejected
from matches.games.tiles import KINDS, size, unpack
from matches.games.xqmj import refusals, view
from matches.games.xqmj.events import ClaimPassed, TileDiscarded, TileDrawn
from matches.games.xqmj.state import OTHER, HandState
from tests.leaks.driver import Leak
from tests.leaks.engine import worlds
from tests.leaks.engine.level import ENGINE
from tests.leaks.engine.worlds import RULES

PAIRS = 600
"""More than enough: each leak below shows in the first few dozen."""


def _found(first_seed: int = 5_000) -> Leak:
    leaks = ENGINE.tally(first_seed, PAIRS).leaks
    assert leaks, "the planted leak was not found"
    return leaks[0]


def _show(monkeypatch: pytest.MonkeyPatch, kind: type[HandEvent], how: Callable[..., Any]) -> None:
    """Let everybody be told of an event in another way."""
    monkeypatch.setattr(view, "_SHOW", {**view._SHOW, kind: how})


class TestPlanted:
    def test_visible_pass_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-38: a pass in the pause tells that a claim was possible."""
        _show(monkeypatch, ClaimPassed, lambda state, _event, _: view.PassSeen(state.turn))

        assert _found().what == "lines"

    def test_pass_that_only_leaves_a_hole_in_the_numbers_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The place in the stream instead of the place in what the viewer sees."""
        line = visibility.line

        def numbered(after: Match, stamped: Any, viewer: Any, *, seq: int) -> Any:
            shown = line(after, stamped, viewer, seq=seq)
            return None if shown is None else msgspec.structs.replace(shown, seq=after.version)

        monkeypatch.setattr(visibility, "line", numbered)

        assert _found().what == "lines"

    def test_shorter_pause_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-38: the draw right after a quick pass."""
        due_in_hand = settle._due_in_hand

        def hasty(match: Match) -> Due | None:
            if match.hand.phase == "passed":
                return Due(match.at_ms, deadline=False)
            return due_in_hand(match)

        monkeypatch.setattr(settle, "_due_in_hand", hasty)

        assert _found()

    def test_pause_that_ends_early_without_a_claim_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """XM-34: a draw at once where nobody can claim."""
        due_in_hand = settle._due_in_hand

        def hasty(match: Match) -> Due | None:
            if match.hand.phase == "offer" and not RULES.legal(match.hand, match.hand.turn):
                return Due(match.at_ms, deadline=False)
            return due_in_hand(match)

        monkeypatch.setattr(settle, "_due_in_hand", hasty)

        assert _found()

    def test_etag_of_the_whole_state_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def whole(_view: bytes, match: Match) -> str:
            return hashlib.sha256(msgspec.json.encode(match.hand)).hexdigest()

        monkeypatch.setattr(worlds, "etag", whole)

        assert _found().what == "etag"

    def test_etag_of_the_stream_s_version_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worlds, "etag", lambda _view, match: str(match.version))

        assert _found().what == "etag"

    def test_tile_id_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-2: where in the deal the tile had lain."""

        def marked(state: HandState, event: TileDiscarded, _viewer: Any) -> Any:
            return {"tile": event.tile, "id": state.order.index(event.tile)}

        _show(monkeypatch, TileDiscarded, marked)

        assert _found().what == "lines"

    def test_place_in_the_concealed_tiles_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-75: how many tiles lay to the left of it."""

        def placed(state: HandState, event: TileDiscarded, _viewer: Any) -> Any:
            held = unpack(state.concealed[OTHER[state.turn]])
            left = sum(KINDS.index(tile) < KINDS.index(event.tile) for tile in held)
            return {"tile": event.tile, "index": left}

        _show(monkeypatch, TileDiscarded, placed)

        assert _found().what == "lines"

    def test_refusal_that_tells_of_a_claim_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-76: "the other seat may claim"."""
        refusal = refusals.refusal

        def chatty(state: HandState, seat: Any, action: Any, **options: Any) -> Rejected:
            if state.phase == "offer" and seat != state.turn and RULES.legal(state, state.turn):
                return Rejected("not_your_turn", rule="XM-25", waits_for="claim")
            return refusal(state, seat, action, **options)

        monkeypatch.setattr("matches.games.xqmj.rules.refusal", chatty)

        assert _found().what.startswith("Act(")

    def test_raw_due_instant_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-76: the pause's end where the table acts, the flag where a claim is open."""

        def raw(match: Match) -> int | None:
            due = matches.due_at(match)
            return None if due is None else due.at_ms

        monkeypatch.setattr(visibility, "visible_due_ms", raw)

        assert _found().what == "view"

    def test_clock_that_waits_for_a_claim_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-35: a clock that runs only where there is something to weigh."""

        def honest(match: Match) -> visibility.Clocks:
            idle = match.phase == "playing" and RULES.timing(match.hand).table
            running = None if idle else match.on_clock
            return visibility.Clocks(match.clocks, running, match.clock_from_ms)

        monkeypatch.setattr(visibility, "clocks", honest)

        assert _found().what == "view"

    def test_drawn_tile_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-74, XM-80: the tile that the other seat drew."""
        _show(
            monkeypatch,
            TileDrawn,
            lambda state, _event, _: view.DrawSeen(state.turn, state.drawn),
        )

        assert _found().what == "lines"

    def test_order_of_the_deal_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """XM-14: fixed at the deal, and nobody's to see."""

        def open_deal(after: Match, event: HandDealt, _viewer: Any) -> Any:
            return {"hand": event.hand, "order": after.hand.order}

        shown = {**visibility._SHOWN, HandDealt: open_deal}
        monkeypatch.setattr(visibility, "_SHOWN", shown)

        assert _found().what == "lines"

    def test_length_alone_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A view that is one space longer where a claim is possible."""
        side = view._side

        def padded(state: HandState, seat: Any, viewer: Any) -> Any:
            shown = side(state, seat, viewer)
            open_claim = state.phase == "offer" and bool(RULES.legal(state, state.turn))
            return {"held": size(state.concealed[seat]), "pad": " " * open_claim, "side": shown}

        monkeypatch.setattr(view, "_side", padded)

        assert _found().what == "view"


class TestNothingPlanted:
    def test_finds_nothing_where_there_is_nothing(self) -> None:
        assert ENGINE.tally(5_000, 60).leaks == []
