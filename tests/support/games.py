"""What the conformance suite must be told of a game, and hands played at random.

Every ruleset of the registry, with every combination of its options, is a
`Game` here; a ruleset without an entry in `ADAPTERS` fails the suite.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from types import UnionType
from typing import Any, Literal, Protocol, get_args, get_origin, get_type_hints

import msgspec

from matches.games.protocol import Action, HandEvent, Rules, Seat
from matches.games.registry import rules_for, rulesets
from matches.games.ruleset import Ruleset
from matches.games.tiles import pack, unpack
from matches.games.xqmj.refusals import REFUSALS as XQMJ_REFUSALS
from matches.games.xqmj.state import FIRST_WALL, HandState
from tests.support.xqmj_client import Client


class ClientModel(Protocol):
    """A client's own picture of a hand, folded from the lines it was sent."""

    view: dict[str, Any]

    def apply(self, kind: str, data: dict[str, Any]) -> None:
        """Learn one line."""


class Adapter(msgspec.Struct, frozen=True, kw_only=True):
    """What the suite cannot find out by itself.

    `tiles` lists all tiles in an auditor's view (as JSON values). `reshuffled`
    gives a state in which nothing that the seat may know has changed.
    `max_events` bounds the events of a hand.
    """

    tiles: Callable[[dict[str, Any]], list[str]]
    reshuffled: Callable[[Any, Seat, random.Random], Any]
    client: Callable[[dict[str, Any]], ClientModel]
    refusals: frozenset[str]
    max_events: int


class Game(msgspec.Struct, frozen=True):
    """A ruleset with its options, ready to be tried."""

    name: str
    ruleset: Ruleset
    rules: Rules[Any]
    adapter: Adapter
    actions: tuple[Action, ...]

    @property
    def seats(self) -> list[Seat]:
        """All seats."""
        return [Seat(seat) for seat in range(self.rules.seats)]


class Step(msgspec.Struct, frozen=True):
    """One event of a hand that was played: by `seat` with `action`, or by the table."""

    before: Any
    seat: Seat | None
    action: Action | None
    event: HandEvent
    after: Any


def games() -> list[Game]:
    """Every ruleset with every combination of its options."""
    return [game for ruleset in rulesets() for game in _variants(ruleset)]


def _variants(ruleset: Ruleset) -> Iterator[Game]:
    keys = [option.key for option in ruleset.options]
    for values in product(*(option.values for option in ruleset.options)):
        rules = rules_for(ruleset.key, ruleset.version, dict(zip(keys, values, strict=True)))
        name = "-".join([f"{ruleset.key}@{ruleset.version}", *map(str, values)])
        actions = tuple(every_action(rules.action))
        yield Game(name, ruleset, rules, ADAPTERS[ruleset.key], actions)


def every_action(union: Any) -> Iterator[Action]:
    """Every action that can be decoded at all, read off the types of the union."""
    for kind in get_args(union) if isinstance(union, UnionType) else (union,):
        hints = get_type_hints(kind)
        fields = {field: _values(hints[field]) for field in kind.__struct_fields__}
        for values in product(*fields.values()):
            yield kind(**dict(zip(fields, values, strict=True)))


def _values(hint: Any) -> tuple[Any, ...]:
    if hint is bool:
        return (False, True)
    if get_origin(hint) is Literal:
        return get_args(hint)
    raise TypeError(f"the suite cannot list the values of {hint}")


def dealt(game: Game, chance: random.Random) -> Any:
    """A hand after a random deal."""
    order = tuple(chance.sample(game.rules.deck, len(game.rules.deck)))
    return game.rules.deal(order, Seat(chance.randrange(game.rules.seats)))


def played(game: Game, seed: int, *, hasty: float = 0.5) -> list[Step]:
    """A whole hand of random legal actions; `hasty` is the chance to take the first one listed."""
    chance = random.Random(seed)
    state = dealt(game, chance)
    steps: list[Step] = []
    while game.rules.outcome(state) is None:
        seat, action, events = _next(game, state, chance, hasty)
        for event in events:
            after = game.rules.evolve(state, event)
            steps.append(Step(state, seat, action, event, after))
            state = after
        assert len(steps) <= game.adapter.max_events, "the hand does not end"
    return steps


def _next(
    game: Game, state: Any, chance: random.Random, hasty: float
) -> tuple[Seat | None, Action | None, tuple[HandEvent, ...]]:
    able = sorted(game.rules.to_act(state))
    if not able:
        return None, None, game.rules.table(state)
    seat = chance.choice(able)
    legal = game.rules.legal(state, seat)
    # The first legal action is a win or claim where there is one: uniform play reaches few of them.
    action = legal[0] if chance.random() < hasty else chance.choice(legal)
    return seat, action, game.rules.decide(state, seat, action)


def json_of(value: Any) -> Any:
    """What a client would get: the value through JSON and back."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _xqmj_tiles(view: dict[str, Any]) -> list[str]:
    found = list(view.get("wall", []))
    for side in view["sides"]:
        found += side["concealed"]
        found += [side["drawn"]] if "drawn" in side else []
        found += side["meld"]["tiles"] if "meld" in side else []
        found += [discarded["tile"] for discarded in side.get("discards", [])]
    return found


def _xqmj_reshuffled(state: HandState, seat: Seat, chance: random.Random) -> HandState:
    """The other seat's tiles and the rest of the wall dealt anew, its pass made or undone."""
    other = 1 - seat
    held = unpack(state.concealed[other])
    hidden = [*held, *state.order[state.next_tile :]]
    chance.shuffle(hidden)
    concealed = list(state.concealed)
    concealed[other] = pack(hidden[: len(held)])
    theirs = state.turn == other
    drawn = hidden[0] if state.drawn is not None and theirs else state.drawn
    weighing = theirs and state.phase in ("offer", "passed")
    return msgspec.structs.replace(
        state,
        phase=chance.choice(["offer", "passed"]) if weighing else state.phase,
        order=(*state.order[: state.next_tile], *hidden[len(held) :]),
        concealed=(concealed[0], concealed[1]),
        drawn=drawn,
    )


def _xqmj_max_events() -> int:
    """XM-43: 23 draws, 26 discards, 2 melds, and at most one pass a discard; then the end."""
    return (32 - FIRST_WALL) + 26 + 2 + 26 + 1


ADAPTERS: dict[str, Adapter] = {
    "xqmj-32-2p": Adapter(
        tiles=_xqmj_tiles,
        reshuffled=_xqmj_reshuffled,
        client=Client,
        refusals=frozenset(XQMJ_REFUSALS),
        max_events=_xqmj_max_events(),
    ),
}
