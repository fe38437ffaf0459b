"""The way of playing behind every level of the computer: the highest expectation (XM-83).

What four tiles are worth is worked out from what its seat has not seen, one
improvement ahead; docs/computer.md has the formula. What depends on the four
tiles alone stands in tables, which `warm` builds when a process starts (XM-85).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations

import msgspec

from matches.bots.missing import Missing, all_missing
from matches.bots.policies import Greedy, best
from matches.bots.seen import Seen
from matches.games.protocol import Action
from matches.games.tiles import KINDS, NO_TILES, UNIT, Counts, contains, count, pack
from matches.games.xqmj.pieces import CLAIMS_32, DECK_32, MELDS_32
from matches.games.xqmj.view import HandView

LOSS = 3.3
"""Points that a hand is worth to the other seat when it wins."""
SELF_DRAW = 2
"""Points that a self-draw adds (XM-51)."""
DISCARDED = 0.8
"""How often the other seat discards a tile, for each time that the own seat draws it."""
OTHER_ENDS = 0.14
OTHER_ENDS_WITH_MELD = 0.24
"""How often the other seat ends the hand in one cycle: its turn and the own turn."""
FAR = 6.3 * 0.08
"""What a completion three tiles away is worth more than a loss, for each two draws of any tile."""

_DECK = pack(DECK_32)
_DIGITS = 9
"""Positions that differ by less are equal: their sums were only rounded differently on the way."""

Waits = tuple[tuple[int, int], ...]
"""Kinds that win, by their index, each with the points it scores on a discard."""


class Step(msgspec.Struct, frozen=True, gc=False):
    """An improvement: the tile of index `kind` is taken, another one discarded.

    `after` are the waits that the possible discards leave. `claimable`: the
    other seat's discard of this kind can be taken for a chow or pung.
    """

    kind: int
    claimable: bool
    after: tuple[Waits, ...]


class Ahead(msgspec.Struct, frozen=True, gc=False):
    """What lies ahead of four tiles: the winning tiles, the improvements, and what is far away."""

    waits: Waits
    steps: tuple[Step, ...]
    far: tuple[Missing, ...]


class Expectation:
    """Takes every win, else what leaves the highest expectation; claims only where that helps.

    `expired` is asked before each position is weighed; once it is true, the
    simple greedy policy decides (XM-85).
    """

    def __init__(self, expired: Callable[[], bool]) -> None:
        self._expired = expired

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        """The win, the best claim if it helps, else the pass or the best discard."""

        def worth(seen: Seen, concealed: Counts, meld: Counts) -> float:
            if self._expired():
                raise _Expired
            return expectation(seen, concealed, meld)

        try:
            return best(view, legal, worth)
        except _Expired:
            return Greedy().choose(view, legal)


class _Expired(Exception):
    """There is no time left to weigh another position."""


def expectation(seen: Seen, concealed: Counts, meld: Counts) -> float:
    """Points that a hand with these four tiles, `meld` included, is expected to be worth.

    From −3.3, where it cannot be won any more, upwards.
    """
    # Reckoned as gain over a lost hand, in cycles that are `seen.left` times as long.
    ahead, unseen, left = look_ahead(concealed, meld), seen.unseen, seen.left
    other_ends = OTHER_ENDS_WITH_MELD if seen.against_meld else OTHER_ENDS
    gained, rates = _waiting(ahead.waits, unseen, None)
    rates += other_ends * left
    options: list[tuple[float, float]] = []
    for step in ahead.steps:
        number = unseen[step.kind]
        if number:
            gain = _improved(step, unseen, other_ends * (left - 1))
            options.append((gain, number * (1 + DISCARDED) if step.claimable else number))
    for gain, rate in sorted(options, reverse=True):
        if gain * rates <= gained:
            break
        gained += rate * gain
        rates += rate
    if not gained:
        far = sum(missing.ways(unseen) for missing in ahead.far)
        return round(FAR * far / left**2 - LOSS, _DIGITS)
    return round(gained / rates - LOSS, _DIGITS)


def _waiting(waits: Waits, unseen: Sequence[int], taken: int | None) -> tuple[float, float]:
    """The gain that waits bring, and how often; the tile `taken` is unseen no more."""
    gained = rates = 0.0
    for kind, points in waits:
        number = unseen[kind] - (kind == taken)
        gained += number * (points + SELF_DRAW + LOSS + DISCARDED * (points + LOSS))
        rates += number * (1 + DISCARDED)
    return gained, rates


def _improved(step: Step, unseen: Sequence[int], other_ends: float) -> float:
    """The best gain of waiting after the step."""
    found = 0.0
    for waits in step.after:
        gained, rates = _waiting(waits, unseen, step.kind)
        if gained:
            found = max(found, gained / (rates + other_ends))
    return found


def warm() -> None:
    """Build the tables for every position of a hand: work for the start of a process."""
    for tiles in set(combinations(DECK_32, 4)):
        look_ahead(pack(tiles), NO_TILES)
    for meld in MELDS_32:
        for kind in KINDS:
            if contains(_DECK, pack((*meld.tiles, kind))):
                look_ahead(UNIT[kind], pack(meld.tiles))


@cache
def look_ahead(concealed: Counts, meld: Counts) -> Ahead:
    """What lies ahead of four tiles."""
    found = all_missing(concealed, meld)
    steps = (_step(concealed, meld, index) for index in range(len(KINDS)))
    return Ahead(
        waits=_waits(concealed, meld),
        steps=tuple(step for step in steps if step.after),
        far=tuple(missing for missing in found if missing.distance == 3),
    )


def _waits(concealed: Counts, meld: Counts) -> Waits:
    found: list[tuple[int, int]] = []
    for missing in all_missing(concealed, meld):
        if missing.distance > 1:
            break
        found.append((missing.tiles[0][0], missing.points))
    return tuple(found)


def _step(concealed: Counts, meld: Counts, index: int) -> Step:
    """What taking a tile can lead to; nothing where the set has no more tiles of its kind."""
    taken = KINDS[index]
    five = concealed + UNIT[taken]
    after: set[Waits] = set()
    if contains(_DECK, five + meld):
        for kind in KINDS:
            if kind != taken and count(concealed, kind):
                after.add(_waits(five - UNIT[kind], meld))
    return Step(
        kind=index,
        claimable=contains(concealed, CLAIMS_32[taken].rest),
        after=tuple(sorted(after - {()})),
    )
