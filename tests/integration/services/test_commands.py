"""Commands over PostgreSQL, from several processes and threads at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from matches.bots.policies import Greedy
from matches.domain.commands import Act, Join, Leave, Ready, Resign
from matches.domain.visibility import view
from matches.eventstore import pool
from matches.games.protocol import Seat, SeatViewer
from matches.services import execute, matches, people
from matches.services.accounts import Identity
from matches.services.engine import Executed
from matches.services.errors import ServiceError
from tests.support.seated import Seated, at_once, key, process

Make = Callable[..., Identity]


@pytest.fixture
def seated(player: Make) -> Seated:
    return Seated([player(), player()])


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that go to the log."""
    made: list[str] = []
    run = pool.run

    def counted(statement: str, params: Any) -> Any:
        if "es.beat" not in statement:
            made.append(statement)
        return run(statement, params)

    monkeypatch.setattr(pool, "run", counted)
    return made


def choose(seated: Seated, seat: int) -> Act | None:
    seen: Any = view(seated.observe().match, SeatViewer(Seat(seat)))
    return Act(Greedy().choose(seen.hand, seen.legal)) if seen.legal else None


class TestCommand:
    def test_makes_two_trips(self, seated: Seated, trips: list[str]) -> None:
        seated.deal()
        dealer = seated.observe().match.dealer
        assert dealer is not None
        act = choose(seated, dealer)
        assert act is not None
        trips.clear()

        seated.send(dealer, act)

        assert [statement.split("(")[0] for statement in trips] == [
            "SELECT * FROM es.load_match",
            "SELECT * FROM es.append_events",
        ]

    def test_of_two_at_once_is_carried_out_for_both(self, player: Make) -> None:
        for _ in range(20):
            seated = Seated([player(), player()])
            seated.send(1, Join())
            results = at_once(
                *(
                    partial(
                        process().execute,
                        match_id=seated.match_id,
                        player=one,
                        body=Ready(),
                        key=key(),
                    )
                    for one in seated.players
                )
            )

            assert all(isinstance(one, Executed) for one in results)
            assert seated.kinds[2:] == ["match.seat_ready", "match.seat_ready", "match.hand_dealt"]

    def test_of_two_for_one_seat_is_carried_out_for_one(self, player: Make) -> None:
        seated = Seated([player(), player()])
        strangers = [player() for _ in range(8)]

        results = at_once(
            *(
                partial(process().execute, match_id=seated.match_id, player=one.id, body=Join())
                for one in strangers
            )
        )

        codes = sorted(one.code if isinstance(one, ServiceError) else "ok" for one in results)
        assert codes == ["ok"] + ["seat_taken"] * 7

    def test_tapped_twice_is_carried_out_once(self, seated: Seated) -> None:
        seated.deal()
        named = key()
        resign = partial(
            process().execute,
            match_id=seated.match_id,
            player=seated.players[0],
            body=Resign(),
            key=named,
        )

        results = at_once(*[resign] * 8)

        ana = seated.players[0]
        told = [matches.result(one, ana) for one in results if isinstance(one, Executed)]
        assert told == [told[0]] * 8
        assert seated.kinds.count("match.ended") == 1

    def test_under_a_used_key_is_refused(self, seated: Seated) -> None:
        named = key()
        send = partial(process().execute, match_id=seated.match_id, player=seated.players[0])
        send(body=Leave(), key=named)

        with pytest.raises(ServiceError) as refused:
            send(body=Leave(), key=key_like(named))

        assert refused.value.code == "key_reused"


def key_like(named: Any) -> Any:
    """The same id for another request."""
    return type(named)(named.command_id, named.fingerprint + 1)


