"""How long a hostile body of the full size holds up the server before it is refused."""

from __future__ import annotations

import time

from matches.services import parsing
from matches.services.problems import Problem
from tests.bench.figures import Figure, Target
from tests.bench.stage import Say, Size, Stage
from tests.support.hostile import HOSTILE

ROUNDS = 9


def run(_stage: Stage, _size: Size, _say: Say) -> list[Figure]:
    """Processor time of the slowest of them, each the best of some rounds."""
    slowest_ms = max(min(_took_ms(raw) for _ in range(ROUNDS)) for raw, _ in HOSTILE)
    return [
        Figure(
            bench="parsing",
            name="slowest refusal of a hostile body",
            value=slowest_ms,
            unit="ms",
            target=Target("<=", 50),
            note=f"of {len(HOSTILE)} bodies of about {parsing.BODY_BYTES // 1024} KiB",
        )
    ]


def _took_ms(raw: bytes) -> float:
    began_s = time.process_time()
    try:
        parsing.decode(raw)
    except Problem:
        return (time.process_time() - began_s) * 1000
    raise AssertionError("a hostile body was read")
