"""E-mail addresses: given, verified by a code, and the way back to a forgotten password.

A code is signed and says what it is for. It works once: one that verifies names
the address and works while that is unverified, one that sets a password is bound
to the password so far.
"""

from __future__ import annotations

from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction

from matches.models import Player
from matches.services import accounts, mails
from matches.services.accounts import Identity
from matches.services.errors import ServiceError

VERIFY_S = 3 * 24 * 3600
"""A code that verifies an address is good for so long; one for a password, for
`PASSWORD_RESET_TIMEOUT`."""
_SALT = "xqmj.email"


def change(*, who: Identity, email: str, password: str) -> None:
    """Give the account another address, or none (""); for a transaction.

    The new one is unverified, and a code is sent to it. Raises `ServiceError`
    account_needed, wrong_password, bad_email.
    """
    player = Player.objects.select_for_update(no_key=True).get(public_id=who.id)
    accounts.check_password_of(player, password)
    email = accounts.checked_email(email)
    if email == player.email and player.email_verified:
        return
    player.email, player.email_verified = email, False
    player.save(update_fields=["email", "email_verified"])
    send_code(who.id)


def send_code(player: str) -> None:
    """Send the player (public id in hex) a code for its unverified address, after the commit."""
    transaction.on_commit(lambda: mails.put(lambda: _verification(player)))


def verify(code: str) -> None:
    """Take a code from a mail: its address is verified; for a transaction.

    Raises `ServiceError` bad_code, and email_taken where another account has
    verified the address meanwhile.
    """
    try:
        public_id, email = signing.loads(code, salt=_SALT, max_age=VERIFY_S)
    except (signing.BadSignature, ValueError, TypeError):
        raise ServiceError("bad_code") from None
    waiting = Player.objects.filter(public_id=public_id, email=email, email_verified=False)
    try:
        with transaction.atomic():
            if not waiting.update(email_verified=True):
                raise ServiceError("bad_code")
    except IntegrityError:
        raise ServiceError("email_taken") from None


def forgot(email: str) -> None:
    """Send a code for another password to the address, if an account has verified it."""
    transaction.on_commit(lambda: mails.put(lambda: _reset(email)))


def reset(*, code: str, password: str) -> None:
    """Set another password by a code from a mail, and revoke every token; for a transaction.

    Raises `ServiceError` bad_code, bad_password.
    """
    public_id, _, token = code.partition(".")
    player = _named(public_id)
    if player is None or not default_token_generator.check_token(player, token):
        raise ServiceError("bad_code")
    accounts.set_password(player, password)


def _named(public_id: str) -> Player | None:
    """The player of an id that anybody may have written, its row locked."""
    if len(public_id) != 32 or not set(public_id) <= set("0123456789abcdef"):
        return None
    found = Player.objects.select_for_update(no_key=True).filter(public_id=public_id)
    return found.filter(is_active=True, email_verified=True).first()


def _verification(public_id: str) -> EmailMessage | None:
    player = Player.objects.filter(public_id=public_id, email_verified=False).first()
    if player is None or not player.email:
        return None
    code = signing.dumps((player.public_id.hex, player.email), salt=_SALT)
    text = f"To confirm that this is the address of {player.username}, use this within three days:"
    return mails.coded(to=player.email, action="verify", text=text, code=code)


def _reset(email: str) -> EmailMessage | None:
    player = Player.objects.filter(email__iexact=email, email_verified=True, is_active=True).first()
    if player is None or not player.has_usable_password():
        return None
    code = f"{player.public_id.hex}.{default_token_generator.make_token(player)}"
    text = f"To give {player.username} another password, use this within the hour:"
    return mails.coded(to=player.email, action="reset", text=text, code=code)
