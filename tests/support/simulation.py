"""One match among processes that fail: two web processes, a worker, two clients, bad weather.

Everything that happens follows from one seed: who moves when, how long a trip
takes, what is lost on the way, and who dies in the middle of what.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

import msgspec

from matches.bots.policies import Uniform
from matches.domain.clock import GRACE_MS, Due
from matches.domain.commands import Act, Body, Join, Leave, Ready, Resign
from matches.domain.events import MatchEnded, Stamped
from matches.domain.visibility import view
from matches.eventstore import codec, sealing
from matches.eventstore.pool import Unavailable
from matches.eventstore.rows import LIVE, Appended, CommandKey, Row
from matches.games.protocol import Seat, SeatViewer
from matches.games.xqmj.actions import Chow, Win
from matches.services import matches
from matches.services.cache import Cache, Entry
from matches.services.engine import Engine, Executed
from matches.services.errors import ServiceError
from matches.services.matches import Result
from matches.services.ports import Store
from matches.services.sweep import Backoff, Sweeper
from tests.support.memory_store import Clock, MemoryStore
from tests.support.scheduler import Scheduler
from tests.support.sitting import ANA, BEN, created

T = TypeVar("T")

BEAT_MS = 100
NAMES = ("ana", "ben")
"""The clients by seat; a twin of a client's has a name that begins with the client's."""


class Crashed(BaseException):
    """The process died here: whoever waited for it gets no answer."""


class Weather(msgspec.Struct, frozen=True):
    """How likely things go wrong, at each trip to the log."""

    lost_request: float = 0.01
    lost_answer: float = 0.01
    crash: float = 0.004
    slow: float = 0.03
    slowest_ms: int = 400
    duplicate: float = 0.05
    junk: float = 0.06
    outages: int = 2


class Written(msgspec.Struct, frozen=True):
    """When a row was written, how far the heartbeat was then, and by which actor."""

    at_ms: int
    alive_ms: int
    by: str


class LivingStore(MemoryStore):
    """A log with a heartbeat while web processes live, and a note of when each row was written."""

    def __init__(self, clock: Clock) -> None:
        self._beaten_ms: int | None = clock()
        self._up_since_ms: int | None = clock()
        self.away = False
        self.writes: list[Written] = []
        self.whose_turn: Callable[[], str] = str
        super().__init__(clock)

    @property
    def alive_ms(self) -> int:
        """The newest heartbeat."""
        beaten = self._beaten_ms or 0
        if self._up_since_ms is None:
            return beaten
        now_ms = self.clock()
        return max(beaten, now_ms - (now_ms - self._up_since_ms) % BEAT_MS)

    @alive_ms.setter
    def alive_ms(self, value: int | None) -> None:
        self._beaten_ms = value

    def fall_silent(self) -> None:
        """Nothing beats any more."""
        self._beaten_ms, self._up_since_ms = self.alive_ms, None

    def be_heard(self) -> None:
        """Something beats again, from now on."""
        self.beat()
        self._up_since_ms = self.clock()

    def append(self, **row: Any) -> Appended:
        appended = super().append(**row)
        if appended.outcome == "ok":
            written = Written(self.clock(), self.alive_ms, self.whose_turn())
            self.writes += [written] * len(row["rows"])
        return appended


class Process:
    """A web process or a worker: an engine over a network that fails, and a cache that dies."""

    def __init__(self, world: World, name: str, *, may_beat: bool) -> None:
        self.world = world
        self.name = name
        self.may_beat = may_beat
        self.down = False
        self.engine = self._born()

    def _born(self) -> Engine:
        return Engine(
            store=cast("Store", Network(self)),
            cache=Cache(8),
            may_beat=self.may_beat,
            committed=self._committed,
            sleep=self.world.scheduler.sleep,
        )

    def _committed(self, entry: Entry, due: Due | None) -> None:  # noqa: ARG002 - told, not asked
        # Between the commit and its answer there is time to die.
        self.world.scheduler.pause(f"{self.name} committed")
        self.perhaps_die()

    def perhaps_die(self) -> None:
        """Die now and then; a new process takes the place at once, and remembers nothing."""
        world = self.world
        if self.down:
            raise Crashed
        if world.chance.random() < world.weather.crash:
            world.count("crashes")
            self.engine = self._born()
            raise Crashed


class Network:
    """The log as one process reaches it."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            world = self._process.world
            self._travel(f"{name} >")
            if world.store.away or world.chance.random() < world.weather.lost_request:
                world.count("lost requests")
                raise Unavailable("the request was lost")
            answer = getattr(world.store, name)(*args, **options)
            world.answered(name, answer)
            self._travel(f"{name} <")
            if world.chance.random() < world.weather.lost_answer:
                world.count("lost answers")
                raise Unavailable("the answer was lost")
            return answer

        return call

    def _travel(self, label: str) -> None:
        world = self._process.world
        slow = world.chance.random() < world.weather.slow
        ms = world.chance.randrange(world.weather.slowest_ms) if slow else world.chance.randrange(3)
        world.scheduler.pause(f"{self._process.name} {label}", ms)
        self._process.perhaps_die()


