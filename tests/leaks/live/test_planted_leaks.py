"""Leaks planted in the live stream one at a time: the pairs of worlds are shown to find each."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from matches.games.protocol import Auditor
from matches.games.xqmj import view
from matches.games.xqmj.events import ClaimPassed
from matches.live import streams
from tests.leaks.driver import Leak
from tests.leaks.http import worlds
from tests.leaks.live.level import LIVE

PAIRS = 60


def found() -> Leak:
    leaks = LIVE.tally(7_000, PAIRS).leaks
    assert leaks, "the planted leak was not found"
    return leaks[0]


class TestPlanted:
    def test_visible_pass_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told: dict[Any, Any] = {
            **view._SHOW,
            ClaimPassed: lambda state, _event, _: view.PassSeen(state.turn),
        }
        monkeypatch.setattr(view, "_SHOW", told)

        leak = found()

        assert "claim_passed" in leak.left + leak.right

    def test_empty_line_at_any_notice_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told = streams._told

        async def as_if_not_told(woken: asyncio.Event, within_s: float) -> bool:
            await told(woken, within_s)
            return False

        monkeypatch.setattr(streams, "_told", as_if_not_told)

        leak = found()

        # One of the two worlds was sent nothing, or something else.
        assert leak.left.count("'body'") != leak.right.count("'body'")

    def test_beat_that_is_moved_by_a_notice_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told = streams._told

        async def anew(woken: asyncio.Event, _within_s: float) -> bool:
            return await told(woken, streams.LOOK_S)

        monkeypatch.setattr(streams, "_told", anew)

        assert found()

    def test_resumption_by_the_number_in_the_log_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(streams, "viewer_of", lambda *_: Auditor())

        leak = found()

        assert "seq_ahead" in leak.left + leak.right

    def test_count_of_events_in_a_header_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        headers = streams._headers

        def counted(content_type: bytes) -> streams.Headers:
            version = worlds._acting[0].match.version
            return [*headers(content_type), (b"x-version", b"%d" % version)]

        monkeypatch.setattr(streams, "_headers", counted)

        assert "x-version" in found().left

    def test_nothing_is_found_where_nothing_was_planted(self) -> None:
        assert LIVE.tally(7_000, 5).leaks == []
