"""The commands of a match: the path every move takes, and so without anything it does not need.

These views are DRF's to the schema and to the URLs; at run time they skip its
request, parsers and serializers, which cost more than the move itself. Who
asks, how often, and how a refusal looks is decided by the same code as everywhere.
"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema_view
from rest_framework.views import APIView

from matches.api.answers import Told, told
from matches.api.base import not_allowed
from matches.api.identity import caller_of
from matches.api.requests import check_accept, idempotency_key, no_query, read_body
from matches.api.schema import act_shape, operation
from matches.services import parsing
from matches.services.accounts import check_may_play
from matches.services.bodies import NoBody, ReadyBody
from matches.services.commanding import perform
from matches.services.shown import CommandAnswer
from matches.services.throttling import throttle

_PATH = {"match_id": "The match."}
_TABLE = ("unknown_match", "match_ended", "not_a_seat", "unreadable_match")


class CommandView(APIView):
    """One command of a match, by POST."""

    verb: ClassVar[str]

    def dispatch(self, request: HttpRequest, match_id: UUID) -> Told:  # type: ignore[override]
        """Check, decode, execute; raises what the gate turns into refusals."""
        if request.method != "POST":
            raise not_allowed(["POST"])
        check_accept(request)
        caller = caller_of(request)
        check_may_play(caller)
        throttle.spend("play", caller.id)
        no_query(request)
        key = idempotency_key(request)
        raw = read_body(request)
        value = parsing.decode(raw) if raw else {}
        return told(
            perform(match_id=match_id, player=caller.id, verb=self.verb, key=key, value=value)
        )

    def post(self, request: HttpRequest, match_id: UUID) -> Told:
        """Execute the command; repeated with its key and body it answers the same for ever."""
        return self.dispatch(request, match_id)


@extend_schema_view(
    post=operation(
        "act",
        "Do something in the hand: discard, win, chow, pung or pass",
        {200: CommandAnswer},
        tag="play",
        body=act_shape(),
        path=_PATH,
        key=True,
        errors=(
            *_TABLE,
            "stale_seq",
            "match_not_started",
            "hand_over",
            "not_your_turn",
            "tile_not_held",
            "drawn_mismatch",
            "win_not_possible",
            "claim_not_possible",
            "no_claim_to_answer",
            "already_passed",
            "claim_window_over",
        ),
    )
)
class ActView(CommandView):
    """An action in the hand."""

    verb = "act"


@extend_schema_view(
    post=operation(
        "join",
        "Take the open seat",
        {200: CommandAnswer},
        tag="matches",
        body=NoBody,
        path=_PATH,
        key=True,
        errors=(
            "unknown_match",
            "match_ended",
            "unreadable_match",
            "already_seated",
            "seat_taken",
            "rated_needs_accounts",
            "already_playing",
            "bot_busy",
            "cooling_down",
        ),
    )
)
class JoinView(CommandView):
    """Taking the open seat."""

    verb = "join"


@extend_schema_view(
    post=operation(
        "ready",
        "Be ready for the next hand",
        {200: CommandAnswer},
        tag="play",
        body=ReadyBody,
        path=_PATH,
        key=True,
        errors=(*_TABLE, "nothing_to_ready", "already_ready", "nonce_too_late", "bad_nonce"),
    )
)
class ReadyView(CommandView):
    """Being ready for the next hand."""

    verb = "ready"


@extend_schema_view(
    post=operation(
        "resign",
        "Give the match up",
        {200: CommandAnswer},
        tag="play",
        body=NoBody,
        path=_PATH,
        key=True,
        errors=(*_TABLE, "match_not_started"),
    )
)
class ResignView(CommandView):
    """Giving up."""

    verb = "resign"


@extend_schema_view(
    post=operation(
        "leave",
        "Leave, or decline: before the first deal the match is aborted, afterwards it is lost",
        {200: CommandAnswer},
        tag="play",
        body=NoBody,
        path=_PATH,
        key=True,
        errors=_TABLE,
    )
)
class LeaveView(CommandView):
    """Leaving the table."""

    verb = "leave"


@extend_schema_view(
    post=operation(
        "claim_absence",
        "Claim the win: the other seat is to act and has gone",
        {200: CommandAnswer},
        tag="play",
        body=NoBody,
        path=_PATH,
        key=True,
        errors=(*_TABLE, "not_absent"),
    )
)
class ClaimAbsenceView(CommandView):
    """Claiming the win against a seat that has gone."""

    verb = "claim-absence"
