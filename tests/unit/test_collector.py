"""How often Python looks for garbage in a process that serves (docs/adr/0014)."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.support.servers import ROOT

_AFTER = """
import gc, json
from xqmj_site import collector
collector.seldom()
print(json.dumps([gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 1_000]))
"""


def test_it_goes_on_but_seldom_and_skips_what_was_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _AFTER], capture_output=True, check=True, cwd=ROOT, text=True
    )

    assert json.loads(done.stdout) == [True, [10_000, 20, 50], True]


def test_every_role_that_remembers_matches_asks_for_it() -> None:
    for entry_point in ("wsgi", "asgi"):
        text = (ROOT / "xqmj_site" / f"{entry_point}.py").read_text()
        assert re.search(r"\ncollector\.seldom\(\)\n\Z", text), entry_point
    assert "collector.seldom()" in (ROOT / "xqmj_site" / "celery.py").read_text()
