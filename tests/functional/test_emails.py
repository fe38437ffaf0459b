"""E-mail addresses: verified by a code, and the way back to a forgotten password."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail
from django.db import connections

from matches.models import Player as PlayerRow
from matches.services import accounts, mails
from matches.services.throttling import throttle
from tests.support import api
from tests.support.api import PASSWORD, Answer, Api, InProcess, Player, fresh_name

pytestmark = pytest.mark.django_db(transaction=True)

OTHER = "staple battery horse"


def address() -> str:
    return f"{uuid4().hex[:12]}@example.org"


def sent(email: str) -> list[Any]:
    """The mails to an address."""
    mails.flush()
    return [one for one in mail.outbox if one.to == [email]]


def code_to(email: str) -> str:
    """The code in the newest mail to an address."""
    found = sent(email)[-1].body.split("\n\n")[1]
    assert re.fullmatch(r"[\w.:-]+", found)
    return str(found)


def verify(code: str) -> Answer:
    return Api(InProcess()).post("auth/email/verify", {"code": code})


def forgot(email: str) -> Answer:
    return Api(InProcess()).post("auth/password/forgot", {"email": email})


def reset(code: str, password: str = OTHER) -> Answer:
    return Api(InProcess()).post("auth/password/reset", {"code": code, "password": password})


def registered(email: str, *, verified: bool = True) -> Player:
    name = fresh_name()
    body = {"username": name, "password": PASSWORD, "email": email}
    made = Api(InProcess()).post("auth/register", body).json
    if verified:
        assert verify(code_to(email)).status == 204
    return Player(InProcess(), made["token"], id=made["player"]["id"], username=name)


class TestAddress:
    def test_given_at_registration_is_verified_by_the_code_in_its_mail(self) -> None:
        email = address()
        ada = registered(email, verified=False)
        assert ada.get("me/email").json == {"email": email, "verified": False}

        code = code_to(email)
        answer = verify(code)

        assert (answer.status, answer.raw) == (204, b"")
        assert ada.get("me/email").json == {"email": email, "verified": True}
        assert verify(code).code == "bad_code"
        assert email not in ada.get(f"players/{ada.username}").raw.decode()

    def test_given_later_is_asked_for_the_password_and_sent_a_code(self) -> None:
        ada, email = api.registered(InProcess()), address()
        assert ada.get("me/email").json == {"email": None, "verified": False}

        assert ada.post("me/email", {"email": email, "password": PASSWORD}).status == 204

        assert verify(code_to(email)).status == 204
        assert ada.post("me/email", {"email": email, "password": PASSWORD}).status == 204
        assert ada.get("me/email").json == {"email": email, "verified": True}
        assert ada.post("me/email", {"email": "", "password": PASSWORD}).status == 204
        assert ada.get("me/email").json == {"email": None, "verified": False}

    def test_of_a_guest_who_stays_is_verified_too(self) -> None:
        guest, email = api.guest(InProcess()), address()
        body = {"username": fresh_name(), "password": PASSWORD, "email": email}
        assert guest.post("auth/upgrade", body).status == 200

        assert verify(code_to(email)).status == 204

    def test_that_was_replaced_is_not_verified_by_its_code(self) -> None:
        first, second = address(), address()
        ada = registered(first, verified=False)
        code = code_to(first)
        ada.post("me/email", {"email": second, "password": PASSWORD})

        assert verify(code).code == "bad_code"
        assert ada.get("me/email").json == {"email": second, "verified": False}

    def test_is_verified_for_one_account(self) -> None:
        email = address()
        codes = []
        for _ in range(2):
            registered(email.upper(), verified=False)
            codes.append(code_to(email.upper()))

        assert verify(codes[0]).status == 204
        assert verify(codes[1]).code == "email_taken"

    def test_is_not_verified_by_a_code_of_another_make(self) -> None:
        email = address()
        registered(email, verified=False)
        code = code_to(email)

        assert verify(code[:-1] + ("A" if code[-1] != "A" else "B")).code == "bad_code"
        assert verify(code.partition(":")[2]).code == "bad_code"

    def test_is_shown_to_no_token_that_only_reads(self) -> None:
        ada = registered(address())
        reader = Api(InProcess(), api.granted(ada, scope="read")["token"])

        assert reader.get("me/email").code == "scope_forbids"

    def test_stands_in_a_link_where_there_are_links(self, settings: Any) -> None:
        settings.XQMJ_MAIL_LINK = "https://xqmj.example/{action}?code={code}"
        email = address()
        registered(email, verified=False)

        assert "\n\nhttps://xqmj.example/verify?code=" in sent(email)[0].body


class TestForgottenPassword:
    def test_is_replaced_by_a_code_that_works_once_and_revokes_all(self) -> None:
        email = address()
        ada = registered(email)
        assert forgot(email.upper()).status == 202
        code = code_to(email)

        answer = reset(code)

        assert (answer.status, answer.raw) == (204, b"")
        assert ada.get("me").code == "bad_token"
        names = {"username": ada.username}
        login = Api(InProcess())
        assert login.post("auth/login", {**names, "password": PASSWORD}).code == "bad_credentials"
        assert login.post("auth/login", {**names, "password": OTHER}).status == 201
        assert reset(code, PASSWORD).code == "bad_code"

    def test_is_answered_the_same_whatever_the_address_is(self) -> None:
        known, unverified = address(), address()
        registered(known)
        registered(unverified, verified=False)
        mails.flush()
        before = len(mail.outbox)

        answers = [forgot(one) for one in (known, unverified, address(), "no address", "")]

        assert {(one.status, one.raw) for one in answers} == {(202, b"")}
        mails.flush()
        assert [one.to for one in mail.outbox[before:]] == [[known]]

    def test_is_looked_up_by_another_thread(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So that an answer takes no longer where there is somebody to write to."""
        put: list[mails.Write] = []
        monkeypatch.setattr(mails, "put", put.append)
        monkeypatch.setattr(PlayerRow, "objects", None)

        assert forgot(address()).status == 202
        assert len(put) == 1

    def test_stays_after_a_weak_one_and_the_code_still_works(self) -> None:
        email = address()
        registered(email)
        forgot(email)
        code = code_to(email)

        assert reset(code, "short").code == "bad_password"
        assert reset(code).status == 204

    def test_stays_when_the_code_is_an_hour_old(self, settings: Any) -> None:
        email = address()
        registered(email)
        forgot(email)
        code = code_to(email)
        settings.PASSWORD_RESET_TIMEOUT = -1

        assert reset(code).code == "bad_code"

    def test_stays_when_the_password_was_changed_meanwhile(self) -> None:
        email = address()
        ada = registered(email)
        forgot(email)
        code = code_to(email)
        assert ada.post("auth/password", {"old": PASSWORD, "new": OTHER}).status == 204

        assert reset(code).code == "bad_code"

    def test_is_of_no_use_to_a_closed_account(self) -> None:
        email = address()
        ada = registered(email)
        forgot(email)
        code = code_to(email)
        assert ada.post("me/close", {"password": PASSWORD}).status == 204

        assert reset(code).code == "bad_code"
        assert forgot(email).status == 202
        assert len(sent(email)) == 2

    def test_is_replaced_once_by_many_at_once(self) -> None:
        email = address()
        registered(email)
        forgot(email)
        code = code_to(email)

        def attempt(number: int) -> int:
            try:
                return reset(code, f"{OTHER} {number}").status
            finally:
                connections.close_all()

        with ThreadPoolExecutor(6) as threads:
            statuses = sorted(threads.map(attempt, range(6)))

        assert statuses == [204, *[400] * 5]


class TestLimits:
    def test_count_mails_by_address_and_by_mailbox(self, monkeypatch: pytest.MonkeyPatch) -> None:
        spent: list[tuple[str, str]] = []
        monkeypatch.setattr(throttle, "spend", lambda *one: spent.append(one))

        forgot("Ada@example.org")
        forgot("ada@example.org")

        mailed = [who for scope, who in spent if scope == "mail"]
        assert len(mailed) == 4
        assert mailed[0] == mailed[2]
        assert mailed[1] == mailed[3]
        assert "example" not in "".join(mailed)

    def test_refuse_an_address_that_would_head_another_mail(self) -> None:
        with pytest.raises(Exception, match="bad_email"):
            accounts.checked_email("a@example.org\nBcc: b@example.org")
