"""Expected numbers were computed outside this project, to 50 digits and by bisection."""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ratings import glicko2
from ratings.glicko2 import DRAW, LOSS, NEWCOMER, WIN, Entrant, Glicko, Score

DAY_MS = 86_400_000


def glicko(rating: str, rd: str, vol: str = "0.06") -> Glicko:
    return Glicko(Decimal(rating), Decimal(rd), Decimal(vol))


def told(held: Glicko) -> str:
    """What is recorded, places included: 1e3 and 1000 are equal, and not the same bytes."""
    return f"{held.rating} {held.rd} {held.vol}"


PAPER = glicko("1500", "200")
PAPER_SCORES = [
    Score(glicko("1400", "30"), WIN),
    Score(glicko("1550", "100"), LOSS),
    Score(glicko("1700", "300"), LOSS),
]

places6 = st.integers(0, 10**6 - 1).map(lambda n: Decimal(n).scaleb(-6))
ratings = st.builds(lambda n, part: Decimal(n) + part, st.integers(100, 3500), places6)
rds = st.builds(
    lambda n, part: min(Decimal("350.000000"), Decimal(n) + part), st.integers(45, 350), places6
)
vols = st.integers(30_000_000, 100_000_000).map(lambda n: Decimal(n).scaleb(-9))
glickos = st.builds(Glicko, ratings, rds, vols)
idles = st.integers(0, 3_000 * DAY_MS)
entrants = st.builds(Entrant, glickos, idles, st.integers(1, 4))
tables = st.lists(entrants, min_size=2, max_size=6)


class TestUpdate:
    def test_gives_the_papers_example_to_16_digits_before_quantising(self) -> None:
        with decimal.localcontext(glicko2._CONTEXT):
            rating, rd, vol = glicko2._update(PAPER, PAPER_SCORES)

            assert abs(rating - Decimal("1464.05067053908925")) < Decimal("1e-13")
            assert abs(rd - Decimal("151.516524124304315")) < Decimal("1e-14")
            assert abs(vol - Decimal("0.05999598440067784")) < Decimal("1e-16")

    def test_gives_the_papers_example_as_recorded(self) -> None:
        after = glicko2.update(PAPER, PAPER_SCORES)

        assert told(after) == "1464.050671 151.516524 0.059995984"

    def test_takes_the_deviation_and_not_the_rating_into_the_volatility(self) -> None:
        # With the rating squared there, this gives 0.0609 and 95.0123.
        after = glicko2.update(glicko("1500", "120"), [Score(glicko("1800", "60"), WIN)] * 10)

        assert after.vol.quantize(Decimal("0.0001")) == Decimal("0.0604")
        assert after.rd.quantize(Decimal("0.0001")) == Decimal("95.0079")
        assert told(after) == "1931.353948 95.007884 0.060354623"

    def test_raises_the_volatility_of_who_wins_against_all_expectation(self) -> None:
        after = glicko2.update(glicko("1200", "50", "0.095"), [Score(glicko("2400", "50"), WIN)])

        assert told(after) == "1215.744763 52.653437 0.095052161"

    def test_keeps_the_deviation_at_350_where_a_result_could_teach_nothing(self) -> None:
        after = glicko2.update(glicko("100", "350"), [Score(glicko("9900", "45"), WIN)])

        assert told(after) == "798.702702 350.000000 0.060013237"

    def test_keeps_the_volatility_at_its_floor(self) -> None:
        after = glicko2.update(
            glicko("1500", "46", "0.03"), [Score(glicko("1500", "46", "0.03"), DRAW)]
        )

        assert told(after) == "1500.000000 45.897061 0.030000000"

    def test_keeps_the_volatility_at_its_ceiling(self) -> None:
        upset = [Score(glicko("2400", "50"), WIN)] * 10

        assert glicko2.update(glicko("1200", "50", "0.1"), upset).vol == Decimal("0.100000000")

    def test_keeps_the_deviation_at_45_however_much_is_known(self) -> None:
        long_period = [Score(glicko("1500", "45"), DRAW)] * 100

        assert glicko2.update(glicko("1500", "50"), long_period).rd == Decimal("45.000000")

    def test_survives_a_gap_that_rounds_the_expectation_to_certainty(self) -> None:
        after = glicko2.update(glicko("0", "45"), [Score(glicko("60000", "45"), WIN)])

        assert after.rating > 0

    def test_refuses_a_period_without_a_pairing(self) -> None:
        with pytest.raises(ValueError, match="without a pairing"):
            glicko2.update(PAPER, [])

    def test_refuses_floats(self) -> None:
        impure = Glicko(1500.0, Decimal(200), Decimal("0.06"))  # type: ignore[arg-type]

        with pytest.raises(TypeError):
            glicko2.update(impure, PAPER_SCORES)

    @given(
        glickos,
        st.lists(
            st.builds(Score, glickos, st.sampled_from([WIN, DRAW, LOSS])), min_size=2, max_size=4
        ),
    )
    def test_does_not_depend_on_the_order_of_the_pairings_in_the_last_digit(
        self, player: Glicko, scores: list[Score]
    ) -> None:
        with decimal.localcontext(glicko2._CONTEXT):
            there = {glicko2._update(player, list(order)) for order in permutations(scores)}

        assert len(there) == 1

    @given(glickos, glickos)
    def test_rates_a_win_over_a_draw_over_a_loss(self, player: Glicko, other: Glicko) -> None:
        win, draw, loss = (
            glicko2.update(player, [Score(other, score)]).rating for score in (WIN, DRAW, LOSS)
        )

        assert loss <= draw <= win
        assert loss <= player.rating <= win

    @given(glickos, ratings, ratings, rds, st.sampled_from([WIN, LOSS]))
    def test_forgives_a_loss_and_honours_a_win_the_more_the_stronger_the_opponent(
        self, player: Glicko, one: Decimal, other: Decimal, rd: Decimal, score: Decimal
    ) -> None:
        weaker, stronger = (Glicko(r, rd, player.vol) for r in sorted((one, other)))

        from_weaker = glicko2.update(player, [Score(weaker, score)]).rating
        from_stronger = glicko2.update(player, [Score(stronger, score)]).rating

        assert from_weaker <= from_stronger


