"""Making a match, and looking at it: feeds, results, and the full truth after the end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from uuid import UUID

import msgspec

from matches.domain.absence import Absence
from matches.domain.visibility import Clocks, Line, clocks, visible_due_ms
from matches.eventstore import store
from matches.eventstore.pool import Unavailable
from matches.eventstore.rows import CommandKey, Loaded
from matches.games.protocol import Auditor, Rejected
from matches.services import computers, cooldown, execute, heartbeat, lobby, notices, people
from matches.services.accounts import Identity
from matches.services.cache import Entry
from matches.services.computer import get_ready
from matches.services.drafts import Terms, draft
from matches.services.engine import Executed
from matches.services.errors import ServiceError, refused, unavailable
from matches.services.viewers import viewer_of

INVITATIONS = 20
"""So many of a player's invitations may be open at a time."""
FALLBACK_POLL_S = 1.0
"""A waiting poll looks at the log itself this often: a notice may be lost."""


class Now(msgspec.Struct, frozen=True, omit_defaults=True):
    """The database clock, when the table acts next (as everybody may know it), and the clocks.

    `absent` stands there where the other seat is to act and has gone (XM-87).
    """

    server_time_ms: int
    due_at_ms: int | None
    clocks: Clocks
    absent: Absence | None = None


class Result(msgspec.Struct, frozen=True):
    """What a command caused, as its player may know it: the same for ever."""

    seq: int
    events: tuple[Line, ...]


class Events(msgspec.Struct, frozen=True):
    """A viewer's lines after some line; `seq` is the last of them, or that line."""

    entry: Entry
    seq: int
    events: tuple[Line, ...]


def create_match(
    *,
    creator: Identity,
    ruleset: str,
    control: str,
    rules_version: int = 1,
    options: Mapping[str, str | int | bool] | None = None,
    rated: bool = False,
    opponent: str | None = None,
    computer: int | None = None,
    key: CommandKey | None = None,
) -> Executed:
    """Make a match and sit down in seat 0.

    `opponent` is the name of the only player who may take the other seat;
    without it whoever has the match's id may. With `computer`, a level, the
    computer sits there and is ready (XM-81). A repeated `key` gives the match
    that it made. Raises `ServiceError`: unknown_ruleset, unknown_option,
    bad_option, unknown_control, unrated_control, unknown_player, own_opponent,
    too_many_invitations, computer_opponent, computer_unrated, rated_needs_accounts,
    cooling_down, already_playing, key_reused, unavailable.
    """
    heartbeat.ensure()
    try:
        invited = _invited(creator, opponent=opponent, computer=computer, rated=rated)
        drafted = draft(
            Terms(
                ruleset=ruleset,
                control=control,
                rules_version=rules_version,
                options={} if options is None else options,
                rated=rated,
            ),
            players=(creator.id, *_others(computer)),
            invited=None if invited is None else invited.public_id,
        )
    except (Rejected, ServiceError) as refusal:
        # What was allowed when the key was new may not be any more: a name has changed.
        made = None if key is None else execute.engine().created_before(creator=creator.id, key=key)
        if made is not None:
            return made
        raise refusal if isinstance(refusal, ServiceError) else refused(refusal) from None
    except Unavailable as error:
        raise unavailable() from error
    made = execute.create(drafted, creator=creator.id, key=key)
    return get_ready(execute.engine(), made)


def _invited(
    creator: Identity, *, opponent: str | None, computer: int | None, rated: bool
) -> people.PlayerRef | None:
    """Whom the other seat is kept for, None for nobody; refuses whom it cannot be kept for."""
    if computer is not None:
        if rated:
            raise ServiceError("computer_unrated")
        if opponent is not None:
            raise ServiceError("computer_opponent")
    invited = None if opponent is None else _opponent(opponent, creator)
    if rated:
        players = (creator.ref,) if invited is None else (creator.ref, invited)
        execute.check_may_be_rated(*players)
        cooldown.check(creator.id, now_ms=lobby.now_ms())
    return invited


def _opponent(name: str, creator: Identity) -> people.PlayerRef:
    found = people.by_username(name)
    if found is None:
        raise ServiceError("unknown_player")
    if found.public_id == creator.id:
        raise ServiceError("own_opponent")
    if found.level is not None:
        # Nobody would ever come to take the seat.
        raise ServiceError("computer_opponent")
    if store.open_invitations(creator.id) >= INVITATIONS:
        raise ServiceError("too_many_invitations")
    return found


def _others(computer: int | None) -> tuple[str, ...]:
    """Who sits beside the creator from the beginning."""
    return () if computer is None else (computers.id_of(computer),)


def now(entry: Entry, *, absent: Absence | None = None) -> Now:
    """The time beside an answer; the only part of it that a repetition may change."""
    return Now(entry.now_ms, visible_due_ms(entry.match), clocks(entry.match), absent)


def result(executed: Executed, player: str) -> Result:
    """What the player is told of its command, however often and however late it asks."""
    entry = executed.entry
    viewer = viewer_of(entry.match, player)
    last = executed.first_version + executed.effects - 1
    return Result(*entry.history.between(viewer, executed.first_version, last))


def events(*, match_id: UUID, player: str | None, after: int = 0, wait_s: float = 0) -> Events:
    """The viewer's lines after line `after`; where there are none yet, the next within `wait_s`.

    It returns at once when the match is over or when too many wait already.
    Raises `ServiceError` unknown_match, unavailable, unreadable_match.
    """
    if wait_s <= 0:
        return _events(match_id, player, after)
    with notices.waiting(match_id) as waiter:
        began_s = time.monotonic()
        while True:
            found = _events(match_id, player, after)
            waited_s = time.monotonic() - began_s
            over = found.entry.match.ended is not None
            if found.events or over or waiter is None or waited_s >= wait_s:
                return found
            # Its own looks keep their beat whatever wakes it between them: else a pass that
            # only the other seat knows of would move the instant of the answer.
            next_s = FALLBACK_POLL_S - waited_s % FALLBACK_POLL_S
            waiter.wait(min(wait_s - waited_s, next_s))


def _events(match_id: UUID, player: str | None, after: int) -> Events:
    entry = execute.observe(match_id=match_id)
    lines = entry.lines(viewer_of(entry.match, player), after=after)
    return Events(entry, lines[-1].seq if lines else after, lines)


def replay(*, match_id: UUID, player: str | None) -> Entry:
    """A match that is over, for `Auditor` lines and views: every tile is open now (XM-79).

    Raises `ServiceError` match_not_over before, and as `events` does.
    """
    entry = execute.observe(match_id=match_id)
    viewer_of(entry.match, player)
    if entry.match.ended is None:
        raise ServiceError("match_not_over")
    return entry


def replay_lines(entry: Entry) -> tuple[Line, ...]:
    """Every line of a match that is over, hidden ones included, under the log's own numbers."""
    return entry.lines(Auditor())


def record(*, match_id: UUID, player: str | None) -> Loaded:
    """Head and rows of a match that is over, as they are stored: what an export is made of.

    Raises `ServiceError` as `replay` does.
    """
    replay(match_id=match_id, player=player)
    try:
        loaded = store.load(match_id)
    except Unavailable as error:
        raise unavailable() from error
    if loaded is None:
        raise ServiceError("unknown_match")
    return loaded
