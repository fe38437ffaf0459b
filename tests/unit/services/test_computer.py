"""The computer's seat, over a log in memory: when it acts, that it acts once, and what shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from matches.bots.misty import Misty, chance_for
from matches.domain.commands import Act, Resign
from matches.domain.events import Stamped
from matches.games.protocol import Action
from matches.games.xqmj.actions import Discard
from matches.services import computer as service
from matches.services.computer import BATCH, Computer, Played, get_ready, key_of
from matches.services.computers import id_of, level_of
from matches.worker import EVERY_S, HEAL_EVERY_S, ComputerLoop
from tests.support.opposed import Opposed
from tests.support.sitting import (
    ANA,
    BEN,
    CHOW_OFFERED,
    DEALER_WINS,
    NOTHING_OFFERED,
    WIN_OFFERED,
    A,
    B,
    Rig,
)
from tests.support.xqmj import PASS, WIN, discard


@pytest.fixture
def opposed(rig: Rig) -> Opposed:
    """A match against the computer whose first hand is dealt; ANA deals, nothing is offered."""
    rig.lay(NOTHING_OFFERED)
    found = Opposed()
    found.begin()
    return found


@pytest.fixture
def _passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the computer pass wherever it can, else do the first thing."""

    def choose(_misty: Misty, _view: object, legal: Sequence[Action]) -> Action:
        return PASS if PASS in legal else legal[0]

    monkeypatch.setattr(Misty, "choose", choose)


def delay_ms(opposed: Opposed, first: Stamped) -> int:
    """How long after the event before it."""
    return first.at_ms - opposed.log[opposed.log.index(first) - 1].at_ms


class TestReadiness:
    def test_is_there_when_the_match_is_made(self) -> None:
        opposed = Opposed()

        made = get_ready(opposed.engine, opposed.made)

        assert opposed.kinds == ["match.created", "match.seat_ready"]
        assert made.entry.match.ready == (False, True)
        assert opposed.log[1].at_ms == opposed.log[0].at_ms

    def test_lets_the_other_seat_alone_begin_the_match(self, opposed: Opposed) -> None:
        assert opposed.match.phase == "playing"

    def test_is_made_up_for_by_a_worker(self) -> None:
        opposed = Opposed()

        opposed.play_next()

        assert opposed.match.ready == (False, True)
        assert get_ready(opposed.engine, opposed.made).entry.version == 2

    def test_takes_a_moment_between_hands(self, rig: Rig) -> None:
        rig.lay(DEALER_WINS)
        opposed = Opposed()
        opposed.begin()
        opposed.act(A, WIN)

        ready = opposed.play_next()

        assert ready.event.KIND == "match.seat_ready"
        assert 600 <= delay_ms(opposed, ready) <= 1_500

    def test_is_nobody_s_where_no_computer_plays(self) -> None:
        opposed = Opposed()
        people = opposed.create(players=(ANA, BEN))

        assert get_ready(opposed.engine, people) is people
        assert opposed.kinds == ["match.created"]


