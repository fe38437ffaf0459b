"""Commands through the engine, over a log in memory."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import msgspec
import pytest

from matches.domain.commands import Act, Join, Leave, Ready, Resign
from matches.domain.match import due_at
from matches.eventstore.pool import Unavailable
from matches.eventstore.rows import ABORTED, FINISHED
from matches.games.protocol import SeatViewer
from matches.services.cache import Entry
from matches.services.codes import TABLE
from matches.services.errors import ServiceError
from tests.support.parlour import Parlour, key, lose_races, refusal
from tests.support.sitting import ANA, BEN, CHOW_OFFERED, EVE, NOTHING_OFFERED, A, B, Rig
from tests.support.xqmj import PASS, WIN, discard


class TestPlainCommand:
    def test_makes_two_trips(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.advance(700)
        parlour.trips()

        parlour.act(A, discard("rC"))

        assert parlour.trips() == ["load", "append"]

    def test_is_stamped_with_the_clock_of_its_load(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.advance(321)

        parlour.send(BEN, Join())

        assert parlour.log[-1].at_ms == parlour.log[0].at_ms + 321

    def test_says_where_its_effects_stand(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        parlour.send(ANA, Ready())

        done = parlour.send(BEN, Ready())

        # Both are ready, so the deal follows at once.
        assert (done.first_version, done.effects, done.replayed) == (4, 2, False)
        assert done.entry.version == 5
        assert parlour.kinds[3:] == ["match.seat_ready", "match.hand_dealt"]

    def test_is_told_of_after_its_commit(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.commits.clear()

        parlour.send(BEN, Join())

        assert [version for version, _ in parlour.commits] == [2]
        assert parlour.commits[0][1] == due_at(parlour.match)

    def test_notes_the_seat_taken(self, parlour: Parlour) -> None:
        parlour.create()

        parlour.send(BEN, Join())

        assert parlour.store.streams[parlour.match_id].seats == {0: ANA, 1: BEN}

    def test_notes_how_the_match_ended(self, parlour: Parlour) -> None:
        parlour.deal()

        parlour.send(ANA, Resign())

        stream = parlour.store.streams[parlour.match_id]
        assert stream.status == FINISHED
        assert stream.summary is not None
        assert (stream.summary.reason, stream.summary.winner) == ("resignation", 1)

    def test_notes_an_aborted_match(self, parlour: Parlour) -> None:
        parlour.create()

        parlour.send(ANA, Leave())

        assert parlour.store.streams[parlour.match_id].status == ABORTED

    def test_first_appends_what_the_table_owed(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        discarded_ms = parlour.clock()
        parlour.advance(2_000)
        parlour.trips()

        done = parlour.act(B, discard("bC", drawn=True))

        assert parlour.trips() == ["load", "append"]
        assert (done.first_version, done.effects) == (8, 1)
        assert parlour.kinds[6:] == ["xqmj.tile_drawn", "xqmj.tile_discarded"]
        assert [stamped.at_ms - discarded_ms for stamped in parlour.log[6:]] == [1_500, 2_000]
        rows = parlour.store.rows(parlour.match_id)
        assert [row.actor for row in rows[6:]] == [None, 1]


class TestRatedMatch:
    def test_is_not_joined_by_whoever_plays_another(self, parlour: Parlour) -> None:
        parlour.create(rated=True, players=(BEN, None))
        parlour.create(rated=True)
        before = parlour.kinds

        error = refusal(parlour, BEN, Join(), key=key("join"))

        assert error.code == "already_playing"
        assert parlour.kinds == before
        assert parlour.send(EVE, Join(), key=key("join")).replayed is False

    def test_is_not_made_beside_another(self, parlour: Parlour) -> None:
        parlour.create(rated=True)

        with pytest.raises(ServiceError) as refused:
            parlour.create(rated=True, key=key("second"))

        assert refused.value.code == "already_playing"
        parlour.send(ANA, Leave())
        assert not parlour.create(rated=True, key=key("second")).replayed


class TestRefusedCommand:
    def test_writes_nothing(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        before = parlour.store.rows(parlour.match_id)
        parlour.trips()

        error = refusal(parlour, BEN, Act(WIN), key=key("one"))

        assert (error.code, TABLE[error.code].status) == ("not_your_turn", 409)
        assert parlour.store.rows(parlour.match_id) == before
        assert parlour.trips() == ["load"]

    def test_does_not_bind_its_key(self, parlour: Parlour) -> None:
        parlour.create()
        assert refusal(parlour, ANA, Ready(), key=key("one")).code == "nothing_to_ready"
        parlour.send(BEN, Join())

        done = parlour.send(ANA, Ready(), key=key("one", body=2))

        assert not done.replayed

    def test_leaves_what_the_table_owed_in_the_log(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        parlour.advance(1_500)

        assert refusal(parlour, ANA, Act(WIN)).code == "not_your_turn"

        assert parlour.kinds[-1] == "xqmj.tile_drawn"
        assert parlour.store.rows(parlour.match_id)[-1].command_id is None

    @pytest.mark.parametrize("body", [Join(), Ready(), Resign(), Leave()])
    def test_of_an_unknown_match_says_only_that(self, parlour: Parlour, body: Any) -> None:
        parlour.match_id = uuid4()

        assert refusal(parlour, ANA, body).code == "unknown_match"

    def test_by_somebody_else_says_no_seat(self, parlour: Parlour) -> None:
        parlour.deal()

        error = refusal(parlour, EVE, Resign())

        assert (error.code, TABLE[error.code].status) == ("not_a_seat", 403)

    def test_of_an_invitation_to_somebody_else_says_there_is_no_match(
        self, parlour: Parlour
    ) -> None:
        parlour.create(invited=BEN)

        error = refusal(parlour, EVE, Join())

        assert (error.code, dict(error.detail)) == ("unknown_match", {})

    def test_after_the_end_says_so(self, parlour: Parlour) -> None:
        parlour.deal()
        parlour.send(ANA, Resign())

        error = refusal(parlour, BEN, Resign())

        assert (error.code, TABLE[error.code].status) == ("match_ended", 410)

    def test_is_told_what_its_preparation_says(self, parlour: Parlour) -> None:
        parlour.create()

        def prepare(_entry: Any, _player: str) -> Join:
            raise ServiceError("rated_needs_accounts")

        assert refusal(parlour, BEN, Join(), prepare=prepare).code == "rated_needs_accounts"
        assert parlour.kinds == ["match.created"]

    def test_is_prepared_by_the_match_after_the_table_did_what_it_owed(
        self, parlour: Parlour, rig: Rig
    ) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        logged = len(parlour.log)
        parlour.advance(1_500)
        versions = []

        def prepare(entry: Entry, _player: str) -> Resign:
            versions.append(entry.version)
            return Resign()

        parlour.send(ANA, Resign(), prepare=prepare)

        # The pause is over, so a tile was drawn first.
        assert parlour.kinds[logged:] == ["xqmj.tile_drawn", "match.ended"]
        assert versions == [logged + 1]

    def test_that_is_held_is_decided_by_what_came_meanwhile(self, parlour: Parlour) -> None:
        parlour.deal()
        sleep = parlour.engine._sleep

        def meanwhile(seconds: float) -> None:
            sleep(seconds)
            parlour.beside().send(BEN, Resign())

        parlour.engine._sleep = meanwhile

        assert refusal(parlour, ANA, Resign(), hold_ms=300).code == "match_ended"
        assert parlour.log[-1].actor == 1

    def test_that_is_held_keeps_the_instant_of_its_receipt(self, parlour: Parlour) -> None:
        parlour.deal()
        received_ms = parlour.clock()

        parlour.send(ANA, Resign(), hold_ms=300)

        assert parlour.clock() == received_ms + 300
        assert parlour.log[-1].at_ms == received_ms


class TestRepeatedCommand:
    def test_is_answered_from_the_log(self, parlour: Parlour) -> None:
        parlour.create()
        first = parlour.send(BEN, Join(), key=key("join"))
        parlour.trips()

        again = parlour.send(BEN, Join(), key=key("join"))

        assert again.replayed
        assert (again.first_version, again.effects) == (first.first_version, first.effects)
        assert parlour.trips() == ["load"]

    def test_is_answered_by_a_process_that_never_saw_it(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join(), key=key("join"))

        again = parlour.beside().send(BEN, Join(), key=key("join"))

        assert (again.replayed, again.first_version, again.effects) == (True, 2, 1)

    def test_is_answered_after_the_end(self, parlour: Parlour) -> None:
        parlour.deal()
        parlour.send(ANA, Resign(), key=key("resign"))

        assert parlour.send(ANA, Resign(), key=key("resign")).replayed

    def test_is_answered_whatever_has_been_seen_since(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join(), key=key("join"), expected_seq=1)
        parlour.send(ANA, Ready())

        assert parlour.send(BEN, Join(), key=key("join"), expected_seq=1).replayed

    def test_with_another_body_is_refused_even_after_the_end(self, parlour: Parlour) -> None:
        parlour.deal()
        parlour.send(ANA, Resign(), key=key("resign"))

        error = refusal(parlour, ANA, Leave(), key=key("resign", body=2))

        assert (error.code, TABLE[error.code].status) == ("key_reused", 409)

    def test_that_lost_a_race_with_itself_is_answered_from_the_log(self, parlour: Parlour) -> None:
        parlour.create()
        twin = parlour.beside()
        append = parlour.store.append

        def late(**row: Any) -> Any:
            parlour.store.append = append  # type: ignore[method-assign]
            twin.send(BEN, Join(), key=key("join"))
            return append(**row)

        parlour.store.append = late  # type: ignore[method-assign]

        done = parlour.send(BEN, Join(), key=key("join"))

        assert (done.replayed, done.first_version) == (True, 2)
        assert parlour.kinds == ["match.created", "match.seat_taken"]


class TestCommandThatLostARace:
    def race(self, parlour: Parlour, *moves: Any) -> None:
        """Let the moves be made between the next command's load and its append."""
        append = parlour.store.append

        def late(**row: Any) -> Any:
            parlour.store.append = append  # type: ignore[method-assign]
            for move in moves:
                move()
            return append(**row)

        parlour.store.append = late  # type: ignore[method-assign]

    def test_is_decided_anew(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        other = parlour.beside()
        self.race(parlour, lambda: other.send(BEN, Ready()))

        parlour.send(ANA, Ready())

        assert parlour.kinds[2:] == ["match.seat_ready", "match.seat_ready", "match.hand_dealt"]
        assert [stamped.actor for stamped in parlour.log[2:]] == [1, 0, None]

    def test_keeps_its_first_stamp(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        received_ms = parlour.clock()
        lose_races(parlour, times=3, each_ms=250)

        parlour.act(A, discard("rC"))

        assert parlour.clock() == received_ms + 750
        assert parlour.log[-1].at_ms == received_ms

    def test_is_stamped_no_earlier_than_what_overtook_it(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        other = parlour.beside()

        def later() -> None:
            parlour.advance(40)
            other.send(BEN, Ready())

        self.race(parlour, later)
        parlour.send(ANA, Ready())

        assert [stamped.at_ms for stamped in parlour.log[2:]] == [parlour.clock()] * 3

    def test_is_refused_where_the_end_overtook_it(self, parlour: Parlour) -> None:
        parlour.deal()
        other = parlour.beside()
        self.race(parlour, lambda: other.send(BEN, Resign()))

        assert refusal(parlour, ANA, Resign()).code == "match_ended"
        assert parlour.kinds.count("match.ended") == 1

    def test_gives_up_after_losing_again_and_again(self, parlour: Parlour) -> None:
        parlour.create()
        lose_races(parlour, times=1_000, each_ms=0)

        error = refusal(parlour, BEN, Join())

        assert (error.code, TABLE[error.code].status, error.retry_after_s) == (
            "unavailable",
            503,
            1,
        )
        assert parlour.kinds == ["match.created"]


class TestExpectedSeq:
    def test_lets_a_command_pass_that_has_seen_everything(self, parlour: Parlour) -> None:
        parlour.create()

        parlour.send(BEN, Join(), expected_seq=1)

        assert parlour.send(ANA, Ready(), expected_seq=2).entry.seq(SeatViewer(A)) == 3

    def test_refuses_one_that_has_not(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())

        error = refusal(parlour, ANA, Ready(), expected_seq=1)

        assert (error.code, TABLE[error.code].status, dict(error.detail)) == (
            "stale_seq",
            412,
            {"seq": 2},
        )

    def test_counts_what_the_table_owed(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        seen = parlour.act(A, discard("rC")).entry.seq(SeatViewer(B))
        parlour.advance(1_500)

        error = refusal(parlour, BEN, Act(discard("bC", drawn=True)), expected_seq=seen)

        assert dict(error.detail) == {"seq": seen + 1}
        assert parlour.kinds[-1] == "xqmj.tile_drawn"

    def test_does_not_count_the_other_seats_pass(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        seen = parlour.observe().seq(SeatViewer(A))
        parlour.act(B, PASS)

        # A's own numbers have not moved, so the refusal is the rules', not stale_seq.
        error = refusal(parlour, ANA, Act(WIN), expected_seq=seen)

        assert error.code == "not_your_turn"

    def test_is_looked_at_after_the_end(self, parlour: Parlour) -> None:
        parlour.deal()
        parlour.send(ANA, Resign())

        assert refusal(parlour, BEN, Resign(), expected_seq=1).code == "match_ended"


class TestTrouble:
    def test_of_the_log_is_said_plainly(self, parlour: Parlour) -> None:
        parlour.create()

        def away(*_: Any, **__: Any) -> Any:
            raise Unavailable("gone")

        parlour.store.load = away  # type: ignore[method-assign]

        error = refusal(parlour, BEN, Join())

        assert (error.code, error.retry_after_s) == ("unavailable", 1)

    def test_after_the_commit_is_mended_by_the_retry(self, parlour: Parlour) -> None:
        parlour.create()
        append = parlour.store.append

        def lost_answer(**row: Any) -> Any:
            parlour.store.append = append  # type: ignore[method-assign]
            append(**row)
            raise Unavailable("the answer was lost")

        parlour.store.append = lost_answer  # type: ignore[method-assign]
        assert refusal(parlour, BEN, Join(), key=key("join")).code == "unavailable"

        assert parlour.send(BEN, Join(), key=key("join")).replayed

    def test_of_an_unknown_kind_refuses_and_writes_nothing(self, parlour: Parlour) -> None:
        parlour.create()
        stream = parlour.store.streams[parlour.match_id]
        stream.rows[0] = msgspec.structs.replace(stream.rows[0], v=99)
        fresh = parlour.beside()

        error = refusal(fresh, BEN, Join())

        assert (error.code, TABLE[error.code].status) == ("unreadable_match", 503)
        assert len(stream.rows) == 1

    def test_of_a_log_that_changed_under_the_cache_begins_again(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        stream = parlour.store.streams[parlour.match_id]
        # The database was restored to before the join.
        del stream.rows[1:]
        stream.commands.clear()
        stream.seats.pop(1)

        parlour.send(EVE, Join())

        assert parlour.match.players == (ANA, EVE)


class TestCreation:
    def test_repeated_gives_the_same_match(self, parlour: Parlour) -> None:
        first = parlour.create(key=key("new"))

        again = parlour.create(key=key("new"))

        assert again.replayed
        assert again.entry.match_id == first.entry.match_id
        assert (again.first_version, again.effects) == (1, 1)

    def test_with_a_key_of_another_request_is_refused(self, parlour: Parlour) -> None:
        parlour.create(key=key("new"))

        with pytest.raises(ServiceError) as refused:
            parlour.create(key=key("new", body=2))

        assert refused.value.code == "key_reused"
