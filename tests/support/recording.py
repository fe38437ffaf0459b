"""Logs of whole matches, made the way the server makes them but without a server.

A `Recorder` keeps the match, settles it before each command as the services
do, and writes down every event with the command behind it. Time is a number
that only the test moves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from matches.audit.export import export
from matches.audit.report import Report
from matches.audit.summary import report
from matches.audit.verify import examine
from matches.bots.policies import Greedy, Policy, Uniform
from matches.domain import match as matches
from matches.domain.clock import Gap
from matches.domain.commands import Act, Body, Command, Join, Leave, Ready, Resign
from matches.domain.events import Stamped
from matches.domain.state import Match
from matches.eventstore import codec, hashing
from matches.eventstore.rows import CommandKey, Row
from matches.games.protocol import Seat, SeatViewer
from tests.support.sitting import ANA, BEN

BEGIN_MS = 1_700_000_000_000


class Recorder:
    """One match under way, and its log."""

    def __init__(
        self,
        seed: int = 1,
        *,
        control: str = "3+2",
        rated: bool = True,
        invited: str | None = None,
        rematch_of: str | None = None,
        first_dealer: Seat | None = None,
        options: dict[str, str | int | bool] | None = None,
        match_id: UUID | None = None,
        begin_ms: int = BEGIN_MS,
        seal: Callable[[bytes, UUID], tuple[str, str]] = lambda *_: ("c2VhbGVk", "t1"),
    ) -> None:
        chance = random.Random(seed)
        self.chance = chance
        self.match_id = match_id or UUID(bytes=chance.randbytes(16))
        self.secret = chance.randbytes(32)
        self.now_ms = begin_ms
        sealed, key_id = seal(self.secret, self.match_id)
        created = matches.create(
            ruleset="xqmj-32-2p",
            rules_version=1,
            options=options or {},
            control=control,
            rated=rated,
            players=(ANA, None if rematch_of is None else BEN),
            invited=invited,
            secret=self.secret,
            sealed=sealed,
            key_id=key_id,
            rematch_of=rematch_of,
            first_dealer=first_dealer,
        )
        first = Stamped(created, self.now_ms, None)
        self.match: Match = matches.begin(
            match_id=self.match_id.bytes, created=first, secret=self.secret
        )
        self.rows: list[Row] = []
        self._record((first,), None)
        self.gaps: list[Gap] = []

    def advance(self, by_ms: int) -> None:
        """Let time pass, and the table do what it owes by then."""
        self.now_ms += by_ms
        self._settle(self.now_ms)

    def outage(self, by_ms: int) -> None:
        """Let the service be away for so long; it notices when it is back."""
        self.gaps.append(Gap(self.now_ms, self.now_ms + by_ms))
        self.now_ms += by_ms
        self._settle(self.now_ms)

    def to_due(self) -> None:
        """Let time pass until the table has something to do, and let it."""
        due = matches.due_at(self.match)
        assert due is not None
        self.advance(max(0, due.at_ms - self.now_ms))

    def send(self, player: str, body: Body) -> None:
        """Let a player command something now."""
        self._settle(self.now_ms)
        _, decided = matches.decide(self.match, Command(self.now_ms, player, body))
        self._write(decided, self._key())

    def start(self) -> None:
        """Seat the second player and make both ready: one with a nonce of its own."""
        if self.match.phase == "open":
            self.advance(2_345)
            self.send(BEN, Join())
        self.advance(777)
        self.send(BEN, Ready("00112233445566778899aabbccddeeff"))
        self.advance(1)
        self.send(ANA, Ready())

    def play(
        self,
        policies: Sequence[Policy] = (Greedy(), Greedy()),
        *,
        slowest_ms: int = 4_000,
        until_hand: int = 7,
    ) -> None:
        """Play on until the match is over, or hand `until_hand` is dealt."""
        while self.match.ended is None and self.match.hand_no < until_hand:
            self.step(policies, slowest_ms=slowest_ms)

    def step(
        self, policies: Sequence[Policy] = (Greedy(), Greedy()), *, slowest_ms: int = 4_000
    ) -> None:
        """Let whoever has to act do so after some thought, else wait for the table."""
        seat = self._able()
        if seat is None:
            self._between()
        else:
            self.advance(self._thinking(slowest_ms))
            self.act(seat, policies[seat])

    def act(self, seat: Seat, policy: Policy) -> None:
        """Let a seat do what its policy chooses, if it still may."""
        rules = self.match.setup.rules
        legal = () if self.match.phase != "playing" else rules.legal(self.match.hand, seat)
        if legal:
            view: Any = rules.view(self.match.hand, SeatViewer(seat))
            self.send(self._player(seat), Act(policy.choose(view, legal)))

    def _able(self) -> Seat | None:
        if self.match.phase != "playing":
            return None
        able = sorted(self.match.setup.rules.to_act(self.match.hand))
        return able[0] if able else None

    def _between(self) -> None:
        """Wait for the table; after a hand both seats are ready early now and then."""
        if self.match.phase == "intermission" and self.chance.random() < 0.5:
            self.advance(self.chance.randrange(3_000))
            for player in (BEN, ANA):
                self.send(player, Ready())
                self.advance(self.chance.randrange(100))
        else:
            self.to_due()

    def _thinking(self, slowest_ms: int) -> int:
        return self.chance.choice(
            (0, 1, 700, 1_499, 1_500, 1_501, self.chance.randrange(slowest_ms))
        )

    def _player(self, seat: Seat) -> str:
        player = self.match.players[seat]
        assert player is not None
        return player

    @property
    def record(self) -> dict[str, Any]:
        """The export of the match as it stands, as decoded JSON."""
        found = export(
            match_id=self.match_id,
            count=len(self.rows),
            head_hash=self.rows[-1].hash,
            rows=self.rows,
        )
        decoded: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
        return decoded

    def _settle(self, now_ms: int) -> None:
        _, settled = matches.settle(
            self.match, now_ms=now_ms, deadline_ms=now_ms, gaps=tuple(self.gaps)
        )
        self._write(settled, None)

    def _write(self, stampeds: tuple[Stamped, ...], key: CommandKey | None) -> None:
        self.match = matches.fold(self.match, stampeds)
        self._record(stampeds, key)

    def _record(self, stampeds: tuple[Stamped, ...], key: CommandKey | None) -> None:
        self.rows += codec.new_rows(
            stampeds,
            match_id=self.match_id,
            after=len(self.rows),
            prev_hash=self.rows[-1].hash if self.rows else hashing.GENESIS,
            key=key,
        )

    def _key(self) -> CommandKey:
        return CommandKey(
            UUID(bytes=self.chance.randbytes(16)), self.chance.randrange(-(2**63), 2**63)
        )


def finished(seed: int, **setup: Any) -> Recorder:
    """A match that was played to its score; odd seeds play at random but take every win."""
    log = Recorder(seed, **setup)
    log.start()
    chance = random.Random(seed)
    hasty = Uniform(chance, takes_wins=True)
    log.play((Greedy(), Greedy()) if seed % 2 == 0 else (hasty, hasty))
    return log


def resigned(seed: int, **setup: Any) -> Recorder:
    """A match that a seat gave up in the second hand."""
    log = Recorder(seed, **setup)
    log.start()
    log.play(until_hand=2)
    log.advance(10)
    log.send(BEN, Resign())
    return log


def left(seed: int) -> Recorder:
    """A match that a seat left in an intermission."""
    log = Recorder(seed)
    log.start()
    while log.match.phase != "intermission":
        log.step()
    log.send(ANA, Leave())
    return log


def prove(*, match_id: UUID, rows: Sequence[Row], **beside: Any) -> Report:
    """The report on raw rows: `examine` with its answer summed up."""
    found = examine(match_id=match_id, rows=rows, **beside)
    return report(match_id, found.faults, found.replayed, found.stampeds)
