"""Pairs of matches that are equal in all that one seat may know (I9, XM-76).

A run is scouted first: both seats play a hand, and what everybody can see of it
becomes a script. Then two tiles that the seat p never sees are swapped in the
wall, in a way that leaves every visible act possible, and preferably gives or
takes a claim or a win of the other seat, q. Both worlds then play the script
side by side, at the same instants; only q's private passes may differ, in
being there and in their instants. Whatever p or a spectator can get hold of,
between all steps and at the edges of the pauses, must be the same bytes.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
import pytest

from matches.domain import deal, visibility
from matches.domain import match as matches
from matches.domain.clock import Gap
from matches.domain.commands import Act, Body, Command, Join, Leave, Ready, Resign
from matches.domain.events import Stamped
from matches.domain.state import Match
from matches.games.protocol import Action, HandEvent, Rejected, Seat, SeatViewer, Spectator, Viewer
from matches.games.registry import rules_for
from matches.games.tiles import KINDS
from matches.games.xqmj.actions import Discard
from matches.games.xqmj.events import ClaimPassed, TileDrawn
from matches.games.xqmj.pieces import DECK_32
from tests.support.sitting import ANA, BEN, EVE, MATCH_ID, SECRET, created
from tests.support.xqmj import CHOW, PASS, PUNG, WIN, discard

RULES = rules_for("xqmj-32-2p")
PLAYERS = (ANA, BEN)
SPECTATOR = Spectator()
CANDIDATES = 16
"""How many swaps are tried for one that changes what q can do."""

Wall = tuple[str, ...]

PROBES: tuple[Body, ...] = (
    *(Act(action) for action in (CHOW, PUNG, WIN, PASS)),
    *(Act(discard(kind, drawn=drawn)) for kind in KINDS for drawn in (False, True)),
    Ready(),
    Join(),
    Resign(),
    Leave(),
)
"""What a seat may try at any time, to learn from the answer."""


SEEN = ("view", "etag", "lines", "clocks")
"""What a watcher gets hold of without asking for anything."""


class Step(msgspec.Struct, frozen=True):
    """Something that a seat does at an instant; `answer`: to a discard that lies before it."""

    at_ms: int
    seat: Seat
    action: Action
    answer: bool


class Move(msgspec.Struct, frozen=True):
    """An event of the hand and the action behind it; None for the table's own."""

    seat: Seat | None
    action: Action | None
    event: HandEvent


class Script(msgspec.Struct, frozen=True):
    """A run as everybody sees it, p's own passes added: the table's acts follow by themselves."""

    p: Seat
    steps: tuple[Step, ...]
    moves: tuple[Move, ...]
    hidden: tuple[int, ...]
    """Places in the wall whose tiles p has not seen: those of q, and those nobody has drawn."""
    gap: Gap | None

    @property
    def q(self) -> Seat:
        """The other seat."""
        return Seat(1 - self.p)


class Leak(msgspec.Struct, frozen=True):
    """A difference between two worlds that are equal in all that the viewer may know."""

    seed: int
    viewer: str
    at_ms: int
    what: str
    left: str
    right: str


class Pair(msgspec.Struct, frozen=True):
    """What came of one seed: no pair, or one; `options`: q could do something in one world only."""

    made: bool
    options: bool
    leak: Leak | None


_laid: list[Mapping[int, Wall]] = [{}]


