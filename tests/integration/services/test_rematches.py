"""Rematches over the real log: one new match, whoever asks first, with the other dealer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from matches.domain.commands import Leave, Ready, Resign
from matches.domain.events import HandDealt
from matches.eventstore import store
from matches.models import Rematch
from matches.services import computers, execute, lobby, offers, rematches
from matches.services.accounts import Identity
from matches.services.engine import Executed
from matches.services.matches import create_match
from tests.support.offering import code, in_thread, matches_of
from tests.support.seated import Seated, at_once, key

pytestmark = pytest.mark.django_db(transaction=True)

Make = Callable[..., Identity]


def over(*players: Identity, **options: Any) -> UUID:
    """A match of these players that was resigned in its first hand."""
    seated = Seated(players, **options).deal()
    seated.send(1, Resign())
    return seated.match_id


def offer(who: Identity, match_id: UUID) -> Rematch:
    """Offer a rematch, as a request does."""
    with transaction.atomic():
        return rematches.offer(who=who, match_id=match_id)


def ask(who: Identity, match_id: UUID) -> Rematch | Executed:
    """Offer a rematch, or accept the other seat's."""
    try:
        return offer(who, match_id)
    except rematches.Wanted:
        return accept(who, match_id)


def accept(who: Identity, match_id: UUID) -> Executed:
    """Accept a rematch."""
    return rematches.accept(who=who, match_id=match_id, key=key())


def first_dealer(match_id: UUID) -> int:
    """Who dealt the first hand of a match."""
    entry = execute.observe(match_id=match_id)
    (event, *_) = [
        stamped.event
        for stamped in entry.history.events(entry.version)
        if isinstance(stamped.event, HandDealt)
    ]
    return int(event.dealer)


