from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matches.domain.commands import Leave
from matches.domain.events import (
    MATCH_EVENTS,
    ClockCredited,
    Event,
    HandDealt,
    MatchEnded,
    SeatReady,
    SeatTaken,
    Stamped,
)
from matches.games.protocol import Seat
from matches.games.xqmj.events import EVENTS, HandWon, TileDrawn
from tests.support.replayer import Logged, Untrue, replay
from tests.support.roving import Roving
from tests.support.sitting import BEN, MATCH_ID, SECRET, Sitting

replaced = msgspec.structs.replace
TYPES: dict[str, type[Event]] = {
    **{event.KIND: event for event in MATCH_EVENTS},
    **{event.KIND: event for event in EVENTS},
}


def _log(roving: Roving) -> list[Logged]:
    return _logged(roving.sitting)


def _logged(sitting: Sitting) -> list[Logged]:
    return [
        Logged(stamped, effects)
        for stamped, effects in zip(sitting.log, sitting.effects, strict=True)
    ]


def _proves(roving: Roving, log: list[Logged]) -> bool:
    setup = roving.match.setup
    match = replay(log, match_id=setup.match_id, secret=setup.secret, gaps=roving.gaps)
    return match == roving.match


def _rewritten(stamped: Stamped) -> Stamped:
    """The event through JSON and back, its kind kept beside it."""
    text = msgspec.json.encode(stamped.event)
    event = msgspec.json.decode(text, type=TYPES[stamped.event.KIND])
    return Stamped(event, stamped.at_ms, stamped.actor)


class TestAnyLog:
    @settings(deadline=None, max_examples=50)
    @given(chance=st.randoms(use_true_random=False), steps=st.integers(0, 300))
    def test_is_proven_event_by_event(self, chance: random.Random, steps: int) -> None:
        roving = Roving(chance).play(steps=steps)

        assert _proves(roving, _log(roving))

    @pytest.mark.parametrize("seed", range(40))
    def test_of_a_whole_match_is_proven(self, seed: int) -> None:
        roving = Roving(random.Random(seed), hasty=seed % 3 > 0).play()

        assert _proves(roving, _log(roving))
        assert roving.match.ended is not None

    def test_of_a_declined_invitation_is_proven(self) -> None:
        sitting = Sitting(invited=BEN)
        sitting.send(9, BEN, Leave())

        match = replay(_logged(sitting), match_id=MATCH_ID, secret=SECRET, gaps=())

        assert match == sitting.match

    @pytest.mark.parametrize("seed", range(20))
    def test_folds_to_the_same_match_twice_and_through_json(self, seed: int) -> None:
        """I3."""
        sitting = Roving(random.Random(seed), hasty=seed % 2 == 0).play().sitting

        assert sitting.refolded() == sitting.match
        assert sitting.refolded() == sitting.match
        assert sitting.refolded([_rewritten(stamped) for stamped in sitting.log]) == sitting.match

    @pytest.mark.parametrize("seed", range(20))
    def test_is_written_with_the_same_bytes_again(self, seed: int) -> None:
        log = Roving(random.Random(seed)).play().sitting.log

        for stamped in log:
            again = _rewritten(stamped).event
            assert msgspec.json.encode(again) == msgspec.json.encode(stamped.event)

    @pytest.mark.parametrize("seed", range(40))
    def test_holds_no_tile_that_is_still_hidden(self, seed: int) -> None:
        """Draws follow from the secret alone."""
        log = Roving(random.Random(seed)).play().sitting.log

        drawn = [stamped.event for stamped in log if isinstance(stamped.event, TileDrawn)]
        assert {msgspec.json.encode(event) for event in drawn} <= {b"{}"}


def _bodies(event: Event) -> list[Event]:
    """The event with one field changed, in ways that no command and no rule can bring about."""
    lies: list[Event] = []
    if isinstance(event, HandWon):
        lies += [
            replaced(event, points=event.points + 1),
            replaced(event, seat=Seat(1 - event.seat)),
            replaced(event, lines=event.lines[1:]),
        ]
    if isinstance(event, HandDealt):
        lies += [
            replaced(event, dealer=Seat(1 - event.dealer)),
            replaced(event, hand=event.hand + 1),
        ]
    if isinstance(event, ClockCredited):
        lies += [
            replaced(event, credit_ms=event.credit_ms + 1),
            replaced(event, down_until_ms=event.down_until_ms + 1),
        ]
    if isinstance(event, MatchEnded):
        lies += [
            replaced(event, winner=Seat(0) if event.winner != 0 else Seat(1)),
            replaced(event, scores=(event.scores[0] + 1, event.scores[1])),
            replaced(event, reason="score" if event.reason == "flag" else "flag"),
            replaced(event, secret="00" * 32),
        ]
    if isinstance(event, SeatReady):
        lies += [replaced(event, hand=event.hand + 1), replaced(event, seat=Seat(1 - event.seat))]
    if isinstance(event, SeatTaken):
        lies += [replaced(event, seat=Seat(1 - event.seat))]
    clock = getattr(event, "clock", None)
    if clock is not None:
        lies += [
            replaced(event, clock=(clock[0], clock[1] + 1)),
            replaced(event, clock=(clock[0] + 1, clock[1])),
            replaced(event, clock=None),
        ]
    return lies


