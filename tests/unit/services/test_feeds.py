"""What each viewer is told, incrementally and for ever."""

from __future__ import annotations

import gc
import threading

import pytest

from matches.domain import match as domain
from matches.domain.commands import Join, Leave, Ready
from matches.domain.state import Match
from matches.domain.visibility import Line, line
from matches.eventstore import codec
from matches.games.protocol import Auditor, SeatViewer, Spectator, Viewer
from matches.services import matches
from matches.services.cache import Cache, Entry
from matches.services.engine import Engine
from matches.services.errors import ServiceError
from matches.services.viewers import viewer_of
from tests.support.parlour import Parlour
from tests.support.playing import Players
from tests.support.sitting import ANA, BEN, CHOW_OFFERED, EVE, A, B, Rig
from tests.support.xqmj import PASS, discard

VIEWERS: tuple[Viewer, ...] = (SeatViewer(A), SeatViewer(B), Spectator(), Auditor())


def refolded(parlour: Parlour, viewer: Viewer) -> list[Line]:
    """The viewer's lines, made from the log alone by a plain loop."""
    first, *rest = codec.decode_rows(parlour.store.rows(parlour.match_id))
    match: Match = domain.begin(
        match_id=parlour.match_id.bytes, created=first, secret=parlour.match.setup.secret
    )
    lines = [line(match, first, viewer, seq=1)]
    for stamped in rest:
        match = domain.evolve(match, stamped)
        lines.append(line(match, stamped, viewer, seq=1 + sum(one is not None for one in lines)))
    return [one for one in lines if one is not None]


