"""Seeks over the real log: whoever accepts first plays, once, whatever crashes between."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from matches.domain.commands import Leave
from matches.eventstore import store
from matches.models import Seek
from matches.services import execute, housekeeping, lobby, offers, seeks
from matches.services.accounts import Identity
from matches.services.drafts import Terms
from matches.services.engine import Executed
from matches.services.errors import ServiceError
from matches.services.seeks import Range
from tests.support.offering import RACERS, code, in_thread, matches_of
from tests.support.seated import Seated, at_once, key

pytestmark = pytest.mark.django_db(transaction=True)

Make = Callable[..., Identity]
ANY = Range()


def average(**_asked: Any) -> int:
    """Everybody's rating."""
    return 1500


def opened(who: Identity, *, wanted: Range = ANY, rated: bool = False) -> Seek:
    """A new seek."""
    terms = Terms(ruleset="xqmj-32-2p", control="3+2", rated=rated)
    return seeks.open_seek(who=who, terms=terms, wanted=wanted, rating_of=average)


def accept(who: Identity, seek: Seek, **more: Any) -> Executed:
    """Accept a seek."""
    return seeks.accept(who=who, seek_id=seek.pk, rating_of=average, **more)


def left(seek: Seek, taker: Identity, *, ago_ms: int = lobby.FINISH_AFTER_MS) -> None:
    """Let a seek be accepted by somebody who does not come to make the match."""
    Seek.objects.filter(pk=seek.pk).update(taken_by=taker.id, taken_ms=store.now() - ago_ms)


class TestAccepting:
    def test_seats_both_in_the_reserved_match(self, player: Make) -> None:
        ana, ben = player(), player()
        seek = opened(ana)

        done = accept(ben, seek)

        assert done.entry.match_id == seek.match_id
        assert done.entry.match.players == (ana.id, ben.id)
        assert done.entry.match.phase == "readying"

    def test_is_won_by_one_of_sixteen(self, player: Make) -> None:
        ana, racers = player(), [player() for _ in range(RACERS)]
        seek = opened(ana)

        results = at_once(*[in_thread(partial(accept, one, seek, key=key())) for one in racers])

        won = [result for result in results if isinstance(result, Executed)]
        lost = [result for result in results if isinstance(result, ServiceError)]
        assert len(won) == 1
        assert [error.code for error in lost] == ["seek_taken"] * (RACERS - 1)
        assert matches_of(ana) == [seek.match_id]
        assert sum(len(matches_of(one)) for one in racers) == 1

    def test_repeated_at_once_makes_one_match(self, player: Make) -> None:
        ana, ben, named = player(), player(), key()
        seek = opened(ana)

        results = at_once(*[in_thread(lambda: accept(ben, seek, key=named))] * 8)

        assert {result.entry.match_id for result in results if isinstance(result, Executed)} == {
            seek.match_id
        }
        assert all(isinstance(result, Executed) for result in results), results
        commitments = {
            result.entry.match.setup.created.commitment
            for result in results
            if isinstance(result, Executed)
        }
        assert len(commitments) == 1

    def test_repeated_after_the_seek_is_forgotten_finds_the_match(self, player: Make) -> None:
        ana, ben, named = player(), player(), key()
        seek = opened(ana)
        accept(ben, seek, key=named)
        Seek.objects.filter(pk=seek.pk).delete()

        assert accept(ben, seek, key=named).replayed

    def test_under_the_key_of_another_request_is_refused(self, player: Make) -> None:
        ana, ben, named = player(), player(), key("one", body=1)
        accept(ben, opened(ana), key=named)
        other = opened(ana)

        assert code(lambda: accept(ben, other, key=key("one", body=2))) == "key_reused"
        assert Seek.objects.get(pk=other.pk).taken_by is None

    def test_is_refused_after_its_time(self, player: Make) -> None:
        ana, ben = player(), player()
        seek = opened(ana)
        Seek.objects.filter(pk=seek.pk).update(expires_ms=store.now())

        assert code(lambda: accept(ben, seek)) == "unknown_seek"
        assert seek not in seeks.open_seeks()

    @pytest.mark.parametrize(
        ("wanted", "fits"),
        [
            (Range(1500, 1500), True),
            (Range(1501, None), False),
            (Range(None, 1499), False),
            (Range(1400, None), True),
        ],
    )
    def test_is_for_ratings_within(self, player: Make, wanted: Range, fits: bool) -> None:
        seek, ben = opened(player(), wanted=wanted), player()

        if fits:
            assert accept(ben, seek).entry.match_id == seek.match_id
        else:
            assert code(lambda: accept(ben, seek)) == "rating_out_of_range"

    def test_a_rated_one_by_whoever_plays_leaves_it_open(self, player: Make) -> None:
        seek, busy = opened(player(), rated=True), player()
        Seated([busy], rated=True)

        assert code(lambda: accept(busy, seek)) == "already_playing"
        assert seek in seeks.open_seeks()

    def test_of_whoever_plays_meanwhile_ends_it(self, player: Make) -> None:
        ana = player()
        seek = opened(ana, rated=True)
        Seated([ana], rated=True)

        assert code(lambda: accept(player(), seek)) == "seek_taken"
        assert not Seek.objects.filter(pk=seek.pk).exists()


