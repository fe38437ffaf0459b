"""The lobby: seeks are opened, listed, closed and accepted."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request

from matches.api.answers import (
    PairingAnswer,
    SeekAnswer,
    SeeksAnswer,
    Waiting,
    answer,
)
from matches.api.base import ApiView, caller, once
from matches.api.bodies import NoQuery, PairingBody, SeekBody
from matches.api.drf import plain
from matches.api.matches import shown
from matches.api.requests import idempotency_key, no_query
from matches.api.schema import operation
from matches.models import Pairing
from matches.services import idempotency, newcomers, pairing, queries, seeks
from matches.services.bodies import NoBody
from matches.services.keys import command_key, fingerprint, written
from matches.services.seeking import seek_shown, seeks_shown
from matches.services.seeks import Range
from matches.services.shown import MatchAnswer
from matches.services.viewers import viewer_of

_PATH = {"seek_id": "The seek."}


class LobbyView(ApiView):
    """A view of the lobby."""

    def once(
        self, request: Request, body: msgspec.Struct, effect: Callable[[], tuple[int, bytes]]
    ) -> HttpResponse:
        """The answer of a write that is no command of a match, as it was given the first time."""
        return once(
            request,
            body,
            effect,
            scope=idempotency.scope_of(player=caller(request).id, address=None),
            key=idempotency_key(plain(request)),
            by=fingerprint,
        )


class RatedView(LobbyView):
    """A view that has to know how strong players are."""

    @staticmethod
    def rating_of(*, player: str, ruleset: str, control: str) -> int | None:
        """Brought by the site's addresses: a `RatingOf`."""
        raise NotImplementedError


class SeeksView(RatedView):
    """Who looks for an opponent."""

    @operation(
        "seeks",
        "The open seeks, and my own",
        {200: SeeksAnswer},
        tag="lobby",
    )
    def get(self, request: Request) -> HttpResponse:
        """Both lists."""
        self.query(request, NoQuery)
        own, found = seeks.mine(caller(request).id), seeks.open_seeks()
        known = queries.players(seek.player.hex for seek in (*own, *found))
        return answer(SeeksAnswer(seeks_shown(found, known), seeks_shown(own, known)))

    @operation(
        "open_seek",
        "Look for an opponent",
        {201: SeekAnswer},
        tag="lobby",
        body=SeekBody,
        key=True,
        errors=(
            "unknown_ruleset",
            "unknown_option",
            "bad_option",
            "unknown_control",
            "unrated_control",
            "rated_needs_accounts",
            "already_playing",
            "bot_busy",
            "cooling_down",
            "new_account_limit",
            "bad_rating_range",
            "seek_open",
            "answer_expired",
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Open a seek."""
        no_query(plain(request))
        who, body = caller(request), self.read(request, SeekBody)
        newcomers.count(who, "new_seek")

        def effect() -> tuple[int, bytes]:
            seek = seeks.open_seek(
                who=who,
                terms=body.terms(),
                wanted=Range(body.rating_min, body.rating_max),
                rating_of=self.rating_of,
            )
            return 201, msgspec.json.encode(SeekAnswer(seek_shown(seek, who.ref)))

        return self.once(request, body, effect)


class SeekView(LobbyView):
    """One seek of mine."""

    http_method_names = ["delete"]  # noqa: RUF012 - as DRF declares it

    @operation(
        "close_seek",
        "Look no longer",
        {204: None},
        tag="lobby",
        path=_PATH,
        key=True,
        errors=("unknown_seek", "seek_taken", "answer_expired"),
    )
    def delete(self, request: Request, seek_id: UUID) -> HttpResponse:
        """Close a seek that nobody has accepted."""
        no_query(plain(request))
        who = caller(request)

        def effect() -> tuple[int, bytes]:
            seeks.close(who=who, seek_id=seek_id)
            return 204, b""

        return self.once(request, NoBody(), effect)


class AcceptView(RatedView):
    """Accepting a seek."""

    @operation(
        "accept_seek",
        "Accept a seek: its match, with both seated",
        {201: MatchAnswer},
        tag="lobby",
        body=NoBody,
        path=_PATH,
        key=True,
        errors=(
            "unknown_seek",
            "own_opponent",
            "seek_taken",
            "rated_needs_accounts",
            "already_playing",
            "bot_busy",
            "cooling_down",
            "rating_out_of_range",
            "unreadable_match",
            "unknown_ruleset",
            "unknown_option",
            "bad_option",
            "unknown_control",
            "unrated_control",
        ),
    )
    def post(self, request: Request, seek_id: UUID) -> HttpResponse:
        """Accept; repeated with its key it shows the match that it made."""
        no_query(plain(request))
        who, key = caller(request), idempotency_key(plain(request))
        body = self.read(request, NoBody)
        done = seeks.accept(
            who=who,
            seek_id=seek_id,
            rating_of=self.rating_of,
            key=command_key(player=who.id, key=key, path=request.path_info, body=written(body)),
        )
        return shown(done.entry, viewer_of(done.entry.match, who.id), status=201)


class PairingView(RatedView):
    """Being paired with whoever comes."""

    http_method_names = ["get", "head", "post", "delete"]  # noqa: RUF012 - as DRF declares it

    @operation(
        "pairing",
        "Whether I wait, or have been paired",
        {200: PairingAnswer},
        tag="lobby",
    )
    def get(self, request: Request) -> HttpResponse:
        """The wait, with the match as soon as there is one."""
        self.query(request, NoQuery)
        found = pairing.state(caller(request).id)
        return answer(PairingAnswer(None if found is None else _waiting(found)))

    @operation(
        "enter_pairing",
        "Wait to be paired",
        {201: PairingAnswer},
        tag="lobby",
        body=PairingBody,
        key=True,
        errors=(
            "unknown_ruleset",
            "unknown_control",
            "unrated_control",
            "rated_needs_accounts",
            "already_playing",
            "bot_busy",
            "cooling_down",
            "already_waiting",
            "bot_not_paired",
            "answer_expired",
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Wait; who fits is paired at once, which the next look tells."""
        no_query(plain(request))
        who, body = caller(request), self.read(request, PairingBody)
        pool = pairing.Pool(body.ruleset, body.control, body.rated)

        def effect() -> tuple[int, bytes]:
            entered = pairing.enter(who=who, pool=pool, rating_of=self.rating_of)
            return 201, msgspec.json.encode(PairingAnswer(_waiting(entered)))

        response = self.once(request, body, effect)
        pairing.pair(pool)
        return response

    @operation(
        "leave_pairing",
        "Wait no longer",
        {204: None},
        tag="lobby",
        key=True,
        errors=("not_waiting", "already_paired", "answer_expired"),
    )
    def delete(self, request: Request) -> HttpResponse:
        """Leave."""
        no_query(plain(request))
        who = caller(request)

        def effect() -> tuple[int, bytes]:
            pairing.leave(who=who)
            return 204, b""

        return self.once(request, NoBody(), effect)


def _waiting(found: Pairing) -> Waiting:
    return Waiting(
        ruleset=found.ruleset,
        control=found.control,
        rated=found.rated,
        rating=found.rating,
        since_ms=found.since_ms,
        expires_at_ms=found.expires_ms,
        match_id=found.match_id.hex if found.made and found.match_id is not None else None,
    )
