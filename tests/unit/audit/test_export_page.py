from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from matches.audit.report import CHECKS, CODES
from matches.audit.verify import verify

PAGE = (Path(__file__).parents[3] / "docs" / "export.md").read_text(encoding="utf-8")
PROOF = PAGE.partition("## Proof")[2]


def example() -> dict[str, Any]:
    found = re.search(r"```json\n(.*?)\n```", PAGE, re.DOTALL)
    assert found is not None
    record: dict[str, Any] = json.loads(found.group(1))
    return record


class TestExample:
    def test_is_proven(self) -> None:
        assert verify(example()).ok

    def test_has_the_hash_that_the_page_computes(self) -> None:
        found = re.search(r"32 bytes `([0-9a-f]{64})` and of\n\n```\n(.*?)\n```", PAGE, re.DOTALL)
        assert found is not None
        before, text = bytes.fromhex(found.group(1)), found.group(2).encode()

        assert hashlib.sha256(before + text).hexdigest() == example()["head_hash"]

    def test_is_hashed_by_the_rule_on_the_page_alone(self) -> None:
        record, before = example(), bytes(32)
        for event in record["events"]:
            fields = ("seq", "kind", "v", "at_ms", "actor", "command", "payload")
            hashed = [record["match_id"], *(event[name] for name in fields)]
            text = json.dumps(
                hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False
            ).encode()
            before = hashlib.sha256(before + text).digest()

            assert before.hex() == event["hash"]


class TestTables:
    def test_list_every_check_and_code(self) -> None:
        rows = re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", PROOF, re.MULTILINE)

        assert [row for row in rows if row[0] in CHECKS] == list(CHECKS.items())
        assert [row for row in rows if row[0] in CODES] == list(CODES.items())
