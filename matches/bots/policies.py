"""Simple ways of playing two-player xiangqi mahjong.

A policy chooses from what its seat may know: the seat's view and its legal
actions (XM-82). Chance comes in through the constructor, so a game can be
played again exactly (XM-84).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import perm
from typing import Protocol

import msgspec

from matches.games.protocol import Action
from matches.games.tiles import KINDS, UNIT, Counts, Tile, count, pack
from matches.games.xqmj.actions import Chow, Discard, Pass, Pung, Win
from matches.games.xqmj.pieces import CLAIMS_32, DECK_32, HANDS_32
from matches.games.xqmj.scoring import SCORES
from matches.games.xqmj.view import HandView, Side


class Chance(Protocol):
    """A source of random numbers, such as `random.Random`."""

    def randrange(self, stop: int, /) -> int:
        """A uniformly random integer from 0 to `stop` − 1."""
        ...


class Policy(Protocol):
    """A way of playing one seat."""

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        """One of the legal actions, of which there is at least one."""
        ...


class Uniform:
    """Any distinct legal action with equal chance; `takes_wins`: but every win that is offered."""

    def __init__(self, chance: Chance, *, takes_wins: bool = False) -> None:
        self._chance = chance
        self._takes_wins = takes_wins

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:  # noqa: ARG002 - blind
        """A random action; both ways of discarding a kind that was also drawn count as one."""
        if self._takes_wins and Win() in legal:
            return Win()
        actions = distinct(legal)
        return actions[self._chance.randrange(len(actions))]


class First:
    """Wins if it can, passes every meld, else discards the lowest kind: the same every time."""

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:  # noqa: ARG002 - blind
        """The win, the pass, or the first legal discard."""
        for action in legal:
            if not isinstance(action, Chow | Pung):
                return action
        raise ValueError("no legal action")


class Greedy:
    """Goes for the nearest winning hand (rules document, section 14).

    It wins if it can; else it keeps the position with the fewest missing tiles
    that can still come, then the most live completions, then the most points;
    equal discards: the lowest kind. It claims only what betters that order.
    """

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        """The win, the best claim if it helps, else the pass or the best discard."""
        if Win() in legal:
            return Win()
        seen = _Seen.of(view)
        if view.offered is None:
            return _best_discard(seen, legal)[1]
        value = seen.value(seen.concealed, seen.meld)
        for action in legal:
            if isinstance(action, Chow | Pung) and _value_of_claim(seen, view.offered) > value:
                return action
        return Pass()


Value = tuple[int, int, int]
"""How good a position is: minus the tiles missing, live completions, their points in all."""

_HOPELESS: Value = (-5, 0, 0)
"""Nothing can be completed any more: below every position of at most four missing tiles."""


class _Missing(msgspec.Struct, frozen=True, gc=False):
    """What a position misses to one winning hand: (index of kind, how many), and its points."""

    tiles: tuple[tuple[int, int], ...]
    distance: int
    points: int


class _Seen(msgspec.Struct, frozen=True):
    """What a seat holds, and how many tiles of each kind it has not seen anywhere."""

    concealed: Counts
    meld: Counts
    unseen: tuple[int, ...]

    @classmethod
    def of(cls, view: HandView) -> _Seen:
        """Read a seat's own view."""
        if view.you is None:
            raise ValueError("a policy plays a seat")
        own = view.sides[view.you]
        tiles = (*(own.concealed or ()), *(() if own.drawn is None else (own.drawn,)))
        shown = pack(tiles) + sum(pack(_open(side)) for side in view.sides)
        left = pack(DECK_32) - shown
        return cls(
            concealed=pack(tiles),
            meld=pack(own.meld.tiles if own.meld else ()),
            unseen=tuple(count(left, kind) for kind in KINDS),
        )

    def value(self, concealed: Counts, meld: Counts) -> Value:
        """The worth of four tiles, `meld` included."""
        nearest, completions, points = 5, 0, 0
        for missing in _all_missing(concealed, meld):
            if missing.distance > nearest:
                break
            ways = 1
            for kind, number in missing.tiles:
                ways *= perm(self.unseen[kind], number)
            if ways:
                nearest = missing.distance
                completions += ways
                points += ways * missing.points
        return (-nearest, completions, points) if completions else _HOPELESS


def distinct(legal: Iterable[Action]) -> list[Action]:
    """The legal actions without a second discard of the same kind."""
    kept: dict[object, Action] = {}
    for action in legal:
        kept.setdefault(action.tile if isinstance(action, Discard) else action, action)
    return list(kept.values())


def _open(side: Side) -> list[Tile]:
    """The tiles of a side that lie open."""
    melded = list(side.meld.tiles) if side.meld else []
    return melded + [discarded.tile for discarded in side.discards]


def _best_discard(seen: _Seen, legal: Iterable[Action]) -> tuple[Value, Action]:
    """The discard that leaves the best position, the lowest kind among equals."""
    best: tuple[Value, Action] | None = None
    for action in distinct(legal):
        if isinstance(action, Discard):
            value = seen.value(seen.concealed - UNIT[action.tile], seen.meld)
            if best is None or value > best[0]:
                best = (value, action)
    if best is None:
        raise ValueError("no legal discard")
    return best


def _value_of_claim(seen: _Seen, tile: Tile) -> Value:
    """The best position after taking the tile for a meld and discarding another."""
    claim = CLAIMS_32[tile]
    left = seen.concealed - claim.rest
    return max(seen.value(left - UNIT[kind], claim.meld) for kind in KINDS if count(left, kind))


@lru_cache(maxsize=4096)
def _all_missing(concealed: Counts, meld: Counts) -> tuple[_Missing, ...]:
    """What four tiles miss to each winning hand they can still become, the nearest first."""
    found = [
        _missing(concealed + meld, hand)
        for hand, split in HANDS_32.items()
        if not meld or pack(split.melds[0].tiles) == meld
    ]
    return tuple(sorted(found, key=lambda missing: missing.distance))


def _missing(tiles: Counts, hand: Counts) -> _Missing:
    lacking = [(index, count(hand, kind) - count(tiles, kind)) for index, kind in enumerate(KINDS)]
    missing = tuple((index, number) for index, number in lacking if number > 0)
    return _Missing(
        tiles=missing,
        distance=sum(number for _, number in missing),
        points=SCORES[hand]["discard"].points,
    )
