"""When players were last heard of, as the database keeps it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from uuid import uuid4

import psycopg
import pytest

from matches.eventstore import presence, store
from tests.support.seated import at_once


@pytest.fixture(autouse=True)
def _empty(owner: psycopg.Connection) -> Iterator[None]:
    yield
    owner.execute("DELETE FROM matches_presence")


def test_is_not_known_of_whoever_never_came() -> None:
    assert presence.seen_ms(uuid4().hex) is None


def test_is_the_database_clock_of_the_newest_note() -> None:
    player, before_ms = uuid4().hex, store.now()
    presence.note([player])
    first_ms = presence.seen_ms(player)
    assert first_ms is not None
    assert before_ms <= first_ms <= store.now()

    presence.note([player, uuid4().hex, player])

    again_ms = presence.seen_ms(player)
    assert again_ms is not None
    assert again_ms >= first_ms


def test_never_goes_back(owner: psycopg.Connection) -> None:
    player, later_ms = uuid4().hex, store.now() + 60_000
    owner.execute("INSERT INTO matches_presence VALUES (%s, %s)", (player, later_ms))

    presence.note([player])

    assert presence.seen_ms(player) == later_ms


def test_many_note_the_same_players_in_any_order_and_none_waits_for_another() -> None:
    players = [uuid4().hex for _ in range(50)]

    def note(number: int) -> None:
        chance = random.Random(number)
        for _ in range(20):
            presence.note(chance.sample(players, 30))

    results = at_once(*(partial(note, number) for number in range(8)))

    assert results == [None] * 8
    assert all(presence.seen_ms(player) for player in players)


def test_is_forgotten_after_a_day_and_not_before(owner: psycopg.Connection) -> None:
    old, recent, now_ms = uuid4().hex, uuid4().hex, store.now()
    owner.execute("INSERT INTO matches_presence VALUES (%s, %s)", (old, now_ms - 86_400_001))
    owner.execute("INSERT INTO matches_presence VALUES (%s, %s)", (recent, now_ms - 86_000_000))

    assert presence.forget_old() == 1

    assert presence.seen_ms(old) is None
    assert presence.seen_ms(recent) == now_ms - 86_000_000
