"""Simple ways of playing two-player xiangqi mahjong.

A policy chooses from what its seat may know: the seat's view and its legal
actions (XM-82). Chance comes in through the constructor, so a game can be
played again exactly (XM-84).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from matches.bots.missing import all_missing
from matches.bots.seen import Seen
from matches.games.protocol import Action
from matches.games.tiles import KINDS, UNIT, Counts, Tile, count
from matches.games.xqmj.actions import Chow, Discard, Pass, Pung, Win
from matches.games.xqmj.pieces import CLAIMS_32
from matches.games.xqmj.view import HandView


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
        return best(view, legal, _value)


Value = tuple[int, int, int]
"""How good a position is: minus the tiles missing, live completions, their points in all."""

Worth = TypeVar("Worth", Value, float)
"""How good a position is, as a way of playing measures it."""

_HOPELESS: Value = (-5, 0, 0)
"""Nothing can be completed any more: below every position of at most four missing tiles."""


def distinct(legal: Iterable[Action]) -> list[Action]:
    """The legal actions without a second discard of the same kind."""
    kept: dict[object, Action] = {}
    for action in legal:
        kept.setdefault(action.tile if isinstance(action, Discard) else action, action)
    return list(kept.values())


def _value(seen: Seen, concealed: Counts, meld: Counts) -> Value:
    """The worth of four tiles, `meld` included."""
    nearest, completions, points = 5, 0, 0
    for missing in all_missing(concealed, meld):
        if missing.distance > nearest:
            break
        ways = missing.ways(seen.unseen)
        if ways:
            nearest = missing.distance
            completions += ways
            points += ways * missing.points
    return (-nearest, completions, points) if completions else _HOPELESS


def best(
    view: HandView, legal: Sequence[Action], worth: Callable[[Seen, Counts, Counts], Worth]
) -> Action:
    """The win, else what leaves the best four tiles: the lowest kind among equal discards.

    `worth` is how good concealed tiles and a meld are together, given what is
    seen. A discard is taken for a meld only where that betters the four tiles.
    """
    if Win() in legal:
        return Win()
    seen = Seen.of(view)
    if view.offered is None:
        return _best_discard(seen, legal, worth)
    kept = worth(seen, seen.concealed, seen.meld)
    for action in legal:
        if isinstance(action, Chow | Pung) and _best_claim(seen, view.offered, worth) > kept:
            return action
    return Pass()


def _best_discard(
    seen: Seen, legal: Iterable[Action], worth: Callable[[Seen, Counts, Counts], Worth]
) -> Action:
    found: tuple[Worth, Action] | None = None
    for action in distinct(legal):
        if isinstance(action, Discard):
            value = worth(seen, seen.concealed - UNIT[action.tile], seen.meld)
            if found is None or value > found[0]:
                found = (value, action)
    if found is None:
        raise ValueError("no legal discard")
    return found[1]


def _best_claim(seen: Seen, tile: Tile, worth: Callable[[Seen, Counts, Counts], Worth]) -> Worth:
    """The best position after taking the tile for a meld and discarding another."""
    claim = CLAIMS_32[tile]
    left = seen.concealed - claim.rest
    return max(worth(seen, left - UNIT[kind], claim.meld) for kind in KINDS if count(left, kind))
