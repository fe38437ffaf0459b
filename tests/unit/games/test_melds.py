"""The search for winning hands, apart from any ruleset."""

from __future__ import annotations

import pytest

from matches.games.melds import SEQUENCES, Meld, winning_hands
from matches.games.tiles import Tile, pack, unpack

RED_SOLDIERS = Meld("triplet", ("rP", "rP", "rP"))


def found(
    *, melds: list[Meld], pairs: list[tuple[Tile, Tile]], meld_count: int, deck: str
) -> set[str]:
    tiles: list[Tile] = deck.split()  # type: ignore[assignment]
    hands = winning_hands(melds=melds, pairs=pairs, meld_count=meld_count, deck=pack(tiles))
    return {" ".join(unpack(hand)) for hand in hands}


class TestWinningHands:
    def test_are_all_melds_with_all_pairs(self) -> None:
        hands = found(
            melds=[SEQUENCES[0], RED_SOLDIERS],
            pairs=[("bA", "bA"), ("bP", "bP")],
            meld_count=1,
            deck="rK rA rE rP rP rP bA bA bP bP",
        )

        assert hands == {
            "rK rA rE bA bA",
            "rK rA rE bP bP",
            "rP rP rP bA bA",
            "rP rP rP bP bP",
        }

    def test_need_all_their_copies_in_the_deck(self) -> None:
        hands = found(
            melds=[SEQUENCES[0]],
            pairs=[("rA", "rA"), ("bA", "bA")],
            meld_count=1,
            deck="rK rA rA rE bA bA",
        )

        assert hands == {"rK rA rE bA bA"}

    def test_may_have_the_same_meld_twice(self) -> None:
        hands = found(
            melds=[SEQUENCES[0], SEQUENCES[1]],
            pairs=[("rP", "rP")],
            meld_count=2,
            deck="rK rK rA rA rE rE rR rH rC rP rP",
        )

        assert hands == {
            "rK rK rA rA rE rE rP rP",
            "rK rA rE rR rH rC rP rP",
        }

    def test_may_hold_a_meld_of_four(self) -> None:
        kong = Meld("triplet", ("rP", "rP", "rP", "rP"))

        hands = found(melds=[kong], pairs=[("bP", "bP")], meld_count=1, deck="rP rP rP rP bP bP")

        assert hands == {"rP rP rP rP bP bP"}

    def test_refuse_a_ruleset_in_which_a_hand_has_two_readings(self) -> None:
        with pytest.raises(ValueError, match="two ways"):
            found(
                melds=[Meld("triplet", ("rA", "rA", "rA")), Meld("triplet", ("rA", "rA", "rE"))],
                pairs=[("rA", "rE"), ("rA", "rA")],
                meld_count=1,
                deck="rA rA rA rA rA rE rE",
            )
