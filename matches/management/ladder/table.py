"""A table without clocks: whole hands and matches between policies, at the level of the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from matches.bots.policies import Policy
from matches.domain import deal
from matches.games.protocol import HandEvent, Rules, Seat, SeatViewer
from matches.games.xqmj.state import HandState

NO_NONCES = (b"", b"")


def play_hand(
    rules: Rules[HandState], state: HandState, players: Sequence[Policy]
) -> Iterator[tuple[HandEvent, HandState]]:
    """The events of a hand from a state on, each with the state after it.

    `players` are the policies by seat. Raises `Rejected` where an action is not legal.
    """
    while rules.outcome(state) is None:
        seat = state.turn
        legal = rules.legal(state, seat)
        if legal:
            view: Any = rules.view(state, SeatViewer(seat))
            caused = rules.decide(state, seat, players[seat].choose(view, legal))
        else:
            caused = rules.table(state)
        for event in caused:
            state = rules.evolve(state, event)
            yield event, state


def play_match(
    rules: Rules[HandState], secret: bytes, match_id: bytes, players: Sequence[Policy]
) -> tuple[int, int]:
    """The points of both seats after all hands, dealt as a match with this secret deals them."""
    points = [0, 0]
    dealer: Seat | None = deal.first_dealer(secret, match_id, NO_NONCES, rules.seats)
    hand_no = 0
    while dealer is not None:
        hand_no += 1
        order = deal.order(secret, match_id, NO_NONCES, hand_no, rules.deck)
        *_, (_, state) = play_hand(rules, rules.deal(order, dealer), players)
        outcome = rules.outcome(state)
        if outcome is None:
            raise ValueError("the hand did not end")
        points = [old + new for old, new in zip(points, outcome.points, strict=True)]
        dealer = rules.next_hand(hand_no, dealer, outcome).dealer
    return points[0], points[1]
