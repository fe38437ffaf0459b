"""Matches among failing processes: whatever fails, the log stays true and no answer lies."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from matches.audit.verify import examine
from matches.domain import match as domain
from matches.domain.clock import CONTROLS, GRACE_MS
from matches.domain.events import ClockCredited, MatchEnded
from matches.domain.state import Match
from matches.eventstore import hashing
from matches.eventstore.rows import CommandKey
from matches.games.tiles import pack
from matches.services import matches
from matches.services.cache import Cache
from matches.services.engine import Engine
from matches.services.errors import ServiceError
from tests.support.simulation import NAMES, Weather, World
from tests.support.sitting import ANA, BEN

FEW, MANY, PART = 25, 1_000, 100


def fresh(world: World) -> Engine:
    """A process that has seen nothing, over a network that works."""
    return Engine(store=world.store, cache=Cache(1), may_beat=False, committed=lambda *_: None)


def states(world: World) -> list[Match]:
    """The match after each of its events."""
    first, *rest = world.log
    folded = [domain.begin(match_id=world.match_id.bytes, created=first, secret=world.secret)]
    for stamped in rest:
        folded.append(domain.evolve(folded[-1], stamped))
    return folded


def check(world: World) -> None:
    """All that reliability.md calls invariants, I1 to I5, I7 and I8."""
    folded = states(world)
    check_tiles(folded)
    check_log(world)
    check_replay(world, folded[-1])
    check_one_end(world)
    check_clocks(world, folded)
    check_instants(world, folded)
    check_answers(world)
    check_refusals(world)


def check_tiles(folded: list[Match]) -> None:
    """I1: every tile is somewhere after every event."""
    for match in folded:
        hand: Any = match.hand
        if hand is None:
            continue
        laid = [one.tile for row in hand.discards for one in row]
        found = sum(hand.concealed) + sum(hand.melds)
        found += pack(laid) + pack(hand.order[hand.next_tile :])
        assert found == pack(match.setup.rules.deck)  # type: ignore[arg-type]


def check_log(world: World) -> None:
    """I2: dense, chained, and every event what the rules and the clock say it must be."""
    rows = world.rows
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    assert hashing.first_break(hashing.GENESIS, world.match_id, rows) is None
    finding = examine(
        match_id=world.match_id,
        version=len(rows),
        head_hash=rows[-1].hash,
        rows=rows,
        gaps=tuple(world.store.gaps),
    )
    assert finding.faults == []


def check_replay(world: World, last: Match) -> None:
    """I3: what any process remembers is what the log gives."""
    assert fresh(world).peek(world.match_id).match == last
    for process in (*world.webs, world.worker):
        entry = process.engine.cache.get(world.match_id)
        if entry is not None:
            version = entry.version
            assert entry.match == states_to(world, version)
            assert entry.history.events(version) == tuple(world.log[:version])


def states_to(world: World, version: int) -> Match:
    return states(world)[version - 1]


def check_one_end(world: World) -> None:
    """I4: one end, and nothing after it."""
    ends = [n for n, stamped in enumerate(world.log) if isinstance(stamped.event, MatchEnded)]
    assert ends == [len(world.log) - 1]


def check_clocks(world: World, folded: list[Match]) -> None:
    """I5: what a seat spent is its start and its increments less what it has left."""
    control = CONTROLS["1+1"]
    spent, increments = Counter[int](), Counter[int]()
    for before, stamped in zip(folded, world.log[1:], strict=False):
        charged = getattr(stamped.event, "clock", None)
        if charged is None:
            continue
        assert before.on_clock is not None
        spent[before.on_clock] += charged[0]
        increments[before.on_clock] += stamped.event.KIND == "xqmj.tile_discarded"
        assert 0 <= charged[0] <= before.clocks[before.on_clock]
    for seat, left_ms in enumerate(folded[-1].clocks):
        given_ms = control.base_ms + increments[seat] * control.increment_ms
        assert left_ms == given_ms - spent[seat]


def check_instants(world: World, folded: list[Match]) -> None:
    """Nothing early: a table's act at its instant, a deadline after its grace and a heartbeat."""
    log, writes = world.log[1:], world.store.writes
    assert [one.at_ms for one in world.log] == sorted(one.at_ms for one in world.log)
    for before, stamped, written in zip(folded, log, writes, strict=False):
        assert stamped.at_ms <= written.at_ms
        if stamped.actor is not None or isinstance(stamped.event, ClockCredited):
            continue
        due = domain.due_at(before)
        assert due is not None
        assert stamped.at_ms == max(due.at_ms, before.at_ms)
        if due.deadline:
            assert stamped.at_ms <= written.alive_ms
            own = due.seat is not None and written.by.startswith(NAMES[due.seat])
            assert own or written.at_ms >= stamped.at_ms + GRACE_MS


