"""The verifier against an independent reading of the same logs: both find the same first fault."""

from __future__ import annotations

import random
from collections.abc import Sequence
from uuid import UUID

import msgspec
import pytest

from matches.audit.report import Report
from matches.eventstore import codec, hashing
from matches.eventstore.rows import Row
from matches.games.protocol import Seat
from tests.support.recording import prove
from tests.support.replayer import Logged, Untrue, replay
from tests.support.roving import Roving
from tests.support.sitting import MATCH_ID

SEEDS = range(40)


def written(log: Sequence[Logged]) -> tuple[Row, ...]:
    """The rows of a log, each command under a name of its own."""
    rows = codec.new_rows(
        [logged.stamped for logged in log],
        match_id=UUID(bytes=MATCH_ID),
        after=0,
        prev_hash=hashing.GENESIS,
    )
    named = [
        row if logged.effects is None else _named(row, logged.effects)
        for row, logged in zip(rows, log, strict=True)
    ]
    return hashing.chain(hashing.GENESIS, UUID(bytes=MATCH_ID), named)


def _named(row: Row, effects: int) -> Row:
    return msgspec.structs.replace(
        row, command_id=UUID(int=row.seq), fingerprint=row.seq, effects=effects
    )


def verified(roving: Roving, log: Sequence[Logged], *, gaps: bool = True) -> Report:
    rows = written(log)
    return prove(
        match_id=UUID(bytes=MATCH_ID),
        version=len(rows),
        head_hash=rows[-1].hash,
        rows=rows,
        secret=roving.match.setup.secret,
        gaps=tuple(roving.gaps) if gaps else None,
    )


def logged(roving: Roving) -> list[Logged]:
    pairs = zip(roving.sitting.log, roving.sitting.effects, strict=True)
    return [Logged(stamped, effects) for stamped, effects in pairs]


def first_fault(roving: Roving, log: Sequence[Logged]) -> int | None:
    """Where the other reading stops, None where it goes through."""
    setup = roving.match.setup
    try:
        replay(log, match_id=MATCH_ID, secret=setup.secret, gaps=roving.gaps)
    except Untrue as untrue:
        return untrue.version
    return None


def falsified(log: Sequence[Logged], chance: random.Random) -> list[Logged]:
    """The log with one thing changed somewhere after its first event."""
    changed, at = list(log), chance.randrange(1, len(log))
    stamped, effects = log[at].stamped, log[at].effects
    change = chance.randrange(6)
    if change == 0:
        del changed[at]
    elif change == 1:
        changed.insert(at, chance.choice(log[1:]))
    elif change == 2:
        changed[at], changed[at - 1] = changed[at - 1], changed[at]
    elif change == 3:
        moved = stamped.at_ms + chance.choice((-1, 1, 100))
        changed[at] = Logged(msgspec.structs.replace(stamped, at_ms=moved), effects)
    elif change == 4:
        actor = chance.choice((None, Seat(0), Seat(1)))
        changed[at] = Logged(msgspec.structs.replace(stamped, actor=actor), effects)
    else:
        event = chance.choice(log[1:]).stamped.event
        changed[at] = Logged(msgspec.structs.replace(stamped, event=event), effects)
    return changed


@pytest.fixture(scope="module")
def rovings() -> list[Roving]:
    return [Roving(random.Random(seed), hasty=seed % 2 == 0).play() for seed in SEEDS]


class TestAnyLog:
    @pytest.mark.parametrize("gaps", [True, False])
    def test_is_proven(self, rovings: list[Roving], gaps: bool) -> None:
        for roving in rovings:
            report = verified(roving, logged(roving), gaps=gaps)

            assert report.ok, report.message
            assert report.events == len(roving.sitting.log)


class TestFalsifiedLog:
    @pytest.mark.parametrize("seed", SEEDS)
    def test_is_wrong_at_the_same_event_for_both(self, rovings: list[Roving], seed: int) -> None:
        chance, roving = random.Random(seed), rovings[seed]
        for _ in range(10):
            log = falsified(logged(roving), chance)

            report = verified(roving, log)

            assert report.first_wrong == first_fault(roving, log), report.message