class TestWholeMatch:
    def play(self, seated: Seated) -> None:
        """Play a few turns, then give up: pauses are real time here."""
        seated.deal()
        for _ in range(6):
            for seat in (0, 1):
                act = choose(seated, seat)
                if act is not None:
                    seated.send(seat, act)
        if seated.observe().match.ended is None:
            seated.send(0, Resign())

    def test_answers_every_repetition_as_it_did_at_first(self, seated: Seated) -> None:
        self.play(seated)
        before = seated.rows
        again = [one for one in seated.sent for _ in range(3)]
        random.Random(7).shuffle(again)

        def repeat(chunk: list[Any]) -> list[bool]:
            engine = process()
            told = []
            for player, body, named, first in chunk:
                done = engine.execute(match_id=seated.match_id, player=player, body=body, key=named)
                told.append(
                    done.replayed and matches.result(done, player) == matches.result(first, player)
                )
            return told

        results = at_once(*(partial(repeat, again[part::4]) for part in range(4)))

        assert [all(one) for one in results if isinstance(one, list)] == [True] * 4
        assert seated.rows == before

    def test_opens_its_record_after_the_end(self, seated: Seated) -> None:
        with pytest.raises(ServiceError) as refused:
            matches.record(match_id=seated.match_id, player=seated.players[0])
        assert refused.value.code == "match_not_over"
        self.play(seated)

        loaded = matches.record(match_id=seated.match_id, player=None)

        assert loaded.rows == seated.rows
        entry = matches.replay(match_id=seated.match_id, player=None)
        assert len(matches.replay_lines(entry)) == len(loaded.rows)


class TestCreation:
    def test_with_a_guest_is_never_rated(self, player: Make) -> None:
        with pytest.raises(ServiceError) as refused:
            Seated([player("guest")], rated=True)

        assert refused.value.code == "rated_needs_accounts"

    def test_invites_by_name(self, player: Make) -> None:
        ana, ben, eve = player(), player(), player()
        assert ben.username is not None
        seated = Seated([ana, ben], rated=True, opponent=ben.username.upper())

        with pytest.raises(ServiceError) as refused:
            execute.execute(match_id=seated.match_id, player=eve.id, body=Join())
        assert refused.value.code == "unknown_match"
        execute.execute(match_id=seated.match_id, player=ben.id, body=Join())
        assert seated.observe().match.players == (ana.id, ben.id)

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ({"opponent": "nobody-at-all"}, "unknown_player"),
            ({"opponent": "\0"}, "unknown_player"),
            ({"ruleset": "xqmj-33"}, "unknown_ruleset"),
            ({"rules_version": 9}, "unknown_ruleset"),
            ({"control": "2+2"}, "unknown_control"),
            ({"control": "10+5", "rated": True}, "unrated_control"),
            ({"options": {"colour": "red"}}, "unknown_option"),
            ({"options": {"last_discard_claims": "none"}}, "bad_option"),
        ],
    )
    def test_is_refused_for_what_there_is_not(
        self, player: Make, options: dict[str, Any], code: str
    ) -> None:
        with pytest.raises(ServiceError) as refused:
            Seated([player()], **options)

        assert refused.value.code == code

    def test_with_oneself_is_refused(self, player: Make) -> None:
        ana = player()

        with pytest.raises(ServiceError) as refused:
            Seated([ana], opponent=ana.username)

        assert refused.value.code == "own_opponent"

    def test_repeated_gives_the_same_match(self, player: Make) -> None:
        ana, named = player(), key()

        results = at_once(*[lambda: Seated([ana], key=named).match_id] * 6)

        assert len(set(results)) == 1


class TestJoiningARatedMatch:
    def test_is_for_registered_players(self, player: Make) -> None:
        seated = Seated([player()], rated=True)
        guest, ben = player("guest"), player()

        with pytest.raises(ServiceError) as refused:
            execute.execute(match_id=seated.match_id, player=guest.id, body=Join())
        assert refused.value.code == "rated_needs_accounts"
        execute.execute(match_id=seated.match_id, player=ben.id, body=Join())

    def test_needs_no_look_up_of_whoever_is_remembered_in_an_unrated_one(
        self, player: Make, trips: list[str]
    ) -> None:
        seated = Seated([player()])
        guest = player("guest")
        people.by_id(guest.id)
        trips.clear()

        execute.execute(match_id=seated.match_id, player=guest.id, body=Join())

        assert len(trips) == 2
