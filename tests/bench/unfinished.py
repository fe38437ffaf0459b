"""Writes matches that the table has to end: played as far as the last hand, and then left.

Lines: `write <count>`. They stand in the log as if they had been played an hour ago, so the sweep
finds a flag in each of them: it reads the whole match, folds it, and ends it.
"""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

import django

AGO_MS = 3_600_000
LAST_HAND = 6


def main() -> None:
    """Write as often as asked."""
    django.setup()
    from tests.bench import programs

    programs.serve(_write)


def _write(_write: str, count: str) -> dict[str, int]:
    events = sum(_written() for _ in range(int(count)))
    return {"events": events}


def _written() -> int:
    """Play a match up to a turn in its last hand and write it down; how many events it has."""
    from matches.bots.policies import Uniform
    from matches.domain import match as domain
    from matches.eventstore import sealing, store
    from matches.eventstore.ids import new_match_id
    from matches.eventstore.rows import LIVE
    from tests.support.recording import Recorder

    log = Recorder(
        random.randrange(2**32),
        # All of the same two players, who could sit in one rated match only.
        rated=False,
        match_id=(match_id := new_match_id()),
        begin_ms=store.now() - AGO_MS,
        seal=sealing.seal,
    )
    log.start()
    hasty: Any = Uniform(log.chance, takes_wins=True)
    log.play((hasty, hasty), until_hand=LAST_HAND)
    if log.match.ended is not None:
        return _written()
    created = store.create(
        match_id=match_id,
        creator=uuid4().hex,
        key=None,
        rows=log.rows[:1],
        ruleset="xqmj-32-2p",
        rules_version=1,
        control="3+2",
        rated=False,
        players=log.match.players,
        due=None,
    )
    appended = store.append(
        match_id=match_id,
        expected_version=1,
        prev_hash=log.rows[0].hash,
        rows=log.rows[1:],
        status=LIVE,
        due=domain.due_at(log.match),
    )
    assert (created.outcome, appended.outcome) == ("ok", "ok")
    return len(log.rows)


if __name__ == "__main__":
    main()
