"""How many matches a second are rated on one core, without a database."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from ratings import glicko2
from ratings.fold import Ledger
from ratings.glicko2 import Entrant, Glicko

MATCHES = 400
ROUNDS = 5
PLAYERS = 50


@dataclass(frozen=True)
class Finished:
    """A finished match between two of `PLAYERS`."""

    match_id: UUID
    ruleset: str
    control: str
    players: tuple[str, ...]
    places: tuple[int, ...]
    ended_at_ms: int


def run() -> dict[str, float]:
    """Operations a second, the best of some rounds.

    `rate` is the arithmetic of one match alone, for two seats and for four; an update is one
    seat's. `fold` adds the standings, the entries and their canonical bytes, as a rebuild does.
    """
    chance = random.Random(1)
    two, four = ([_table(chance, seats) for _ in range(MATCHES)] for seats in (2, 4))
    finished = [_finished(chance, n) for n in range(MATCHES)]
    rated = _rate(lambda: [glicko2.rate(table) for table in two])
    return {
        "updates_per_s": 2 * rated,
        "rate_2_per_s": rated,
        "rate_4_per_s": _rate(lambda: [glicko2.rate(table) for table in four]),
        "fold_per_s": _rate(lambda: _folded(finished)),
    }


def _rate(work: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return MATCHES / best


def _table(chance: random.Random, seats: int) -> list[Entrant]:
    return [
        Entrant(
            Glicko(
                Decimal(chance.randrange(800_000_000, 2_400_000_000)).scaleb(-6),
                Decimal(chance.randrange(45_000_000, 350_000_000)).scaleb(-6),
                Decimal(chance.randrange(50_000_000, 70_000_000)).scaleb(-9),
            ),
            chance.randrange(10 * 86_400_000),
            chance.randint(1, seats),
        )
        for _ in range(seats)
    ]


def _finished(chance: random.Random, n: int) -> Finished:
    players = chance.sample(range(PLAYERS), 2)
    return Finished(
        UUID(int=n),
        "xqmj-32-2p",
        chance.choice(("1+1", "3+2", "5+5")),
        tuple(UUID(int=player).hex for player in players),
        chance.choice(((1, 2), (2, 1), (1, 1))),
        1_700_000_000_000 + n * 60_000,
    )


def _folded(finished: list[Finished]) -> list[bytes]:
    ledger = Ledger()
    return [entry.line() for match in finished for entry in ledger.apply(match)]