class TestTurn:
    @pytest.mark.usefixtures("_passes")
    def test_passes_unseen_within_the_pause(self, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        opposed = Opposed()
        opposed.begin()
        opposed.act(A, discard("rC"))

        passed = opposed.play_next()

        assert passed.event.KIND == "xqmj.claim_passed"
        assert 300 <= delay_ms(opposed, passed) <= 900

    def test_takes_a_win_within_the_pause(self, rig: Rig) -> None:
        rig.lay(WIN_OFFERED)
        opposed = Opposed(level=1)
        opposed.begin()
        opposed.act(A, discard("rC"))

        won = opposed.play_next()

        assert won.event.KIND == "xqmj.hand_won"
        assert 300 <= delay_ms(opposed, won) <= 900

    def test_discards_like_a_person_after_its_draw(self, opposed: Opposed) -> None:
        opposed.act(A, discard("rC"))
        opposed.advance(1_500)
        opposed.observe()

        discarded = opposed.play_next()

        assert discarded.event.KIND == "xqmj.tile_discarded"
        assert 600 <= delay_ms(opposed, discarded) <= 2_500

    def test_spends_the_time_of_its_own_clock(self, opposed: Opposed) -> None:
        opposed.act(A, discard("rC"))
        opposed.advance(1_500)
        opposed.observe()

        discarded: Any = opposed.play_next().event

        spent_ms, left_ms = discarded.clock
        assert 600 <= spent_ms <= 2_500
        assert left_ms == 180_000 - spent_ms + 2_000

    def test_does_not_come_early(self, opposed: Opposed) -> None:
        opposed.act(A, discard("rC"))
        opposed.advance(1_500)
        opposed.observe()
        version = opposed.match.version
        opposed.to(opposed.due_ms - 1)

        assert opposed.worker.play_due().taken == 0
        opposed.worker.play(opposed.match_id)

        assert opposed.match.version == version

    def test_is_announced(self, opposed: Opposed) -> None:
        opposed.act(A, discard("rC"))

        played = opposed.worker.play_due()

        assert (played.taken, played.now_ms) == (0, opposed.clock())
        assert played.next_due_ms == opposed.due_ms

    def test_is_over_with_the_match(self, opposed: Opposed) -> None:
        opposed.act(A, discard("rC"))
        opposed.send(ANA, Resign())
        opposed.advance(5_000)

        assert opposed.worker.play_due().taken == 0
        opposed.worker.heal()

        assert opposed.turns.rows == {}
        assert opposed.kinds[-1] == "match.ended"

    def test_of_every_level_is_its_own_player_s(self) -> None:
        assert [level_of(id_of(level)) for level in range(1, 9)] == list(range(1, 9))
        assert (level_of(ANA), level_of(None)) == (None, None)

    def test_counts_the_actions_of_its_own_seat(
        self, opposed: Opposed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """XM-84: neither being ready nor what the others do is one of them."""
        numbers: list[tuple[Any, ...]] = []

        def noted(*place: Any) -> Any:
            numbers.append(place[2:])
            return chance_for(*place)

        monkeypatch.setattr("matches.services.computer.chance_for", noted)
        opposed.act(A, discard("rC"))
        for _ in range(2):
            opposed.advance(1_500)
            if opposed.observe().match.on_clock == A:
                legal = opposed.match.setup.rules.legal(opposed.match.hand, A)
                opposed.act(A, next(one for one in legal if isinstance(one, Discard)))
                opposed.advance(1_500)
                opposed.observe()
            opposed.play_next()

        assert numbers == [(B, 0), (B, 1)]


class TestDelivery:
    @pytest.fixture
    def due(self, opposed: Opposed) -> Opposed:
        """The computer is to discard now."""
        opposed.act(A, discard("rC"))
        opposed.advance(1_500)
        opposed.observe()
        opposed.to(opposed.due_ms)
        return opposed

    def discards(self, opposed: Opposed) -> int:
        return sum(one.actor == B for one in opposed.log if one.event.KIND.startswith("xqmj."))

    def test_twice_changes_nothing(self, due: Opposed) -> None:
        other = due.process()

        due.worker.play(due.match_id)
        other.play(due.match_id)
        due.worker.play(due.match_id)

        assert self.discards(due) == 1

    def test_to_two_at_once_plays_once(self, due: Opposed, monkeypatch: pytest.MonkeyPatch) -> None:
        """Both have decided before either sends."""
        other, decided = due.process(), service.decided
        inside: list[int] = []

        def deciding(*args: Any) -> Any:
            body = decided(*args)
            if not inside:
                inside.append(1)
                other.play(due.match_id)
            return body

        monkeypatch.setattr(service, "decided", deciding)
        due.worker.play(due.match_id)

        assert self.discards(due) == 1
        assert due.store.rows(due.match_id)[-1].command_id == key_of(due.match_id, 6).command_id

    def test_of_a_decision_that_the_match_has_overtaken_does_nothing(
        self, rig: Rig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It decides in the pause, and is about to send when the table has drawn for it."""
        rig.lay(NOTHING_OFFERED)
        opposed = Opposed()
        opposed.begin()
        opposed.act(A, discard("rC"))
        opposed.to(opposed.due_ms)

        def late(*_: Any) -> Act:
            opposed.to(opposed.match.pause_until_ms)
            return Act(discard("rE"))

        monkeypatch.setattr(service, "decided", late)
        played = opposed.worker.play_due()

        assert (played.taken, played.failed) == (1, 1)
        assert opposed.kinds[-1] in ("xqmj.tile_drawn", "xqmj.tile_discarded")
        assert self.discards(opposed) == 0

    def test_that_never_came_is_made_up_for(self, opposed: Opposed) -> None:
        opposed.turns.rows.clear()
        opposed.noting = False
        opposed.act(A, discard("rC"))
        opposed.advance(1_500)
        opposed.observe()

        assert opposed.worker.heal() == 1
        opposed.play_next()

        assert self.discards(opposed) == 1
        assert opposed.worker.heal() == 0

    def test_by_a_worker_that_died_is_made_by_another(
        self, due: Opposed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def dies(*_: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(service, "decided", dies)
            with pytest.raises(KeyboardInterrupt):
                due.worker.play_due()
        other = due.process()
        assert other.play_due().taken == 0

        due.advance(1_000)
        assert other.play_due().taken == 1

        assert self.discards(due) == 1

    def test_to_a_match_that_cannot_be_read_rests(
        self, due: Opposed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is tried again after longer and longer rests, so that it starves no other."""
        worker = due.process()
        with monkeypatch.context() as patch:
            rows = due.store.streams[due.match_id].rows
            unread = [msgspec.structs.replace(rows[0], kind="xqmj.unheard_of"), *rows[1:]]
            patch.setattr(due.store.streams[due.match_id], "rows", unread)
            first = worker.play_due()
        due.advance(1_000)

        assert (first.taken, first.failed) == (1, 1)
        assert worker.play_due().taken == 0
        assert due.process().play_due().taken == 1


class Scripted(Computer):
    """Has played so much, and is asked at these instants."""

    def __init__(self, played: Played) -> None:
        self.played = played
        self.calls: list[str] = []

    def play_due(self, limit: int = BATCH) -> Played:  # noqa: ARG002 - as many as there are
        self.calls.append("play")
        return self.played

    def heal(self, limit: int = BATCH) -> int:  # noqa: ARG002
        self.calls.append("heal")
        return 0


class TestLoop:
    @pytest.mark.parametrize(
        ("played", "wait_s"),
        [
            (Played(0, 0, 5_000, None), EVERY_S),
            (Played(1, 0, 5_000, 5_040), 0.04),
            (Played(1, 0, 5_000, 9_000), EVERY_S),
            (Played(BATCH, 0, 5_000, 9_000), 0.0),
        ],
    )
    def test_follows_what_is_known(self, played: Played, wait_s: float) -> None:
        loop = ComputerLoop(Scripted(played), clock=lambda: 7.0)

        assert loop.once() == pytest.approx(wait_s)

    def test_looks_for_lost_reminders_now_and_then(self) -> None:
        at_s = [0.0]
        scripted = Scripted(Played(0, 0, 5_000, None))
        loop = ComputerLoop(scripted, clock=lambda: at_s[0])
        for now_s in (0.0, 0.1, HEAL_EVERY_S - 0.1, HEAL_EVERY_S, HEAL_EVERY_S + 0.1):
            at_s[0] = now_s
            loop.once()

        assert scripted.calls == ["heal", "play", "play", "play", "heal", "play", "play"]
