"""My profile, my data, and the end of my account."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from django.http import HttpResponse
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from matches.api.answers import (
    AccountShown,
    MatchLinked,
    MyDataAnswer,
    OwnProfileAnswer,
    ProfileAnswer,
    TokenShown,
    answer,
)
from matches.api.base import AccountView, ApiView, caller
from matches.api.bodies import CloseBody, NoQuery, ProfileBody
from matches.api.schema import operation
from matches.eventstore.rows import FINISHED, Listed
from matches.models import Player
from matches.services import accounts, closing, grants, profiles, queries
from matches.services.ports import RatedChange
from matches.services.problems import Problem
from matches.services.throttling import throttle

EXPORTED = 10_000
"""So many matches are listed in one's own data, the newest; `GET /matches` lists all."""


class ProfileView(ApiView):
    """What somebody says of itself."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @operation(
        "profile",
        "What a player says of itself",
        {200: ProfileAnswer},
        tag="players",
        path={"username": "The name, in any case."},
        token=False,
        errors=("unknown_player",),
    )
    def get(self, request: Request, username: str) -> HttpResponse:
        """The public part."""
        self.query(request, NoQuery)
        found = queries.player_by_username(username)
        if found is None:
            raise Problem("unknown_player")
        own = profiles.of(found.public_id)
        return answer(ProfileAnswer(profiles.Shown(own.bio, own.country)))


class OwnProfileView(AccountView):
    """My profile."""

    http_method_names = ["get", "head", "patch"]  # noqa: RUF012 - as DRF declares it

    @operation("own_profile", "My profile", {200: OwnProfileAnswer}, tag="accounts")
    def get(self, request: Request) -> HttpResponse:
        """All of it."""
        self.query(request, NoQuery)
        return answer(OwnProfileAnswer(profiles.of(caller(request).id)))

    @operation(
        "change_profile",
        "Change what my profile says",
        {200: OwnProfileAnswer},
        tag="accounts",
        body=ProfileBody,
        key=True,
        errors=("bad_bio", "bad_country", "answer_expired"),
    )
    def patch(self, request: Request) -> HttpResponse:
        """Change the fields that are there."""
        who, body = caller(request), self.read(request, ProfileBody)
        fields = {
            name: value
            for name, value in msgspec.structs.asdict(body).items()
            if value is not msgspec.UNSET
        }

        def effect() -> tuple[int, bytes]:
            return 200, msgspec.json.encode(OwnProfileAnswer(profiles.change(who.id, fields)))

        return self.once(request, body, effect)


class CloseView(AccountView):
    """The end of my account."""

    @operation(
        "close_account",
        "Close my account for ever: name, e-mail, profile and tokens go, matches stay",
        {204: None},
        tag="accounts",
        body=CloseBody,
        key=True,
        errors=("account_needed", "wrong_password", "answer_expired", "throttle_unavailable"),
    )
    def post(self, request: Request) -> HttpResponse:
        """Close it; attempts are counted like log-ins."""
        who, body = caller(request), self.read(request, CloseBody)
        throttle.spend("login", who.id)

        def effect() -> tuple[int, bytes]:
            closing.close(who=who, password=body.password)
            return 204, b""

        return self.once(request, body, effect)


class MyDataView(ApiView):
    """Everything that is kept of me."""

    scopes: ClassVar[dict[str, str]] = {"GET": "write", "HEAD": "write"}

    @staticmethod
    def rated_changes(*, player: str) -> tuple[RatedChange, ...]:
        """Brought by the site's addresses: a `RatedChanges`."""
        raise NotImplementedError

    @operation(
        "my_data",
        "Everything that is kept of me",
        {200: MyDataAnswer},
        tag="accounts",
        errors=("scope_forbids",),
    )
    def get(self, request: Request) -> HttpResponse:
        """It, in one answer."""
        self.query(request, NoQuery)
        who = caller(request)
        accounts.check_may_manage(who)
        row = Player.objects.get(public_id=who.id)
        shown = AccountShown(
            who.id,
            who.username,
            str(row.kind),
            row.email or None,
            row.email_verified,
            round(row.created_at.timestamp() * 1000),
        )
        return answer(
            MyDataAnswer(
                account=shown,
                profile=profiles.of(who.id),
                tokens=tuple(
                    TokenShown(
                        one.id, one.name, one.scope, one.created_at_ms, one.expires_at_ms, False
                    )
                    for one in grants.mine(who.id)
                ),
                matches=tuple(_linked(one) for one in queries.my_matches(who.id, limit=EXPORTED)),
                ratings=self.rated_changes(player=who.id),
            )
        )


def _linked(one: Listed) -> MatchLinked:
    view = f"/api/v1/matches/{one.match_id.hex}"
    return MatchLinked(
        one.match_id.hex,
        one.created_at_ms,
        view,
        f"{view}/export" if one.status == FINISHED else None,
    )