class Sent(msgspec.Struct):
    """A command as a client sent it, and what it came to know."""

    player: str
    body: Body
    key: CommandKey
    results: list[Result]
    refusals: list[str]


class World:
    """The whole of it, for one seed."""

    def __init__(self, seed: int, weather: Weather | None = None) -> None:
        self.seed = seed
        self.weather = Weather() if weather is None else weather
        self.chance = random.Random(seed)
        self.clock = Clock()
        self.scheduler = Scheduler(self.chance, self.clock)
        self.store = LivingStore(self.clock)
        self.store.whose_turn = lambda: self.scheduler.whose_turn
        self.webs = [Process(self, f"web{n}", may_beat=True) for n in range(2)]
        self.worker = Process(self, "worker", may_beat=False)
        self.sent: list[Sent] = []
        self.counts: dict[str, int] = {}
        self.match_id = UUID(int=0)
        self.secret = self.chance.randbytes(32)
        self.received_ms: dict[str, int] = {}

    def play(self) -> None:
        """Let it all happen, until both clients have seen the end."""
        self.scheduler.spawn(NAMES[0], Client(self, ANA).run)
        self.scheduler.spawn(NAMES[1], Client(self, BEN).run)
        self.scheduler.spawn("sweeper", self._sweep, daemon=True)
        self.scheduler.spawn("weather", self._weather, daemon=True)
        self.scheduler.run()

    def count(self, what: str) -> None:
        """Note that something happened."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def answered(self, name: str, answer: Any) -> None:
        """Note what the log answered."""
        if name == "load" and answer is not None:
            self.received_ms.setdefault(self.scheduler.whose_turn, answer.now_ms)
        if name == "append":
            self.count(f"append {answer.outcome}")

    def key(self) -> CommandKey:
        """A new key."""
        return CommandKey(UUID(bytes=self.chance.randbytes(16)), self.chance.getrandbits(60))

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row of the match."""
        return self.store.rows(self.match_id)

    @property
    def log(self) -> list[Stamped]:
        """Every event of the match."""
        return codec.decode_rows(self.rows)

    def create(self) -> Executed:
        """Begin the match, as one try of one web process."""
        match_id = UUID(bytes=self.chance.randbytes(16), version=4)
        key_id = "t1"
        nonce = self.chance.randbytes(sealing.NONCE_BYTES)
        cipher = sealing._cipher(key_id)
        sealed = base64.b64encode(
            nonce + cipher.encrypt(nonce, self.secret, match_id.bytes)
        ).decode()
        first = created(secret=self.secret, sealed=sealed, key_id=key_id, control="1+1", rated=True)
        engine = self.chance.choice(self.webs).engine
        return engine.create(
            creator=ANA,
            key=CommandKey(UUID(int=1), 1),
            match_id=match_id,
            created=first,
            secret=self.secret,
        )

    # --- what happens beside the players ------------------------------------------------------

    def _sweep(self) -> None:
        backoff = Backoff(lambda: self.clock() / 1000)
        while True:
            self.scheduler.pause("sweep", self._until_sweep())
            try:
                Sweeper(self.worker.engine, backoff=backoff).settle_due()
            except (Unavailable, Crashed):
                self.count("failed sweeps")
                self.scheduler.pause("rest", 1_000)

    def _until_sweep(self) -> int:
        """A loop of 100 ms, without the rounds that would find nothing."""
        dues = [
            stream.due_at_ms
            for stream in self.store.streams.values()
            if stream.status == LIVE and stream.due_at_ms is not None
        ]
        wait_ms = max(0, min(dues, default=self.clock() + 400) - self.clock())
        return min(wait_ms, 5_000) + self.chance.randrange(1, 101)

    def _weather(self) -> None:
        for _ in range(self.chance.randrange(self.weather.outages + 1)):
            self.scheduler.pause("fair", self.chance.randrange(200_000))
            lasts_ms = self.chance.choice((300, 900, 1_500, 5_000, 70_000))
            kind: Literal["log", "webs", "worker"] = self.chance.choice(("log", "webs", "worker"))
            self.count(f"outages of {kind}")
            self._outage(kind, self.chance.randrange(lasts_ms))

    def _outage(self, kind: str, ms: int) -> None:
        if kind == "worker":
            self.worker.down = True
            self.scheduler.pause("outage", ms)
            self.worker.down = False
            return
        self.store.fall_silent()
        self.store.away = kind == "log"
        for web in self.webs:
            web.down = kind == "webs"
        self.scheduler.pause("outage", ms)
        self.store.away = False
        for web in self.webs:
            web.down = False
            if kind == "webs":
                web.engine = web._born()
        self.store.be_heard()


