"""Goes through a log and lets the rules say what each step had to be.

No event of the log is believed: each is compared with what `decide` or
`settle` gives for the state before it, and the state goes on from there. So
nothing that the rules cannot have written ever reaches `evolve`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from matches.audit.citations import rule_for
from matches.audit.compare import difference, owed
from matches.audit.report import Fault, Wrong, wrong
from matches.domain import match as matches
from matches.domain.clock import Gap
from matches.domain.commands import Act, Body, ClaimAbsence, Command, Join, Leave, Ready, Resign
from matches.domain.events import (
    ClockCredited,
    MatchCreated,
    MatchEnded,
    SeatReady,
    SeatTaken,
    Stamped,
)
from matches.domain.match import Unsettled
from matches.domain.state import Match
from matches.eventstore.rows import Row
from matches.games.protocol import CorruptHistory, HandEvent, Rejected
from matches.games.registry import later_options

LONGEST_NAME = 64
"""Characters that the id of a player may have."""


class Replayed(msgspec.Struct, frozen=True):
    """The match after the events that were proven, and the fault that ended it, if any."""

    match: Match | None
    proven: int
    commands: int
    fault: Fault | None


def replay(
    *,
    match_id: bytes,
    rows: Sequence[Row],
    stampeds: Sequence[Stamped],
    secret: bytes,
    gaps: tuple[Gap, ...] | None,
) -> Replayed:
    """Prove the events from the first on, up to the first that does not follow.

    `gaps` are the recorded times in which the service was down, in order; with
    None (offline) a credit is checked by its arithmetic alone.
    """
    match: Match | None = None
    index = commands = 0
    try:
        match = _beginning(match_id, rows[0], stampeds[0], secret)
        index = 1
        while index < len(stampeds):
            expected = _consequences(match, index, rows, stampeds, gaps)
            _check_batch(match, index, rows, stampeds, expected)
            commands += stampeds[index].actor is not None
            match = matches.fold(match, expected)
            index += len(expected)
    except Wrong as found:
        return Replayed(match, index, commands, found.fault)
    return Replayed(match, index, commands, None)


def _beginning(match_id: bytes, cause: Row, stamped: Stamped, secret: bytes) -> Match:
    created = stamped.event
    if not isinstance(created, MatchCreated):
        raise wrong("commands", "bad_beginning", 1, "a match begins with match.created")
    if cause.effects not in (None, 1):
        raise wrong("commands", "wrong_effects", 1, f"a creation causes 1, not {cause.effects}")
    try:
        expected = matches.create(
            ruleset=created.ruleset,
            rules_version=created.rules_version,
            options=created.options,
            control=created.control,
            rated=created.rated,
            players=created.players,
            invited=created.invited,
            secret=secret,
            sealed=created.sealed,
            key_id=created.key_id,
            rematch_of=created.rematch_of,
            first_dealer=created.first_dealer,
        )
        unrecorded = expected.options.keys() - created.options.keys()
        if msgspec.structs.replace(
            expected, options=created.options
        ) != created or unrecorded - later_options(created.ruleset, created.rules_version):
            raise wrong("commands", "bad_beginning", 1, "options or versions are not complete")
        match = matches.begin(match_id=match_id, created=stamped, secret=secret)
    except Rejected as refused:
        text = f"match.created is refused: {refused.code}"
        raise wrong("commands", "bad_beginning", 1, text) from None
    except (CorruptHistory, ValueError) as corrupt:
        raise wrong("commands", "bad_beginning", 1, str(corrupt)) from None
    _check_seats(match, stamped)
    return match


def _check_seats(match: Match, stamped: Stamped) -> None:
    seated = [player for player in match.players if player is not None]
    if not seated or not all(0 < len(player) <= LONGEST_NAME for player in seated):
        raise wrong("commands", "bad_beginning", 1, "the players who sit are not named properly")
    if stamped.actor is not None and stamped.actor not in range(len(match.players)):
        raise wrong("commands", "wrong_actor", 1, f"there is no seat {stamped.actor}")


def _consequences(
    match: Match,
    index: int,
    rows: Sequence[Row],
    stampeds: Sequence[Stamped],
    gaps: tuple[Gap, ...] | None,
) -> tuple[Stamped, ...]:
    """Every event that has to stand from `index` on, given that this one does."""
    stamped, seq = stampeds[index], index + 1
    if match.ended is not None:
        raise wrong("result", "after_the_end", seq, f"{stamped.event.KIND} after the end")
    if stamped.actor is not None:
        return _commanded(match, seq, stamped, gaps)
    if rows[index].command_id is not None:
        raise wrong("table", "stray_command", seq, "an act of the table claims a command")
    if isinstance(stamped.event, ClockCredited):
        return _credited(match, seq, stamped, stamped.event, gaps)
    return _settled(match, seq, stamped, gaps)


def _commanded(
    match: Match, seq: int, stamped: Stamped, gaps: tuple[Gap, ...] | None
) -> tuple[Stamped, ...]:
    ruleset = match.setup.rules.key
    command = Command(stamped.at_ms, *_command(match, seq, stamped))
    try:
        expected = matches.decide(match, command).events
    except Unsettled as unsettled:
        due_ms = unsettled.due.at_ms
        first = matches.settle(match, now_ms=due_ms, deadline_ms=due_ms).events[0]
        raise owed(ruleset=ruleset, seq=seq, expected=first, found=stamped) from None
    except Rejected as refused:
        text = f"{stamped.event.KIND} of seat {stamped.actor} is refused: {refused.code}"
        rule = refused.detail.get("rule")
        raise wrong(
            "commands", "illegal_command", seq, text, None if rule is None else str(rule)
        ) from None
    _check_downtime(match, seq, [gap for gap in gaps or () if gap.until_ms <= stamped.at_ms])
    return expected


def _command(match: Match, seq: int, stamped: Stamped) -> tuple[str, Body]:
    """Who must have asked for what, for this event to be the first thing that it caused."""
    event, seat = stamped.event, stamped.actor
    if isinstance(event, SeatTaken):
        return event.player[: LONGEST_NAME + 1], Join()
    player = None
    if seat is not None and 0 <= seat < len(match.players):
        player = match.players[seat]
    body: Body | None = None
    if isinstance(event, SeatReady):
        # A nonce that was derived for a seat that sent none is a legal one to send, too.
        body = Ready(event.nonce if match.phase == "readying" else None)
    elif isinstance(event, MatchEnded):
        body = _ending(event)
        # A seat is left by whoever it is kept for, too: the invitation was declined.
        player = player or match.setup.created.invited
    elif isinstance(event, HandEvent) and match.phase == "playing":
        action = match.setup.rules.action_of(match.hand, event)
        body = None if action is None else Act(action)
    if player is None or body is None:
        text = f"no command of seat {seat} rows {event.KIND} here"
        raise wrong("commands", "no_command", seq, text)
    return player, body


def _ending(event: MatchEnded) -> Body:
    """Which command of a seat ends a match like this."""
    if event.reason == "resignation":
        return Resign()
    if event.absent_from_ms is not None:
        return ClaimAbsence(event.absent_from_ms)
    return Leave()


def _settled(
    match: Match, seq: int, stamped: Stamped, gaps: tuple[Gap, ...] | None
) -> tuple[Stamped, ...]:
    due = matches.due_at(match)
    if due is None:
        text = f"{stamped.event.KIND}, but the table had nothing to do"
        raise wrong("table", "nothing_owed", seq, text)
    if due.deadline:
        _check_downtime(match, seq, [gap for gap in gaps or () if gap.from_ms < due.at_ms])
    return matches.settle(match, now_ms=due.at_ms, deadline_ms=due.at_ms).events


def _credited(
    match: Match,
    seq: int,
    stamped: Stamped,
    event: ClockCredited,
    gaps: tuple[Gap, ...] | None,
) -> tuple[Stamped, ...]:
    """The credit alone: what followed at the same instant is the table's next step."""
    gap = Gap(event.down_from_ms, event.down_until_ms)
    if gaps is not None and gap not in gaps:
        raise wrong("clocks", "wrong_credit", seq, "no such downtime was recorded")
    if gap.from_ms < match.credited_ms or gap.until_ms <= gap.from_ms:
        raise wrong("clocks", "wrong_credit", seq, "the downtime was credited before, or is none")
    now_ms = max(gap.until_ms, match.at_ms)
    _, expected = matches.settle(match, now_ms=now_ms, deadline_ms=gap.from_ms, gaps=(gap,))
    if not expected:
        raise wrong("clocks", "wrong_credit", seq, "no clock and no deadline ran in the downtime")
    if not isinstance(expected[0].event, ClockCredited):
        ruleset = match.setup.rules.key
        raise owed(ruleset=ruleset, seq=seq, expected=expected[0], found=stamped)
    if expected[0] != stamped:
        text = f"downtime gives {expected[0].event} at {expected[0].at_ms}"
        raise wrong("clocks", "wrong_credit", seq, text)
    return expected[:1]


