"""Commands: what they cause, or why they are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import msgspec

from matches.domain import deal
from matches.domain.absence import SHOWN_AFTER_MS, absence
from matches.domain.clock import CONTROLS, FLOW, Due
from matches.domain.commands import Act, ClaimAbsence, Command, Join, Leave, Ready, Resign
from matches.domain.events import MatchCreated, SeatReady, SeatTaken, Stamped
from matches.domain.evolve import evolve, fold
from matches.domain.settle import due_at, end, settle, stamp
from matches.domain.state import Match, Moved, seat_of
from matches.games.protocol import Rejected, Seat
from matches.games.registry import rules_for


class Unsettled(Exception):
    """Something was due before the command: the match has to be settled first."""

    def __init__(self, due: Due) -> None:
        super().__init__(f"due at {due.at_ms}")
        self.due = due


def create(
    *,
    ruleset: str,
    rules_version: int,
    options: dict[str, str | int | bool],
    control: str,
    rated: bool,
    players: tuple[str | None, ...],
    invited: str | None,
    secret: bytes,
    sealed: str,
    key_id: str,
    rematch_of: str | None = None,
    first_dealer: Seat | None = None,
) -> MatchCreated:
    """The first event of a match, checked.

    `players` has one entry a seat, None where it is free. `sealed` is `secret`
    as the log keeps it, under the key `key_id`. A rematch of the match of an id
    (in hex) has both seats taken and says who deals first. Raises `Rejected`:
    unknown_ruleset, unknown_option, bad_option, unknown_control,
    unrated_control, already_seated (nobody plays against themselves).
    """
    rules = rules_for(ruleset, version=rules_version, options=options)
    if control not in CONTROLS or control not in rules.controls:
        raise Rejected("unknown_control")
    if rated and control not in rules.rated_controls:
        raise Rejected("unrated_control")
    if len(players) != rules.seats or len(secret) != deal.SECRET_BYTES:
        raise ValueError("a match has one entry a seat, and a secret of 32 bytes")
    _check_rematch(players, rematch_of, first_dealer)
    known = [player for player in (*players, invited) if player is not None]
    if len(set(known)) < len(known):
        raise Rejected("already_seated")
    return MatchCreated(
        ruleset=ruleset,
        rules_version=rules_version,
        options=dict(rules.options),
        control=control,
        rated=rated,
        players=players,
        invited=invited,
        deal=deal.NAME,
        flow=FLOW,
        commitment=deal.commitment(secret),
        sealed=sealed,
        key_id=key_id,
        rematch_of=rematch_of,
        first_dealer=first_dealer,
    )


def _check_rematch(
    players: tuple[str | None, ...], rematch_of: str | None, first_dealer: Seat | None
) -> None:
    if rematch_of is None and first_dealer is None:
        return
    if rematch_of is None or first_dealer not in range(len(players)) or None in players:
        raise ValueError("a rematch names the match before it, a first dealer and all players")


def decide(match: Match, command: Command) -> Moved:
    """The events that the command causes, what the table owes at once included.

    The caller has settled the match up to `command.at_ms`: `Unsettled` where
    it has not. Raises `Rejected` where the command is not possible.
    """
    at_ms = max(command.at_ms, match.at_ms)
    if match.ended is not None:
        raise Rejected("match_ended")
    due = due_at(match)
    if due is not None and due.at_ms <= at_ms:
        raise Unsettled(due)
    decided = _DECIDERS[type(command.body)](match, command, at_ms)
    after, settled = settle(fold(match, decided), now_ms=at_ms, deadline_ms=0)
    return Moved(after, (*decided, *settled))


def _join(match: Match, command: Command, at_ms: int) -> tuple[Stamped, ...]:
    invited = match.setup.created.invited
    if command.player in match.players:
        raise Rejected("already_seated")
    if match.phase != "open":
        raise Rejected("seat_taken")
    if invited is not None and invited != command.player:
        raise Rejected("not_invited")
    seat = Seat(match.players.index(None))
    return (Stamped(SeatTaken(seat=seat, player=command.player), at_ms, seat),)


def _ready(match: Match, command: Command, at_ms: int) -> tuple[Stamped, ...]:
    body = cast("Ready", command.body)
    seat = seat_of(match, command.player)
    if match.phase not in ("readying", "intermission"):
        raise Rejected("nothing_to_ready")
    if match.ready[seat]:
        raise Rejected("already_ready")
    nonce = _nonce(match, seat, body.nonce)
    event = SeatReady(seat=seat, hand=match.hand_no + 1, nonce=nonce)
    return (Stamped(event, at_ms, seat),)


def _nonce(match: Match, seat: Seat, sent: str | None) -> str | None:
    if match.phase != "readying":
        if sent is not None:
            raise Rejected("nonce_too_late")
        return None
    if sent is None:
        setup = match.setup
        return deal.nonce_for(setup.secret, setup.match_id, seat).hex()
    shortest, longest = deal.NONCE_BYTES
    try:
        nonce = bytes.fromhex(sent)
    except ValueError:
        raise Rejected("bad_nonce") from None
    if nonce.hex() != sent or not shortest <= len(nonce) <= longest:
        raise Rejected("bad_nonce")
    return sent


def _act(match: Match, command: Command, at_ms: int) -> tuple[Stamped, ...]:
    body = cast("Act", command.body)
    seat = seat_of(match, command.player)
    if match.phase == "intermission":
        raise Rejected("hand_over")
    if match.phase != "playing":
        raise Rejected("match_not_started")
    decided: list[Stamped] = []
    for event in match.setup.rules.decide(match.hand, seat, body.action):
        if decided:
            match = evolve(match, decided[-1])
        decided.append(stamp(match, event, at_ms=at_ms, actor=seat))
    return tuple(decided)


def _resign(match: Match, command: Command, at_ms: int) -> tuple[Stamped, ...]:
    seat = seat_of(match, command.player)
    if match.phase not in ("playing", "intermission"):
        raise Rejected("match_not_started")
    return (end(match, at_ms=at_ms, actor=seat, reason="resignation", seat=seat),)


def _leave(match: Match, command: Command, at_ms: int) -> tuple[Stamped, ...]:
    kept = match.phase == "open" and match.setup.created.invited == command.player
    seat = Seat(match.players.index(None)) if kept else seat_of(match, command.player)
    begun = match.phase in ("playing", "intermission")
    reason = "forfeit" if begun else "aborted"
    return (end(match, at_ms=at_ms, actor=seat, reason=cast("Any", reason), seat=seat),)


def _claim_absence(match: Match, command: Command, at_ms: int) -> tuple[Stamped, ...]:
    body = cast("ClaimAbsence", command.body)
    seat = seat_of(match, command.player)
    gone = absence(match, seen_ms=body.seen_ms)
    if gone is None or gone.seat == seat or at_ms - gone.since_ms < SHOWN_AFTER_MS:
        # Whether the seat was there a moment ago is not for the other to know.
        raise Rejected("not_absent")
    if at_ms < gone.claim_at_ms:
        raise Rejected("not_absent", claim_at_ms=gone.claim_at_ms)
    return (
        end(
            match,
            at_ms=at_ms,
            actor=seat,
            reason="absence",
            seat=gone.seat,
            absent_from_ms=gone.since_ms,
        ),
    )


_DECIDERS: dict[type[msgspec.Struct], Callable[[Match, Command, int], tuple[Stamped, ...]]] = {
    Join: _join,
    Ready: _ready,
    Act: _act,
    Resign: _resign,
    Leave: _leave,
    ClaimAbsence: _claim_absence,
}
