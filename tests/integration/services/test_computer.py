"""The computer's seat over PostgreSQL, its loop in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import psycopg
import pytest

from matches.eventstore import store, turns
from matches.services import notices
from matches.services.accounts import Identity
from matches.services.computer import Computer
from matches.services.turns import turn_of
from matches.worker import ComputerLoop
from tests.support.guests_table import GuestsTable
from tests.support.seated import at_once, process
from tests.support.servers import Servers
from tests.support.waiting import until

Make = Callable[..., Identity]


@pytest.fixture(autouse=True)
def _nobody_else_s(servers: Servers) -> Iterator[None]:
    """No reminder is left of matches that other tests have left, nor of these for them."""
    notices.flush()
    with psycopg.connect(servers.owner_url, autocommit=True) as owner:
        owner.execute("DELETE FROM matches_computer_turn")
        yield
        notices.flush()
        owner.execute("DELETE FROM matches_computer_turn")


@pytest.fixture
def table(player: Make) -> GuestsTable:
    return GuestsTable(player("guest"))


def computer() -> Computer:
    """The computer as another process plays it."""
    return Computer(process(may_beat=False))


def until_due(table: GuestsTable) -> int:
    """Go on until the computer is to discard, and wait for that; gives the version."""
    answering = computer()

    def to_discard() -> bool:
        table.step()
        entry = table.observe()
        turn = turn_of(entry)
        if turn is None or turn.due_ms is None:
            return False
        if getattr(entry.match.hand, "phase", None) != "offer":
            return True
        # What it may claim lies until it has answered, and no worker does it here.
        answering.play(table.match_id)
        return False

    assert until(to_discard, within_s=60)
    turn = turn_of(table.observe())
    assert turn is not None
    assert turn.due_ms is not None
    time.sleep(max(0, turn.due_ms - store.now() + 5) / 1000)
    return table.observe().version


class TestLoop:
    def test_plays_in_time(self, table: GuestsTable) -> None:
        loop = ComputerLoop(computer())
        loop.start()
        try:
            assert table.play(until=3, within_s=60)
        finally:
            loop.stop()
        entry = table.observe()
        log = entry.history.events(entry.version)
        for before, after in pairwise(log):
            waited_ms = after.at_ms - before.at_ms
            if after.actor == 1 and before.event.KIND == "xqmj.tile_drawn":
                assert 600 <= waited_ms < 2_500 + 1_000
            elif after.event.KIND == "xqmj.claim_passed" and after.actor == 1:
                assert 300 <= waited_ms < 1_500

    def test_is_reminded_of_each_turn(self, table: GuestsTable) -> None:
        """By the process that committed what came before, which need not be a worker."""
        until_due(table)
        notices.flush()

        taken = turns.take(50)

        assert table.match_id in taken.match_ids

    def test_finds_what_nobody_reminds_it_of(self, table: GuestsTable, servers: Servers) -> None:
        version = until_due(table)
        notices.flush()
        with psycopg.connect(servers.owner_url, autocommit=True) as owner:
            owner.execute("DELETE FROM matches_computer_turn")

        found = computer()
        assert found.play_due().taken == 0
        found.heal()
        found.play_due()

        assert table.observe().version > version


class TestTurn:
    def test_is_played_once_by_many_at_once(self, table: GuestsTable) -> None:
        until_due(table)
        before = table.discards()
        many = [computer() for _ in range(6)]

        at_once(*[lambda one=one: one.play(table.match_id) for one in many])

        assert table.discards() + len(table.observe().match.outcomes) == before + 1
