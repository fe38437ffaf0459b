"""Accounts and tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import ClassVar

import msgspec
from django.http import HttpResponse
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from matches.api.answers import PlayerAnswer, TokenAnswer, answer
from matches.api.base import AccountView, ApiView, StrangersView, caller, count_mail
from matches.api.bodies import LoginBody, NoQuery, RegisterBody
from matches.api.drf import plain
from matches.api.identity import bearer, caller_by
from matches.api.requests import (
    address_of,
    idempotency_key,
    known_address_of,
    no_query,
    strangers_key,
)
from matches.api.schema import operation
from matches.models import username_key
from matches.services import accounts, bot_accounts, emails, fairness, idempotency, queries
from matches.services.accounts import Session
from matches.services.bodies import NoBody
from matches.services.keys import fingerprint, written
from matches.services.problems import Problem
from matches.services.shown import person
from matches.services.throttling import name_of, throttle


class EntryView(StrangersView):
    """What gives a token."""

    def enter(
        self, request: Request, body: msgspec.Struct, enter: Callable[[], Session]
    ) -> HttpResponse:
        """The session that `enter` gives, or gave when the same was asked before."""

        def effect() -> tuple[int, bytes]:
            session = enter()
            fairness.note_address(session.identity.id, known_address_of(plain(request)))
            told = TokenAnswer(session.token, session.expires_at_ms, person(session.identity.ref))
            return 201, msgspec.json.encode(told)

        return self.once(request, body, effect)


class RegisterView(EntryView):
    """A new account."""

    scopes: ClassVar[dict[str, str]] = {"POST": "register"}

    @operation(
        "register",
        "Make an account and log it in",
        {201: TokenAnswer},
        tag="accounts",
        body=RegisterBody,
        key=True,
        token=False,
        errors=(
            "bad_username",
            "username_reserved",
            "username_taken",
            "bad_password",
            "bad_email",
            "answer_expired",
            "throttle_unavailable",
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Register."""
        no_query(plain(request))
        strangers_key(plain(request))
        body = self.read(request, RegisterBody)
        if body.email:
            count_mail(request, body.email)

        def enter() -> Session:
            session = accounts.register(
                username=body.username, password=body.password, email=body.email
            )
            emails.send_code(session.identity.id)
            return session

        return self.enter(request, body, enter)


class LoginView(EntryView):
    """A new token."""

    scopes: ClassVar[dict[str, str]] = {"POST": "login"}

    @operation(
        "login",
        "Log in: a new token",
        {201: TokenAnswer},
        tag="accounts",
        body=LoginBody,
        key=True,
        token=False,
        errors=("bad_credentials", "answer_expired", "throttle_unavailable"),
    )
    def post(self, request: Request) -> HttpResponse:
        """Log in; attempts on one name count together, wherever they come from."""
        no_query(plain(request))
        strangers_key(plain(request))
        body = self.read(request, LoginBody)
        throttle.spend("login", name_of(username_key(body.username)))
        return self.enter(
            request,
            body,
            lambda: accounts.login(username=body.username, password=body.password),
        )


class GuestView(EntryView):
    """A player without name and password."""

    scopes: ClassVar[dict[str, str]] = {"POST": "guest"}

    @operation(
        "guest",
        "Become a guest",
        {201: TokenAnswer},
        tag="accounts",
        body=NoBody,
        key=True,
        token=False,
        errors=("answer_expired", "throttle_unavailable"),
    )
    def post(self, request: Request) -> HttpResponse:
        """A guest, known by the token alone."""
        no_query(plain(request))
        strangers_key(plain(request))
        return self.enter(request, self.read(request, NoBody), accounts.guest)


class UpgradeView(AccountView):
    """An account for a guest."""

    scopes: ClassVar[dict[str, str]] = {"POST": "write"}

    @operation(
        "upgrade",
        "Get an account, as a guest: name and password for the player that I am",
        {200: PlayerAnswer},
        tag="accounts",
        body=RegisterBody,
        key=True,
        errors=(
            "not_a_guest",
            "bad_username",
            "username_reserved",
            "username_taken",
            "bad_password",
            "bad_email",
            "answer_expired",
            "throttle_unavailable",
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Upgrade; matches stay, and so do tokens."""
        no_query(plain(request))
        idempotency_key(plain(request))
        who, body = caller(request), self.read(request, RegisterBody)
        throttle.spend("register", address_of(plain(request)))
        if body.email:
            count_mail(request, body.email)

        def effect() -> tuple[int, bytes]:
            player = accounts.upgrade(
                guest=who.id, username=body.username, password=body.password, email=body.email
            )
            emails.send_code(who.id)
            return 200, msgspec.json.encode(PlayerAnswer(person(player)))

        return self.once(request, body, effect)


class BotView(AccountView):
    """What makes a bot of me."""

    @operation(
        "become_bot",
        "Become a bot, for ever: only an account without matches can",
        {200: PlayerAnswer},
        tag="accounts",
        body=NoBody,
        key=True,
        errors=("not_fresh", "answer_expired"),
    )
    def post(self, request: Request) -> HttpResponse:
        """Become one; then tokens of the scope `bot` play."""
        who = caller(request)

        def effect() -> tuple[int, bytes]:
            return 200, msgspec.json.encode(PlayerAnswer(person(bot_accounts.become(who.id))))

        return self.once(request, self.read(request, NoBody), effect)


class LogoutView(ApiView):
    """The end of a token.

    Its own authentication is part of the effect: repeated with its key, the
    request is answered as before, although the token is gone.
    """

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @operation(
        "logout",
        "Revoke the token of this request",
        {204: None},
        tag="accounts",
        body=NoBody,
        key=True,
        errors=("answer_expired",),
    )
    def post(self, request: Request) -> HttpResponse:
        """Log out."""
        django = plain(request)
        token = bearer(django)
        if token is None:
            raise Problem("not_authenticated", headers={"WWW-Authenticate": "Bearer"})
        no_query(django)
        key = idempotency_key(django)
        body = self.read(request, NoBody)

        def effect() -> tuple[int, bytes]:
            caller_by(token)
            accounts.logout(token)
            return 204, b""

        done = idempotency.once(
            scope="token:" + hashlib.sha256(token.encode()).hexdigest()[:32],
            key=key,
            fingerprint=fingerprint(request.path_info, written(body)),
            effect=effect,
        )
        return HttpResponse(status=done.status)


class MeView(ApiView):
    """Who I am."""

    @operation("me", "Who I am", {200: PlayerAnswer}, tag="accounts")
    def get(self, request: Request) -> HttpResponse:
        """The caller."""
        self.query(request, NoQuery)
        return answer(PlayerAnswer(person(caller(request).ref)))


class PlayerView(ApiView):
    """Who somebody is."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @operation(
        "player",
        "A player by name",
        {200: PlayerAnswer},
        tag="players",
        path={"username": "The name, in any case."},
        token=False,
        errors=("unknown_player",),
    )
    def get(self, request: Request, username: str) -> HttpResponse:
        """The player."""
        self.query(request, NoQuery)
        found = queries.player_by_username(username)
        if found is None:
            raise Problem("unknown_player")
        return answer(PlayerAnswer(person(found)))
