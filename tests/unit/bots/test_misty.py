"""The computer's levels, its chance and its limit (rules document, section 14)."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from matches.bots.expectation import look_ahead, warm
from matches.bots.misty import RANDOM_SHARES, Misty, chance_for, time_limit
from matches.games.protocol import Action, Seat, SeatViewer
from tests.support.games import games, played
from tests.support.xqmj import DEALER, OTHER, WIN, Table, discard, two_player_rules

PAGE = (Path(__file__).parents[3] / "docs/computer.md").read_text("utf-8")
GAME = games()[0]
RULES = two_player_rules()
SECRET, MATCH_ID = bytes(range(32)), bytes(range(16))
LEVELS = range(1, 9)

# The single rE waits for more than the single rR does.
TABLE = Table("rE rR rP rP rP", "bK bA bR bH")
BEST = discard("rR")


class Scripted:
    """Chance whose numbers were written down, each with the number of its alternatives."""

    def __init__(self, numbers: Iterable[tuple[int, int]]) -> None:
        self.left = list(numbers)

    def randrange(self, stop: int, /) -> int:
        number, of = self.left.pop(0)
        assert of == stop
        return number


def never() -> bool:
    return False


def choice(table: Table, seat: Seat, misty: Misty) -> Action:
    view = table.rules.view(table.state, SeatViewer(seat))
    return misty.choose(view, table.legal(seat))


def at(number: int, *, secret: bytes = SECRET, level: int = 1) -> Action:
    return choice(TABLE, DEALER, Misty(level, chance_for(secret, MATCH_ID, DEALER, number), never))


class TestMisty:
    @pytest.mark.parametrize(
        ("level", "share"), [(2, 84), (3, 72), (4, 58), (5, 44), (6, 30), (7, 15)]
    )
    def test_does_anything_in_its_level_s_share(self, level: int, share: int) -> None:
        random_one = Scripted([(share - 1, 100), (2, 3)])
        best_one = Scripted([(share, 100)])

        assert choice(TABLE, DEALER, Misty(level, random_one, never)) == discard("rP")
        assert choice(TABLE, DEALER, Misty(level, best_one, never)) == BEST

    def test_always_does_anything_at_level_1(self) -> None:
        misty = Misty(1, Scripted([(99, 100), (0, 3)]), never)

        assert choice(TABLE, DEALER, misty) == discard("rE")

    def test_always_does_its_best_at_level_8(self) -> None:
        assert choice(TABLE, DEALER, Misty(8, Scripted([(0, 100)]), never)) == BEST

    @pytest.mark.parametrize("level", LEVELS)
    def test_takes_every_win(self, level: int) -> None:
        """XM-83: on a discard that could be chowed or passed, and at the opening."""
        offered = Table("rC bA bA bE bE", "rR rH bP bP")
        offered.discard(DEALER, "rC")
        heavenly = Table("rR rH rC rK bK", "rE rE bE bE")

        for number in range(50):
            chance = chance_for(SECRET, MATCH_ID, DEALER, number)
            assert choice(offered, OTHER, Misty(level, chance, never)) == WIN
            assert choice(heavenly, DEALER, Misty(level, chance, never)) == WIN

    def test_lets_greedy_decide_where_no_time_is_left(self) -> None:
        """XM-85."""
        misty = Misty(8, Scripted([(0, 100)]), lambda: True)

        assert choice(TABLE, DEALER, misty) == discard("rE")

    @pytest.mark.parametrize("level", [0, 9])
    def test_has_eight_levels(self, level: int) -> None:
        with pytest.raises(KeyError):
            Misty(level, Scripted([]), never)

    @pytest.mark.parametrize("seed", range(20))
    def test_does_not_depend_on_what_it_cannot_see(self, seed: int) -> None:
        """XM-82: with everything hidden dealt anew it does the same, at every level."""
        chance = random.Random(seed)
        for number, step in enumerate(played(GAME, seed)):
            state, seat = step.before, step.before.turn
            legal = RULES.legal(state, seat)
            if legal:
                other, level = GAME.adapter.reshuffled(state, seat, chance), 1 + number % 8
                first, second = (
                    Misty(level, chance_for(SECRET, MATCH_ID, seat, number), never).choose(
                        RULES.view(one, SeatViewer(seat)), legal
                    )
                    for one in (state, other)
                )
                assert first == second


class TestPage:
    """docs/computer.md."""

    def test_has_the_levels(self) -> None:
        printed = re.search(r"^\| level \|.*\n.*\n\| decisions .*$", PAGE, re.MULTILINE)
        assert printed is not None
        levels, _, shares = printed.group().splitlines()

        cells = zip(levels.split("|")[2:-1], shares.split("|")[2:-1], strict=True)
        assert {int(level): int(share) for level, share in cells} == RANDOM_SHARES

    def test_has_the_tables_size(self) -> None:
        warm()

        assert f"all {look_ahead.cache_info().currsize:,} positions" in PAGE


class TestChance:
    def test_is_that_of_the_computer_s_page(self) -> None:
        """docs/computer.md: SHAKE-256 gives 38d7 7301 ed4b 240f b04d 1269 9f56 bc7d."""
        chance = chance_for(SECRET, MATCH_ID, Seat(1), 7)

        assert [chance.randrange(100) for _ in range(8)] == [51, 41, 47, 31, 33, 13, 90, 53]

    def test_is_the_same_again(self) -> None:
        """XM-84: a match can be played again."""
        assert [at(number) for number in range(40)] == [at(number) for number in range(40)]

    def test_differs_by_secret_match_seat_and_action(self) -> None:
        places = [
            (SECRET, MATCH_ID, Seat(0), 0),
            (SECRET, MATCH_ID, Seat(0), 1),
            (SECRET, MATCH_ID, Seat(1), 0),
            (SECRET, bytes(16), Seat(0), 0),
            (bytes(32), MATCH_ID, Seat(0), 0),
        ]

        drawn = [chance_for(*place).randrange(65_536) for place in places]

        assert len(set(drawn)) == len(places)

    def test_cannot_be_foretold_without_the_secret(self) -> None:
        """Of a match that everybody knows, other secrets give other actions, all about as often."""
        counted = Counter(at(0, secret=number.to_bytes(32, "big")) for number in range(600))

        assert set(counted) == {discard("rE"), discard("rR"), discard("rP")}
        assert min(counted.values()) > 150


class TestTimeLimit:
    def test_is_reached_after_50_ms_of_the_clock(self) -> None:
        readings = iter([7.0, 7.0, 7.0499, 7.0501])

        expired = time_limit(clock=lambda: next(readings))

        assert [expired(), expired(), expired()] == [False, False, True]
