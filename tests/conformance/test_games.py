"""What every game must keep, whatever its rules; new rulesets of the registry join in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from matches.games.protocol import (
    Auditor,
    CorruptHistory,
    HandEvent,
    Rejected,
    Seat,
    SeatViewer,
    Spectator,
    Viewer,
)
from matches.games.registry import refusals, rulesets
from tests.support.games import ADAPTERS, Game, Step, dealt, games, json_of, played

HANDS = 40
SEEDS = range(HANDS)

GAMES = games()

every_game = pytest.mark.parametrize("game", GAMES, ids=[game.name for game in GAMES])


def steps_of(game: Game) -> Iterator[Step]:
    """All steps of some random hands."""
    for seed in SEEDS:
        yield from played(game, seed)


def states_of(game: Game) -> Iterator[Any]:
    """All states of some random hands."""
    for seed in SEEDS:
        steps = played(game, seed)
        yield steps[0].before
        for step in steps:
            yield step.after


def viewers(game: Game) -> list[Viewer]:
    return [*(SeatViewer(seat) for seat in game.seats), Spectator(), Auditor()]


def refusal_code(game: Game, state: Any, seat: Seat, action: Any) -> str | None:
    """The code with which the game refuses; None where it accepts."""
    try:
        game.rules.decide(state, seat, action)
    except Rejected as refused:
        return refused.code
    return None


class TestRegistry:
    def test_every_ruleset_is_known_to_this_suite(self) -> None:
        assert {ruleset.key for ruleset in rulesets()} == set(ADAPTERS)

    @every_game
    def test_lists_what_the_rules_say_about_themselves(self, game: Game) -> None:
        rules, ruleset = game.rules, game.ruleset

        assert (rules.key, rules.version, rules.seats) == (
            ruleset.key,
            ruleset.version,
            ruleset.seats,
        )
        assert rules.controls == ruleset.controls
        assert rules.rated_controls == frozenset(ruleset.rated_controls)
        assert set(rules.options) == {option.key for option in ruleset.options}

    @every_game
    def test_has_kinds_of_events_of_its_own(self, game: Game) -> None:
        kinds = [(event.KIND, event.V) for event in game.rules.events]

        assert len(set(kinds)) == len(kinds)
        assert game.rules.pausing | game.rules.crediting <= set(game.rules.events)


@every_game
class TestLegality:
    def test_accepts_exactly_what_it_lists(self, game: Game) -> None:
        for state in states_of(game):
            for seat in game.seats:
                legal = game.rules.legal(state, seat)
                accepted = [
                    action
                    for action in game.actions
                    if refusal_code(game, state, seat, action) is None
                ]
                assert sorted(map(repr, accepted)) == sorted(map(repr, legal))

    def test_lists_every_action_once(self, game: Game) -> None:
        for state in states_of(game):
            for seat in game.seats:
                legal = list(map(repr, game.rules.legal(state, seat)))
                assert len(set(legal)) == len(legal)

    def test_waits_for_the_seats_that_can_act(self, game: Game) -> None:
        for state in states_of(game):
            able = {seat for seat in game.seats if game.rules.legal(state, seat)}
            assert game.rules.to_act(state) == able

    def test_reaches_every_refusal_code_and_no_other(self, game: Game) -> None:
        codes = {
            refusal_code(game, state, seat, action)
            for state in states_of(game)
            for seat in game.seats
            for action in game.actions
        }

        assert codes - {None} == game.adapter.refusals
        assert game.adapter.refusals <= set(refusals())


@every_game
class TestFlow:
    def test_has_exactly_one_of_somebody_to_act_the_table_to_act_and_an_end(
        self, game: Game
    ) -> None:
        rules = game.rules
        for state in states_of(game):
            someone = bool(rules.to_act(state))
            table = rules.timing(state).table
            over = rules.outcome(state) is not None
            assert [someone, table, over].count(True) == 1

    def test_lets_the_table_act_only_when_its_time_has_come(self, game: Game) -> None:
        for state in states_of(game):
            assert bool(game.rules.table(state)) == game.rules.timing(state).table

    def test_stops_every_clock_at_the_end(self, game: Game) -> None:
        for state in states_of(game):
            if game.rules.outcome(state) is not None:
                timing = game.rules.timing(state)
                assert (timing.clock, timing.table) == (None, False)

    def test_names_the_running_clock_alike_where_it_is_asked_for_alone(self, game: Game) -> None:
        for state in states_of(game):
            assert game.rules.clock(state) == game.rules.timing(state).clock

    def test_ends_within_its_bound(self, game: Game) -> None:
        for seed in range(HANDS, 3 * HANDS):
            for hasty in (0.0, 0.9):
                assert len(played(game, seed, hasty=hasty)) <= game.adapter.max_events

    def test_accounts_points_for_every_seat(self, game: Game) -> None:
        for seed in SEEDS:
            outcome = game.rules.outcome(played(game, seed)[-1].after)
            assert outcome is not None
            assert len(outcome.points) == game.rules.seats


@every_game
class TestHistory:
    def test_keeps_every_tile_after_every_event(self, game: Game) -> None:
        deck = sorted(game.rules.deck)
        for state in states_of(game):
            view = json_of(game.rules.view(state, Auditor()))
            assert sorted(game.adapter.tiles(view)) == deck

    def test_gives_equal_states_for_equal_events(self, game: Game) -> None:
        for seed in SEEDS:
            steps = played(game, seed)
            state = steps[0].before
            for step in steps:
                state = game.rules.evolve(state, step.event)
                assert state == step.after

    def test_finds_the_action_behind_each_event(self, game: Game) -> None:
        for step in steps_of(game):
            action = game.rules.action_of(step.before, step.event)
            assert action == step.action

    def test_causes_the_same_events_when_asked_again(self, game: Game) -> None:
        for step in steps_of(game):
            if step.seat is None:
                assert step.event in game.rules.table(step.before)
            else:
                action = game.rules.action_of(step.before, step.event)
                assert action is not None
                assert step.event in game.rules.decide(step.before, step.seat, action)

    def test_takes_no_event_after_the_end(self, game: Game) -> None:
        for seed in SEEDS:
            steps = played(game, seed)
            for step in steps:
                with pytest.raises(CorruptHistory):
                    game.rules.evolve(steps[-1].after, step.event)

    def test_answers_a_strange_event_with_corrupt_history_and_nothing_else(
        self, game: Game
    ) -> None:
        states = list(states_of(game))[:200]
        events = list(dict.fromkeys(step.event for step in steps_of(game)))[:100]
        refused = 0
        for state in states:
            for event in events:
                try:
                    game.rules.evolve(state, event)
                except CorruptHistory:
                    refused += 1
        assert refused > 0

    def test_refuses_an_event_of_no_game(self, game: Game) -> None:
        class Strange(HandEvent, frozen=True, kw_only=True):
            KIND = "strange"

        with pytest.raises(CorruptHistory):
            game.rules.evolve(dealt(game, random.Random(0)), Strange())

    def test_refuses_a_deal_that_is_no_order_of_the_deck(self, game: Game) -> None:
        deck = game.rules.deck
        for order in (deck[1:], (*deck[1:], deck[1]), (*deck, deck[0]), ("?", *deck[1:])):
            with pytest.raises(CorruptHistory):
                game.rules.deal(order, Seat(0))


@every_game
class TestCoding:
    def test_reads_back_every_action(self, game: Game) -> None:
        decoder = msgspec.json.Decoder(game.rules.action)
        for action in game.actions:
            assert decoder.decode(msgspec.json.encode(action)) == action

    def test_refuses_actions_with_anything_added_or_missing(self, game: Game) -> None:
        decoder = msgspec.json.Decoder(game.rules.action)
        for action in game.actions:
            fields = msgspec.to_builtins(action)
            wrong = [{**fields, "seat": 1}, {**fields, "type": "strange"}]
            wrong += [{key: fields[key] for key in fields if key != gone} for gone in fields]
            wrong += [{**fields, gone: None} for gone in fields]
            for value in wrong:
                with pytest.raises(msgspec.ValidationError):
                    decoder.decode(msgspec.json.encode(value))

    def test_reads_back_every_event(self, game: Game) -> None:
        for step in steps_of(game):
            kind = type(step.event)
            assert kind in game.rules.events
            assert msgspec.json.decode(msgspec.json.encode(step.event), type=kind) == step.event

    def test_writes_integers_strings_and_truths_only(self, game: Game) -> None:
        for step in steps_of(game):
            _assert_plain(msgspec.to_builtins(step.event))


def _assert_plain(value: Any) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            _assert_plain(item)
    else:
        assert value is None or type(value) in (int, str, bool), value


@every_game
class TestSecrecy:
    def test_sends_lines_that_add_up_to_the_view(self, game: Game) -> None:
        for seed in SEEDS:
            steps = played(game, seed)
            for viewer in viewers(game):
                _assert_fold_equals_view(game, steps, viewer)

    def test_shows_a_seat_nothing_that_depends_on_what_is_hidden(self, game: Game) -> None:
        chance = random.Random(1)
        for state in states_of(game):
            for seat in game.seats:
                other = game.adapter.reshuffled(state, seat, chance)
                assert _knowledge(game, state, seat) == _knowledge(game, other, seat)

    def test_refuses_for_no_reason_that_is_hidden(self, game: Game) -> None:
        chance = random.Random(2)
        for state in states_of(game):
            for seat in game.seats:
                other = game.adapter.reshuffled(state, seat, chance)
                for action in game.actions:
                    assert _answer(game, state, seat, action) == _answer(game, other, seat, action)

    def test_shows_spectators_no_more_than_every_seat_knows(self, game: Game) -> None:
        chance = random.Random(3)
        for state in states_of(game):
            shown = game.rules.view(state, Spectator())
            for seat in game.seats:
                other = game.adapter.reshuffled(state, seat, chance)
                assert game.rules.view(other, Spectator()) == shown


def _assert_fold_equals_view(game: Game, steps: list[Step], viewer: Viewer) -> None:
    start = steps[0].before
    client = game.adapter.client(json_of(game.rules.dealt(start, viewer)))
    assert client.view == json_of(game.rules.view(start, viewer))
    for step in steps:
        line = game.rules.redact(step.after, step.event, viewer)
        if line is not None:
            client.apply(step.event.KIND, json_of(line))
        assert client.view == json_of(game.rules.view(step.after, viewer))


def _knowledge(game: Game, state: Any, seat: Seat) -> tuple[bytes, bytes, Seat | None]:
    rules = game.rules
    return (
        msgspec.json.encode(rules.view(state, SeatViewer(seat))),
        msgspec.json.encode(rules.legal(state, seat)),
        rules.timing(state).clock,
    )


def _answer(game: Game, state: Any, seat: Seat, action: Any) -> Any:
    try:
        return bool(game.rules.decide(state, seat, action))
    except Rejected as refused:
        return refused.code, dict(refused.detail)
