"""Rematches: offered, accepted by the same call, declined or taken back."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request

from matches.api.answers import RematchAgreed, RematchAnswer, RematchShown, answer
from matches.api.base import caller
from matches.api.bodies import NoQuery
from matches.api.drf import plain
from matches.api.lobby import LobbyView
from matches.api.requests import idempotency_key, no_query
from matches.api.schema import operation
from matches.games.protocol import Seat
from matches.models import Rematch
from matches.services import rematches
from matches.services.bodies import NoBody
from matches.services.keys import command_key, written

_PATH = {"match_id": "The match that is over."}


class RematchView(LobbyView):
    """The rematch of a match of mine."""

    http_method_names = ["get", "head", "post", "delete"]  # noqa: RUF012 - as DRF declares it

    @operation(
        "rematch",
        "The rematch that is offered, or was made",
        {200: RematchAnswer},
        tag="lobby",
        path=_PATH,
        errors=("unknown_match", "unreadable_match", "not_a_seat"),
    )
    def get(self, request: Request, match_id: UUID) -> HttpResponse:
        """The offer, with the match as soon as there is one."""
        self.query(request, NoQuery)
        found = rematches.state(who=caller(request), match_id=match_id)
        return answer(RematchAnswer(None if found is None else _shown(found)))

    @operation(
        "offer_rematch",
        "Offer a rematch, or accept the other seat's",
        {201: RematchAgreed},
        tag="lobby",
        body=NoBody,
        path=_PATH,
        key=True,
        errors=(
            "unknown_match",
            "unreadable_match",
            "not_a_seat",
            "match_not_over",
            "no_rematch",
            "no_rematch_offered",
            "rematch_over",
            "rated_needs_accounts",
            "already_playing",
            "bot_busy",
            "cooling_down",
            "unknown_ruleset",
            "unknown_option",
            "bad_option",
            "unknown_control",
            "unrated_control",
            "answer_expired",
        ),
    )
    def post(self, request: Request, match_id: UUID) -> HttpResponse:
        """Offer or accept; the computer accepts at once."""
        no_query(plain(request))
        who, body = caller(request), self.read(request, NoBody)
        key = command_key(
            player=who.id,
            key=idempotency_key(plain(request)),
            path=request.path_info,
            body=written(body),
        )
        made = rematches.accepted_before(who=who, key=key)
        if made is not None:
            return answer(RematchAgreed(match_id.hex, made.hex), status=201)

        def effect() -> tuple[int, bytes]:
            one = rematches.offer(who=who, match_id=match_id)
            made = None if one.taken_by is None else one.match_id.hex
            return 201, msgspec.json.encode(RematchAgreed(match_id.hex, made))

        try:
            response = self.once(request, body, effect)
        except rematches.Wanted:
            done = rematches.accept(who=who, match_id=match_id, key=key)
            return answer(RematchAgreed(match_id.hex, done.entry.match_id.hex), status=201)
        # Repeated too: whoever has the id of a match must find one.
        rematches.finish(match_id)
        return response

    @operation(
        "withdraw_rematch",
        "Decline a rematch, or take it back",
        {204: None},
        tag="lobby",
        path=_PATH,
        key=True,
        errors=(
            "unknown_match",
            "unreadable_match",
            "not_a_seat",
            "no_rematch_offered",
            "rematch_over",
            "answer_expired",
        ),
    )
    def delete(self, request: Request, match_id: UUID) -> HttpResponse:
        """End the offer, whoever made it."""
        no_query(plain(request))
        who = caller(request)

        def effect() -> tuple[int, bytes]:
            rematches.withdraw(who=who, match_id=match_id)
            return 204, b""

        return self.once(request, NoBody(), effect)


def _shown(offered: Rematch) -> RematchShown:
    return RematchShown(
        rematch_of=offered.rematch_of.hex,
        seat=Seat(offered.seat),
        created_at_ms=offered.created_ms,
        expires_at_ms=offered.expires_ms,
        match_id=offered.match_id.hex if offered.made else None,
    )
