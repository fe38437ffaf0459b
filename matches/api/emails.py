"""My e-mail address, and the way back to a forgotten password."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse
from rest_framework.request import Request

from matches.api.answers import EmailAnswer, answer
from matches.api.base import AccountView, StrangersView, caller, count_mail
from matches.api.bodies import CodeBody, EmailBody, ForgotBody, NoQuery, ResetBody
from matches.api.drf import plain
from matches.api.requests import strangers_key
from matches.api.schema import operation
from matches.models import Player
from matches.services import accounts, emails
from matches.services.throttling import throttle

_MAILED = ("answer_expired", "throttle_unavailable")


class EmailView(AccountView):
    """My address."""

    @operation("email", "My e-mail address", {200: EmailAnswer}, tag="accounts")
    def get(self, request: Request) -> HttpResponse:
        """It, and whether it is verified."""
        self.query(request, NoQuery)
        who = caller(request)
        accounts.check_may_manage(who)
        row = Player.objects.get(public_id=who.id)
        return answer(EmailAnswer(row.email or None, row.email_verified))

    @operation(
        "change_email",
        "Change my e-mail address: a code is sent to the new one",
        {204: None},
        tag="accounts",
        body=EmailBody,
        key=True,
        errors=("account_needed", "wrong_password", "bad_email", *_MAILED),
    )
    def post(self, request: Request) -> HttpResponse:
        """Change it; attempts are counted like log-ins, and mails by mailbox."""
        who, body = caller(request), self.read(request, EmailBody)
        throttle.spend("login", who.id)
        if body.email:
            count_mail(request, body.email)

        def effect() -> tuple[int, bytes]:
            emails.change(who=who, email=body.email, password=body.password)
            return 204, b""

        return self.once(request, body, effect)


class VerifyView(StrangersView):
    """An address is somebody's who reads its mails."""

    scopes: ClassVar[dict[str, str]] = {"POST": "login"}

    @operation(
        "verify_email",
        "Verify an e-mail address by a code from a mail",
        {204: None},
        tag="accounts",
        body=CodeBody,
        key=True,
        token=False,
        errors=("bad_code", "email_taken", *_MAILED),
    )
    def post(self, request: Request) -> HttpResponse:
        """Verify it."""
        body = self.read(request, CodeBody)

        def effect() -> tuple[int, bytes]:
            emails.verify(body.code)
            return 204, b""

        return self.once(request, body, effect)


class ForgotView(StrangersView):
    """A password was forgotten."""

    scopes: ClassVar[dict[str, str]] = {}

    @operation(
        "forgot_password",
        "Have a code for another password sent to an address, if an account has verified it",
        {202: None},
        tag="accounts",
        body=ForgotBody,
        key=True,
        token=False,
        errors=_MAILED,
    )
    def post(self, request: Request) -> HttpResponse:
        """Send it, perhaps: the answer is the same, and as fast, whatever the address is."""
        strangers_key(plain(request))
        body = self.read(request, ForgotBody)
        count_mail(request, body.email)

        def effect() -> tuple[int, bytes]:
            emails.forgot(body.email)
            return 202, b""

        return self.once(request, body, effect)


class ResetView(StrangersView):
    """Another password."""

    scopes: ClassVar[dict[str, str]] = {"POST": "login"}

    @operation(
        "reset_password",
        "Set another password by a code from a mail: every token is revoked",
        {204: None},
        tag="accounts",
        body=ResetBody,
        key=True,
        token=False,
        errors=("bad_code", "bad_password", *_MAILED),
    )
    def post(self, request: Request) -> HttpResponse:
        """Set it."""
        body = self.read(request, ResetBody)

        def effect() -> tuple[int, bytes]:
            emails.reset(code=body.code, password=body.password)
            return 204, b""

        return self.once(request, body, effect)
