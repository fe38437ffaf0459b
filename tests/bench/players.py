"""Players at many tables: they answer some time after it is their turn, as people and bots do.

Lines: `play <seconds>`. The arguments are how many matches to deal first, and how many more are
left unready. A player looks at the match (as a client does that was told of it), chooses, and
commands; nobody here settles anything that is not due.
"""

from __future__ import annotations

import heapq
import random
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import django

THREADS = 4
THINKING_S = (0.1, 0.9)
"""From the moment a player may act until it does: with the pause of 1.5 s, about one command
every 2 s at each table."""


class Turn(NamedTuple):
    """Somebody will look at a match at an instant of the monotonic clock."""

    at_s: float
    match_id: UUID
    players: tuple[str, ...]


class Players:
    """The matches, and when somebody looks at each of them next."""

    def __init__(self, count: int) -> None:
        from tests.bench import rings

        self._chance = random.Random(count)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        with ThreadPoolExecutor(THREADS) as threads:
            made = list(threads.map(rings.dealt, islice(rings.strangers(), count)))
        now_s = time.monotonic()
        self._turns = [
            Turn(now_s + self._chance.uniform(0, 2), one.match_id, one.players) for one in made
        ]
        heapq.heapify(self._turns)

    def play(self, seconds: float) -> dict[str, int]:
        """Play for so long; how many commands were acknowledged and refused, and looks taken."""
        end = time.monotonic() + seconds
        running: list[Future[None]] = []
        with ThreadPoolExecutor(THREADS) as threads:
            while (now_s := time.monotonic()) < end:
                with self._lock:
                    due = []
                    while self._turns and self._turns[0].at_s <= now_s:
                        due.append(heapq.heappop(self._turns))
                running = [one for one in running if not one.done() or one.result()]
                running += [threads.submit(self._look, turn) for turn in due]
                time.sleep(0.005)
        counts, self._counts = dict(self._counts), Counter()
        return counts

    def _look(self, turn: Turn) -> None:
        from matches.services import execute
        from matches.services.errors import ServiceError

        entry = execute.observe(match_id=turn.match_id)
        wait_s, commands = self._chosen(entry.match, entry.now_ms, turn.players)
        for player, body in commands:
            try:
                self._send(turn.match_id, player, body)
            except ServiceError as error:
                self._counts[error.code] += 1
        self._counts["looks"] += 1
        if entry.match.ended is None:
            at_s = time.monotonic() + wait_s + self._chance.uniform(*THINKING_S)
            with self._lock:
                heapq.heappush(self._turns, Turn(at_s, turn.match_id, turn.players))

    def _chosen(
        self, match: Any, now_ms: int, players: tuple[str, ...]
    ) -> tuple[float, list[tuple[str, Any]]]:
        """What is commanded now, and how long nobody can do anything after it."""
        from matches.bots.policies import First
        from matches.domain.commands import Act, Ready
        from matches.games.protocol import SeatViewer

        rules, pause_s = match.setup.rules, match.setup.rules.pause_ms / 1000
        if match.phase == "intermission":
            return 0.5, [(player, Ready()) for player in players]
        for seat in rules.to_act(match.hand) if match.phase == "playing" else ():
            view: Any = rules.view(match.hand, SeatViewer(seat))
            action = First().choose(view, rules.legal(match.hand, seat))
            passed = view.offered is not None
            rest_s = max(0.0, match.pause_until_ms - now_ms) / 1000 if passed else pause_s
            return rest_s, [(players[seat], Act(action))]
        return max(0.0, match.pause_until_ms - now_ms) / 1000, []

    def _send(self, match_id: UUID, player: str, body: Any) -> None:
        from matches.eventstore.rows import CommandKey
        from matches.services import execute

        execute.execute(match_id=match_id, player=player, body=body, key=CommandKey(uuid4(), 1))
        self._counts["commands"] += 1


def unready(count: int) -> None:
    """Begin matches whose players never get ready: their deadline is 30 s away."""
    from matches.domain.commands import Join
    from matches.services import execute, matches
    from tests.bench import rings

    for one, other in islice(rings.strangers(), count):
        made = matches.create_match(creator=one, ruleset="xqmj-32-2p", control="3+2")
        execute.execute(match_id=made.entry.match_id, player=other.id, body=Join())


def main() -> None:
    """Deal, then play as often as asked."""
    django.setup()
    from tests.bench import programs

    players, absent = Players(int(sys.argv[1])), int(sys.argv[2])

    def answer(_play: str, seconds: str) -> dict[str, int]:
        unready(absent)
        return players.play(float(seconds))

    programs.serve(answer)


if __name__ == "__main__":
    main()
