from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from hashlib import sha256
from uuid import UUID

import pytest

from ratings.fold import Ledger, Standing, Unratable, fold
from ratings.glicko2 import Glicko

ANN, BEN, CAT, DAN = (UUID(int=n) for n in range(1, 5))
MATCH = UUID(int=99)


@dataclass(frozen=True)
class Match:
    """A finished rated match, as the fold asks for it."""

    match_id: UUID = MATCH
    ruleset: str = "xqmj-32-2p"
    control: str = "3+2"
    players: tuple[str, ...] = (ANN.hex, BEN.hex)
    places: tuple[int, ...] = (1, 2)
    ended_at_ms: int = 1_000_000


def standing(rating: str, rd: str, *, last_at_ms: int, results: tuple[int, int, int]) -> Standing:
    wins, draws, losses = results
    glicko = Glicko(Decimal(rating), Decimal(rd), Decimal("0.060000000"))
    return Standing(glicko, sum(results), wins, draws, losses, last_at_ms)


class TestEntries:
    def test_say_what_one_match_did_to_each_seat(self) -> None:
        step = fold(Match(), {}, last_seq=0)

        ann, ben = (entry.line().decode() for entry in step.entries)
        assert ann == (
            '{"pool":"xqmj-32-2p-blitz","seq":1,"match_id":"00000000-0000-0000-0000-000000000063",'
            '"seat":0,"seats":2,"player":"00000000-0000-0000-0000-000000000001","place":1,'
            '"at_ms":1000000,"idle_ms":0,"algorithm":1,'
            '"before":{"rating":"1500.000000","rd":"350.000000","vol":"0.060000000"},'
            '"after":{"rating":"1662.310894","rd":"290.318964","vol":"0.059999675"}}'
        )
        assert ben == (
            '{"pool":"xqmj-32-2p-blitz","seq":2,"match_id":"00000000-0000-0000-0000-000000000063",'
            '"seat":1,"seats":2,"player":"00000000-0000-0000-0000-000000000002","place":2,'
            '"at_ms":1000000,"idle_ms":0,"algorithm":1,'
            '"before":{"rating":"1500.000000","rd":"350.000000","vol":"0.060000000"},'
            '"after":{"rating":"1337.689106","rd":"290.318964","vol":"0.059999675"}}'
        )

    def test_are_numbered_on_from_the_pools_last(self) -> None:
        step = fold(Match(), {}, last_seq=40)

        assert [entry.seq for entry in step.entries] == [41, 42]

    def test_say_how_long_each_seat_was_idle(self) -> None:
        held = {
            ANN: standing("1650", "60", last_at_ms=1_000_000 - 864_000, results=(3, 0, 0)),
            BEN: standing("1580", "90", last_at_ms=1_000_500, results=(1, 0, 1)),
        }

        step = fold(Match(), held, last_seq=0)

        # Ben's last match ended later and was recorded earlier: no time, never negative time.
        assert [entry.idle_ms for entry in step.entries] == [864_000, 0]


