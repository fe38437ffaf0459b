"""Recorded matches, put into the database through the store."""

from __future__ import annotations

from typing import Any

from matches.domain import match as domain
from matches.eventstore import codec, sealing, store
from matches.eventstore.ids import new_match_id
from matches.services import steps
from tests.support.recording import Recorder, resigned


def recorder(seed: int, **setup: Any) -> Recorder:
    """A match that begins now, under an id of its own, its secret sealed as the server seals it."""
    return Recorder(seed, **_fresh(), **setup)


def ended(seed: int) -> Recorder:
    """A match that was given up in its second hand, not stored yet."""
    return resigned(seed, **_fresh())


def _fresh() -> dict[str, Any]:
    # Always of the same two: they could sit in one rated match only.
    return {"match_id": new_match_id(), "seal": sealing.seal, "rated": False}


def store_whole(log: Recorder) -> Recorder:
    """Put the match into the database as it stands; gives it back."""
    created, match = log.match.setup.created, log.match
    first, rest = log.rows[:1], log.rows[1:]
    begun = domain.begin(
        match_id=log.match_id.bytes, created=codec.decode(first[0]), secret=log.secret
    )
    made = store.create(
        match_id=log.match_id,
        creator=created.players[0] or "",
        key=None,
        rows=first,
        ruleset=created.ruleset,
        rules_version=created.rules_version,
        control=created.control,
        rated=created.rated,
        players=created.players,
        due=domain.due_at(begun),
    )
    assert made.outcome == "ok"
    if rest:
        done = store.append(
            match_id=log.match_id,
            expected_version=1,
            prev_hash=first[-1].hash,
            rows=rest,
            status=steps.status_of(match),
            due=domain.due_at(match),
            taken=steps.taken_by(codec.decode_rows(rest)),
            summary=steps.summary_of(match),
        )
        assert done.outcome == "ok"
    return log
