"""Runs as everybody sees them, and walls that are different and give the same run (I9, XM-76).

A run is scouted first: both seats play a hand, and what everybody can see of it
becomes a script. Then two tiles that the seat p never sees are swapped in the
wall, in a way that leaves every visible act possible, and preferably gives or
takes a claim or a win of the other seat, q.
"""

from __future__ import annotations

import random

import msgspec

from matches.domain.clock import Gap
from matches.domain.commands import Act
from matches.games.protocol import Action, HandEvent, Seat
from matches.games.xqmj.actions import Discard
from matches.games.xqmj.events import ClaimPassed, TileDrawn
from matches.games.xqmj.pieces import DECK_32
from tests.leaks.engine.worlds import PLAYERS, RULES, Wall, World
from tests.support.xqmj import PASS, WIN

CANDIDATES = 16
"""How many swaps are tried for one that changes what q can do."""


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
    later: Wall
    """The wall of the hands after the first."""

    @property
    def q(self) -> Seat:
        """The other seat."""
        return Seat(1 - self.p)


def shuffled(chance: random.Random) -> Wall:
    """A wall."""
    return tuple(chance.sample(DECK_32, len(DECK_32)))


class Scout:
    """Plays the run that becomes the script."""

    def __init__(self, chance: random.Random, p: Seat, wall: Wall, later: Wall) -> None:
        self.chance, self.p, self.later = chance, p, later
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
        return Script(self.p, tuple(self.steps), moves, hidden, self.gap, self.later)

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
