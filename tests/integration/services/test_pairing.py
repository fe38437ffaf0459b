"""Quick pairing over the real log: whoever waits gets one match, whatever races or crashes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connections

from matches.eventstore import store
from matches.models import Pairing
from matches.services import execute, housekeeping, lobby, pairing
from matches.services.accounts import Identity
from matches.services.errors import ServiceError
from matches.worker import LobbyLoop
from tests.support.seated import Seated, at_once

pytestmark = pytest.mark.django_db(transaction=True)

Make = Callable[..., Identity]
RACERS = 16
CASUAL = pairing.Pool("xqmj-32-2p", "3+2", rated=False)
RATED = pairing.Pool("xqmj-32-2p", "3+2", rated=True)


@pytest.fixture(autouse=True)
def _nobody_waits(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("_django_db_helper")
    Pairing.objects.all().delete()


def enter(who: Identity, pool: pairing.Pool = CASUAL, *, rating: int | None = 1500) -> Pairing:
    """Let somebody of a rating wait."""
    return pairing.enter(who=who, pool=pool, rating_of=lambda **_: rating)


def come(who: Identity, pool: pairing.Pool = CASUAL) -> None:
    """Enter and pair, as a request does, with a connection of one's own."""
    try:
        enter(who, pool)
        pairing.pair(pool)
    finally:
        connections.close_all()


def code(call: Callable[[], Any]) -> str:
    """The refusal of a call; it must be one."""
    with pytest.raises(ServiceError) as refused:
        call()
    return refused.value.code


def matches_of(who: Identity) -> list[str]:
    """All matches of a player."""
    return [listed.match_id.hex for listed in store.my_matches(who.id, limit=50)]


def stands(who: Identity) -> tuple[bool, bool]:
    """Whether the player is paired, and has the match."""
    found = pairing.state(who.id)
    assert found is not None
    return found.match_id is not None, found.made


def paired_by_hand(one: Identity, other: Identity, pool: pairing.Pool = CASUAL) -> None:
    """Let two be paired by somebody who does not come to make the match."""
    enter(one, pool)
    enter(other, pool)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pairing, "_finish", lambda _: None)
        assert pairing.pair(pool) == 1
    Pairing.objects.filter(player__in=[one.id, other.id]).update(
        paired_ms=store.now() - lobby.FINISH_AFTER_MS
    )


class TestPair:
    def test_gives_both_the_same_match(self, player: Make) -> None:
        ana, ben = player(), player()
        enter(ana)
        enter(ben)

        assert pairing.pair(CASUAL) == 1

        found = pairing.state(ana.id)
        assert found is not None
        assert found.match_id is not None
        entry = execute.observe(match_id=found.match_id)
        assert set(entry.match.players) == {ana.id, ben.id}
        assert matches_of(ana) == matches_of(ben) == [found.match_id.hex]
        assert stands(ana) == stands(ben) == (True, True)

    def test_keeps_pools_apart(self, player: Make) -> None:
        enter(player())
        enter(player(), RATED)
        enter(player(), CASUAL._replace(control="1+1"))

        assert pairing.tend() == 0

    def test_lets_strangers_in_strength_wait(self, player: Make) -> None:
        ana, ben = player(), player()
        enter(ana, rating=1500)
        enter(ben, rating=1700)
        first = pairing.pair(CASUAL)
        Pairing.objects.filter(player=ana.id).update(since_ms=store.now() - 15_000)

        assert (first, pairing.pair(CASUAL)) == (0, 1)

    def test_leaves_out_whoever_has_waited_too_long(self, player: Make) -> None:
        ana, ben = player(), player()
        enter(ana)
        Pairing.objects.filter(player=ana.id).update(expires_ms=store.now())
        enter(ben)

        assert pairing.pair(CASUAL) == 0
        assert pairing.state(ana.id) is None
        assert enter(ana).match_id is None

    def test_of_sixteen_who_come_at_once_gives_each_one_match(self, player: Make) -> None:
        racers = [player() for _ in range(RACERS)]

        results = at_once(*[partial(come, one, RATED) for one in racers])
        pairing.tend()

        assert results == [None] * RACERS
        found = [matches_of(one) for one in racers]
        assert [len(own) for own in found] == [1] * RACERS
        assert len({own[0] for own in found}) == RACERS // 2
        assert all(stands(one) == (True, True) for one in racers)

    def test_called_at_once_pairs_nobody_twice(self, player: Make) -> None:
        racers = [player() for _ in range(RACERS)]
        for one in racers:
            enter(one)

        def pair() -> int:
            try:
                return pairing.pair(CASUAL)
            finally:
                connections.close_all()

        results = at_once(*[pair] * 8)
        pairing.tend()

        assert not [one for one in results if isinstance(one, Exception)]
        assert [len(matches_of(one)) for one in racers] == [1] * RACERS


