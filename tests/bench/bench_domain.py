"""How fast the match around the hands is: folding a whole match, and deciding a command."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from matches.bots.policies import Greedy
from matches.domain import match as matches
from matches.domain.commands import Act, Command, Ready
from matches.domain.events import HandDealt, Stamped
from matches.domain.state import Match
from matches.games.protocol import HandEvent, SeatViewer
from tests.support.sitting import ANA, BEN, Sitting, dealt

ROUNDS = 25
MATCHES = 4
THINKING_MS = 900

Asked = tuple[Match, Command]


def run() -> dict[str, float]:
    """µs of processor time, best of some rounds.

    `evolve_us`: an event, the deals and the game's own share included;
    `hand_event_us` and `deal_us`: the two sorts of event that matter in it.
    `decide_us`: a command, with the settling before it.
    """
    played = [_played(bytes([number]) * 32) for number in range(MATCHES)]
    steps = [step for sitting in played for step in _steps(sitting)]
    of_hands = [step for step in steps if isinstance(step[1].event, HandEvent)]
    deals = [step for step in steps if isinstance(step[1].event, HandDealt)]
    asked = [_asked(before, stamped) for before, stamped in of_hands if stamped.actor is not None]
    return {
        "events_a_match": len(steps) / MATCHES,
        "evolve_us": _us(lambda: _fold(played), len(steps)),
        "hand_event_us": _us(lambda: _evolve(of_hands), len(of_hands)),
        "deal_us": _us(lambda: _evolve(deals), len(deals)),
        "decide_us": _us(lambda: _decide(asked), len(asked)),
    }


def _us(work: Callable[[], Any], size: int) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return 1e6 * best / size


def _played(secret: bytes) -> Sitting:
    """A whole match between two greedy players: about as long as a real one."""
    sitting, now_ms, policy = dealt(secret=secret), 0, Greedy()
    while sitting.match.ended is None:
        if sitting.match.phase == "intermission":
            for player in (ANA, BEN):
                sitting.send(now_ms, player, Ready())
        rules, hand = sitting.match.setup.rules, sitting.match.hand
        legal = rules.legal(hand, hand.turn)
        if legal:
            now_ms += THINKING_MS
            view: Any = rules.view(hand, SeatViewer(hand.turn))
            sitting.act(now_ms, hand.turn, policy.choose(view, legal))
        now_ms = max(now_ms, sitting.match.pause_until_ms)
        sitting.settle(now_ms)
    return sitting


def _steps(sitting: Sitting) -> list[tuple[Match, Stamped]]:
    """Each event but the first, with the match before it."""
    match = sitting.refolded(sitting.log[:1])
    steps: list[tuple[Match, Stamped]] = []
    for stamped in sitting.log[1:]:
        steps.append((match, stamped))
        match = matches.evolve(match, stamped)
    return steps


def _asked(before: Match, stamped: Stamped) -> Asked:
    """The command behind an event."""
    event, seat = stamped.event, stamped.actor
    assert isinstance(event, HandEvent)
    assert seat is not None
    player = before.players[seat]
    assert player is not None
    action = before.setup.rules.action_of(before.hand, event)
    return before, Command(stamped.at_ms, player, Act(action))


def _fold(played: list[Sitting]) -> None:
    for sitting in played:
        sitting.refolded()


def _evolve(steps: list[tuple[Match, Stamped]]) -> None:
    evolve = matches.evolve
    for before, stamped in steps:
        evolve(before, stamped)


def _decide(asked: list[Asked]) -> None:
    for match, command in asked:
        matches.settle(match, now_ms=command.at_ms, deadline_ms=command.at_ms)
        matches.decide(match, command)


if __name__ == "__main__":
    for name, value in run().items():
        print(f"{name:>16} {value:10.2f}")  # noqa: T201 - what it is run for
