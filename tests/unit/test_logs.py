"""Lines of the log that strangers have a hand in."""

from __future__ import annotations

import io
import json
import logging
import re
from typing import Any

import pytest
import structlog

from tests.faults.service import MISTAKES
from tests.support.servers import ROOT
from xqmj_site import logs


def line(form: str, message: str, **fields: Any) -> str:
    """Return what one event becomes in the log: through structlog, or `logging` without fields."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.formatter(form))
    logger = logging.getLogger("xqmj.test_logs")
    logger.addHandler(handler)
    try:
        if fields:
            structlog.get_logger("xqmj.test_logs").warning(message, **fields)
        else:
            logger.warning(message)
    finally:
        logger.removeHandler(handler)
    return written.getvalue().removesuffix("\n")


HOSTILE = [
    "two\nlines",
    "carriage\rreturn",
    "\x1b[31mred\x1b[0m",
    "bidi \u202e override",
    "zero\u200bwidth",
    "line\u2028separator",
    "bell\x07 and nul\x00",
]


@pytest.mark.parametrize("form", ["json", "text"])
class TestLine:
    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_stays_one_line_of_visible_letters(self, form: str, hostile: str) -> None:
        for written in (line(form, hostile), line(form, "name_taken", name=hostile)):
            assert written.isprintable()

    @pytest.mark.parametrize(
        "name", ["token", "Authorization", "password", "seal_key", "secret", "nonce", "set_cookie"]
    )
    def test_never_shows_a(self, form: str, name: str) -> None:
        written = line(form, "sent", **{name: "hunter2"})

        assert "hunter2" not in written
        assert "[redacted]" in written


class TestJson:
    def test_is_one_object_an_event(self) -> None:
        found = json.loads(line("json", "match_ended", reason="flag", seq=12))

        assert found["event"] == "match_ended"
        assert found["reason"] == "flag"
        assert found["seq"] == 12
        assert found["level"] == "warning"


class TestKnownRemarks:
    def test_are_dropped_and_nothing_else_is(self) -> None:
        known = logging.LogRecord(
            "_granian", 30, "", 1, "Configuration allows spawning up to 32 Python threads", (), None
        )
        other = logging.LogRecord("_granian", 30, "", 1, "Unexpected exit from worker-1", (), None)

        assert not logs.Known().filter(known)
        assert logs.Known().filter(other)


class TestMistakes:
    def test_are_all_that_processes_log_with_a_traceback(self) -> None:
        """A fault test that looks for other words would find nothing, whatever went wrong."""
        text = "".join(path.read_text() for path in (ROOT / "matches").rglob("*.py"))
        logged = re.findall(r'LOG\.(?:exception\(|error\((?=[^)]*exc_info))"([^"]+)"', text)

        assert set(MISTAKES) == set(logged)