@contextmanager
def rigged() -> Iterator[None]:
    """Deal from the walls that the acting world has laid; seat 0 deals first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deal, "order", lambda *given: _laid[0][min(given[3], 2)])
        patch.setattr(deal, "first_dealer", lambda *_: Seat(0))
        yield


def etag(view: bytes, match: Match) -> str:  # noqa: ARG001 - a planted leak reads the match
    """The version of a view, as a client gets it."""
    return hashlib.sha256(view).hexdigest()


class World:
    """One match, and what each watcher has been told of it so far."""

    def __init__(
        self, wall: Wall, later: Wall, watchers: Sequence[Viewer] = (), gap: Gap | None = None
    ) -> None:
        self.walls = {1: wall, 2: later}
        self.gaps = () if gap is None else (gap,)
        self.told: dict[Viewer, list[bytes]] = {viewer: [] for viewer in watchers}
        self.log: list[tuple[Stamped, Match]] = []
        self.pass_at_ms: int | None = None
        first = Stamped(created(players=PLAYERS), 0, None)
        self.match = matches.begin(match_id=MATCH_ID, created=first, secret=SECRET)
        for player in PLAYERS:
            self.send(0, player, Ready())

    def reach(self, now_ms: int) -> None:
        """Let time pass: q's private pass, where one is planned, and what the table owes."""
        if self.pass_at_ms is not None and self.pass_at_ms <= now_ms:
            at_ms, self.pass_at_ms = self.pass_at_ms, None
            self.send(at_ms, PLAYERS[self.match.hand.turn], Act(PASS))
        self._follow(matches.settle(self.match, now_ms=now_ms, deadline_ms=now_ms, gaps=self.gaps))

    def send(self, at_ms: int, player: str, body: Body) -> None:
        """Let a player command something that must be possible."""
        self.reach(at_ms)
        self._follow(matches.decide(self.match, Command(at_ms, player, body)))

    def legal(self, seat: Seat) -> tuple[Action, ...]:
        """What the seat may do in the hand."""
        return () if self.match.phase != "playing" else RULES.legal(self.match.hand, seat)

    def seen(self, viewer: Viewer, at_ms: int, probes: Sequence[Body]) -> list[bytes]:
        """All that the viewer can get hold of now; `SEEN` names it, then come the probes."""
        view = msgspec.json.encode(visibility.view(self.match, viewer))
        told = self.told[viewer]
        clocks = (visibility.visible_due_ms(self.match), visibility.clocks(self.match))
        seen = [
            view,
            etag(view, self.match).encode(),
            b"%d: %b" % (len(told), b" ".join(told[-6:])),
            msgspec.json.encode(clocks),
        ]
        player = PLAYERS[viewer.seat] if isinstance(viewer, SeatViewer) else EVE
        seen += [self._answer(viewer, Command(at_ms, player, probe)) for probe in probes]
        return seen

    def _answer(self, viewer: Viewer, command: Command) -> bytes:
        """What the viewer would be told if it sent the command now; nothing is changed.

        A draw that a pass would cause is left out: its tile is one that the
        viewer does not get to see in this run, so it may be a swapped one.
        """
        try:
            decided = matches.decide(self.match, command)
        except Rejected as refused:
            return msgspec.json.encode((refused.code, refused.detail, str(refused)))
        after, seq = self.match, len(self.told[viewer])
        answer = b""
        for stamped in decided:
            if isinstance(stamped.event, TileDrawn):
                break
            after = self._evolved(after, stamped)
            line = _line(after, stamped, viewer, seq + 1)
            if line is not None:
                seq, answer = seq + 1, answer + line
        return answer

    def _follow(self, stampeds: Sequence[Stamped]) -> None:
        for stamped in stampeds:
            self.match = self._evolved(self.match, stamped)
            self.log.append((stamped, self.match))
            for viewer, told in self.told.items():
                line = _line(self.match, stamped, viewer, len(told) + 1)
                if line is not None:
                    told.append(line)

    def _evolved(self, match: Match, stamped: Stamped) -> Match:
        _laid[0] = self.walls
        return matches.evolve(match, stamped)


def _line(after: Match, stamped: Stamped, viewer: Viewer, seq: int) -> bytes | None:
    line = visibility.line(after, stamped, viewer, seq=seq)
    return None if line is None else msgspec.json.encode(line)


def shuffled(chance: random.Random) -> Wall:
    """A wall."""
    return tuple(chance.sample(DECK_32, len(DECK_32)))


