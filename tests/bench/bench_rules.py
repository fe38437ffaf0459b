"""How fast the pure rules are: legal actions, folding and scoring a second, on one core."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from matches.games.protocol import HandEvent, Seat
from matches.games.registry import rules_for
from matches.games.xqmj.pieces import HANDS_32
from matches.games.xqmj.scoring import LINES, SCORES, WinningHand, score

HANDS = 300
ROUNDS = 9

RULES = rules_for("xqmj-32-2p")


def run() -> dict[str, float]:
    """Operations a second of processor time, best of some rounds; `evolve_us` is µs an event."""
    hands = [_played(seed) for seed in range(HANDS)]
    states = [state for start, events in hands for state in _states(start, events)]
    seats = [(state, state.turn) for state in states]
    won = [(counts, how) for counts, scores in SCORES.items() for how in scores]
    read = [
        WinningHand(split.tiles, split.melds[0], split.pair, "self_draw")
        for split in HANDS_32.values()
    ]
    evolve = _rate(lambda: _fold_all(hands), sum(len(events) for _, events in hands))
    return {
        "evolve_per_s": evolve,
        "evolve_us": 1e6 / evolve,
        "legal_per_s": _rate(lambda: [RULES.legal(*at) for at in seats], len(seats)),
        "timing_per_s": _rate(lambda: [RULES.timing(state) for state in states], len(states)),
        "score_per_s": _rate(lambda: [SCORES[counts][how] for counts, how in won], len(won)),
        "score_lines_per_s": _rate(lambda: [score(hand, LINES) for hand in read], len(read)),
    }


def _rate(work: Callable[[], Any], size: int) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return size / best


def _played(seed: int) -> tuple[Any, list[HandEvent]]:
    """One random hand: its state after the deal, and all its events."""
    chance = random.Random(seed)
    start = state = RULES.deal(tuple(chance.sample(RULES.deck, len(RULES.deck))), Seat(seed % 2))
    events: list[HandEvent] = []
    while RULES.outcome(state) is None:
        legal = RULES.legal(state, state.turn)
        caused = (
            RULES.decide(state, state.turn, chance.choice(legal)) if legal else RULES.table(state)
        )
        for event in caused:
            state = RULES.evolve(state, event)
            events.append(event)
    return start, events


def _states(state: Any, events: list[HandEvent]) -> list[Any]:
    states = [state]
    for event in events:
        states.append(RULES.evolve(states[-1], event))
    return states


def _fold_all(hands: list[tuple[Any, list[HandEvent]]]) -> None:
    evolve = RULES.evolve
    for start, events in hands:
        state = start
        for event in events:
            state = evolve(state, event)