def check_answers(world: World) -> None:
    """I7: no answer is lost or changes, and a key stands for one request."""
    engine = fresh(world)
    in_log = {row.command_id: row for row in world.rows if row.command_id is not None}
    assert set(in_log) <= {sent.key.command_id for sent in world.sent}
    for sent in world.sent:
        if not sent.results:
            continue
        assert sent.results == [sent.results[0]] * len(sent.results)
        assert sent.key.command_id in in_log
        again = engine.execute(
            match_id=world.match_id, player=sent.player, body=sent.body, key=sent.key
        )
        assert again.replayed
        assert matches.result(again, sent.player) == sent.results[0]
        other = CommandKey(sent.key.command_id, sent.key.fingerprint + 1)
        with pytest.raises(ServiceError, match="key_reused"):
            engine.execute(match_id=world.match_id, player=sent.player, body=sent.body, key=other)


def check_refusals(world: World) -> None:
    """I8: what was refused, and only that, is not in the log."""
    in_log = {row.command_id for row in world.rows}
    for sent in world.sent:
        if sent.refusals and not sent.results:
            assert sent.key.command_id not in in_log


def simulate(seed: int, weather: Weather | None = None) -> World:
    """Play a match and check it; a failure names the seed that repeats it."""
    world = World(seed, weather)
    try:
        world.play()
        check(world)
    except BaseException as error:
        error.add_note(f"seed {seed}; what happened: {world.counts}")
        raise
    return world


class TestMatchAmongFaults:
    @pytest.mark.parametrize("seed", range(FEW))
    def test_stays_true(self, seed: int) -> None:
        simulate(seed)

    @pytest.mark.slow
    @pytest.mark.timeout(1_200)
    @pytest.mark.parametrize("part", range(MANY // PART))
    def test_stays_true_a_thousand_times(self, part: int) -> None:
        total = Counter[str]()
        for seed in range(FEW + part * PART, FEW + (part + 1) * PART):
            total.update(simulate(seed).counts)

        for fault in ("crashes", "lost requests", "lost answers", "duplicates", "append stale"):
            assert total[fault] > 0, f"{fault} never happened"

    def test_is_the_same_whenever_it_is_repeated(self) -> None:
        one, two = simulate(7), simulate(7)

        assert one.rows == two.rows
        assert one.scheduler.trace == two.scheduler.trace
        assert one.counts == two.counts

    def test_in_fair_weather_loses_no_time(self) -> None:
        fair = Weather(
            lost_request=0, lost_answer=0, crash=0, slow=0, duplicate=0, junk=0, outages=0
        )
        world = simulate(3, fair)

        assert not any(isinstance(one.event, ClockCredited) for one in world.log)
        assert "retries" not in world.counts

    def test_is_played_by_both(self) -> None:
        world = simulate(11)

        assert {sent.player for sent in world.sent if sent.results} == {ANA, BEN}


class TestCheck:
    """The checks themselves find what they are for."""

    @pytest.fixture
    def world(self) -> World:
        return simulate(5)

    def test_finds_a_changed_event(self, world: World) -> None:
        stream = world.store.streams[world.match_id]
        right, at = stream.rows[4], 4
        stream.rows[at] = msgspec.structs.replace(right, at_ms=right.at_ms + 1)
        try:
            with pytest.raises(AssertionError):
                check_log(world)
        finally:
            stream.rows[at] = right

    def test_finds_an_answer_that_is_not_in_the_log(self, world: World) -> None:
        sent = next(sent for sent in world.sent if sent.refusals and not sent.results)
        sent.results.append(next(one.results[0] for one in world.sent if one.results))
        try:
            with pytest.raises(AssertionError):
                check_answers(world)
        finally:
            sent.results.clear()