class TestFeed:
    @pytest.mark.parametrize("seed", range(4))
    def test_grown_step_by_step_equals_the_log_refolded(self, parlour: Parlour, seed: int) -> None:
        parlour.deal()
        players = Players(parlour, seed)
        grown: dict[Viewer, list[Line]] = {viewer: [] for viewer in VIEWERS}
        for _ in range(150):
            entry = parlour.observe()
            for viewer in VIEWERS[seed % 2 :]:
                grown[viewer] += entry.lines(viewer, after=len(grown[viewer]))
            if entry.match.ended is not None:
                break
            players.step()

        entry = parlour.observe()
        for viewer in VIEWERS:
            grown[viewer] += entry.lines(viewer, after=len(grown[viewer]))
            assert grown[viewer] == refolded(parlour, viewer)
            assert [one.seq for one in grown[viewer]] == list(range(1, len(grown[viewer]) + 1))
            assert entry.seq(viewer) == len(grown[viewer])

    def test_what_is_kept_of_an_event_is_nothing_for_the_garbage_collector(
        self, parlour: Parlour
    ) -> None:
        parlour.deal()
        players = Players(parlour, seed=1)
        for _ in range(60):
            players.step()

        entry = parlour.observe()
        events = entry.history.events(entry.version)
        lines = entry.lines(SeatViewer(A))
        hands = [one.data for one in lines if one.kind.startswith("xqmj.")]
        kept = [*events, *(one.event for one in events), *lines, *hands]
        assert len(events) > 60
        assert len(hands) > 50
        assert [one for one in kept if gc.is_tracked(one)] == []

    def test_has_a_pass_for_the_seat_that_passed_alone(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        before = parlour.observe()
        parlour.act(B, PASS)
        after = parlour.observe()

        assert after.seq(SeatViewer(A)) == before.seq(SeatViewer(A))
        assert after.seq(Spectator()) == before.seq(Spectator())
        (passed,) = after.lines(SeatViewer(B), after=before.seq(SeatViewer(B)))
        assert passed.kind == "xqmj.claim_passed"

    def test_of_an_older_entry_ends_where_the_entry_ends(self, parlour: Parlour) -> None:
        parlour.create()
        older = parlour.observe()
        parlour.send(BEN, Join())
        parlour.observe().lines(Spectator())

        assert [one.kind for one in older.lines(Spectator())] == ["match.created"]
        assert older.seq(Spectator()) == 1

    def test_after_a_number_that_is_not_there_is_empty(self, parlour: Parlour) -> None:
        parlour.create()

        assert parlour.observe().lines(Spectator(), after=99) == ()

    def test_is_whole_while_threads_play_and_read(self, parlour: Parlour) -> None:
        parlour.deal()
        players = Players(parlour, 5)
        over = threading.Event()
        faults: list[object] = []

        def read(viewer: Viewer) -> None:
            seen: list[Line] = []
            while True:
                last = over.is_set()
                try:
                    entry = parlour.engine.peek(parlour.match_id)
                    seen += entry.lines(viewer, after=len(seen))
                    if [one.seq for one in seen] != list(range(1, len(seen) + 1)):
                        faults.append((viewer, seen))
                        return
                except Exception as error:
                    faults.append(error)
                    return
                if last:
                    if seen != refolded(parlour, viewer):
                        faults.append((viewer, "differs"))
                    return

        threads = [threading.Thread(target=read, args=(viewer,)) for viewer in VIEWERS * 2]
        for thread in threads:
            thread.start()
        for _ in range(120):
            players.step()
        over.set()
        for thread in threads:
            thread.join()

        assert faults == []


class TestResult:
    def test_stays_the_same_whatever_happens_later(self, parlour: Parlour) -> None:
        parlour.create()
        told = [
            (parlour.send(BEN, Join()), BEN),
            (parlour.send(ANA, Ready()), ANA),
            (parlour.send(BEN, Ready()), BEN),
        ]
        at_once = [matches.result(done, player) for done, player in told]
        Players(parlour, 1).play()
        fresh = Engine(
            store=parlour.store, cache=Cache(1), may_beat=False, committed=lambda *_: None
        ).peek(parlour.match_id)

        for (done, player), first in zip(told, at_once, strict=True):
            again = done.__class__(fresh, done.first_version, done.effects, replayed=True)
            assert matches.result(again, player) == first

    def test_ends_with_the_last_line_of_its_effects(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        parlour.send(ANA, Ready())

        told = matches.result(parlour.send(BEN, Ready()), BEN)

        assert told.seq == 5
        assert [one.kind for one in told.events] == ["match.seat_ready", "match.hand_dealt"]

    def test_of_a_pass_holds_the_draw_that_it_caused(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        parlour.advance(2_000)

        told = matches.result(parlour.act(B, PASS), BEN)

        assert [one.kind for one in told.events] == ["xqmj.claim_passed", "xqmj.tile_drawn"]


class TestViewer:
    def entry(self, parlour: Parlour) -> Entry:
        return parlour.observe()

    def test_is_a_seat_for_ever(self, parlour: Parlour) -> None:
        parlour.deal()
        Players(parlour, 2).play()

        assert viewer_of(parlour.match, BEN) == SeatViewer(B)

    @pytest.mark.parametrize("player", [EVE, None])
    def test_of_an_open_match_may_be_anybody(self, parlour: Parlour, player: str | None) -> None:
        parlour.create()

        assert viewer_of(parlour.match, player) == Spectator()

    @pytest.mark.parametrize("player", [EVE, None])
    def test_of_an_invitation_may_be_nobody_else(
        self, parlour: Parlour, player: str | None
    ) -> None:
        parlour.create(invited=BEN)

        assert viewer_of(parlour.match, BEN) == Spectator()
        with pytest.raises(ServiceError) as refused:
            viewer_of(parlour.match, player)
        assert refused.value.code == "unknown_match"

    def test_of_an_accepted_invitation_may_be_anybody(self, parlour: Parlour) -> None:
        parlour.create(invited=BEN)
        parlour.send(BEN, Join())

        assert viewer_of(parlour.match, EVE) == Spectator()


class TestCache:
    def entries(self, parlour: Parlour, number: int) -> list[Entry]:
        return [parlour.create().entry for _ in range(number)]

    def test_forgets_what_was_used_longest_ago(self, parlour: Parlour) -> None:
        cache, (one, two, three) = Cache(2), self.entries(parlour, 3)
        cache.put(one)
        cache.put(two)
        cache.get(one.match_id)
        cache.put(three)

        assert cache.get(two.match_id) is None
        assert cache.get(one.match_id) == one

    def ended(self, parlour: Parlour) -> Entry:
        parlour.create()
        return parlour.send(ANA, Leave()).entry

    def test_keeps_few_matches_that_are_over(self, parlour: Parlour) -> None:
        cache, (one,) = Cache(64), self.entries(parlour, 1)
        cache.put(one)
        over = [self.ended(parlour) for _ in range(10)]
        for entry in over:
            cache.put(entry)

        assert [cache.get(entry.match_id) is not None for entry in over] == [False] * 8 + [True] * 2
        assert cache.get(one.match_id) == one

    def test_has_a_match_once_when_it_ends(self, parlour: Parlour) -> None:
        cache = Cache(64)
        parlour.create()
        cache.put(parlour.observe())
        over = parlour.send(ANA, Leave()).entry
        cache.put(over)

        assert len(cache) == 1
        assert cache.get(over.match_id) == over
        cache.drop(over.match_id)
        assert cache.get(over.match_id) is None

    def test_keeps_the_newer_entry(self, parlour: Parlour) -> None:
        cache = Cache(2)
        older = parlour.create().entry
        newer = parlour.send(BEN, Join()).entry
        cache.put(newer)
        cache.put(older)

        assert cache.get(older.match_id) == newer

    def test_holds_no_more_than_it_may(self, parlour: Parlour) -> None:
        cache = Cache(3)
        for entry in self.entries(parlour, 10):
            cache.put(entry)

        assert len(cache) == 3