class TestStandings:
    def test_count_a_win_and_a_loss(self) -> None:
        ann, ben = fold(Match(), {}, last_seq=0).standings

        assert (ann.games, ann.wins, ann.draws, ann.losses) == (1, 1, 0, 0)
        assert (ben.games, ben.wins, ben.draws, ben.losses) == (1, 0, 0, 1)
        assert ann.last_at_ms == ben.last_at_ms == 1_000_000
        assert ann.glicko.rating == Decimal("1662.310894")

    def test_count_a_draw(self) -> None:
        step = fold(Match(places=(1, 1)), {}, last_seq=0)

        assert [(s.wins, s.draws, s.losses) for s in step.standings] == [(0, 1, 0), (0, 1, 0)]
        assert [s.glicko.rating for s in step.standings] == [Decimal("1500.000000")] * 2

    def test_of_four_count_a_shared_first_place_as_a_draw_and_all_behind_as_a_loss(self) -> None:
        table = Match(players=tuple(p.hex for p in (ANN, BEN, CAT, DAN)), places=(3, 1, 1, 4))

        step = fold(table, {}, last_seq=0)

        assert [(s.wins, s.draws, s.losses) for s in step.standings] == [
            (0, 0, 1),
            (0, 1, 0),
            (0, 1, 0),
            (0, 0, 1),
        ]

    def test_go_on_from_what_was_held(self) -> None:
        held = {ANN: standing("1650", "60", last_at_ms=5, results=(3, 2, 1))}

        ann, _ = fold(Match(), held, last_seq=0).standings

        assert (ann.games, ann.wins, ann.draws, ann.losses) == (7, 4, 2, 1)
        assert Decimal(1650) < ann.glicko.rating < Decimal(1662)

    def test_never_step_back_in_time(self) -> None:
        held = {ANN: standing("1650", "60", last_at_ms=1_000_500, results=(1, 0, 0))}

        ann, ben = fold(Match(), held, last_seq=0).standings

        assert (ann.last_at_ms, ben.last_at_ms) == (1_000_500, 1_000_000)


class TestRefusal:
    @pytest.mark.parametrize(
        "match",
        [
            replace(Match(), control="10+5"),
            replace(Match(), players=(ANN.hex,), places=(1,)),
            replace(Match(), players=(ANN.hex, ANN.hex)),
            replace(Match(), players=(ANN.hex, "nobody")),
            replace(Match(), places=(1, 2, 3)),
            replace(Match(), places=()),
        ],
    )
    def test_names_the_match_that_cannot_be_rated(self, match: Match) -> None:
        with pytest.raises(Unratable, match="00000000-0000-0000-0000-000000000063"):
            fold(match, {}, last_seq=0)


class TestLedger:
    def test_goes_on_from_match_to_match(self) -> None:
        ledger = Ledger()

        ledger.apply(Match())
        second = ledger.apply(replace(Match(), places=(2, 1), ended_at_ms=1_060_000))

        assert [entry.seq for entry in second] == [3, 4]
        assert [entry.before.rating for entry in second] == [
            Decimal("1662.310894"),
            Decimal("1337.689106"),
        ]
        assert [entry.idle_ms for entry in second] == [60_000, 60_000]
        assert ledger.standings["xqmj-32-2p-blitz"][ANN].games == 2

    def test_keeps_pools_apart(self) -> None:
        ledger = Ledger()

        ledger.apply(Match())
        other = ledger.apply(replace(Match(), control="1+1"))

        assert [(entry.pool, entry.seq) for entry in other] == [
            ("xqmj-32-2p-bullet", 1),
            ("xqmj-32-2p-bullet", 2),
        ]
        assert other[0].before.rating == Decimal(1500)

    def test_changes_nothing_where_a_match_cannot_be_rated(self) -> None:
        ledger = Ledger()

        with pytest.raises(Unratable):
            ledger.apply(replace(Match(), places=(1,)))

        assert ledger.apply(Match())[0].seq == 1

    def test_gives_the_same_bytes_for_ever(self) -> None:
        # Another digest is another algorithm: raise ALGORITHM and keep the old one for old lines.
        ledger, digest = Ledger(), sha256()
        for n in range(500):
            dice = sha256(n.to_bytes(4, "big")).digest()
            players = sorted(range(12), key=lambda player: sha256(dice + bytes([player])).digest())
            seats = 2 + dice[0] % 3
            match = Match(
                match_id=UUID(int=n),
                control=("1+1", "3+2", "5+5")[dice[1] % 3],
                players=tuple(UUID(int=player).hex for player in players[:seats]),
                places=tuple(1 + dice[2 + seat] % seats for seat in range(seats)),
                ended_at_ms=1_700_000_000_000 + n * 40_000_000 + int.from_bytes(dice[6:10], "big"),
            )
            for entry in ledger.apply(match):
                digest.update(entry.line())

        assert (
            digest.hexdigest() == "cff42c689d436cf6e88a0ed345d5f8eda18342d9a9c38deb23cbbf9281ec157b"
        )