class TestRematch:
    @pytest.mark.parametrize("asking", [0, 1])
    def test_keeps_terms_and_seats_and_swaps_the_first_dealer(
        self, player: Make, asking: int
    ) -> None:
        both = (player(), player())
        old = over(*both, rated=True, control="1+1", options={"last_discard_claims": "all"})

        offered = ask(both[asking], old)
        done = ask(both[1 - asking], old)

        assert isinstance(offered, Rematch)
        assert isinstance(done, Executed)
        created = done.entry.match.setup.created
        assert done.entry.match_id == offered.match_id
        assert created.players == (both[0].id, both[1].id)
        assert (created.rated, created.control) == (True, "1+1")
        assert created.options["last_discard_claims"] == "all"
        assert created.rematch_of == old.hex
        for one in both:
            execute.execute(match_id=offered.match_id, player=one.id, body=Ready())
        assert first_dealer(offered.match_id) == 1 - first_dealer(old)

    def test_swaps_the_dealer_again_in_the_next_one(self, player: Make) -> None:
        both = (player(), player())
        old = over(*both)
        dealers = [first_dealer(old)]
        for _ in range(2):
            offer(both[0], old)
            old = accept(both[1], old).entry.match_id
            for one in both:
                execute.execute(match_id=old, player=one.id, body=Ready())
            execute.execute(match_id=old, player=both[0].id, body=Resign())
            dealers.append(first_dealer(old))

        assert dealers in ([0, 1, 0], [1, 0, 1])

    def test_of_sixteen_who_ask_at_once_is_one_match(self, player: Make) -> None:
        both = (player(), player())
        old = over(*both)

        results = at_once(*[in_thread(partial(ask, both[number % 2], old)) for number in range(16)])

        assert not [one for one in results if isinstance(one, BaseException)], results
        row = Rematch.objects.get(rematch_of=old)
        assert row.made
        new = {one.entry.match_id for one in results if isinstance(one, Executed)}
        assert new == {row.match_id}
        assert matches_of(both[0]) == matches_of(both[1]) == [row.match_id, old]

    def test_offered_twice_is_one_offer(self, player: Make) -> None:
        ana, ben = player(), player()
        old = over(ana, ben)

        assert offer(ana, old).pk == offer(ana, old).pk
        accept(ben, old)
        assert offer(ana, old).taken_by is not None
        assert accept(ben, old).replayed

    def test_against_accepting_is_withdrawn_or_played(self, player: Make) -> None:
        for _ in range(6):
            ana, ben = player(), player()
            old = over(ana, ben)
            offer(ana, old)

            gone, done = at_once(
                in_thread(partial(rematches.withdraw, who=ana, match_id=old)),
                in_thread(partial(accept, ben, old)),
            )

            assert (gone is None) != isinstance(done, Executed), (gone, done)
            assert len(matches_of(ana)) == 1 + isinstance(done, Executed)

    def test_is_left_to_whoever_wants_it_after_a_no(self, player: Make) -> None:
        ana, ben = player(), player()
        old = over(ana, ben)
        offer(ana, old)

        rematches.withdraw(who=ben, match_id=old)

        assert rematches.state(who=ana, match_id=old) is None
        assert code(lambda: accept(ben, old)) == "no_rematch_offered"
        assert offer(ben, old).seat == 1

    def test_ends_by_itself(self, player: Make) -> None:
        ana, ben = player(), player()
        old = over(ana, ben)
        Rematch.objects.filter(pk=offer(ana, old).pk).update(expires_ms=store.now())

        assert rematches.state(who=ben, match_id=old) is None
        assert code(lambda: accept(ben, old)) == "no_rematch_offered"
        assert offer(ben, old).seat == 1

    def test_is_finished_by_others_where_a_crash_left_it(self, player: Make) -> None:
        ana, ben = player(), player()
        old = over(ana, ben)
        row = offer(ben, old)
        Rematch.objects.filter(pk=row.pk).update(
            taken_by=ana.id, taken_ms=store.now() - lobby.FINISH_AFTER_MS
        )

        offers.tend()

        entry = execute.observe(match_id=row.match_id)
        assert entry.match.players == (ana.id, ben.id)

    def test_against_the_computer_begins_at_once(self, player: Make) -> None:
        ana = player()
        made = create_match(creator=ana, ruleset="xqmj-32-2p", control="3+2", computer=2)
        old = made.entry.match_id
        for body in (Ready(), Resign()):
            execute.execute(match_id=old, player=ana.id, body=body)

        row = offer(ana, old)
        rematches.finish(old)

        match = execute.observe(match_id=row.match_id).match
        assert match.players == (ana.id, computers.id_of(2))
        assert (match.phase, match.ready) == ("readying", (False, True))

    def test_is_refused_of_what_is_not_over_or_never_began(self, player: Make) -> None:
        ana, ben = player(), player()
        live = Seated([ana, ben]).deal()
        aborted = Seated([ana])
        aborted.send(0, Leave())

        assert code(lambda: offer(ana, live.match_id)) == "match_not_over"
        assert code(lambda: offer(ana, aborted.match_id)) == "no_rematch"

    def test_is_for_the_two_seats(self, player: Make) -> None:
        ana, ben, eve = player(), player(), player()
        old = over(ana, ben)
        offer(ana, old)

        assert code(lambda: offer(eve, old)) == "not_a_seat"
        assert code(lambda: accept(eve, old)) == "no_rematch_offered"
        for call in (rematches.state, rematches.withdraw):
            assert code(partial(call, who=eve, match_id=old)) == "not_a_seat"

    def test_of_a_rated_match_waits_until_neither_plays(self, player: Make) -> None:
        ana, ben = player(), player()
        old = over(ana, ben, rated=True)
        offer(ana, old)
        busy = Seated([ben], rated=True)

        assert code(lambda: accept(ben, old)) == "already_playing"
        busy.send(0, Leave())
        assert accept(ben, old).entry.match.setup.created.rated

    def test_of_whoever_plays_meanwhile_is_over(self, player: Make) -> None:
        ana, ben = player(), player()
        old = over(ana, ben, rated=True)
        offer(ana, old)
        Seated([ana], rated=True)

        assert code(lambda: accept(ben, old)) == "rematch_over"
        assert code(lambda: offer(ana, old)) == "already_playing"

    def test_that_has_begun_is_not_withdrawn(self, player: Make) -> None:
        ana, ben = player(), player()
        old = over(ana, ben)
        offer(ana, old)
        accept(ben, old)

        assert code(lambda: rematches.withdraw(who=ana, match_id=old)) == "rematch_over"
