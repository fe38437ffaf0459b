"""Every game under a random client that also tries what it may not: one state machine for all."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from matches.games.protocol import Auditor, HandEvent, Rejected, SeatViewer, Spectator, Viewer
from tests.support.games import Game, games, json_of

GAMES = games()


class HandMachine(RuleBasedStateMachine):
    """One hand, with a client for each viewer that is told every line."""

    game: ClassVar[Game]

    def __init__(self) -> None:
        super().__init__()
        self.of = self.game.rules
        seats = [SeatViewer(seat) for seat in self.game.seats]
        self.viewers: list[Viewer] = [*seats, Spectator(), Auditor()]
        self.count = 0

    @initialize(data=st.data())
    def deal(self, data: st.DataObject) -> None:
        order = data.draw(st.permutations(self.of.deck), label="order")
        dealer = data.draw(st.sampled_from(self.game.seats), label="dealer")
        self.state: Any = self.of.deal(tuple(order), dealer)
        self.clients = [
            self.game.adapter.client(json_of(self.of.dealt(self.state, viewer)))
            for viewer in self.viewers
        ]

    def _happen(self, events: tuple[HandEvent, ...]) -> None:
        for event in events:
            self.state = self.of.evolve(self.state, event)
            self.count += 1
            for viewer, client in zip(self.viewers, self.clients, strict=True):
                line = self.of.redact(self.state, event, viewer)
                if line is not None:
                    client.apply(event.KIND, json_of(line))

    @precondition(lambda self: self.of.to_act(self.state))
    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        seat = data.draw(st.sampled_from(sorted(self.of.to_act(self.state))), label="seat")
        action = data.draw(st.sampled_from(self.of.legal(self.state, seat)), label="action")
        self._happen(self.of.decide(self.state, seat, action))

    @precondition(lambda self: self.of.timing(self.state).table)
    @rule()
    def let_the_table_act(self) -> None:
        self._happen(self.of.table(self.state))

    @rule(data=st.data())
    def try_anything(self, data: st.DataObject) -> None:
        seat = data.draw(st.sampled_from(self.game.seats), label="seat")
        action = data.draw(st.sampled_from(self.game.actions), label="action")
        if action in self.of.legal(self.state, seat):
            return
        with pytest.raises(Rejected) as refused:
            self.of.decide(self.state, seat, action)
        assert refused.value.code in self.game.adapter.refusals

    @invariant()
    def keeps_every_tile(self) -> None:
        view = json_of(self.of.view(self.state, Auditor()))
        assert sorted(self.game.adapter.tiles(view)) == sorted(self.of.deck)

    @invariant()
    def waits_for_exactly_one_thing(self) -> None:
        over = self.of.outcome(self.state) is not None
        waits = [bool(self.of.to_act(self.state)), self.of.timing(self.state).table, over]
        assert waits.count(True) == 1

    @invariant()
    def tells_every_viewer_its_view(self) -> None:
        for viewer, client in zip(self.viewers, self.clients, strict=True):
            assert client.view == json_of(self.of.view(self.state, viewer))

    @invariant()
    def ends_within_its_bound(self) -> None:
        assert self.count <= self.game.adapter.max_events


@pytest.mark.parametrize("game", GAMES, ids=[game.name for game in GAMES])
def test_a_hand_keeps_its_promises_whatever_is_tried(game: Game) -> None:
    class Machine(HandMachine):
        pass

    Machine.game = game

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=40,
            stateful_step_count=80,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        ),
    )