class Scout:
    """Plays the run that becomes the script."""

    def __init__(self, chance: random.Random, p: Seat, wall: Wall, later: Wall) -> None:
        self.chance, self.p, self.wall = chance, p, wall
        self.now_ms = 0
        self.steps: list[Step] = []
        length = chance.randint(2, 40)
        gap_after = chance.randrange(400)
        gap = None
        self.world = World(wall, later)
        while len(self.steps) < length and self.world.match.phase == "playing":
            self._play()
            if gap is None and gap_after < len(self.steps):
                gap = Gap(self.now_ms + 5, self.now_ms + 5 + chance.randint(1_000, 9_000))
                self.world.gaps = (gap,)
                self.now_ms = gap.until_ms
                self.world.reach(self.now_ms)
        self.gap = gap

    def script(self) -> Script:
        """The run as a script."""
        moves, drawn_by_q = self._moves()
        dealt = range(5) if self.p == 1 else range(5, 9)
        hand = self.world.match.hand
        # After the last step p may still draw one tile.
        undrawn = range(hand.next_tile + (hand.turn == self.p), len(DECK_32))
        hidden = (*dealt, *drawn_by_q, *undrawn)
        return Script(self.p, tuple(self.steps), moves, hidden, self.gap)

    def _moves(self) -> tuple[tuple[Move, ...], list[int]]:
        moves: list[Move] = []
        drawn_by_q: list[int] = []
        public = {(step.at_ms, step.seat) for step in self.steps if step.action == PASS}
        for stamped, after in self.world.log:
            event, seat = stamped.event, stamped.actor
            if not isinstance(event, HandEvent):
                continue
            if isinstance(event, ClaimPassed) and (stamped.at_ms, seat) not in public:
                continue
            if isinstance(event, TileDrawn) and after.hand.turn != self.p:
                drawn_by_q.append(after.hand.next_tile - 1)
            action = None if seat is None else RULES.action_of(after.hand, event)
            moves.append(Move(seat, action, msgspec.structs.replace(event, clock=None)))
        return tuple(moves), drawn_by_q

    def _play(self) -> None:
        hand = self.world.match.hand
        seat, legal = hand.turn, self.world.legal(hand.turn)
        if hand.phase == "offer":
            self._answer(seat, legal)
        else:
            thinking_ms = self.chance.choice((0, 1, 700, 3_000))
            from_ms = max(self.now_ms, self.world.match.clock_from_ms)
            if hand.phase == "after_claim" and self.chance.randrange(2):
                from_ms = self.now_ms
            discards = [action for action in legal if isinstance(action, Discard)]
            wins = legal[0] == WIN and self.chance.randrange(3) == 0
            self._step(from_ms + thinking_ms, seat, WIN if wins else self.chance.choice(discards))

    def _answer(self, seat: Seat, legal: tuple[Action, ...]) -> None:
        until_ms = self.world.match.pause_until_ms
        inside_ms = self.now_ms + self.chance.randrange(max(1, until_ms - self.now_ms))
        if legal and self.chance.randrange(3) == 0:
            at_ms = self.chance.choice((inside_ms, until_ms, until_ms + 1, until_ms + 4_000))
            self._step(max(at_ms, self.now_ms), seat, self.chance.choice(legal[:-1]), answer=True)
        elif legal and self.chance.randrange(10) == 0:
            at_ms = max(self.now_ms, until_ms) + self.chance.choice((1, 2_000))
            self._step(at_ms, seat, PASS, answer=True)
        elif legal and inside_ms < until_ms and seat == self.p:
            self._step(inside_ms, seat, PASS, answer=True)
            self._wait(until_ms)
        elif legal and inside_ms < until_ms:
            self.world.send(inside_ms, PLAYERS[seat], Act(PASS))
            self._wait(until_ms)
        elif legal:
            # The pause is over: a pass is seen by everybody, as the draw that follows at once.
            self._step(self.now_ms + 1, seat, PASS, answer=True)
        else:
            self._wait(until_ms)

    def _wait(self, until_ms: int) -> None:
        self.now_ms = max(self.now_ms, until_ms)
        self.world.reach(self.now_ms)

    def _step(self, at_ms: int, seat: Seat, action: Action, *, answer: bool = False) -> None:
        self.now_ms = at_ms
        self.world.send(at_ms, PLAYERS[seat], Act(action))
        self.steps.append(Step(at_ms, seat, action, answer))


def _options(script: Script, wall: Wall) -> tuple[tuple[Action, ...], ...] | None:
    """What q could do at each of its moments but discard; None if the script is not possible."""
    state = RULES.deal(wall, Seat(0))
    options: list[tuple[Action, ...]] = []
    for move in script.moves:
        legal = RULES.legal(state, state.turn)
        if state.turn == script.q:
            options.append(tuple(action for action in legal if not isinstance(action, Discard)))
        if move.action is None:
            if legal:
                if state.turn == script.p:
                    return None
                state = RULES.evolve(state, ClaimPassed())
            events = RULES.table(state)
        elif move.action in legal:
            events = RULES.decide(state, state.turn, move.action)
        else:
            return None
        if events != (move.event,):
            return None
        state = RULES.evolve(state, move.event)
    if state.turn == script.q:
        last = RULES.legal(state, state.turn)
        options.append(tuple(action for action in last if not isinstance(action, Discard)))
    return tuple(options)


def _swapped(wall: Wall, first: int, second: int) -> Wall:
    tiles = list(wall)
    tiles[first], tiles[second] = tiles[second], tiles[first]
    return tuple(tiles)


def other_wall(chance: random.Random, script: Script, wall: Wall) -> tuple[Wall, bool] | None:
    """Another wall with the same script, and whether it changes what q can do at some moment."""
    before = _options(script, wall)
    found: Wall | None = None
    for _ in range(CANDIDATES):
        first, second = chance.sample(script.hidden, 2)
        if wall[first] == wall[second]:
            continue
        candidate = _swapped(wall, first, second)
        options = _options(script, candidate)
        if options is None:
            continue
        if options != before:
            return candidate, True
        found = found or candidate
    return None if found is None else (found, False)


