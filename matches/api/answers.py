"""What answers say: one struct for each, encoded as it stands.

Ids are 32 lower-case hex digits, instants and spans integer milliseconds.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec
from django.http import HttpResponse

from matches.domain.visibility import Line, MatchView
from matches.games.protocol import Seat
from matches.games.ruleset import Ruleset
from matches.services import profiles
from matches.services.challenges import Reason
from matches.services.grants import Scope
from matches.services.matches import Now
from matches.services.ports import RatedChange
from matches.services.seeking import SeekShown
from matches.services.shown import CommandAnswer, MatchAnswer, Person
from matches.services.standings import Standings

JSON = "application/json"
SERVER_TIME = "X-Server-Time-Ms"
"""The header with the database clock at the time of an answer about a match."""


class PlayerAnswer(msgspec.Struct, frozen=True):
    """A player."""

    player: Person


class TokenAnswer(msgspec.Struct, frozen=True):
    """A token, shown this once, and whose it is; `expires_at_ms` None: never."""

    token: str
    expires_at_ms: int | None
    player: Person


class TokenShown(msgspec.Struct, frozen=True):
    """One of my tokens, without itself; `name` None: it came from a log-in.

    `current`: the one of this request. `expires_at_ms` None: never.
    """

    id: str
    name: str | None
    scope: Scope
    created_at_ms: int
    expires_at_ms: int | None
    current: bool


class TokensAnswer(msgspec.Struct, frozen=True):
    """My tokens, the newest first."""

    tokens: tuple[TokenShown, ...]


class GrantAnswer(msgspec.Struct, frozen=True):
    """A new token, shown this once, and what `GET /tokens` will tell of it."""

    token: str
    shown: TokenShown


class ProfileAnswer(msgspec.Struct, frozen=True):
    """What a player says of itself."""

    profile: profiles.Shown


class OwnProfileAnswer(msgspec.Struct, frozen=True):
    """My profile."""

    profile: profiles.Own


class AccountShown(msgspec.Struct, frozen=True):
    """My account; `email` None: there is none."""

    id: str
    username: str | None
    kind: str
    email: str | None
    email_verified: bool
    created_at_ms: int


class EmailAnswer(msgspec.Struct, frozen=True):
    """My e-mail address, None where there is none, and whether I have shown that I read it."""

    email: str | None
    verified: bool


class MatchLinked(msgspec.Struct, frozen=True):
    """A match of mine, and where it is; `record` None: it is not over."""

    match_id: str
    created_at_ms: int
    view: str
    record: str | None


class MyDataAnswer(msgspec.Struct, frozen=True):
    """Everything that is kept of me beside the log, and where the log of my matches is."""

    account: AccountShown
    profile: profiles.Own
    tokens: tuple[TokenShown, ...]
    matches: tuple[MatchLinked, ...]
    ratings: tuple[RatedChange, ...]


class SeekAnswer(msgspec.Struct, frozen=True):
    """A seek."""

    seek: SeekShown


class SeeksAnswer(msgspec.Struct, frozen=True):
    """The open seeks, the newest first; `mine` are my own, also those that were accepted."""

    seeks: tuple[SeekShown, ...]
    mine: tuple[SeekShown, ...]


class ChallengeShown(msgspec.Struct, frozen=True):
    """A match that `challenger` asks `opponent` for, until `expires_at_ms` at the longest.

    `declined` is the reason of a refusal, `match_id` the match that accepting has made.
    """

    id: str
    challenger: Person
    opponent: Person
    ruleset: str
    rules_version: int
    options: dict[str, str | int | bool]
    control: str
    rated: bool
    created_at_ms: int
    expires_at_ms: int
    declined: Reason | None
    match_id: str | None


class ChallengeAnswer(msgspec.Struct, frozen=True):
    """A challenge."""

    challenge: ChallengeShown


class ChallengesAnswer(msgspec.Struct, frozen=True):
    """The challenges to me and those of mine, the newest first, also those just answered."""

    received: tuple[ChallengeShown, ...]
    sent: tuple[ChallengeShown, ...]


class RematchShown(msgspec.Struct, frozen=True):
    """The rematch of `rematch_of` that `seat` offers, until `expires_at_ms` at the longest.

    `match_id` is the new match, as soon as there is one.
    """

    rematch_of: str
    seat: Seat
    created_at_ms: int
    expires_at_ms: int
    match_id: str | None


class RematchAnswer(msgspec.Struct, frozen=True):
    """The rematch that is offered or made; None where nobody wants one."""

    rematch: RematchShown | None


class RematchAgreed(msgspec.Struct, frozen=True):
    """The rematch of `rematch_of`: its match, or None until the other seat agrees."""

    rematch_of: str
    match_id: str | None


class Waiting(msgspec.Struct, frozen=True):
    """Somebody who waits to be paired since `since_ms`, until `expires_at_ms` at the longest.

    `rating` was the player's at that time, None where the control is never
    rated. `match_id` is the match, as soon as there is one.
    """

    ruleset: str
    control: str
    rated: bool
    rating: int | None
    since_ms: int
    expires_at_ms: int
    match_id: str | None


class PairingAnswer(msgspec.Struct, frozen=True):
    """My wait, or what came of it; None where I do not wait."""

    pairing: Waiting | None


class EventsAnswer(msgspec.Struct, frozen=True):
    """The events after the one that was asked for; `seq` is the last of them, or that one."""

    seq: int
    events: tuple[Line, ...]
    now: Now


class Summary(msgspec.Struct, frozen=True, omit_defaults=True):
    """A match in a list: what never changes, and its end where it has ended.

    `players` are by seat, None where a seat is free; `standings` as in the
    match, once somebody has looked at that.
    """

    match_id: str
    ruleset: str
    rules_version: int
    control: str
    rated: bool
    created_at_ms: int
    status: Literal["live", "finished", "aborted"]
    players: tuple[Person | None, ...]
    you: Seat | None
    reason: str | None
    winner: Seat | None
    scores: tuple[int, ...] | None
    ended_at_ms: int | None
    standings: Standings = ()


class MatchesAnswer(msgspec.Struct, frozen=True):
    """A page; `next` is the cursor of the page after it, None on the last."""

    matches: tuple[Summary, ...]
    next: str | None


class ExportedEvent(msgspec.Struct, frozen=True):
    """One event as it is stored; `command` is (id, fingerprint, effects) where one begins."""

    seq: int
    kind: str
    v: int
    at_ms: int
    actor: int | None
    command: tuple[str, int, int] | None
    payload: dict[str, Any]
    hash: str


class ExportAnswer(msgspec.Struct, frozen=True):
    """The raw record of a finished match: all that a verification needs."""

    format: str
    match_id: str
    count: int
    head_hash: str
    events: tuple[ExportedEvent, ...]


class CheckAnswer(msgspec.Struct, frozen=True):
    """One check: `proven` (of `count` things), `wrong`, or `open` because it was not reached."""

    name: str
    state: Literal["proven", "wrong", "open"]
    count: int


class FaultAnswer(msgspec.Struct, frozen=True):
    """Something that cannot be true; `seq` is the event it shows at, `rule` the rule behind it."""

    check: str
    code: str
    seq: int | None
    message: str
    rule: str | None


class VerificationAnswer(msgspec.Struct, frozen=True):
    """What a verification found. `events` is how many events were proven from the first on."""

    ok: bool
    match_id: str | None
    events: int
    first_wrong: int | None
    code: str | None
    message: str
    checks: tuple[CheckAnswer, ...]
    faults: tuple[FaultAnswer, ...]
    counts: dict[str, int]


class ReplayAnswer(msgspec.Struct, frozen=True):
    """A finished match with every tile of every hand; the numbers are the log's own."""

    match: MatchView
    players: tuple[Person | None, ...]
    events: tuple[Line, ...]


