"""Clients of the services in one process: each answers one command of a match after another.

Lines: `run <threads> <seconds>`. The argument is how many matches to deal first.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any
from uuid import uuid4

import django

SETTING_UP = 4
"""Threads that deal the matches."""


def main() -> None:
    """Deal, then run as often as asked."""
    django.setup()
    from tests.bench import programs, rings

    with ThreadPoolExecutor(SETTING_UP) as threads:
        ring = deque(threads.map(rings.dealt, islice(rings.strangers(), int(sys.argv[1]))))

    def answer(_run: str, count: str, seconds: str) -> dict[str, Any]:
        end = time.monotonic() + float(seconds)
        with ThreadPoolExecutor(int(count)) as threads:
            done = list(threads.map(lambda _: _play(ring, end), range(int(count))))
        return {
            "rate": sum(rate for rate, _ in done),
            "left": len(ring),
            "took_s": [one for _, took in done for one in took],
        }

    programs.serve(answer)


def _play(ring: deque[Any], end: float) -> tuple[float, list[float]]:
    """Play on until an instant of the monotonic clock: commands a second, and what each took."""
    from matches.domain.commands import Act
    from matches.eventstore.rows import CommandKey
    from matches.services.execute import execute

    took: list[float] = []
    started = time.monotonic()
    while (begun := time.monotonic()) < end:
        match = ring.popleft()
        step = match.next()
        if step is None:
            continue
        seat, action = step
        begun = time.monotonic()
        execute(
            match_id=match.match_id,
            player=match.players[seat],
            body=Act(action),
            key=CommandKey(uuid4(), 1),
        )
        took.append(time.monotonic() - begun)
        match.done(action)
        ring.append(match)
    return len(took) / (time.monotonic() - started), took


if __name__ == "__main__":
    main()