class Watch:
    """Two worlds side by side, compared for p and for a spectator at every instant it chooses."""

    def __init__(
        self, seed: int, chance: random.Random, script: Script, worlds: tuple[World, World]
    ) -> None:
        self.seed, self.chance, self.script, self.worlds = seed, chance, script, worlds
        self.now_ms = 0

    def run(self) -> Leak | None:
        """Play the script in both worlds; the first difference, if there is one."""
        leak = self._compare()
        for step in self.script.steps:
            leak = leak or self._between(step)
            if leak is not None:
                return leak
            self._both(step.at_ms, PLAYERS[step.seat], Act(step.action))
            leak = self._compare()
        return leak or self._tail()

    def _between(self, step: Step | None) -> Leak | None:
        """Look in at some instants before the step, or before the end."""
        pause_ms = self.worlds[0].match.pause_until_ms
        until_ms = max(self.now_ms, pause_ms) + 12_000 if step is None else step.at_ms
        if step is None or not step.answer:
            self._plan_passes(pause_ms)
        edges = [pause_ms - 1, pause_ms, pause_ms + 1, (self.now_ms + pause_ms) // 2, until_ms]
        for at_ms in sorted(self.chance.sample(edges, 2 if step is not None else 4)):
            if self.now_ms <= at_ms <= until_ms and not self._is_down(at_ms):
                self._reach(at_ms)
                leak = self._compare()
                if leak is not None:
                    return leak
        self._reach(until_ms)
        return None

    def _plan_passes(self, pause_ms: int) -> None:
        """Let q pass unseen in each world in which it could claim, at an instant of its own."""
        gap = self.script.gap
        room_ms = pause_ms - self.now_ms
        if gap is not None and self.now_ms < gap.from_ms < pause_ms:
            room_ms = gap.from_ms - self.now_ms
        for world in self.worlds:
            hand = world.match.hand
            if hand.turn == self.script.q and hand.phase == "offer" and world.legal(hand.turn):
                world.pass_at_ms = self.now_ms + self.chance.randrange(room_ms)

    def _tail(self) -> Leak | None:
        leak = self._between(None)
        if leak is None and self.worlds[0].match.ended is None:
            seat = self.chance.choice((0, 1))
            self._both(self.now_ms, PLAYERS[seat], self.chance.choice((Resign(), Leave())))
            leak = self._compare()
        return leak

    def _is_down(self, at_ms: int) -> bool:
        gap = self.script.gap
        return gap is not None and gap.from_ms < at_ms < gap.until_ms

    def _reach(self, at_ms: int) -> None:
        self.now_ms = at_ms
        for world in self.worlds:
            world.reach(at_ms)

    def _both(self, at_ms: int, player: str, body: Body) -> None:
        self.now_ms = at_ms
        for world in self.worlds:
            world.send(at_ms, player, body)

    def _compare(self) -> Leak | None:
        for viewer, count in ((SeatViewer(self.script.p), 4), (SPECTATOR, 1)):
            probes = self.chance.sample(PROBES, count)
            left, right = (world.seen(viewer, self.now_ms, probes) for world in self.worlds)
            if left != right:
                place = next(i for i, one in enumerate(left) if one != right[i])
                what = [*SEEN, *map(str, probes)][place]
                pair = left[place].decode(), right[place].decode()
                return Leak(self.seed, str(viewer), self.now_ms, what, *pair)
        return None


def pair(seed: int) -> Pair:
    """Make one pair and compare it; the same for ever for the same seed. Needs `rigged`."""
    chance = random.Random(seed)
    p, wall, later = Seat(chance.randrange(2)), shuffled(chance), shuffled(chance)
    script = Scout(chance, p, wall, later).script()
    other = other_wall(chance, script, wall)
    if other is None:
        return Pair(made=False, options=False, leak=None)
    watchers = (SeatViewer(p), SPECTATOR)
    first, second = (World(tiles, later, watchers, script.gap) for tiles in (wall, other[0]))
    leak = Watch(seed, chance, script, (first, second)).run()
    return Pair(made=True, options=other[1], leak=leak)


class Tally(msgspec.Struct):
    """How many pairs were made, how many of them with other options for q, and what leaked."""

    pairs: int = 0
    options: int = 0
    leaks: list[Leak] = []


def tally(first_seed: int, pairs: int, *, stop_at_leak: bool = True) -> Tally:
    """Make so many pairs, from a seed on."""
    found = Tally()
    with rigged():
        seed = first_seed
        while found.pairs < pairs:
            made = pair(seed)
            seed += 1
            found.pairs += made.made
            found.options += made.options
            if made.leak is not None:
                found.leaks.append(made.leak)
                if stop_at_leak:
                    break
    return found