class TestOpening:
    def test_is_once_a_player(self, player: Make) -> None:
        ana = player()
        first = opened(ana)

        assert code(lambda: opened(ana)) == "seek_open"
        accept(player(), first)
        assert opened(ana) != first

    def test_goes_on_after_one_that_is_over(self, player: Make) -> None:
        ana = player()
        first = opened(ana)
        Seek.objects.filter(pk=first.pk).update(expires_ms=store.now())

        assert seeks.mine(ana.id) == []
        second = opened(ana)
        assert seeks.mine(ana.id) == [second]

    def test_at_once_opens_one(self, player: Make) -> None:
        ana = player()

        results = at_once(*[in_thread(lambda: opened(ana))] * 8)

        assert len([one for one in results if isinstance(one, Seek)]) == 1
        assert len(seeks.mine(ana.id)) == 1


class TestClosing:
    def test_takes_it_off_the_list(self, player: Make) -> None:
        ana = player()
        seek = opened(ana)

        seeks.close(who=ana, seek_id=seek.pk)

        assert seek not in seeks.open_seeks()
        assert code(lambda: accept(player(), seek)) == "unknown_seek"

    def test_against_accepting_lets_one_of_them_win(self, player: Make) -> None:
        for _ in range(8):
            ana, ben = player(), player()
            seek = opened(ana)

            closed, accepted = at_once(
                in_thread(partial(seeks.close, who=ana, seek_id=seek.pk)),
                in_thread(partial(accept, ben, seek)),
            )

            assert (closed is None) != isinstance(accepted, Executed), (closed, accepted)
            assert len(matches_of(ana)) == isinstance(accepted, Executed)


class TestTending:
    def test_makes_the_match_that_a_crash_left_out(self, player: Make) -> None:
        ana, ben = player(), player()
        seek = opened(ana)
        left(seek, ben)

        assert offers.tend() >= 1

        assert matches_of(ana) == matches_of(ben) == [seek.match_id]
        assert Seek.objects.get(pk=seek.pk).made

    def test_notices_the_match_that_was_made_before_a_crash(self, player: Make) -> None:
        ana, ben = player(), player()
        seek = opened(ana)
        first = accept(ben, seek)
        Seek.objects.filter(pk=seek.pk).update(made=False)
        left(seek, ben)

        offers.tend()

        entry = execute.observe(match_id=seek.match_id)
        assert entry.match.setup.created == first.entry.match.setup.created
        assert Seek.objects.get(pk=seek.pk).made

    def test_leaves_time_to_whoever_accepts_just_now(self, player: Make) -> None:
        ana, ben = player(), player()
        seek = opened(ana)
        left(seek, ben, ago_ms=0)

        offers.tend()

        assert matches_of(ana) == []
        assert accept(ben, seek).entry.match_id == seek.match_id

    def test_gives_back_what_a_busy_player_took(self, player: Make) -> None:
        ana, ben = player(), player()
        seek = opened(ana, rated=True)
        left(seek, ben)
        Seated([ben], rated=True)

        offers.tend()

        again = Seek.objects.get(pk=seek.pk)
        assert (again.taken_by, again.made) == (None, False)
        assert again.match_id != seek.match_id
        assert accept(player(), again).entry.match_id == again.match_id

    def test_ends_what_a_busy_player_took_where_there_is_another_open(self, player: Make) -> None:
        ana, ben = player(), player()
        seek = opened(ana, rated=True)
        left(seek, ben)
        Seated([ben], rated=True)
        other = opened(ana)

        offers.tend()

        assert seeks.mine(ana.id) == [other]


class TestForgetting:
    def test_keeps_what_is_open_unfinished_or_new(self, player: Make) -> None:
        old = store.now() - offers.SHOWN_MS
        taken, unmade, over, fresh = (opened(player()) for _ in range(4))
        accept(player(), taken)
        Seek.objects.filter(pk__in=[taken.pk, unmade.pk, over.pk]).update(expires_ms=old)
        Seek.objects.filter(pk=unmade.pk).update(taken_by=uuid4(), taken_ms=store.now())

        housekeeping.forget_expired()

        kept = Seek.objects.filter(pk__in=[taken.pk, unmade.pk, over.pk, fresh.pk])
        assert set(kept) == {unmade, fresh}


class TestRatedSeek:
    def test_is_free_again_after_the_match(self, player: Make) -> None:
        ana, ben = player(), player()
        done = accept(ben, opened(ana, rated=True))

        assert code(lambda: opened(ana, rated=True)) == "already_playing"
        execute.execute(match_id=done.entry.match_id, player=ben.id, body=Leave())
        assert opened(ana, rated=True).rated
