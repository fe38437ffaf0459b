"""Who was heard of is written down: at once where somebody comes back, else now and then."""

from __future__ import annotations

import time
from collections.abc import Collection

import pytest

from matches.eventstore import presence as rows
from matches.services import presence
from matches.services.presence import Noted


class Clock:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def monotonic(self) -> float:
        """Now."""
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    monkeypatch.setattr(presence, "time", moved)
    return moved


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The players that were written down, in order."""
    players: list[str] = []

    def note(batch: Collection[str]) -> None:
        players.extend(batch)

    monkeypatch.setattr(rows, "note", note)
    return players


def test_who_comes_is_written_down_at_once(written: list[str]) -> None:
    noted = Noted()
    noted.note("ana")
    end_s = time.monotonic() + 10
    while not written and time.monotonic() < end_s:
        time.sleep(0.005)

    # Nobody asked for it: it did not wait for the second in which others come together.
    assert written == ["ana"]
    noted.flush()


def test_who_stays_is_written_down_every_three_seconds(clock: Clock, written: list[str]) -> None:
    noted = Noted()
    for _ in range(61):
        noted.note("ana")
        clock.now_s += 0.5
    noted.flush()

    # In thirty seconds, of which the first counts too.
    assert written == ["ana"] * 11


def test_what_is_on_record_is_never_older_than_is_allowed_for() -> None:
    at_most_s = presence.FRESH_S + presence.TOGETHER_S

    assert 1_000 * (at_most_s + 0.5) <= presence.UNCERTAIN_MS


def test_a_failure_is_no_failure_of_the_request(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, written: list[str]
) -> None:
    note = rows.note

    def away(_batch: Collection[str]) -> None:
        raise ConnectionError

    noted = Noted()
    monkeypatch.setattr(rows, "note", away)
    noted = Noted()
    noted.note("ana")
    noted.flush()
    monkeypatch.setattr(rows, "note", note)

    later = Noted()
    clock.now_s += 3
    later.note("ana")
    later.flush()

    assert written == ["ana"]


@pytest.mark.usefixtures("clock")
def test_who_was_not_written_down_comes_back_with_the_next_request(
    monkeypatch: pytest.MonkeyPatch, written: list[str]
) -> None:
    note, failures = rows.note, [ConnectionError(), None]

    def once(batch: Collection[str]) -> None:
        if failures.pop(0):
            raise ConnectionError
        note(batch)

    monkeypatch.setattr(rows, "note", once)
    noted = Noted()
    noted.note("ana")
    end_s = time.monotonic() + 10
    while len(failures) == 2 and time.monotonic() < end_s:
        time.sleep(0.005)
    time.sleep(0.05)
    noted.note("ana")
    noted.flush()

    # Without a moment having passed on the clock.
    assert written == ["ana"]


def test_few_are_remembered(
    clock: Clock, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "REMEMBERED", 3)
    noted = Noted()
    for player in ("ana", "ben", "eve", "joe", "kim"):
        noted.note(player)
    clock.now_s += 1
    noted.note("ana")
    noted.note("kim")
    noted.flush()

    # Kim is still known to have been noted, Ana is not.
    assert sorted(written) == ["ana", "ana", "ben", "eve", "joe", "kim"]
