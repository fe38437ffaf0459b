"""Any match, played by anybody at any time: what holds after every single thing that happens."""

from __future__ import annotations

import random
from collections import Counter

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from matches.domain import match as matches
from matches.domain import visibility
from matches.domain.commands import Act, Join, Leave, Ready, Resign
from matches.domain.events import MatchEnded, Stamped
from matches.domain.state import Match
from matches.games.protocol import Auditor, SeatViewer, Spectator, Viewer
from matches.games.tiles import KINDS, unpack
from matches.games.xqmj.events import TileDiscarded
from matches.games.xqmj.pieces import DECK_32
from tests.support.roving import Roving
from tests.support.sitting import ANA, BEN, A, B
from tests.support.xqmj import discard

VIEWERS: tuple[Viewer, ...] = (SeatViewer(A), SeatViewer(B), Spectator(), Auditor())
BASE_MS, INCREMENT_MS = 60_000, 1_000


def tiles_of(match: Match) -> Counter[str]:
    """Every tile of the hand, wherever it lies."""
    hand = match.hand
    found: Counter[str] = Counter(hand.order[hand.next_tile :])
    for seat in (A, B):
        found.update(unpack(hand.concealed[seat]))
        found.update(unpack(hand.melds[seat]))
        found.update(discarded.tile for discarded in hand.discards[seat])
    return found


class AnyMatch(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32), hasty=st.booleans())
    def create(self, seed: int, hasty: bool) -> None:
        self.roving = Roving(random.Random(seed), hasty=hasty)
        self.folded = self.roving.match
        self.spent_ms = [0, 0]
        self.earned_ms = [0, 0]
        self.roving.command(BEN, Join())

    @property
    def match(self) -> Match:
        return self.roving.match

    @property
    def log(self) -> list[Stamped]:
        return self.roving.sitting.log

    @rule()
    @precondition(lambda self: self.match.phase == "readying")
    def both_get_ready(self) -> None:
        self.roving.command(ANA, Ready())
        self.roving.command(BEN, Ready())

    @rule(times=st.integers(1, 25))
    def go_on(self, times: int) -> None:
        for _ in range(times):
            self.roving.sensible()

    @rule()
    def disturb(self) -> None:
        self.roving.junk()

    @rule()
    def sweep(self) -> None:
        self.roving.sweep()

    @rule()
    def go_down(self) -> None:
        self.roving.outage()

    @rule(player=st.sampled_from([ANA, BEN]), tile=st.sampled_from(KINDS), drawn=st.booleans())
    def discard_anything(self, player: str, tile: str, drawn: bool) -> None:
        self.roving.wait()
        self.roving.command(player, Act(discard(tile, drawn=drawn)))

    @rule(player=st.sampled_from([ANA, BEN]), leave=st.booleans())
    @precondition(lambda self: self.match.hand_no > 3)
    def give_up(self, player: str, leave: bool) -> None:
        self.roving.command(player, Leave() if leave else Resign())

    @invariant()
    def holds(self) -> None:
        self.folds_to_the_same_match()
        self.conserves_the_tiles()
        self.ends_once()
        self.accounts_for_every_millisecond()
        self.is_never_due_in_the_past()
        self.waits_for_somebody_who_can_act()

    def folds_to_the_same_match(self) -> None:
        """I3: from the events alone, one by one, through JSON; time never goes back."""
        for stamped in self.log[self.folded.version :]:
            assert stamped.at_ms >= self.folded.at_ms
            text = msgspec.json.encode(stamped.event)
            event = msgspec.json.decode(text, type=type(stamped.event))
            self._account(self.folded, stamped)
            self.folded = matches.evolve(self.folded, Stamped(event, stamped.at_ms, stamped.actor))
            self._shows_without_fail(self.folded, stamped)
        assert self.folded == self.match

    def conserves_the_tiles(self) -> None:
        """I1."""
        if self.match.hand is not None:
            assert tiles_of(self.match) == Counter(DECK_32)

    def ends_once(self) -> None:
        """I4."""
        ends = [stamped for stamped in self.log if isinstance(stamped.event, MatchEnded)]
        assert len(ends) == (self.match.ended is not None)
        assert ends in ([], self.log[-1:])

    def accounts_for_every_millisecond(self) -> None:
        """I5: what each seat started with and earned is spent or left."""
        assert self.match.clocks == tuple(
            BASE_MS + earned - spent
            for earned, spent in zip(self.earned_ms, self.spent_ms, strict=True)
        )
        assert min(self.match.clocks) >= 0

    def is_never_due_in_the_past(self) -> None:
        due = matches.due_at(self.match)
        assert (due is None) == (self.match.ended is not None)
        assert due is None or due.at_ms >= self.match.at_ms

    def waits_for_somebody_who_can_act(self) -> None:
        """A running clock belongs to the seat with a legal action, unless the table acts next."""
        if self.match.on_clock is not None:
            rules, hand = self.match.setup.rules, self.match.hand
            table = rules.timing(hand).table
            assert table or rules.to_act(hand) == {self.match.on_clock}
            assert rules.clock(hand) == rules.timing(hand).clock == self.match.on_clock

    def _account(self, before: Match, stamped: Stamped) -> None:
        clock = getattr(stamped.event, "clock", None)
        if clock is not None:
            assert before.on_clock is not None
            self.spent_ms[before.on_clock] += clock[0]
            if isinstance(stamped.event, TileDiscarded):
                assert stamped.actor == before.on_clock
                self.earned_ms[before.on_clock] += INCREMENT_MS

    def _shows_without_fail(self, after: Match, stamped: Stamped) -> None:
        """Whatever happens, every viewer gets something that is JSON, or nothing."""
        for viewer in VIEWERS:
            msgspec.json.encode(visibility.view(after, viewer))
            msgspec.json.encode(visibility.line(after, stamped, viewer, seq=1))


AnyMatch.TestCase.settings = settings(
    deadline=None,
    max_examples=60,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestAnyMatch = AnyMatch.TestCase