class ControlAnswer(msgspec.Struct, frozen=True):
    """A clock control: what each seat starts with, what each own discard gives back."""

    name: str
    base_ms: int
    increment_ms: int


class ControlsAnswer(msgspec.Struct, frozen=True):
    """Every clock control."""

    controls: tuple[ControlAnswer, ...]


class RulesetsAnswer(msgspec.Struct, frozen=True):
    """Every ruleset and version that can be played."""

    rulesets: tuple[Ruleset, ...]


class ErrorCode(msgspec.Struct, frozen=True):
    """A code of the error table."""

    code: str
    status: int
    meaning: str


class ErrorsAnswer(msgspec.Struct, frozen=True):
    """The error table."""

    errors: tuple[ErrorCode, ...]


class HealthAnswer(msgspec.Struct, frozen=True):
    """The process answers."""

    status: Literal["ok"]


class Fact(msgspec.Struct, frozen=True):
    """One thing that was looked at: whether it is as it must be, and what was found."""

    name: str
    ok: bool
    required: bool
    found: str


class ReadinessAnswer(msgspec.Struct, frozen=True):
    """Whether this process can serve: no required fact may be false."""

    ready: bool
    facts: tuple[Fact, ...]


class RootAnswer(msgspec.Struct, frozen=True):
    """Where things are. `live` is the address of the streams, None where there is none."""

    name: str
    version: str
    docs: str
    schema: str
    errors: str
    rulesets: str
    controls: str
    live: str | None


def answer(value: Any, *, status: int = 200) -> HttpResponse:
    """The value as a JSON answer."""
    return HttpResponse(msgspec.json.encode(value), status=status, content_type=JSON)


class Told(msgspec.Struct, frozen=True, gc=False):
    """The answer of a command that was done: what an `HttpResponse` of it would hold, and no more.

    The way of a move under WSGI needs no response of Django's; the gate makes
    one wherever Django serves it.
    """

    content: bytes
    headers: tuple[tuple[str, str], ...]

    status_code: ClassVar[int] = 200
    reason_phrase: ClassVar[str] = "OK"

    def items(self) -> tuple[tuple[str, str], ...]:
        """The headers."""
        return self.headers

    def getvalue(self) -> bytes:
        """The body."""
        return self.content


def told(value: CommandAnswer) -> Told:
    """What a command caused, as `timed` answers it."""
    time = (SERVER_TIME, str(value.now.server_time_ms))
    return Told(msgspec.json.encode(value), (("Content-Type", JSON), time))


def timed(value: MatchAnswer | EventsAnswer, *, status: int = 200) -> HttpResponse:
    """The answer about a match, with its time in a header too, where a 304 also has it."""
    response = answer(value, status=status)
    response[SERVER_TIME] = str(value.now.server_time_ms)
    return response