def _check_downtime(match: Match, seq: int, known: Sequence[Gap]) -> None:
    """Refuse an event while downtime that was known before it is still to be given back.

    A gap is known once it is over, so it binds the commands from its end on. A
    deadline is settled only after a later heartbeat, so every gap that began
    before the deadline was known by then.
    """
    due = matches.due_at(match)
    if not known or due is None or not due.deadline:
        return
    running_from_ms = match.clock_from_ms if match.phase == "playing" else match.since_ms
    paid_ms = max(match.credited_ms, running_from_ms)
    for gap in known:
        if gap.until_ms > paid_ms:
            text = f"the downtime from {gap.from_ms} to {gap.until_ms} was not given back"
            raise wrong("clocks", "missing_credit", seq, text)


def _check_batch(
    match: Match,
    index: int,
    rows: Sequence[Row],
    stampeds: Sequence[Stamped],
    expected: tuple[Stamped, ...],
) -> None:
    ruleset, cause = match.setup.rules.key, rows[index]
    check = "table" if stampeds[index].actor is None else "commands"
    for place, right in enumerate(expected, index):
        seq = place + 1
        if place == len(stampeds):
            text = f"{right.event.KIND} at {right.at_ms} follows and is not there"
            rule = rule_for(ruleset, "owed", right.event.KIND)
            raise wrong(check, "missing_effect", seq, text, rule)
        if stampeds[place] != right:
            raise difference(
                ruleset=ruleset, seq=seq, check=check, expected=right, found=stampeds[place]
            )
        if place > index and rows[place].command_id is not None:
            raise wrong(check, "stray_command", seq, "a command stands at its own consequence")
    if cause.effects is not None and cause.effects != len(expected):
        text = f"{len(expected)} events follow, not {cause.effects}"
        raise wrong(check, "wrong_effects", index + 1, text)
