"""Challenges over the real log: one match at most, whoever accepts, declines or cancels when."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from matches.domain.commands import Leave
from matches.eventstore import store
from matches.models import Challenge
from matches.services import challenges, execute, housekeeping, lobby, offers
from matches.services.accounts import Identity
from matches.services.drafts import Terms
from matches.services.engine import Executed
from matches.services.errors import ServiceError
from tests.support.offering import RACERS, code, in_thread, matches_of
from tests.support.seated import Seated, at_once, key

pytestmark = pytest.mark.django_db(transaction=True)

Make = Callable[..., Identity]


def challenged(who: Identity, whom: Identity, *, rated: bool = False) -> Challenge:
    """A new challenge."""
    terms = Terms(ruleset="xqmj-32-2p", control="3+2", rated=rated)
    with transaction.atomic():
        return challenges.challenge(who=who, opponent=str(whom.username), terms=terms)


def accept(who: Identity, one: Challenge, **more: Any) -> Executed:
    """Accept a challenge."""
    return challenges.accept(who=who, challenge_id=one.pk, **more)


def decline(who: Identity, one: Challenge) -> Challenge:
    """Decline a challenge."""
    return challenges.decline(who=who, challenge_id=one.pk, reason="later")


def cancel(who: Identity, one: Challenge) -> None:
    """Take a challenge back."""
    challenges.cancel(who=who, challenge_id=one.pk)


def lapse(one: Challenge) -> None:
    """Let the time of a challenge be over."""
    Challenge.objects.filter(pk=one.pk).update(expires_ms=store.now())


def left(one: Challenge) -> None:
    """Let a challenge be accepted by its player, who does not come to make the match."""
    Challenge.objects.filter(pk=one.pk).update(
        taken_by=one.opponent, taken_ms=store.now() - lobby.FINISH_AFTER_MS
    )


class TestAccepting:
    def test_seats_both_in_the_reserved_match(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben, rated=True)

        done = accept(ben, one)

        assert done.entry.match_id == one.match_id
        assert done.entry.match.players == (ana.id, ben.id)
        assert done.entry.match.setup.created.rated is True
        assert code(lambda: cancel(ana, one)) == "challenge_over"
        assert code(lambda: decline(ben, one)) == "challenge_over"

    def test_by_sixteen_threads_makes_one_match(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben)

        results = at_once(*[in_thread(lambda: accept(ben, one, key=key()))] * RACERS)

        assert all(isinstance(result, Executed) for result in results), results
        assert matches_of(ana) == matches_of(ben) == [one.match_id]

    @pytest.mark.parametrize("expiring", [False, True])
    def test_races_with_declining_and_cancelling(self, player: Make, expiring: bool) -> None:
        for _ in range(6):
            ana, ben = player(), player()
            one = challenged(ana, ben)
            calls: list[Callable[[], Any]] = [
                *[in_thread(partial(accept, ben, one, key=key()))] * (RACERS // 2),
                *[in_thread(partial(decline, ben, one))] * (RACERS // 4),
                *[in_thread(partial(cancel, ana, one))] * (RACERS // 4),
            ]
            if expiring:
                calls[-1] = in_thread(partial(lapse, one))

            results = at_once(*calls)

            accepted = [one for one in results if isinstance(one, Executed)]
            declined = [one for one in results if isinstance(one, Challenge)]
            cancelled = results[RACERS * 3 // 4 : RACERS - expiring].count(None)
            assert bool(accepted) + len(declined) + cancelled <= 1
            assert expiring or bool(accepted) + len(declined) + cancelled == 1
            assert matches_of(ana) == matches_of(ben) == [one.match_id] * bool(accepted)
            errors = [one for one in results if isinstance(one, BaseException)]
            assert all(isinstance(error, ServiceError) for error in errors), errors
            codes = {error.code for error in errors if isinstance(error, ServiceError)}
            assert codes <= {"unknown_challenge", "challenge_over"}

    @pytest.mark.parametrize("other", ["declined", "cancelled"])
    def test_loses_to_what_comes_between_its_look_and_its_taking(
        self, player: Make, monkeypatch: pytest.MonkeyPatch, other: str
    ) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben)
        between: dict[str, Callable[[], Any]] = {
            "declined": partial(decline, ben, one),
            "cancelled": partial(cancel, ana, one),
        }
        monkeypatch.setattr(lobby, "check_free", lambda *_, **__: between[other]())

        refusal = code(lambda: accept(ben, one))

        assert refusal == {"declined": "challenge_over", "cancelled": "unknown_challenge"}[other]
        assert matches_of(ana) == matches_of(ben) == []

    def test_is_for_the_challenged_player_alone(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben)

        assert code(lambda: accept(player(), one)) == "unknown_challenge"
        assert code(lambda: accept(ana, one)) == "own_opponent"
        accept(ben, one)
        assert code(lambda: accept(player(), one)) == "unknown_challenge"

    def test_is_refused_after_its_time(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben)
        lapse(one)

        assert code(lambda: accept(ben, one)) == "unknown_challenge"
        assert code(lambda: decline(ben, one)) == "unknown_challenge"
        assert code(lambda: cancel(ana, one)) == "unknown_challenge"
        assert challenges.received(ben.id) == challenges.sent(ana.id) == []

    def test_by_whoever_plays_leaves_it_open(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben, rated=True)
        Seated([ben], rated=True)

        assert code(lambda: accept(ben, one)) == "already_playing"
        assert challenges.received(ben.id) == [one]

    def test_of_whoever_plays_meanwhile_ends_it(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben, rated=True)
        Seated([ana], rated=True)

        assert code(lambda: accept(ben, one)) == "challenge_over"
        assert challenges.received(ben.id) == []

    def test_repeated_after_the_match_finds_it(self, player: Make) -> None:
        ana, ben, named = player(), player(), key()
        one = challenged(ana, ben)
        done = accept(ben, one, key=named)
        execute.execute(match_id=done.entry.match_id, player=ben.id, body=Leave())
        Challenge.objects.filter(pk=one.pk).delete()

        assert accept(ben, one, key=named).replayed


class TestChallenging:
    def test_is_once_a_pair(self, player: Make) -> None:
        ana, ben = player(), player()
        first = challenged(ana, ben)

        assert code(lambda: challenged(ana, ben)) == "challenge_open"
        assert challenged(ben, ana).opponent.hex == ana.id
        decline(ben, first)
        assert challenged(ana, ben).pk != first.pk

    def test_goes_on_after_one_that_is_over(self, player: Make) -> None:
        ana, ben = player(), player()
        lapse(challenged(ana, ben))

        second = challenged(ana, ben)

        assert challenges.sent(ana.id) == [second]

    def test_stops_at_twenty_open_ones_though_all_come_at_once(self, player: Make) -> None:
        ana, others = player(), [player() for _ in range(24)]
        first = challenged(ana, others[0])
        for other in others[1:16]:
            challenged(ana, other)

        results = at_once(*[in_thread(partial(challenged, ana, one)) for one in others[16:]])

        refused = [one.code for one in results if isinstance(one, ServiceError)]
        assert refused == ["too_many_challenges"] * 4
        assert len(challenges.sent(ana.id)) == 20
        cancel(ana, first)
        assert challenged(ana, player()) in challenges.sent(ana.id)

    def test_to_a_rated_match_needs_accounts_on_both_sides(self, player: Make) -> None:
        guest, bot = player("guest"), player("bot")

        assert code(lambda: challenged(guest, player(), rated=True)) == "rated_needs_accounts"
        assert code(lambda: challenged(player(), bot, rated=True)) == "rated_needs_accounts"
        assert challenged(guest, bot).rated is False

    def test_by_whoever_plays_a_rated_match_is_casual(self, player: Make) -> None:
        ana = player()
        Seated([ana], rated=True)

        assert code(lambda: challenged(ana, player(), rated=True)) == "already_playing"
        assert challenged(ana, player()).rated is False


class TestDeclining:
    def test_tells_the_challenger_why(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben)

        decline(ben, one)

        assert [found.declined for found in challenges.sent(ana.id)] == ["later"]
        assert code(lambda: accept(ben, one)) == "challenge_over"
        assert code(lambda: decline(ben, one)) == "challenge_over"

    def test_is_for_the_challenged_player_alone(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben)

        for other in (ana, player()):
            assert code(partial(decline, other, one)) == "unknown_challenge"
        assert code(lambda: cancel(ben, one)) == "unknown_challenge"
        assert challenges.received(ben.id) == [one]


class TestTending:
    def test_makes_the_match_that_a_crash_left_out(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben)
        left(one)

        assert offers.tend() >= 1

        assert matches_of(ana) == matches_of(ben) == [one.match_id]
        assert Challenge.objects.get(pk=one.pk).made

    def test_gives_back_what_a_busy_player_took(self, player: Make) -> None:
        ana, ben = player(), player()
        one = challenged(ana, ben, rated=True)
        left(one)
        Seated([ben], rated=True)

        offers.tend()

        (again,) = challenges.received(ben.id)
        assert (again.pk, again.taken_by, again.made) == (one.pk, None, False)
        assert again.match_id != one.match_id


class TestForgetting:
    def test_keeps_what_is_open_unfinished_or_new(self, player: Make) -> None:
        old = store.now() - offers.SHOWN_MS
        ana = player()
        taken, unmade, refused, over, fresh = (challenged(ana, player()) for _ in range(5))
        Challenge.objects.filter(pk=taken.pk).update(
            taken_by=uuid4(), taken_ms=old, made=True, expires_ms=old
        )
        Challenge.objects.filter(pk=unmade.pk).update(
            taken_by=uuid4(), taken_ms=store.now(), expires_ms=old
        )
        Challenge.objects.filter(pk=refused.pk).update(declined="casual", expires_ms=old)
        Challenge.objects.filter(pk=over.pk).update(expires_ms=old)

        housekeeping.forget_expired()

        assert set(Challenge.objects.filter(player=ana.id)) == {unmade, fresh}
