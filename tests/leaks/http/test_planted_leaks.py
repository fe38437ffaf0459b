"""Leaks planted over HTTP one at a time: the pairs of worlds are shown to find each."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from django.http import HttpResponse

from matches.api import etags, gate
from matches.api import matches as views
from matches.domain import match as domain
from matches.games.protocol import Rejected
from matches.games.xqmj import refusals, view
from matches.games.xqmj.events import ClaimPassed
from matches.services import matches as services
from matches.services import notices, steps
from matches.services.cache import Entry
from matches.services.errors import ServiceError
from tests.leaks.driver import Leak
from tests.leaks.engine.worlds import RULES
from tests.leaks.http import worlds
from tests.leaks.http.level import HTTP

PAIRS = 60


def found(first_seed: int = 7_007) -> Leak:
    """The first leak from a seed on, which is chosen so that it is not far."""
    leaks = HTTP.tally(first_seed, PAIRS).leaks
    assert leaks, "the planted leak was not found"
    return leaks[0]


class TestPlanted:
    def test_etag_of_the_whole_state_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        shown = views.shown

        def whole(entry: Entry, viewer: Any, *, status: int = 200) -> HttpResponse:
            answer = shown(entry, viewer, status=status)
            answer["ETag"] = etags.etag_of(msgspec.json.encode(entry.match.hand))
            return answer

        monkeypatch.setattr(views, "shown", whole)

        assert "ETag" in found(7_000).left

    def test_etag_of_the_version_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        shown = views.shown

        def versioned(entry: Entry, viewer: Any, *, status: int = 200) -> HttpResponse:
            answer = shown(entry, viewer, status=status)
            answer["ETag"] = f'"{entry.version}"'
            return answer

        monkeypatch.setattr(views, "shown", versioned)

        assert "ETag" in found().left

    def test_header_of_a_move_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        answered = gate.answered

        def counting(request: Any, view: Any) -> Any:
            response, headers = answered(request, view)
            return response, headers | {"X-Version": str(worlds._acting[0].match.version)}

        monkeypatch.setattr("matches.api.moves.answered", counting)

        assert "X-Version" in found().left

    def test_visible_pass_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        told: dict[Any, Any] = {
            **view._SHOW,
            ClaimPassed: lambda state, _event, _: view.PassSeen(state.turn),
        }
        monkeypatch.setattr(view, "_SHOW", told)

        assert found()

    def test_refusal_that_tells_of_a_claim_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        refusal = refusals.refusal

        def chatty(state: Any, seat: Any, action: Any, **options: Any) -> Rejected:
            if state.phase == "offer" and seat != state.turn and RULES.legal(state, state.turn):
                return Rejected("not_your_turn", rule="XM-25", waits_for="claim")
            return refusal(state, seat, action, **options)

        monkeypatch.setattr("matches.games.xqmj.rules.refusal", chatty)

        assert "/act" in found(7_016).what

    def test_stale_seq_by_the_version_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def by_version(entry: Entry, owed: Any, _viewer: Any, expected_seq: int | None) -> None:
            if expected_seq is not None:
                raise ServiceError("stale_seq", {"seq": entry.version + len(owed)})

        monkeypatch.setattr(steps, "check_seen", by_version)

        assert "stale_seq" in found().left

    def test_raw_due_instant_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = services.now

        def raw(entry: Entry, **_: Any) -> services.Now:
            due = domain.due_at(entry.match)
            at_ms = None if due is None else due.at_ms
            return msgspec.structs.replace(now(entry), due_at_ms=at_ms)

        monkeypatch.setattr(services, "now", raw)

        assert found()

    def test_count_of_events_in_a_header_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        headers = gate._headers

        def timed(request: Any, response: Any) -> dict[str, str]:
            version = worlds._acting[0].match.version
            return headers(request, response) | {"Server-Timing": f"fold;desc={version}"}

        monkeypatch.setattr(gate, "_headers", timed)

        assert "Server-Timing" in found().left

    def test_list_that_knows_when_a_match_last_moved_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        summary = views._summary

        def moved(listed: Any, *args: Any) -> Any:
            at_ms = worlds._acting[0].match.at_ms
            return msgspec.structs.replace(summary(listed, *args), ended_at_ms=at_ms)

        monkeypatch.setattr(views, "_summary", moved)

        assert "limit=5" in found(7_018).what

    def test_poll_that_ends_with_any_commit_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def hasty(*, match_id: Any, player: Any, after: int = 0, wait_s: float = 0) -> Any:
            looked = services._events(match_id, player, after)
            if wait_s:
                with notices.waiting(match_id) as waiter:
                    assert waiter is not None
                    waiter.wait(wait_s)
                looked = services._events(match_id, player, after)
            return looked

        monkeypatch.setattr(services, "events", hasty)

        assert "wait=3" in found(7_039).what

    def test_poll_whose_beat_is_moved_by_a_commit_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def moved(*, match_id: Any, player: Any, after: int = 0, wait_s: float = 0) -> Any:
            until_s = worlds._monotonic() + wait_s
            with notices.waiting(match_id) as waiter:
                while True:
                    looked = services._events(match_id, player, after)
                    left_s = until_s - worlds._monotonic()
                    if looked.events or left_s <= 0 or waiter is None:
                        return looked
                    waiter.wait(min(left_s, services.FALLBACK_POLL_S))

        monkeypatch.setattr(services, "events", moved)

        assert "wait=3" in found(7_039).what

    def test_command_that_is_told_what_came_since_is_found(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        result = services.result

        def since(executed: Any, player: str) -> services.Result:
            told = result(executed, player)
            return msgspec.structs.replace(told, seq=executed.entry.version)

        monkeypatch.setattr(services, "result", since)

        assert found()

    def test_nothing_is_found_where_nothing_was_planted(self) -> None:
        assert HTTP.tally(7_000, 5).leaks == []
