"""Challenges: sent, listed, accepted, declined and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast
from uuid import UUID

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request

from matches.api.answers import ChallengeAnswer, ChallengesAnswer, ChallengeShown, answer
from matches.api.base import caller
from matches.api.bodies import ChallengeBody, DeclineBody, NoQuery
from matches.api.drf import plain
from matches.api.lobby import LobbyView
from matches.api.matches import shown
from matches.api.requests import idempotency_key, no_query
from matches.api.schema import operation
from matches.models import Challenge
from matches.services import challenges, newcomers, queries
from matches.services.bodies import NoBody
from matches.services.challenges import Reason
from matches.services.keys import command_key, written
from matches.services.people import PlayerRef
from matches.services.shown import MatchAnswer, person
from matches.services.viewers import viewer_of

_PATH = {"challenge_id": "The challenge."}


class ChallengesView(LobbyView):
    """Whom I have challenged, and who has challenged me."""

    @operation(
        "challenges",
        "The challenges to me, and mine",
        {200: ChallengesAnswer},
        tag="lobby",
    )
    def get(self, request: Request) -> HttpResponse:
        """Both lists."""
        self.query(request, NoQuery)
        who = caller(request).id
        received, sent = challenges.received(who), challenges.sent(who)
        known = _known((*received, *sent))
        return answer(ChallengesAnswer(_listed(received, known), _listed(sent, known)))

    @operation(
        "send_challenge",
        "Challenge a player",
        {201: ChallengeAnswer},
        tag="lobby",
        body=ChallengeBody,
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
            "unknown_player",
            "own_opponent",
            "computer_opponent",
            "challenge_open",
            "too_many_challenges",
            "answer_expired",
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Ask a player for a match."""
        no_query(plain(request))
        who, body = caller(request), self.read(request, ChallengeBody)
        newcomers.count(who, "new_challenge")

        def effect() -> tuple[int, bytes]:
            made = challenges.challenge(who=who, opponent=body.opponent, terms=body.terms())
            return 201, _encoded(made)

        return self.once(request, body, effect)


class ChallengeView(LobbyView):
    """One challenge of mine."""

    http_method_names = ["delete"]  # noqa: RUF012 - as DRF declares it

    @operation(
        "cancel_challenge",
        "Take a challenge back",
        {204: None},
        tag="lobby",
        path=_PATH,
        key=True,
        errors=("unknown_challenge", "challenge_over", "answer_expired"),
    )
    def delete(self, request: Request, challenge_id: UUID) -> HttpResponse:
        """Take back a challenge that nobody has answered."""
        no_query(plain(request))
        who = caller(request)

        def effect() -> tuple[int, bytes]:
            challenges.cancel(who=who, challenge_id=challenge_id)
            return 204, b""

        return self.once(request, NoBody(), effect)


class AcceptView(LobbyView):
    """Accepting a challenge."""

    @operation(
        "accept_challenge",
        "Accept a challenge: its match, with both seated",
        {201: MatchAnswer},
        tag="lobby",
        body=NoBody,
        path=_PATH,
        key=True,
        errors=(
            "unknown_challenge",
            "own_opponent",
            "challenge_over",
            "rated_needs_accounts",
            "already_playing",
            "bot_busy",
            "cooling_down",
            "unreadable_match",
            "unknown_ruleset",
            "unknown_option",
            "bad_option",
            "unknown_control",
            "unrated_control",
        ),
    )
    def post(self, request: Request, challenge_id: UUID) -> HttpResponse:
        """Accept; repeated with its key it shows the match that it made."""
        no_query(plain(request))
        who, key = caller(request), idempotency_key(plain(request))
        body = self.read(request, NoBody)
        done = challenges.accept(
            who=who,
            challenge_id=challenge_id,
            key=command_key(player=who.id, key=key, path=request.path_info, body=written(body)),
        )
        return shown(done.entry, viewer_of(done.entry.match, who.id), status=201)


class DeclineView(LobbyView):
    """Declining a challenge."""

    @operation(
        "decline_challenge",
        "Decline a challenge",
        {200: ChallengeAnswer},
        tag="lobby",
        body=DeclineBody,
        path=_PATH,
        key=True,
        errors=("unknown_challenge", "challenge_over", "answer_expired"),
    )
    def post(self, request: Request, challenge_id: UUID) -> HttpResponse:
        """Decline, with a reason that the challenger is told."""
        no_query(plain(request))
        who, body = caller(request), self.read(request, DeclineBody)

        def effect() -> tuple[int, bytes]:
            declined = challenges.decline(who=who, challenge_id=challenge_id, reason=body.reason)
            return 200, _encoded(declined)

        return self.once(request, body, effect)


def _known(found: Iterable[Challenge]) -> dict[str, PlayerRef]:
    return queries.players(one.hex for each in found for one in (each.player, each.opponent))


def _listed(
    found: Iterable[Challenge], known: Mapping[str, PlayerRef]
) -> tuple[ChallengeShown, ...]:
    return tuple(
        _shown(one, known) for one in found if {one.player.hex, one.opponent.hex} <= {*known}
    )


def _encoded(one: Challenge) -> bytes:
    return msgspec.json.encode(ChallengeAnswer(_shown(one, _known((one,)))))


def _shown(one: Challenge, known: Mapping[str, PlayerRef]) -> ChallengeShown:
    return ChallengeShown(
        id=one.pk.hex,
        challenger=person(known[one.player.hex]),
        opponent=person(known[one.opponent.hex]),
        ruleset=one.ruleset,
        rules_version=one.rules_version,
        options=one.options,
        control=one.control,
        rated=one.rated,
        created_at_ms=one.created_ms,
        expires_at_ms=one.expires_ms,
        declined=cast("Reason | None", one.declined),
        match_id=one.match_id.hex if one.made else None,
    )
