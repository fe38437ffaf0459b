"""Who has aborted too many matches, as the log tells it, and what is then closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from matches.domain.clock import READY_MS
from matches.domain.commands import Join, Leave, Ready
from matches.models import Pairing
from matches.services import challenges, cooldown, execute, matches, pairing, rematches, seeks
from matches.services.accounts import Identity
from matches.services.drafts import Terms
from matches.services.errors import ServiceError
from tests.support import ahead
from tests.support.ahead import AheadStore

pytestmark = pytest.mark.django_db(transaction=True)

Make = Callable[..., Identity]
CASUAL = Terms(ruleset="xqmj-32-2p", control="3+2")
POOL = pairing.Pool("xqmj-32-2p", "3+2", False)


@pytest.fixture
def clock() -> Iterator[AheadStore]:
    with ahead.clock() as found:
        yield found


def made(one: Identity, other: Identity | None, **more: Any) -> Callable[..., None]:
    """A match of two (or of one who waits); gives what sends a command into it."""
    done = matches.create_match(creator=one, ruleset="xqmj-32-2p", control="3+2", **more)
    match_id = done.entry.match_id

    def send(who: Identity, body: Any) -> None:
        execute.execute(match_id=match_id, player=who.id, body=body)

    send.match_id = match_id  # type: ignore[attr-defined]
    if other is not None:
        send(other, Join())
    return send


def left(leaver: Identity, other: Identity) -> None:
    """A match that the leaver leaves before it begins."""
    made(leaver, other)(leaver, Leave())


def retry_after_s(player: Identity) -> int | None:
    """How long the player has to wait, None: not at all."""
    try:
        cooldown.check(player.id, now_ms=execute.engine().store.now())
    except ServiceError as error:
        return error.retry_after_s
    return None


def average(**_asked: Any) -> int:
    return 1500


class TestBlame:
    def test_is_for_the_third_abort_in_an_hour(self, player: Make, clock: AheadStore) -> None:
        ana, ben = player(), player()
        found = []
        for _ in range(3):
            left(ana, ben)
            found.append(retry_after_s(ana))
            clock.ahead_ms += 60_000

        assert found == [None, None, 900]
        assert retry_after_s(ana) == 840
        assert retry_after_s(ben) is None

    def test_is_over_after_its_time(self, player: Make, clock: AheadStore) -> None:
        ana = player()
        for _ in range(3):
            left(ana, player())
        clock.ahead_ms += 899_999
        last = retry_after_s(ana)
        clock.ahead_ms += 1

        assert (last, retry_after_s(ana)) == (1, None)
        left(ana, player())
        assert retry_after_s(ana) == 900

    def test_lasts_its_time_though_the_first_abort_gets_old_meanwhile(
        self, player: Make, clock: AheadStore
    ) -> None:
        ana = player()
        for wait_ms in (1_800_000, 1_740_000, 0):
            left(ana, player())
            clock.ahead_ms += wait_ms
        assert retry_after_s(ana) == 900

        clock.ahead_ms += 840_000

        assert retry_after_s(ana) == 60

    def test_forgets_what_is_an_hour_old(self, player: Make, clock: AheadStore) -> None:
        ana = player()
        left(ana, player())
        clock.ahead_ms += 3_600_000
        for _ in range(2):
            left(ana, player())

        assert retry_after_s(ana) is None

    @pytest.mark.parametrize(("ready", "blamed"), [((), (0, 1)), ((0,), (1,)), ((1,), (0,))])
    def test_of_the_time_is_for_whoever_was_not_ready(
        self, player: Make, clock: AheadStore, ready: tuple[int, ...], blamed: tuple[int, ...]
    ) -> None:
        both = (player(), player())
        for _ in range(3):
            send: Any = made(*both)
            for seat in ready:
                send(both[seat], Ready())
            clock.ahead_ms += READY_MS + 1_000
            ended = execute.observe(match_id=send.match_id).match.ended
            assert ended is not None
            assert (ended.reason, ended.seat) == ("aborted", None)

        found = tuple(seat for seat in (0, 1) if retry_after_s(both[seat]) is not None)
        assert found == blamed

    def test_of_leaving_is_not_for_whoever_was_left_unready(
        self, player: Make, clock: AheadStore
    ) -> None:
        ana, ben = player(), player()
        for _ in range(3):
            send = made(ana, ben)
            send(ana, Ready())
            send(ana, Leave())

        assert clock.ahead_ms == 0
        assert (retry_after_s(ana), retry_after_s(ben)) == (900, None)

    def test_is_not_for_a_match_that_nobody_joined(self, player: Make, clock: AheadStore) -> None:
        ana = player()
        for _ in range(3):
            made(ana, None)(ana, Leave())

        assert clock.ahead_ms == 0
        assert retry_after_s(ana) is None

    def test_is_not_for_a_match_against_the_computer(self, player: Make, clock: AheadStore) -> None:
        ana = player()
        for _ in range(3):
            made(ana, None, computer=1)(ana, Leave())

        assert clock.ahead_ms == 0
        assert retry_after_s(ana) is None

    def test_is_not_for_leaving_a_match_that_has_begun(
        self, player: Make, clock: AheadStore
    ) -> None:
        ana, ben = player(), player()
        for _ in range(3):
            send = made(ana, ben)
            for who, body in ((ana, Ready()), (ben, Ready()), (ana, Leave())):
                send(who, body)

        assert clock.ahead_ms == 0
        assert retry_after_s(ana) is None

    def test_counts_a_match_that_waited_long_for_its_opponent(
        self, player: Make, clock: AheadStore
    ) -> None:
        ana = player()
        waiting: list[Any] = [made(ana, None) for _ in range(3)]
        clock.ahead_ms += 3_590_000
        for send in waiting:
            send(player(), Join())
        clock.ahead_ms += 25_000
        for send in waiting:
            send(ana, Leave())

        assert retry_after_s(ana) == 900


class TestCoolingDown:
    def test_closes_the_lobby_and_rated_matches_alone(
        self, player: Make, clock: AheadStore
    ) -> None:
        ana, ben = player(), player()
        open_seek = seeks.open_seek(who=ben, terms=CASUAL, wanted=seeks.Range(), rating_of=average)
        with transaction.atomic():
            asked = challenges.challenge(who=ben, opponent=str(ana.username), terms=CASUAL)
        rated: Any = made(player(), None, rated=True)
        casual: Any = made(player(), None)
        old = made(ana, ben)
        for who, body in ((ana, Ready()), (ben, Ready()), (ana, Leave())):
            old(who, body)
        for _ in range(3):
            left(ana, player())
        Pairing.objects.filter(player=ana.id).delete()

        closed: list[Callable[[], Any]] = [
            partial(
                seeks.open_seek, who=ana, terms=CASUAL, wanted=seeks.Range(), rating_of=average
            ),
            partial(seeks.accept, who=ana, seek_id=open_seek.pk, rating_of=average),
            partial(pairing.enter, who=ana, pool=POOL, rating_of=average),
            partial(challenges.challenge, who=ana, opponent=str(ben.username), terms=CASUAL),
            partial(challenges.accept, who=ana, challenge_id=asked.pk),
            partial(rematches.offer, who=ana, match_id=old.match_id),  # type: ignore[attr-defined]
            partial(made, ana, None, rated=True),
            partial(rated, ana, Join()),
        ]
        for call in closed:
            with pytest.raises(ServiceError) as refused:
                call()
            assert (refused.value.code, refused.value.retry_after_s) == ("cooling_down", 900), call
        casual(ana, Join())
        made(ana, None)
        made(ana, None, computer=1)
        challenges.decline(who=ana, challenge_id=asked.pk, reason="later")
        clock.ahead_ms += 900_000
        assert retry_after_s(ana) is None
        rated(ana, Join())
