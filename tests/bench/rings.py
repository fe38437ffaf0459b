"""Matches in their first hand, each with the commands planned that will play it on.

The wall of a hand is known to whoever knows its secret, so a plan needs no
look at the match. Nobody claims or wins: every command is a discard, before
which the table draws, or the pass that a discard made necessary.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import UUID, uuid4

from matches.domain.commands import Join, Ready
from matches.domain.state import Match
from matches.games.protocol import Action, Seat
from matches.games.xqmj.actions import Discard, Pass
from matches.services import execute, matches
from matches.services.accounts import Identity

PAUSE_S = 1.51
"""A discard has to lie this long before the other seat discards (XM-19)."""


class Ring:
    """One match, and what its seats will do in it."""

    __slots__ = ("_not_before", "_plan", "match_id", "players")

    def __init__(self, match_id: UUID, players: tuple[str, ...], match: Match) -> None:
        self.match_id = match_id
        self.players = players
        self._plan = iter(planned(match))
        self._not_before = 0.0

    def next(self) -> tuple[Seat, Action] | None:
        """Who does what next, once it may be done; None at the end of the hand."""
        step = next(self._plan, None)
        if step is not None and isinstance(step[1], Discard):
            wait_s = self._not_before - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
        return step

    def done(self, action: Action) -> None:
        """The action was acknowledged just now."""
        if isinstance(action, Discard):
            self._not_before = time.monotonic() + PAUSE_S


def planned(match: Match) -> list[tuple[Seat, Action]]:
    """Seats and actions to the end of the hand that was just dealt."""
    rules, hand = match.setup.rules, match.hand
    steps: list[tuple[Seat, Action]] = []
    while rules.outcome(hand) is None:
        events = rules.table(hand)
        if not events:
            (seat,) = rules.to_act(hand)
            action = next(one for one in rules.legal(hand, seat) if isinstance(one, Discard | Pass))
            steps.append((seat, action))
            events = rules.decide(hand, seat, action)
        for event in events:
            hand = rules.evolve(hand, event)
    return steps


def dealt(players: tuple[Identity, Identity]) -> Ring:
    """A new match between the two whose first hand is dealt."""
    made = matches.create_match(creator=players[0], ruleset="xqmj-32-2p", control="10+5")
    match_id = made.entry.match_id
    execute.execute(match_id=match_id, player=players[1].id, body=Join())
    execute.execute(match_id=match_id, player=players[0].id, body=Ready())
    ready = execute.execute(match_id=match_id, player=players[1].id, body=Ready())
    return Ring(match_id, (players[0].id, players[1].id), ready.entry.match)


def strangers() -> Iterator[tuple[Identity, Identity]]:
    """Pairs of players without accounts: nothing below the API asks for one."""
    while True:
        yield (Identity(uuid4().hex, "guest", None), Identity(uuid4().hex, "guest", None))
