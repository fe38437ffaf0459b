"""Accounts and tokens: register, log in and out, guests, and who a token speaks for.

Tokens are django-rest-knox's: only their hashes are stored, they expire by the
database clock, and each can be revoked.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from knox.models import AuthToken
from knox.settings import knox_settings

from matches.lookalikes import skeleton
from matches.models import Player, RetiredName, username_key
from matches.services import names, people, presence, tokens
from matches.services.errors import ServiceError
from matches.services.people import PlayerRef

PASSWORD_LENGTH = 256
"""Longest password: hashing one of any length would be a gift to whoever sends many."""
EMAIL_LENGTH = 254


class Identity(msgspec.Struct, frozen=True):
    """Whom a token speaks for: public id in hex, kind, and the name of whoever has chosen one.

    `scope` is what the token may do: `play` everything, `bot` what a bot account
    needs to play, `read` nothing but read.
    """

    id: str
    kind: str
    username: str | None
    scope: str = "play"

    @property
    def ref(self) -> PlayerRef:
        """The same as everybody may know it."""
        return PlayerRef(self.id, self.username, self.kind)


class Session(msgspec.Struct, frozen=True):
    """A new token, shown this once."""

    token: str
    expires_at_ms: int | None
    identity: Identity


def register(*, username: str, password: str, email: str | None = None) -> Session:
    """Make an account and log it in.

    Raises `ServiceError` bad_username, username_reserved, username_taken,
    bad_password (`reasons`), bad_email.
    """
    username = names.chosen(username)
    email = checked_email(email)
    _check_password(password, Player(username=username, email=email))
    try:
        with transaction.atomic():
            player = Player.objects.create_user(username, password, email=email)
            _refuse_retired(username)
    except IntegrityError:
        raise ServiceError("username_taken") from None
    return _session(player)


def guest() -> Session:
    """Make a player without name and password, known by its token alone."""
    player = Player.objects.create_user(names.for_guest(), None, kind=Player.Kind.GUEST)
    return _session(player)


def upgrade(*, guest: str, username: str, password: str, email: str | None = None) -> PlayerRef:
    """Make an account of a guest (public id in hex), who stays the same player: matches, tokens.

    Other processes may take it for a guest for `tokens.TRUSTED_S` yet. Raises
    `ServiceError`: not_a_guest, and as `register` does.
    """
    username = names.chosen(username)
    email = checked_email(email)
    _check_password(password, Player(username=username, email=email))
    hashed = make_password(password)
    try:
        with transaction.atomic():
            # Whoever is faster decides: a second request finds an account.
            changed = Player.objects.filter(public_id=guest, kind=Player.Kind.GUEST).update(
                kind=Player.Kind.REGISTERED,
                username=username,
                username_key=username_key(username),
                lookalike=skeleton(username),
                password=hashed,
                email=email,
            )
            _refuse_retired(username)
    except IntegrityError:
        raise ServiceError("username_taken") from None
    if not changed:
        raise ServiceError("not_a_guest")
    transaction.on_commit(lambda: _known_anew(guest))
    return PlayerRef(guest, username, Player.Kind.REGISTERED)


def _refuse_retired(username: str) -> None:
    """Refuse the name of a closed account, once the row is there: no closing slips in between."""
    if RetiredName.objects.filter(lookalike=skeleton(username)).exists():
        raise ServiceError("username_taken")


def _known_anew(player: str) -> None:
    """Forget in this process who a player was."""
    people.forget(player)
    tokens.forget(player)


def login(*, username: str, password: str) -> Session:
    """A new token for an account.

    Raises `ServiceError` bad_credentials, in the same words and after the same
    work whether the name or the password is wrong.
    """
    player = _player_of(username)
    if player is None or not _can_be_hashed(password):
        make_password("somebody else's password")
        raise ServiceError("bad_credentials")

    def rehash(raw: str) -> None:
        player.set_password(raw)
        player.save(update_fields=["password"])

    if not check_password(password, player.password, rehash) or not player.is_active:
        raise ServiceError("bad_credentials")
    AuthToken.objects.filter(user=player, expiry__lt=Now()).delete()
    return _session(player)


def logout(token: str) -> None:
    """Revoke a token: at once in this process, within `tokens.TRUSTED_S` in every other."""
    digest = tokens.digest_of(token)
    AuthToken.objects.filter(digest=digest).delete()
    # A transaction that fails leaves the token as good as it was, here as elsewhere.
    transaction.on_commit(lambda: tokens.revoked(digest))


def authenticate(token: str, *, trusted_s: float | None = None) -> Identity:
    """Whom a token speaks for; at most one trip, none if it was seen in the last five seconds.

    A stream, which asks again and again, wants to know sooner: `trusted_s`.
    Raises `ServiceError` bad_token, unavailable.
    """
    found = tokens.look_up(token, trusted_s=trusted_s)
    if found is None:
        raise ServiceError("bad_token")
    presence.note(found.public_id)
    return Identity(found.public_id, found.kind, found.username, found.scope)


def check_may_play(who: Identity) -> None:
    """Refuse a token that may not play: a bot account's must be made for it.

    Raises `ServiceError` scope_forbids.
    """
    if who.scope != ("bot" if who.kind == "bot" else "play"):
        raise ServiceError("scope_forbids")


def check_may_manage(who: Identity) -> None:
    """Refuse a token that may not change its account; raises `ServiceError` scope_forbids."""
    if who.scope != "play":
        raise ServiceError("scope_forbids")


def check_password_of(player: Player, password: str) -> None:
    """Refuse whoever does not know the player's password.

    Raises `ServiceError` account_needed (of a guest), wrong_password.
    """
    if not player.has_usable_password():
        raise ServiceError("account_needed")
    if not _can_be_hashed(password) or not check_password(password, player.password):
        raise ServiceError("wrong_password")


def change_password(*, who: Identity, old: str, new: str, digest: str) -> None:
    """Give the account another password; only the token of this digest stays good.

    For a transaction. Raises `ServiceError` account_needed, wrong_password, bad_password.
    """
    player = Player.objects.select_for_update(no_key=True).get(public_id=who.id)
    check_password_of(player, old)
    set_password(player, new, but=digest)


def set_password(player: Player, password: str, *, but: str = "") -> None:
    """Set another password and revoke the player's tokens, but the one of that digest.

    For a transaction. Raises `ServiceError` bad_password.
    """
    _check_password(password, player)
    player.set_password(password)
    player.save(update_fields=["password"])
    revoke_all(player, but=but)


def revoke_all(player: Player, *, but: str = "") -> int:
    """Revoke every token of the player except the one of that digest; returns how many."""
    found = AuthToken.objects.filter(user=player).exclude(digest=but)
    digests = list(found.values_list("digest", flat=True))
    found.filter(digest__in=digests).delete()

    def forget() -> None:
        for one in digests:
            tokens.revoked(one)

    transaction.on_commit(forget)
    return len(digests)


def still_good(token: str, player: str, *, trusted_s: float) -> bool:
    """Whether a token that spoke for the player was looked up that lately; costs no trip.

    Where it was, the player is there. False says nothing: `authenticate` has to.
    """
    if not tokens.is_fresh(token, trusted_s=trusted_s):
        return False
    presence.note(player)
    return True


def _player_of(username: str) -> Player | None:
    if not names.may_exist(username):
        return None
    try:
        player = Player.objects.get_by_natural_key(username)
    except Player.DoesNotExist:
        return None
    return player if player.has_usable_password() else None


def checked_email(email: str | None) -> str:
    """The address as it is kept, "" for none; raises `ServiceError` bad_email."""
    if not email:
        return ""
    try:
        validate_email(email)
    except ValidationError:
        raise ServiceError("bad_email") from None
    if len(email) > EMAIL_LENGTH:
        raise ServiceError("bad_email")
    return email


def _check_password(password: str, player: Player) -> None:
    if not _can_be_hashed(password):
        too_long = len(password) > PASSWORD_LENGTH
        reason = "password_too_long" if too_long else "password_invalid"
        raise ServiceError("bad_password", {"reasons": [reason]})
    try:
        validate_password(password, player)
    except ValidationError as error:
        reasons = sorted({one.code or "password_invalid" for one in error.error_list})
        raise ServiceError("bad_password", {"reasons": reasons}) from None


def _can_be_hashed(password: str) -> bool:
    """Whether it is no longer than a password may be, and can be written as bytes."""
    return len(password) <= PASSWORD_LENGTH and not any("\ud800" <= c <= "\udfff" for c in password)


def stored_token(player: Player, *, days: int | None = None) -> tuple[AuthToken, str]:
    """A new token's row, and the token; it lasts so many days, or as `REST_KNOX` says."""
    lifetime = knox_settings.TOKEN_TTL if days is None else timedelta(days)
    stored, token = AuthToken.objects.create(user=player, expiry=lifetime)
    if lifetime is not None:
        # knox goes by this machine's clock, and whoever looks the token up by the database's.
        AuthToken.objects.filter(pk=stored.pk).update(expiry=Now() + lifetime)
        stored.refresh_from_db(fields=["expiry"])
    return stored, token


def _session(player: Player) -> Session:
    stored, token = stored_token(player)
    expiry: datetime | None = stored.expiry
    named = player.kind != Player.Kind.GUEST
    identity = Identity(player.public_id.hex, str(player.kind), player.username if named else None)
    return Session(token, None if expiry is None else round(expiry.timestamp() * 1000), identity)