class TestEnter:
    def test_is_once_a_player(self, player: Make) -> None:
        ana = player()
        enter(ana)

        assert code(lambda: enter(ana)) == "already_waiting"

    def test_goes_on_after_a_match_was_made(self, player: Make) -> None:
        ana, ben = player(), player()
        come(ana)
        come(ben)

        assert enter(ana).match_id is None

    def test_waits_for_the_match_of_whoever_is_paired(self, player: Make) -> None:
        ana, ben = player(), player()
        paired_by_hand(ana, ben)

        assert code(lambda: enter(ana)) == "already_waiting"

    def test_is_refused_to_whoever_plays_rated(self, player: Make) -> None:
        ana = player()
        Seated([ana], rated=True)

        assert code(lambda: enter(ana, RATED)) == "already_playing"
        assert enter(ana).rated is False


class TestLeave:
    def test_ends_the_wait(self, player: Make) -> None:
        ana, ben = player(), player()
        enter(ana)
        pairing.leave(who=ana)
        enter(ben)

        assert pairing.pair(CASUAL) == 0
        assert code(lambda: pairing.leave(who=ana)) == "not_waiting"

    def test_comes_too_late_after_being_paired(self, player: Make) -> None:
        ana, ben = player(), player()
        paired_by_hand(ana, ben)

        assert code(lambda: pairing.leave(who=ana)) == "already_paired"


class TestTend:
    def test_makes_the_match_that_a_crash_left_out(self, player: Make) -> None:
        ana, ben = player(), player()
        paired_by_hand(ana, ben)

        pairing.tend()

        assert matches_of(ana) == matches_of(ben)
        assert len(matches_of(ana)) == 1
        assert stands(ana) == stands(ben) == (True, True)

    def test_lets_the_other_wait_on_where_one_plays_by_now(self, player: Make) -> None:
        ana, ben, eve = player(), player(), player()
        paired_by_hand(ana, ben, RATED)
        Seated([ben], rated=True)

        pairing.tend()

        assert pairing.state(ben.id) is None
        assert stands(ana) == (False, False)
        come(eve, RATED)
        assert matches_of(ana) == matches_of(eve)

    def test_is_what_the_worker_does(self, player: Make) -> None:
        ana, ben = player(), player()
        enter(ana)
        enter(ben)

        assert LobbyLoop().once() == 1.0

        assert stands(ana) == (True, True)


class TestForgetting:
    def test_keeps_what_is_waited_for(self, player: Make) -> None:
        over, made, unmade, fresh = (player() for _ in range(4))
        come(made)
        come(player())
        paired_by_hand(unmade, player())
        enter(over, CASUAL._replace(control="1+1"))
        enter(fresh, CASUAL._replace(control="5+5"))
        old = store.now() - pairing.SHOWN_MS
        Pairing.objects.exclude(player=fresh.id).update(expires_ms=old)

        housekeeping.forget_expired()

        asked = [one.id for one in (over, made, unmade, fresh)]
        kept = Pairing.objects.filter(player__in=asked).values_list("player", flat=True)
        assert {player.hex for player in kept} == {unmade.id, fresh.id}
