"""What the rules refuse at the table: the code, and that nothing at all has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.support import api, sitting
from tests.support.ahead import AheadStore
from tests.support.api import Answer, InProcess, Player

pytestmark = pytest.mark.django_db

Rig = Callable[[tuple[str, ...]], None]

WIN, CHOW, PUNG, PASS = ({"type": kind} for kind in ("win", "chow", "pung", "pass"))


def discard(tile: str, *, drawn: bool = False) -> dict[str, Any]:
    return {"type": "discard", "tile": tile, "drawn": drawn}


class Table:
    """A match that seat 0 deals."""

    def __init__(self, clock: AheadStore) -> None:
        self.clock = clock
        self.dealer, self.other = (api.registered(InProcess()) for _ in range(2))
        self.match_id = api.begun(self.dealer, self.other)

    def does(self, player: Player, action: dict[str, Any]) -> Answer:
        """An action that must be possible."""
        answer = player.act(self.match_id, action)
        assert answer.status == 200, answer.raw
        return answer

    def wait(self, ms: int) -> None:
        self.clock.ahead_ms += ms

    def refuses(self, player: Player, action: dict[str, Any]) -> tuple[int, str | None]:
        """Status and code of an action that must change nothing, not even for its sender."""
        before = self._facts()
        answer = player.act(self.match_id, action)
        assert self._facts() == before
        return answer.status, answer.code

    def _facts(self) -> list[Any]:
        path = f"matches/{self.match_id}"
        views = [player.get(path) for player in (self.dealer, self.other)]
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT version, due_at_ms, head_hash FROM es.match_head WHERE match_id = %s",
                [self.match_id],
            )
            head = cursor.fetchone()
        return [head, *((view.headers["etag"], view.json["match"]) for view in views)]


@pytest.fixture
def table(clock: AheadStore) -> Callable[[], Table]:
    return lambda: Table(clock)


class TestDealer:
    @pytest.fixture(autouse=True)
    def deal(self, rigged: Rig) -> None:
        rigged(sitting.CHOW_OFFERED)

    @pytest.mark.parametrize(
        ("action", "code"),
        [
            (discard("rP"), "tile_not_held"),
            (discard("rC", drawn=True), "drawn_mismatch"),
            (WIN, "win_not_possible"),
            (CHOW, "claim_window_over"),
            (PUNG, "claim_window_over"),
            (PASS, "claim_window_over"),
        ],
    )
    def test_cannot_open_with(
        self, table: Callable[[], Table], action: dict[str, Any], code: str
    ) -> None:
        at = table()

        assert at.refuses(at.dealer, action) == (409, code)

    @pytest.mark.parametrize("action", [discard("rK"), WIN, CHOW, PUNG, PASS])
    def test_cannot_act_while_the_other_answers(
        self, table: Callable[[], Table], action: dict[str, Any]
    ) -> None:
        at = table()
        at.does(at.dealer, discard("rC"))

        assert at.refuses(at.dealer, action) == (409, "not_your_turn")


class TestResponder:
    @pytest.fixture(autouse=True)
    def deal(self, rigged: Rig) -> None:
        rigged(sitting.CHOW_OFFERED)

    @pytest.fixture
    def offered(self, table: Callable[[], Table]) -> Table:
        at = table()
        at.does(at.dealer, discard("rC"))
        return at

    def test_cannot_pung_a_sequence(self, offered: Table) -> None:
        assert offered.refuses(offered.other, PUNG) == (409, "claim_not_possible")

    def test_cannot_win_with_no_winning_hand(self, offered: Table) -> None:
        assert offered.refuses(offered.other, WIN) == (409, "win_not_possible")

    def test_cannot_discard_before_it_has_answered(self, offered: Table) -> None:
        assert offered.refuses(offered.other, discard("bE")) == (409, "not_your_turn")

    def test_cannot_pass_twice(self, offered: Table) -> None:
        offered.does(offered.other, PASS)

        assert offered.refuses(offered.other, PASS) == (409, "already_passed")

    def test_cannot_take_back_a_pass(self, offered: Table) -> None:
        offered.does(offered.other, PASS)

        assert offered.refuses(offered.other, CHOW) == (409, "already_passed")

    def test_cannot_claim_after_it_has_drawn(self, offered: Table) -> None:
        offered.does(offered.other, PASS)
        offered.wait(1_500)

        assert offered.refuses(offered.other, CHOW) == (409, "claim_window_over")

    def test_cannot_call_another_tile_the_drawn_one(self, offered: Table) -> None:
        offered.does(offered.other, PASS)
        offered.wait(1_500)

        assert offered.refuses(offered.other, discard("bE", drawn=True)) == (409, "drawn_mismatch")

    def test_cannot_call_the_drawn_tile_another_one(self, offered: Table) -> None:
        offered.does(offered.other, PASS)
        offered.wait(1_500)

        # It drew bC and holds no other: `drawn: false` names a tile that is not there.
        assert offered.refuses(offered.other, discard("bC")) == (409, "drawn_mismatch")

    def test_cannot_win_right_after_a_chow(self, offered: Table) -> None:
        offered.does(offered.other, CHOW)

        assert offered.refuses(offered.other, WIN) == (409, "win_not_possible")


class TestNothingOffered:
    @pytest.mark.parametrize(
        ("action", "code"),
        [
            (PASS, "no_claim_to_answer"),
            (CHOW, "claim_not_possible"),
            (PUNG, "claim_not_possible"),
            (WIN, "win_not_possible"),
        ],
    )
    def test_cannot_be_answered(
        self, rigged: Rig, table: Callable[[], Table], action: dict[str, Any], code: str
    ) -> None:
        rigged(sitting.NOTHING_OFFERED)
        at = table()
        at.does(at.dealer, discard("rC"))

        assert at.refuses(at.other, action) == (409, code)


class TestEnd:
    def test_of_a_hand_closes_it(self, rigged: Rig, table: Callable[[], Table]) -> None:
        rigged(sitting.DEALER_WINS)
        at = table()
        at.does(at.dealer, WIN)

        for player in (at.dealer, at.other):
            assert at.refuses(player, discard("rR")) == (409, "hand_over")

    def test_of_the_match_is_gone(self, rigged: Rig, table: Callable[[], Table]) -> None:
        rigged(sitting.DEALER_WINS)
        at = table()
        assert at.dealer.post(f"matches/{at.match_id}/resign").status == 200

        for player in (at.dealer, at.other):
            assert at.refuses(player, WIN) == (410, "match_ended")

    def test_by_the_flag_refuses_the_late_move(
        self, rigged: Rig, table: Callable[[], Table]
    ) -> None:
        rigged(sitting.CHOW_OFFERED)
        at = table()
        at.wait(180_000 + 5_000)

        answer = at.dealer.act(at.match_id, discard("rC"))

        assert (answer.status, answer.code) == (410, "match_ended")
        ended = at.other.view(at.match_id)["ended"]
        assert (ended["reason"], ended["winner"], ended["seat"]) == ("flag", 1, 0)


class TestSeq:
    @pytest.fixture
    def at(self, rigged: Rig, table: Callable[[], Table]) -> Table:
        rigged(sitting.CHOW_OFFERED)
        return table()

    def test_lets_pass_who_has_seen_everything(self, at: Table) -> None:
        seq = at.dealer.get(f"matches/{at.match_id}").json["seq"]

        answer = at.dealer.act(at.match_id, discard("rC"), expected_seq=seq)

        assert (answer.status, answer.json["seq"]) == (200, seq + 1)

    def test_refuses_who_has_not_and_says_where_the_match_is(self, at: Table) -> None:
        seq = at.dealer.get(f"matches/{at.match_id}").json["seq"]

        answer = at.dealer.act(at.match_id, discard("rC"), expected_seq=seq - 1)

        assert (answer.status, answer.code) == (412, "stale_seq")
        assert answer.json["facts"] == {"seq": seq}

    def test_does_not_count_what_the_other_seat_passed(self, at: Table) -> None:
        at.does(at.dealer, discard("rC"))
        seq = at.dealer.get(f"matches/{at.match_id}").json["seq"]
        at.does(at.other, PASS)

        assert at.dealer.get(f"matches/{at.match_id}").json["seq"] == seq