class TestVolatility:
    @given(rds, vols, st.integers(4_000, 10**9), st.integers(-1_000, 1_000))
    @settings(max_examples=300)
    def test_is_the_root_within_the_bounds_in_at_most_five_steps(
        self, rd: Decimal, vol: Decimal, v_thousandths: int, pull_thousandths: int
    ) -> None:
        with decimal.localcontext(glicko2._CONTEXT):
            phi_squared = (rd / Decimal("173.7178")) ** 2
            v = Decimal(v_thousandths) / 1000
            delta = v * pull_thousandths / 1000

            found, exps = counted(phi_squared, vol, v, delta)

            x = 2 * glicko2._CONTEXT.ln(found)
            f = residual(x, phi_squared, vol, v, delta)
            if found == Decimal("0.03"):
                assert f <= 0
            elif found == Decimal("0.10"):
                assert f >= 0
            else:
                assert abs(f) < Decimal("1e-14")
            # Two for the bounds, five steps, one for the answer.
            assert exps <= 8


def residual(x: Decimal, phi_squared: Decimal, vol: Decimal, v: Decimal, delta: Decimal) -> Decimal:
    """f of the paper's step 5.1, written from the paper."""
    e = glicko2._CONTEXT.exp(x)
    first = e * (delta**2 - phi_squared - v - e) / (2 * (phi_squared + v + e) ** 2)
    return first - (x - glicko2._CONTEXT.ln(vol**2)) / Decimal("0.25")


class CountingContext:
    """Our context, counting the calls of exp."""

    def __init__(self, context: decimal.Context) -> None:
        self.context = context
        self.exps = 0

    def exp(self, x: Decimal) -> Decimal:
        self.exps += 1
        return self.context.exp(x)

    def ln(self, x: Decimal) -> Decimal:
        return self.context.ln(x)