class Client:
    """One player: plays at random, retries until it knows, taps twice, and sends junk."""

    def __init__(self, world: World, player: str) -> None:
        self.world = world
        self.player = player
        self.seat = Seat(0 if player == ANA else 1)
        self.policy = Uniform(world.chance, takes_wins=True)

    def run(self) -> None:
        """Play to the end."""
        if self.player == ANA:
            self.world.match_id = self.ask(lambda _: self.world.create()).entry.match_id
        while self.world.match_id.int == 0:
            self.wait(500)
        while True:
            entry = self.ask(lambda engine: engine.observe(self.world.match_id))
            if entry.match.ended is not None:
                return
            body = self.choose(entry)
            if body is None:
                self.wait(1_200)
            else:
                self.command(body, expected_seq=self.believed(entry))

    def ask(self, question: Callable[[Engine], T]) -> T:
        """Ask some web process, again and again until there is an answer."""
        world, rest_ms = self.world, 150
        while True:
            web = world.chance.choice(world.webs)
            try:
                if web.down:
                    raise Crashed
                return question(web.engine)
            except ServiceError as error:
                if error.code != "unavailable":
                    raise
            except Crashed:
                pass
            world.count("retries")
            rest_ms = min(2 * rest_ms, 5_000)
            self.wait(rest_ms)

    def wait(self, at_most_ms: int) -> None:
        """Do nothing for a while."""
        self.world.scheduler.pause("client", 1 + self.world.chance.randrange(at_most_ms))

    def believed(self, entry: Entry) -> int | None:
        """What it says that it has seen: nothing, the truth, or now and then something else."""
        number = self.world.chance.random()
        if number < 0.6 or self.player not in entry.match.players:
            return None
        return entry.seq(SeatViewer(self.seat)) + (3 if number > 0.97 else 0)

    def choose(self, entry: Entry) -> Body | None:
        """What to do next, after some thought."""
        world, match = self.world, entry.match
        chance = world.chance
        if chance.random() < self.world.weather.junk:
            return self.junk()
        if match.phase == "open":
            return Join() if self.player == BEN else None
        if match.phase in ("readying", "intermission"):
            return None if match.ready[self.seat] or chance.random() < 0.2 else Ready()
        seen: Any = view(match, SeatViewer(self.seat))
        if not seen.legal:
            return self.ambush(seen.due_at_ms - world.clock())
        self.think(match.clock_from_ms + match.clocks[self.seat])
        return Act(self.policy.choose(seen.hand, seen.legal))

    def think(self, zero_ms: int) -> None:
        """Take some time: none, about a pause's length, longer, or up to the flag itself."""
        chance, left_ms = self.world.chance, zero_ms - self.world.clock()
        usual = chance.choice((0, 1, 1_499, 1_500, 1_501, chance.randrange(1, 6_000)))
        to_the_flag = left_ms + chance.randrange(-20, 20)
        ms = to_the_flag if chance.random() < 0.01 else usual
        self.world.scheduler.pause("thinks", max(0, ms))

    def ambush(self, left_ms: int) -> Body | None:
        """With the other flag about to fall, junk at that instant: it must not help it to fall."""
        if left_ms > 3_000:
            return None
        self.world.scheduler.pause("lurks", max(0, left_ms + self.world.chance.randrange(-5, 120)))
        return self.junk()

    def junk(self) -> Body:
        """Something that hardly ever makes sense."""
        if self.world.chance.random() < 0.005:
            return self.world.chance.choice((Resign(), Leave()))
        return self.world.chance.choice((Join(), Ready(), Act(Win()), Act(Chow())))

    def command(self, body: Body, *, expected_seq: int | None) -> None:
        """Send a command until its fate is known; now and then twice at once."""
        world = self.world
        sent = Sent(self.player, body, world.key(), [], [])
        world.sent.append(sent)
        if world.chance.random() < world.weather.duplicate:
            world.count("duplicates")
            name = f"{NAMES[self.seat]}'s twin {len(world.sent)}"
            world.scheduler.spawn(name, lambda: self.send(sent, expected_seq))
        self.send(sent, expected_seq)

    def send(self, sent: Sent, expected_seq: int | None) -> None:
        """Send a command, and note what came of it."""
        world = self.world

        def execute(engine: Engine) -> Executed:
            world.received_ms.pop(world.scheduler.whose_turn, None)
            return engine.execute(
                match_id=world.match_id,
                player=sent.player,
                body=sent.body,
                key=sent.key,
                expected_seq=expected_seq,
            )

        try:
            done = self.ask(execute)
        except ServiceError as error:
            sent.refusals.append(error.code)
            world.count(f"refused {error.code}")
            if error.code == "match_ended":
                self.check_flag()
        else:
            sent.results.append(matches.result(done, sent.player))
            world.count("replayed" if done.replayed else "accepted")
            if not done.replayed:
                self.check_stamp(done.first_version)

    def check_stamp(self, version: int) -> None:
        """A command carries the clock of its first load, whatever it lost its time with."""
        before, event = self.world.log[version - 2 : version]
        received_ms = self.world.received_ms[self.world.scheduler.whose_turn]
        assert event.at_ms == max(received_ms, before.at_ms)

    def check_flag(self) -> None:
        """A command that came in time is overtaken by its own flag only beyond the grace."""
        world = self.world
        last = world.log[-1]
        ended = last.event
        assert isinstance(ended, MatchEnded)
        if ended.reason != "flag" or ended.seat != self.seat:
            return
        received_ms = world.received_ms[world.scheduler.whose_turn]
        world.count("moves against the flag")
        if received_ms < last.at_ms:
            world.count("moves in time that were lost on the way")
            assert world.clock() - received_ms >= GRACE_MS
