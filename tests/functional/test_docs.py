"""docs/api.md says what the server does: its requests are sent, its answers held to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from matches.live import routing
from matches.services.throttling import DEFAULTS
from ratings.services import apply_finished
from tests.functional.test_authz import routes
from tests.support import sitting
from tests.support.ahead import AheadStore
from tests.support.session import Session, Talk, parts

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
TEXT = (DOCS / "api.md").read_text()


@pytest.mark.django_db
class TestApiDocument:
    def test_is_what_the_server_says(
        self, rigged: Callable[[tuple[str, ...]], None], clock: AheadStore
    ) -> None:
        rigged(sitting.CHOW_OFFERED)

        def wait(ms: int) -> None:
            clock.ahead_ms += ms
            apply_finished()

        asked = Session(wait=wait, names=("ada", "ben", "cleo", "rob")).run(TEXT)

        assert asked == TEXT.count("```http") // 2
        assert asked >= 35

    def test_does_not_pass_whatever_is_said(
        self, rigged: Callable[[tuple[str, ...]], None], clock: AheadStore
    ) -> None:
        rigged(sitting.CHOW_OFFERED)
        wrong = TEXT.replace('"kind": "xqmj.claim_passed"', '"kind": "xqmj.chow_made"')

        with pytest.raises(AssertionError, match=r"the body\.events"):
            Session(wait=lambda _: None, names=("ada", "ben", "cleo", "rob")).run(wrong)
        assert clock.ahead_ms == 0


class TestSockets:
    def test_are_told_of_as_they_are(self) -> None:
        found = [part for part in parts(TEXT) if isinstance(part, Talk)]

        assert len(found) == 4

    @pytest.mark.django_db
    def test_do_not_pass_whatever_is_said(
        self, rigged: Callable[[tuple[str, ...]], None], clock: AheadStore
    ) -> None:
        rigged(sitting.CHOW_OFFERED)
        wrong = TEXT.replace('< {"id": "move-6", "problem"', '< {"id": "move-6", "answer"')

        with pytest.raises(AssertionError, match="the line"):
            Session(wait=lambda ms: _pass(clock, ms), names=("ada", "ben")).run(wrong)


def _pass(clock: AheadStore, ms: int) -> None:
    clock.ahead_ms += ms


class TestLimits:
    def test_are_those_of_the_server(self) -> None:
        rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\d+) \| (\d+) \|$", TEXT, re.MULTILINE)

        assert {scope: (int(count), int(seconds)) for scope, count, seconds in rows} == {
            scope: (limit.count, limit.seconds) for scope, limit in DEFAULTS.items()
        }


class TestAddresses:
    def test_are_all_named_somewhere(self) -> None:
        told = TEXT + (DOCS / "ratings.md").read_text()
        for name, route in routes().items():
            if name == "docs-script":
                continue  # a part of the page
            stem = re.sub(r"<[^>]+>", "[^/ `?]+", route)
            assert re.search(stem, told), f"{name}: {route}"

    def test_of_streams_are_named_too(self) -> None:
        stems = [str(route.pattern).strip("^$") for route in routing.streams.routes]

        named = [re.sub(r"\(\?P<[^)]+\)", "[^/ `?]+", stem) for stem in stems if stem]

        assert len(named) == 4
        for stem in named:
            assert re.search(f"GET /{stem}", TEXT), stem