def counted(phi_squared: Decimal, vol: Decimal, v: Decimal, delta: Decimal) -> tuple[Decimal, int]:
    counting = CountingContext(glicko2._CONTEXT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(glicko2, "_CONTEXT", counting)
        return glicko2._volatility(phi_squared, vol, v, delta), counting.exps


class TestGrow:
    def test_changes_nothing_at_once(self) -> None:
        held = glicko("1612.500000", "60.000000", "0.060000000")

        assert told(glicko2.grow(held, idle_ms=0)) == "1612.500000 60.000000 0.060000000"

    def test_adds_one_period_in_4_665_days(self) -> None:
        assert glicko2.grow(glicko("1500", "200"), idle_ms=403_056_000).rd == Decimal("200.271417")

    def test_counts_fractions_of_a_period(self) -> None:
        assert glicko2.grow(glicko("1500", "50"), idle_ms=30 * DAY_MS).rd == Decimal("56.556624")
        assert glicko2.grow(glicko("1500", "50"), idle_ms=365 * DAY_MS).rd == Decimal("104.882138")

    def test_stops_at_350(self) -> None:
        assert glicko2.grow(glicko("1500", "60"), idle_ms=30_000 * DAY_MS).rd == Decimal(350)

    def test_leaves_rating_and_volatility_alone(self) -> None:
        grown = glicko2.grow(glicko("1432.000001", "60", "0.05"), idle_ms=DAY_MS)

        assert (grown.rating, grown.vol) == (Decimal("1432.000001"), Decimal("0.05"))

    def test_refuses_time_that_runs_backwards(self) -> None:
        with pytest.raises(ValueError, match="-1 ms"):
            glicko2.grow(NEWCOMER, idle_ms=-1)

    @given(glickos, idles, idles)
    def test_grows_with_time(self, player: Glicko, one: int, other: int) -> None:
        sooner, later = sorted((one, other))

        assert (
            player.rd
            <= glicko2.grow(player, idle_ms=sooner).rd
            <= glicko2.grow(player, idle_ms=later).rd
            <= 350
        )


class TestProvisional:
    @pytest.mark.parametrize(
        ("rd", "expected"), [("109.999999", False), ("110.000000", True), ("110.000001", True)]
    )
    def test_begins_at_a_deviation_of_110(self, rd: str, expected: bool) -> None:
        assert glicko2.is_provisional(glicko("1500", rd)) is expected

    def test_of_an_active_player_begins_a_year_after_the_last_match(self) -> None:
        # (110^2 - 60^2) / 173.7178^2 / 0.06^2 periods = 364.9887 days.
        assert glicko2.settled_ms(glicko("1500", "60")) == 31_535_024_595

    def test_of_a_newcomer_has_begun(self) -> None:
        assert glicko2.settled_ms(NEWCOMER) == 0
        assert glicko2.settled_ms(glicko("1500", "110")) == 0

    @given(glickos)
    def test_begins_when_the_grown_deviation_reaches_110(self, player: Glicko) -> None:
        settled = glicko2.settled_ms(player)

        # A second to either side: the recorded deviation is rounded to six places.
        if settled > 1_000:
            assert glicko2.grow(player, idle_ms=settled - 1_000).rd <= 110
        assert glicko2.grow(player, idle_ms=settled + 1_000).rd >= 110


class TestExpected:
    @pytest.mark.parametrize(
        ("player", "opponent", "share"),
        [
            (("1500", "350"), ("1500", "45"), "0.500000"),
            (("1700", "50"), ("1500", "50"), "0.754610"),
            (("1500", "50"), ("1700", "50"), "0.245390"),
            (("1700", "350"), ("1500", "50"), "0.682653"),
            (("2300", "45"), ("1500", "45"), "0.989164"),
        ],
    )
    def test_gives_the_share_of_a_point(
        self, player: tuple[str, str], opponent: tuple[str, str], share: str
    ) -> None:
        assert str(glicko2.expected(glicko(*player), glicko(*opponent))) == share

    @given(glickos, glickos)
    def test_shares_out_one_point(self, one: Glicko, other: Glicko) -> None:
        # Each side is rounded by itself.
        total = glicko2.expected(one, other) + glicko2.expected(other, one)
        assert abs(total - 1) <= Decimal("0.000001")

    @given(glickos, glickos, ratings)
    def test_rises_with_the_rating(self, one: Glicko, other: Glicko, rating: Decimal) -> None:
        low, high = (Glicko(r, one.rd, one.vol) for r in sorted((one.rating, rating)))

        assert glicko2.expected(low, other) <= glicko2.expected(high, other)


class TestRate:
    def test_moves_two_newcomers_by_the_same_162(self) -> None:
        after = glicko2.rate([Entrant(NEWCOMER, 0, 1), Entrant(NEWCOMER, 0, 2)])

        assert [told(seat) for seat in after] == [
            "1662.310894 290.318964 0.059999675",
            "1337.689106 290.318964 0.059999675",
        ]

    def test_moves_nobody_where_equals_draw(self) -> None:
        after = glicko2.rate([Entrant(NEWCOMER, 0, 1), Entrant(NEWCOMER, 0, 1)])

        assert [told(seat) for seat in after] == ["1500.000000 290.318962 0.059998961"] * 2

    def test_grows_the_deviation_before_it_reads_the_snapshot(self) -> None:
        # Ten days widen 60 to 61.910289, for both sides' sums.
        after = glicko2.rate(
            [
                Entrant(glicko("1650", "60"), 10 * DAY_MS, 2),
                Entrant(glicko("1580", "90", "0.055"), 0, 1),
            ]
        )

        assert [told(seat) for seat in after] == [
            "1637.371702 61.888065 0.060001261",
            "1606.014035 87.789119 0.055000900",
        ]

    def test_pairs_four_seats_by_place_with_a_third_each(self) -> None:
        after = glicko2.rate(
            [
                Entrant(glicko("1600", "80"), 0, 2),
                Entrant(glicko("1500", "350"), 0, 1),
                Entrant(glicko("1450", "120", "0.05"), 0, 4),
                Entrant(glicko("1720", "60", "0.04"), 0, 2),
            ]
        )

        assert [told(seat) for seat in after] == [
            "1600.610889 79.237496 0.059997791",
            "1731.610615 260.130339 0.059999965",
            "1430.033373 116.201978 0.049999354",
            "1716.921159 59.874222 0.039999511",
        ]

    @pytest.mark.parametrize("seats", [0, 1])
    def test_refuses_a_match_without_an_opponent(self, seats: int) -> None:
        with pytest.raises(ValueError, match=f"match of {seats} seats"):
            glicko2.rate([Entrant(NEWCOMER, 0, 1)] * seats)

    @given(tables)
    def test_stays_within_the_bounds(self, table: list[Entrant]) -> None:
        for after in glicko2.rate(table):
            assert re.fullmatch(r"-?\d+\.\d{6} \d+\.\d{6} 0\.\d{9}", told(after))
            assert Decimal(45) <= after.rd <= Decimal(350)
            assert Decimal("0.03") <= after.vol <= Decimal("0.10")

    @given(tables, st.randoms(use_true_random=False))
    def test_gives_a_seat_the_same_wherever_it_sits(
        self, table: list[Entrant], random: object
    ) -> None:
        order = sorted(range(len(table)), key=lambda _: random.random())  # type: ignore[attr-defined]

        moved = glicko2.rate([table[i] for i in order])

        here = glicko2.rate(table)
        assert moved == tuple(here[i] for i in order)

    @given(glickos, glickos, idles, idles, st.sampled_from([(1, 2), (1, 1), (2, 1)]))
    def test_mirrors_when_strength_and_places_are_mirrored(
        self, one: Glicko, two: Glicko, idle_one: int, idle_two: int, places: tuple[int, int]
    ) -> None:
        def mirrored(player: Glicko) -> Glicko:
            return Glicko(3000 - player.rating, player.rd, player.vol)

        straight = glicko2.rate(
            [Entrant(one, idle_one, places[0]), Entrant(two, idle_two, places[1])]
        )
        mirror = glicko2.rate(
            [
                Entrant(mirrored(one), idle_one, places[1]),
                Entrant(mirrored(two), idle_two, places[0]),
            ]
        )

        assert mirror == tuple(mirrored(after) for after in straight)

    @given(tables, st.integers(0, 5))
    def test_never_rates_a_worse_place_higher(self, table: list[Entrant], seat: int) -> None:
        seat %= len(table)

        def placed(place: int) -> Decimal:
            entrant = Entrant(table[seat].glicko, table[seat].idle_ms, place)
            return glicko2.rate([*table[:seat], entrant, *table[seat + 1 :]])[seat].rating

        by_place = [placed(place) for place in range(1, 6)]
        assert by_place == sorted(by_place, reverse=True)

    @given(tables)
    def test_treats_two_seats_as_it_treats_more(self, table: list[Entrant]) -> None:
        before = [glicko2.grow(entrant.glicko, idle_ms=entrant.idle_ms) for entrant in table[:2]]
        mine, other = table[0].place, table[1].place
        score = DRAW if mine == other else WIN if mine < other else LOSS

        assert glicko2.rate(table[:2])[0] == glicko2.update(before[0], [Score(before[1], score)])


THREE_SEATS = [
    "1647.971783 61.887953 0.059997187",
    "1603.672860 87.791337 0.055000357",
    "1560.575248 87.791323 0.054999501",
]

HOSTILE = decimal.Context(
    prec=3, rounding=decimal.ROUND_UP, Emin=-5, Emax=5, traps=[decimal.Inexact, decimal.Rounded]
)


class TestContext:
    def test_has_20_digits_and_rounds_half_to_even(self) -> None:
        assert (glicko2._CONTEXT.prec, glicko2._CONTEXT.rounding) == (20, "ROUND_HALF_EVEN")

    @pytest.fixture
    def hostile_context(self) -> Iterator[None]:
        with decimal.localcontext(HOSTILE):
            yield

    @pytest.mark.usefixtures("hostile_context")
    def test_of_the_caller_changes_nothing(self) -> None:
        player, other = glicko("1650", "60"), glicko("1580", "90", "0.055")

        paper = glicko2.update(PAPER, PAPER_SCORES)

        assert told(paper) == "1464.050671 151.516524 0.059995984"
        assert str(glicko2.grow(player, idle_ms=10 * DAY_MS).rd) == "61.910289"
        assert str(glicko2.expected(glicko("1700", "50"), glicko("1500", "50"))) == "0.754610"
        assert glicko2.settled_ms(player) == 31_535_024_595
        assert not glicko2.is_provisional(player)
        seats = [Entrant(player, 10 * DAY_MS, 2), Entrant(other, 0, 1), Entrant(other, 0, 3)]
        assert [told(after) for after in glicko2.rate(seats)] == THREE_SEATS

    @pytest.mark.usefixtures("hostile_context")
    def test_of_the_caller_is_left_alone(self) -> None:
        glicko2.update(PAPER, PAPER_SCORES)

        now = decimal.getcontext()
        assert (now.prec, now.rounding) == (3, decimal.ROUND_UP)
        assert not any(now.flags.values())

    @given(tables, st.integers(1, 60), st.sampled_from([decimal.ROUND_DOWN, decimal.ROUND_CEILING]))
    @example(table=[Entrant(NEWCOMER, 0, 1)] * 3, prec=1, rounding=decimal.ROUND_DOWN)
    def test_of_any_precision_and_rounding_changes_nothing(
        self, table: list[Entrant], prec: int, rounding: str
    ) -> None:
        here = glicko2.rate(table)

        with decimal.localcontext() as context:
            context.prec, context.rounding = prec, rounding
            there = glicko2.rate(table)

        assert here == there