def _lies(log: list[Logged], at: int) -> list[list[Logged]]:
    """The log with one thing wrong at one place.

    A lie that could have been true is no lie: another legal discard, a command
    at another instant of its turn, a ready that nothing hangs on. The hash
    chain guards those, and the head guards the last event.
    """
    entry = log[at]
    stamped, effects = entry.stamped, entry.effects
    changed = [replaced(stamped, event=event) for event in _bodies(stamped.event)]
    if stamped.actor is None:
        changed += [replaced(stamped, at_ms=stamped.at_ms + ms) for ms in (-1, 1)]
        changed += [replaced(stamped, actor=seat) for seat in (Seat(0), Seat(1))]
    else:
        changed += [replaced(stamped, actor=seat) for seat in (None, Seat(1 - stamped.actor))]
    others = [Logged(lie, effects) for lie in changed]
    others += [Logged(stamped, (effects or 0) + 1)]
    lies = [[*log[:at], other, *log[at + 1 :]] for other in others]
    lies += [[*log[: at + 1], entry, *log[at + 1 :]]]
    if at + 1 < len(log) and not isinstance(stamped.event, SeatReady):
        lies += [[*log[:at], *log[at + 1 :]]]
        lies += [[*log[:at], log[at + 1], entry, *log[at + 2 :]]]
    return lies


class TestAnyLie:
    @pytest.mark.parametrize("seed", range(7))
    def test_is_found(self, seed: int) -> None:
        """No event can be changed, moved, left out or doubled."""
        roving = Roving(random.Random(seed), hasty=True).play()
        log = _log(roving)
        places = random.Random(seed).sample(range(1, len(log)), min(25, len(log) - 1))

        believed = [
            (at + 1, lie[at : at + 2])
            for at in sorted(places)
            for lie in _lies(log, at)
            if _is_believed(roving, lie)
        ]

        assert believed == []


def _is_believed(roving: Roving, log: list[Logged]) -> bool:
    try:
        return _proves(roving, log)
    except Untrue:
        return False


class TestReplayer:
    def test_wants_a_creation_first(self) -> None:
        roving = Roving(random.Random(1)).play(steps=50)

        with pytest.raises(Untrue):
            _proves(roving, _log(roving)[1:])

    def test_refuses_a_flag_that_fell_in_a_recorded_gap(self) -> None:
        roving = Roving(random.Random(3)).play()
        while not any(isinstance(entry.stamped.event, ClockCredited) for entry in _log(roving)):
            roving = Roving(roving.chance).play()
        log = _log(roving)
        at = next(i for i, e in enumerate(log) if isinstance(e.stamped.event, ClockCredited))

        with pytest.raises(Untrue) as untrue:
            _proves(roving, [*log[:at], *log[at + 1 :]])

        assert untrue.value.version > at


FINGERPRINT = """
import hashlib, random
import msgspec
from matches.domain import visibility
from matches.games.protocol import Auditor, Seat, SeatViewer, Spectator
from tests.support.roving import Roving

digest = hashlib.sha256()
for seed in range(6):
    sitting = Roving(random.Random(seed), hasty=seed % 2 == 0).play().sitting
    match = sitting.refolded()
    for viewer in (SeatViewer(Seat(0)), SeatViewer(Seat(1)), Spectator(), Auditor()):
        digest.update(msgspec.json.encode(visibility.view(match, viewer)))
    digest.update(msgspec.json.encode(sitting.log))
print(digest.hexdigest())
"""


class TestFreshProcess:
    def test_comes_to_the_same_bytes_whatever_the_seed_of_its_hashes(self) -> None:
        """I3."""
        digests = {
            subprocess.run(
                [sys.executable, "-c", FINGERPRINT],
                cwd=Path(__file__).parents[3],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
                text=True,
            ).stdout
            for seed in ("0", "4242")
        }

        assert len(digests) == 1
