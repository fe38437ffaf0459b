"""Leaks planted in the live stream one at a time: the pairs of worlds are shown to find each."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import msgspec
import pytest

from matches.games.protocol import Auditor, Viewer
from matches.games.xqmj import view
from matches.games.xqmj.events import ClaimPassed
from matches.live import following, sockets, streams
from matches.live.asking import Asker
from matches.services.cache import Entry
from matches.services.shown import MatchAnswer, match_answer
from tests.leaks.driver import Leak, Level
from tests.leaks.http import worlds
from tests.leaks.live.level import LIVE
from tests.leaks.live.sockets import SOCKETS
from tests.leaks.live.worlds import LiveWorld

PAIRS = 60


def found(level: Level[LiveWorld] = LIVE) -> Leak:
    leaks = level.tally(7_000, PAIRS).leaks
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
        told = following._told

        async def as_if_not_told(woken: asyncio.Event, within_s: float) -> bool:
            await told(woken, within_s)
            return False

        monkeypatch.setattr(following, "_told", as_if_not_told)

        leak = found()

        # One of the two worlds was sent nothing, or something else.
        assert leak.left.count("'body'") != leak.right.count("'body'")

    def test_beat_that_is_moved_by_a_notice_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told = following._told

        async def anew(woken: asyncio.Event, _within_s: float) -> bool:
            return await told(woken, following.LOOK_S)

        monkeypatch.setattr(following, "_told", anew)

        assert found()

    def test_resumption_by_the_number_in_the_log_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(following, "viewer_of", lambda *_: Auditor())

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


class TestPlantedInSockets:
    def test_visible_pass_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told: dict[Any, Any] = {
            **view._SHOW,
            ClaimPassed: lambda state, _event, _: view.PassSeen(state.turn),
        }
        monkeypatch.setattr(view, "_SHOW", told)

        leak = found(SOCKETS)

        assert "claim_passed" in leak.left + leak.right

    def test_empty_line_at_any_notice_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told = following._told

        async def as_if_not_told(woken: asyncio.Event, within_s: float) -> bool:
            await told(woken, within_s)
            return False

        monkeypatch.setattr(following, "_told", as_if_not_told)

        leak = found(SOCKETS)

        assert "'text', ''" in leak.left + leak.right

    def test_number_of_the_log_in_an_answer_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        answered = sockets._answered

        def counted(match_id: UUID, asker: Asker, text: str) -> Any:
            done = answered(match_id, asker, text)
            return {"version": worlds._acting[0].match.version, "done": done}

        monkeypatch.setattr(sockets, "_answered", counted)

        assert "version" in found(SOCKETS).left

    def test_number_of_the_log_in_a_view_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        shown = match_answer

        def counted(entry: Entry, viewer: Viewer) -> MatchAnswer:
            return msgspec.structs.replace(shown(entry, viewer), seq=entry.version)

        monkeypatch.setattr(sockets, "match_answer", counted)

        assert "snapshot" in found(SOCKETS).left
