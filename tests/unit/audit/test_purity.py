from __future__ import annotations

import subprocess
import sys

FOREIGN = {"django", "rest_framework", "celery", "psycopg", "psycopg_pool", "redis", "channels"}


class TestVerifier:
    def test_needs_no_framework_and_no_database(self) -> None:
        code = "import sys, matches.audit.verify; print(*{m.split('.')[0] for m in sys.modules})"

        loaded = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout.split()

        assert "msgspec" in loaded
        assert FOREIGN.isdisjoint(loaded)
