"""The vectors made by another implementation of the rules (tests/vectors)."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from matches.bots.policies import Greedy
from matches.games.protocol import Action, Seat, SeatViewer
from matches.games.tiles import KINDS, pack
from matches.games.xqmj.actions import Discard
from matches.games.xqmj.pieces import HANDS_32
from matches.games.xqmj.scoring import SCORES, How
from matches.games.xqmj.state import HandState
from tests.support.xqmj import CHOW, KEY, PASS, PUNG, WIN, two_player_rules

FOLDER = Path(__file__).parents[3] / "vectors"
CLAIMS: dict[str, Action] = {"win": WIN, "chow": CHOW, "pung": PUNG, "pass": PASS}


@lru_cache(maxsize=1)
def scores() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "xqmj32_scores.json").read_text("utf-8"))
    return found


@lru_cache(maxsize=1)
def hands() -> list[dict[str, Any]]:
    lines = (FOLDER / "xqmj32_hands.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


class Golden:
    """One golden hand, played step by step."""

    def __init__(self, hand: dict[str, Any]) -> None:
        self.hand = hand
        self.rules = two_player_rules(hand["options"])
        order = (*hand["dealer_tiles"], *hand["other_tiles"], *hand["wall"])
        self.state: HandState = self.rules.deal(order, Seat(hand["dealer"]))

    def legal(self, seat: Seat) -> list[str]:
        """The legal actions as the file writes them; where there is none, the table's `pass`."""
        actions = {_written(action) for action in self.rules.legal(self.state, seat)}
        if not actions and self.rules.timing(self.state).table:
            return ["pass"]
        return sorted(actions)

    def play(self, step: dict[str, Any]) -> None:
        """Do what the step did; a pass takes the table's draw or void with it."""
        seat = Seat(step["seat"])
        name, _, tile = step["action"].partition(":")
        if tile:
            self._decide(seat, Discard(tile=tile, drawn=tile == self.state.drawn))
            return
        if name != "pass" or self.rules.legal(self.state, seat):
            self._decide(seat, CLAIMS[name])
        if name == "pass":
            (event,) = self.rules.table(self.state)
            self.state = self.rules.evolve(self.state, event)

    def _decide(self, seat: Seat, action: Action) -> None:
        (event,) = self.rules.decide(self.state, seat, action)
        self.state = self.rules.evolve(self.state, event)


def _written(action: Action) -> str:
    if isinstance(action, Discard):
        return f"discard:{action.tile}"
    return str(msgspec.to_builtins(action)["type"])


class TestScores:
    def test_are_of_all_winning_multisets(self) -> None:
        assert list(KINDS) == scores()["tile_order"]
        assert {pack(hand["tiles"]) for hand in scores()["hands"]} == set(HANDS_32)
        assert len(scores()["hands"]) == 66

    def test_split_each_hand_as_we_do(self) -> None:
        for hand in scores()["hands"]:
            split = HANDS_32[pack(hand["tiles"])]
            (meld,) = split.melds
            assert list(split.tiles) == hand["tiles"]
            assert msgspec.to_builtins(meld) == {
                "kind": hand["meld"]["kind"],
                "tiles": tuple(hand["meld"]["tiles"]),
            }
            assert list(split.pair) == hand["pair"]

    @pytest.mark.parametrize("how", get_args(How))
    def test_have_the_same_lines_for_every_way_of_winning(self, how: How) -> None:
        for hand in scores()["hands"]:
            ours = SCORES[pack(hand["tiles"])][how]
            expected = hand["scores"][how]
            assert [msgspec.to_builtins(line) for line in ours.lines] == expected["lines"]
            assert ours.points == expected["total"]

    def test_have_no_other_ways(self) -> None:
        ways = {way for hand in scores()["hands"] for way in hand["scores"]}

        assert ways == set(get_args(How))


class TestGoldenHands:
    def test_are_300(self) -> None:
        assert len(hands()) == 300
        assert {hand["ruleset"] for hand in hands()} == {KEY}
        assert sum(len(hand["steps"]) for hand in hands()) == 8707

    def test_offer_the_same_actions_at_every_step(self) -> None:
        for hand in hands():
            golden = Golden(hand)
            for step in hand["steps"]:
                where = f"{hand['id']} step {step['n']}"
                assert golden.legal(Seat(step["seat"])) == sorted(step["legal"]), where
                assert golden.state.turn == step["seat"], where
                assert golden.state.wall_left == step["wall_left"], where
                assert (golden.state.offered or golden.state.drawn) == step["tile"], where
                golden.play(step)

    def test_end_as_the_file_says(self) -> None:
        for hand in hands():
            golden = Golden(hand)
            for step in hand["steps"]:
                golden.play(step)
            outcome = golden.rules.outcome(golden.state)
            assert outcome is not None, hand["id"]
            expected = hand["result"]
            won = golden.state.won
            assert (outcome.how, outcome.winner) == (expected["type"], expected["winner"])
            assert sum(outcome.points) == expected["points"]
            assert list(won.tiles if won else ()) == expected["tiles"]
            lines = [msgspec.to_builtins(line) for line in won.lines] if won else []
            assert lines == expected["lines"]

    def test_play_greedily_as_our_greedy_policy_would(self) -> None:
        """Section 14: every one of their 1,733 real choices."""
        choices = 0
        for hand in hands():
            golden = Golden(hand)
            for step in hand["steps"]:
                seat = Seat(step["seat"])
                if hand["play"][seat] == "greedy" and len(step["legal"]) > 1:
                    view = golden.rules.view(golden.state, SeatViewer(seat))
                    chosen = Greedy().choose(view, golden.rules.legal(golden.state, seat))
                    assert _written(chosen) == step["action"], f"{hand['id']} step {step['n']}"
                    choices += 1
                golden.play(step)
        assert choices == 1733
