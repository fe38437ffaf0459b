"""How long the computer thinks about a decision of real play, and how long its tables take."""

from __future__ import annotations

import time

from matches.bots import missing
from matches.bots.expectation import look_ahead, warm
from matches.management.ladder.climb import Step, play

MATCHES = 100
BOTH_HIGHEST = Step(8, 8, (0.0, 1.0))
"""The highest level against itself: it never takes any action instead of thinking."""


def run() -> dict[str, float]:
    """Milliseconds of processor time: `decision_ms` a decision, on average; `tables_ms` at start.

    A decision has everything in it that the server will do for one: the chance
    of the action, the limit, and the choice.
    """
    look_ahead.cache_clear()
    missing.all_missing.cache_clear()
    begun_s = time.process_time()
    warm()
    tables_s = time.process_time() - begun_s
    played = play(BOTH_HIGHEST, seed="bench", first=0, count=MATCHES)
    return {
        "decision_ms": 1000 * played.thinking_s / played.decisions,
        "tables_ms": 1000 * tables_s,
    }
