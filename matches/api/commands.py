"""The commands of a match: the path every move takes, and so without anything it does not need.

These views are DRF's to the schema and to the URLs; at run time they skip its
request, parsers and serializers, which cost more than the move itself. Who
asks, how often, and how a refusal looks is decided by the same code as everywhere.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest
from drf_spectacular.utils import extend_schema_view
from rest_framework.views import APIView

from matches.api import parsing
from matches.api.answers import CommandAnswer, Told, told
from matches.api.base import not_allowed
from matches.api.bodies import Body, NoBody, ReadyBody, act_body
from matches.api.identity import caller_of
from matches.api.keys import command_key, written
from matches.api.requests import check_accept, idempotency_key, no_query, read_body
from matches.api.schema import act_shape, operation
from matches.domain import commands
from matches.services import execute
from matches.services import matches as services
from matches.services.throttling import throttle

_PATH = {"match_id": "The match."}
_TABLE = ("unknown_match", "match_ended", "not_a_seat", "unreadable_match")


class CommandView(APIView):
    """One command of a match, by POST."""

    body: ClassVar[type[Body]] = NoBody

    def dispatch(self, request: HttpRequest, match_id: UUID) -> Told:  # type: ignore[override]
        """Check, decode, execute; raises what the gate turns into refusals."""
        if request.method != "POST":
            raise not_allowed(["POST"])
        check_accept(request)
        caller = caller_of(request)
        throttle.spend("play", caller.id)
        no_query(request)
        key = idempotency_key(request)
        body = self.decoded(match_id, caller.id, read_body(request))
        done = execute.execute(
            match_id=match_id,
            player=caller.id,
            body=self.command(body),
            key=command_key(player=caller.id, key=key, path=request.path_info, body=written(body)),
            expected_seq=getattr(body, "expected_seq", None),
        )
        caused = services.result(done, caller.id)
        return told(CommandAnswer(caused.seq, caused.events, services.now(done.entry)))

    def post(self, request: HttpRequest, match_id: UUID) -> Told:
        """Execute the command; repeated with its key and body it answers the same for ever."""
        return self.dispatch(request, match_id)

    def decoded(self, match_id: UUID, player: str, raw: bytes) -> Any:  # noqa: ARG002 - see ActView
        """The body."""
        return parsing.decode_as(self.body, raw)

    def command(self, body: Any) -> commands.Body:
        """What the match is to be told."""
        raise NotImplementedError


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

    def decoded(self, match_id: UUID, player: str, raw: bytes) -> Any:
        """The body, its action one of the match's own game."""
        value = parsing.decode(raw) if raw else {}
        return parsing.convert(act_body(execute.action_of(match_id, player)), value)

    def command(self, body: Any) -> commands.Body:
        """The action."""
        return commands.Act(action=body.action)


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
            "cooling_down",
        ),
    )
)
class JoinView(CommandView):
    """Taking the open seat."""

    def command(self, body: Any) -> commands.Body:  # noqa: ARG002 - there is nothing in it
        """Join."""
        return commands.Join()


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

    body = ReadyBody

    def command(self, body: Any) -> commands.Body:
        """Ready, perhaps with a nonce."""
        return commands.Ready(nonce=body.nonce)


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

    def command(self, body: Any) -> commands.Body:  # noqa: ARG002
        """Resign."""
        return commands.Resign()


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

    def command(self, body: Any) -> commands.Body:  # noqa: ARG002
        """Leave."""
        return commands.Leave()


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

    def command(self, body: Any) -> commands.Body:  # noqa: ARG002
        """Claim; what the claim rests on is not the client's to say."""
        return commands.ClaimAbsence(seen_ms=0)
