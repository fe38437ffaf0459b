"""My tokens and my password."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request

from matches.api.answers import GrantAnswer, TokensAnswer, TokenShown, answer
from matches.api.base import AccountView, caller
from matches.api.bodies import NoQuery, PasswordBody, TokenBody
from matches.api.drf import plain
from matches.api.identity import bearer
from matches.api.schema import operation
from matches.services import accounts, grants, tokens
from matches.services.bodies import NoBody
from matches.services.grants import Grant
from matches.services.throttling import throttle


class TokensView(AccountView):
    """All of them."""

    http_method_names = ["get", "head", "post", "delete"]  # noqa: RUF012 - as DRF declares it

    @operation("tokens", "My tokens", {200: TokensAnswer}, tag="accounts")
    def get(self, request: Request) -> HttpResponse:
        """The list, without the tokens themselves."""
        self.query(request, NoQuery)
        digest = _digest(request)
        found = grants.mine(caller(request).id)
        return answer(TokensAnswer(tuple(_shown(one, digest) for one in found)))

    @operation(
        "make_token",
        "Make a token, with a name and a scope",
        {201: GrantAnswer},
        tag="accounts",
        body=TokenBody,
        key=True,
        errors=("bad_token_name", "bot_needed", "too_many_tokens", "answer_expired"),
    )
    def post(self, request: Request) -> HttpResponse:
        """Make it."""
        who, body = caller(request), self.read(request, TokenBody)

        def effect() -> tuple[int, bytes]:
            token, made = grants.grant(who=who, name=body.name, scope=body.scope, days=body.days)
            return 201, msgspec.json.encode(GrantAnswer(token, _shown(made, "")))

        return self.once(request, body, effect)

    @operation(
        "revoke_other_tokens",
        "Revoke every token of mine but the one of this request",
        {204: None},
        tag="accounts",
        key=True,
        errors=("answer_expired",),
    )
    def delete(self, request: Request) -> HttpResponse:
        """Revoke them."""
        who, digest = caller(request), _digest(request)

        def effect() -> tuple[int, bytes]:
            grants.revoke_others(who=who, digest=digest)
            return 204, b""

        return self.once(request, NoBody(), effect)


class TokenView(AccountView):
    """One of them."""

    http_method_names = ["delete"]  # noqa: RUF012 - as DRF declares it

    @operation(
        "revoke_token",
        "Revoke a token of mine",
        {204: None},
        tag="accounts",
        path={"token_id": "The token's id, as the list has it."},
        key=True,
        errors=("unknown_token", "answer_expired"),
    )
    def delete(self, request: Request, token_id: UUID) -> HttpResponse:
        """Revoke it."""
        who = caller(request)

        def effect() -> tuple[int, bytes]:
            grants.revoke(who=who, token_id=token_id.hex)
            return 204, b""

        return self.once(request, NoBody(), effect)


class PasswordView(AccountView):
    """My password."""

    scopes: ClassVar[dict[str, str]] = {"POST": "write"}

    @operation(
        "change_password",
        "Change my password: every other token of mine is revoked",
        {204: None},
        tag="accounts",
        body=PasswordBody,
        key=True,
        errors=(
            "account_needed",
            "wrong_password",
            "bad_password",
            "answer_expired",
            "throttle_unavailable",
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Change it; attempts are counted like log-ins."""
        who, body, digest = caller(request), self.read(request, PasswordBody), _digest(request)
        throttle.spend("login", who.id)

        def effect() -> tuple[int, bytes]:
            accounts.change_password(who=who, old=body.old, new=body.new, digest=digest)
            return 204, b""

        return self.once(request, body, effect)


def _digest(request: Request) -> str:
    """The hash of the token of this request."""
    return tokens.digest_of(bearer(plain(request)) or "")


def _shown(one: Grant, current: str) -> TokenShown:
    return TokenShown(
        one.id, one.name, one.scope, one.created_at_ms, one.expires_at_ms, one.digest == current
    )
