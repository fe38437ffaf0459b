"""`manage.py ladder`: the computer's levels against each other."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper
from msgspec.structs import replace

from matches.bots.misty import chance_for
from matches.bots.policies import Chance, First, Uniform
from matches.games.protocol import Action, HandOutcome, SeatViewer
from matches.games.registry import rules_for
from matches.games.xqmj.rules import TwoPlayerRules
from matches.games.xqmj.state import HandState
from matches.games.xqmj.view import HandView
from matches.management.ladder import climb
from matches.management.ladder.climb import STEPS, Player, Step, Tally, play
from matches.management.ladder.report import table
from matches.management.ladder.table import play_match
from matches.management.progress import ProgressLine
from tests.support.xqmj import DEALER, Table, discard, two_player_rules

GREEDY = Step(8, None, (0.50, 0.60))


class Noting:
    """Plays as `First` does, and notes who dealt each hand that it sees the first time."""

    def __init__(self) -> None:
        self.dealers: list[int] = []
        self._wall_left = 0

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        if view.wall_left > self._wall_left:
            self.dealers.append(view.dealer)
        self._wall_left = view.wall_left
        return First().choose(view, legal)


class Flat(TwoPlayerRules):
    """Every hand gives two points and one."""

    def outcome(self, state: HandState) -> HandOutcome | None:
        ended = super().outcome(state)
        return None if ended is None else replace(ended, points=(2, 1))


class TestPlayMatch:
    def test_deals_six_hands_in_turn(self) -> None:
        """XM-13, XM-58."""
        dealers = set()
        for number in range(8):
            first, second = Noting(), Noting()
            play_match(two_player_rules(), bytes(32), bytes([number] * 16), (first, second))
            seen = max(first.dealers, second.dealers, key=len)
            assert seen in ([0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0])
            dealers.add(seen[0])

        assert dealers == {0, 1}

    def test_adds_up_the_points_of_each_seat(self) -> None:
        players = (First(), First())

        flat = Flat(rules_for("xqmj-32-2p").options)

        assert play_match(flat, b"", b"", players) == (12, 6)


class TestSteps:
    def test_go_from_level_to_level_and_end_at_greedy(self) -> None:
        assert [step.name for step in STEPS] == [
            "2 v 1", "3 v 2", "4 v 3", "5 v 4", "6 v 5", "7 v 6", "8 v 7", "8 v greedy"
        ]  # fmt: skip

    def test_have_the_targets_of_the_rules(self) -> None:
        assert {step.target for step in STEPS[:-1]} == {(0.60, 0.64)}
        assert STEPS[-1].target == (0.50, 0.60)


class TestTally:
    def test_counts_a_draw_half(self) -> None:
        assert Tally(wins=5, draws=2, losses=3).score == pytest.approx(0.6)

    def test_knows_how_sure_its_score_is(self) -> None:
        """Squares 1, 1/4 and 0: the variance is (5 + .5) / 10 - .36 = .19, and .019 the mean's."""
        assert Tally(wins=5, draws=2, losses=3).error == pytest.approx(0.1378405)

    @pytest.mark.parametrize(
        ("wins", "met"), [(556, False), (570, True), (620, True), (669, True), (685, False)]
    )
    def test_meets_a_target_within_two_standard_errors(self, wins: int, met: bool) -> None:
        """Of 1,000 matches a standard error is about .0155."""
        assert Tally(wins=wins, losses=1_000 - wins).meets((0.60, 0.64)) is met

    def test_adds_up(self) -> None:
        one = Tally(wins=1, draws=2, losses=3, points=(4, 5), decisions=6, actions=7)
        two = Tally(wins=10, draws=20, losses=30, points=(40, 50), decisions=60, actions=70)

        assert one + two == Tally(
            wins=11, draws=22, losses=33, points=(44, 55), decisions=66, actions=77
        )


def results(tally: Tally) -> tuple[int, int, int, tuple[int, int], int]:
    """What does not depend on the time."""
    return tally.wins, tally.draws, tally.losses, tally.points, tally.actions


class TestPlayer:
    def test_has_a_new_chance_at_every_action(self) -> None:
        """XM-84: by the number of the seat's actions before it."""
        table = Table("rE rR rP rP rP", "bK bA bR bH")
        view, legal = table.rules.view(table.state, SeatViewer(DEALER)), table.legal(DEALER)
        player = Player(1, bytes(32), bytes(16), DEALER)

        expected = [Uniform(chance_after_level(number)).choose(view, legal) for number in range(20)]

        assert [player.choose(view, legal) for _ in range(20)] == expected
        assert player.actions == 20

    def test_is_greedy_without_a_level(self) -> None:
        """Greedy sees no farther than the first of two singles that wait alike."""
        table = Table("rE rR rP rP rP", "bK bA bR bH")
        view, legal = table.rules.view(table.state, SeatViewer(DEALER)), table.legal(DEALER)

        assert Player(None, b"", b"", DEALER).choose(view, legal) == discard("rE")
        assert Player(8, b"", b"", DEALER).choose(view, legal) == discard("rR")


def chance_after_level(number: int) -> Chance:
    """The chance of an action whose first number has been used."""
    chance = chance_for(bytes(32), bytes(16), DEALER, number)
    chance.randrange(100)
    return chance


class TestPlay:
    def test_gives_the_same_matches_to_the_same_seed(self) -> None:
        """XM-84."""
        first, again, other = (play(STEPS[3], seed=seed, first=0, count=4) for seed in "aab")

        assert results(first) == results(again)
        assert results(first) != results(other)

    def test_plays_all_matches_however_they_are_divided(self) -> None:
        whole = play(GREEDY, seed="a", first=0, count=5)
        parts = play(GREEDY, seed="a", first=0, count=2) + play(GREEDY, seed="a", first=2, count=3)

        assert whole.matches == 5
        assert results(whole) == results(parts)

    def test_notes_what_the_upper_player_took(self) -> None:
        tally = play(GREEDY, seed="a", first=0, count=2)

        assert 0 < tally.decisions < tally.actions
        assert 0 < tally.thinking_s < tally.playing_s

    def test_is_the_same_in_several_processes(self) -> None:
        alone, together = (
            sum(
                (tally for _, tally in climb.climb([GREEDY], matches=12, seed="a", jobs=jobs)),
                Tally(),
            )
            for jobs in (1, 2)
        )

        assert results(alone) == results(together)


class TestTable:
    def test_has_a_line_a_step(self) -> None:
        tally = Tally(
            wins=5,
            draws=2,
            losses=3,
            points=(110, 99),
            decisions=400,
            thinking_s=0.1,
            actions=800,
            playing_s=0.2,
        )

        assert table({GREEDY: tally}) == [
            "step        score  s.e.   target        met  points      decisions/s  ms a decision",
            "8 v greedy  0.600  0.138  0.50 to 0.60  yes  11.0 : 9.9  4,000        0.250",
        ]


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ladder of one step, with a target that nothing misses."""
    monkeypatch.setattr("matches.management.commands.ladder.STEPS", (Step(8, None, (0.0, 1.0)),))


class TestCommand:
    @pytest.mark.usefixtures("brief")
    def test_prints_a_table_and_writes_it_as_json(self, tmp_path: Path) -> None:
        out, path = io.StringIO(), tmp_path / "ladder.json"

        call_command("ladder", matches=3, seed="a", json=path, stdout=out)

        (step,) = json.loads(path.read_bytes())["steps"]
        assert out.getvalue().splitlines()[1].startswith("8 v greedy  ")
        assert (step["level"], step["against"], step["matches"]) == (8, "greedy", 3)

    def test_fails_where_a_target_is_missed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("matches.management.commands.ladder.STEPS", (Step(8, 1, (0.0, 0.0)),))

        with pytest.raises(CommandError, match="off target: 8 v 1"):
            call_command("ladder", matches=4, stdout=io.StringIO())

    def test_sees_first_whether_the_file_can_be_written(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="No such file"):
            call_command("ladder", json=tmp_path / "nowhere" / "ladder.json")

    @pytest.mark.parametrize("number", ["0", "-1", "x"])
    def test_refuses_a_number_of_matches_below_one(self, number: str) -> None:
        with pytest.raises(CommandError, match="from 1 on"):
            call_command("ladder", f"--matches={number}")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestProgressLine:
    @pytest.mark.parametrize(
        ("stream", "after_s", "shown"),
        [
            (Terminal(), 0.2, "\r\x1b[2Khalf"),
            (Terminal(), 0.05, ""),
            (io.StringIO(), 5.1, "half\n"),
            (io.StringIO(), 0.2, ""),
        ],
    )
    def test_is_told_now_and_then(self, stream: io.StringIO, after_s: float, shown: str) -> None:
        readings = iter([100.0, 100.0 + after_s])

        ProgressLine(OutputWrapper(stream), lambda: next(readings)).tell("half")

        assert stream.getvalue() == shown

    def test_leaves_a_terminal_clean_and_a_file_alone(self) -> None:
        terminal, file = Terminal(), io.StringIO()

        ProgressLine(OutputWrapper(terminal)).clear()
        ProgressLine(OutputWrapper(file)).clear()

        assert (terminal.getvalue(), file.getvalue()) == ("\r\x1b[2K", "")
