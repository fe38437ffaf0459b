"""Tables of Django's own kind: players, seeks, answers to repeated requests, what is kept by hand.

The log itself is no model: it lives in the schema `es`, which only
`matches.eventstore` touches.
"""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Iterable
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower, Now

from matches.lookalikes import skeleton

USERNAME_LENGTH = 40
"""Longest name a row can hold; what a player may choose is the services' to say."""


def username_key(username: str) -> str:
    """What two names share that must not both exist: case and compatibility forms folded.

    >>> username_key("Ｍｉｓｔｙ") == username_key("misty")
    True
    """
    folded = unicodedata.normalize("NFKC", username).casefold()
    return unicodedata.normalize("NFKC", folded)


class PlayerManager(BaseUserManager["Player"]):
    """Makes players and finds them by name, whatever its case."""

    def get_by_natural_key(self, username: str | None) -> Player:
        """The player of that name; raises `Player.DoesNotExist`."""
        return self.get(username_key=username_key(username or ""))

    def create_user(self, username: str, password: str | None = None, **fields: Any) -> Player:
        """Make a player; without a password it can log in by token only.

        Raises `IntegrityError` if the name is taken.
        """
        player = self.model(username=self.model.normalize_username(username), **fields)
        player.set_password(password)
        player.save(using=self._db, force_insert=True)
        return player

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> Player:
        """Make a member of staff who may do everything."""
        return self.create_user(username, password, is_staff=True, is_superuser=True, **fields)


class Player(AbstractBaseUser, PermissionsMixin):
    """Somebody, or a program, that plays.

    The log and every client know a player by `public_id` only; `id` stays
    inside. A guest has a generated name and no password.
    """

    class Kind(models.TextChoices):
        """Who is behind a player."""

        REGISTERED = "registered"
        GUEST = "guest"
        COMPUTER = "computer"
        BOT = "bot"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.REGISTERED)
    username = models.CharField(max_length=USERNAME_LENGTH, unique=True)
    # Folding may make three characters of one.
    username_key = models.CharField(max_length=3 * USERNAME_LENGTH, unique=True, editable=False)
    # Null: it looked like an older name already when this began to matter.
    lookalike = models.CharField(max_length=320, unique=True, null=True, editable=False)  # noqa: DJ001
    email = models.EmailField(blank=True)
    email_verified = models.BooleanField(default=False, db_default=False)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[PlayerManager] = PlayerManager()

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        """Only people with an account of their own can be staff."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(kind__in=("registered", "guest", "computer", "bot")),
                name="player_kind",
            ),
            models.CheckConstraint(
                condition=models.Q(kind="registered")
                | models.Q(is_staff=False, is_superuser=False),
                name="player_staff_is_registered",
            ),
            models.CheckConstraint(
                condition=models.Q(email_verified=False) | ~models.Q(email=""),
                name="player_email_verified",
            ),
            models.UniqueConstraint(
                Lower("email"),
                condition=models.Q(email_verified=True),
                name="player_email_once",
            ),
        )

    def save(
        self,
        *args: Any,
        update_fields: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Save the player, with the keys of its name beside the name."""
        self.username_key = username_key(self.username)
        if update_fields is not None and "username" in update_fields:
            update_fields = {*update_fields, "username_key", "lookalike"}
        if self._state.adding or (update_fields is not None and "username" in update_fields):
            self.lookalike = skeleton(self.username)
        super().save(*args, update_fields=update_fields, **kwargs)


class Offer(models.Model):
    """A match of these terms for whoever accepts it, and the match that accepting makes.

    Players are public ids. `match_id` is reserved: whoever finishes an accepted
    offer, and however often, makes the one match of that id. `made` says that it
    is there. Instants are the database clock's.
    """

    OPEN: ClassVar[models.Q] = models.Q(taken_by__isnull=True)
    """What an offer that can still be accepted is like, but for its time."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    match_id = models.UUIDField(unique=True)
    player = models.UUIDField()
    ruleset = models.CharField(max_length=64)
    rules_version = models.PositiveIntegerField()
    options = models.JSONField()
    control = models.CharField(max_length=64)
    rated = models.BooleanField()
    created_ms = models.BigIntegerField()
    expires_ms = models.BigIntegerField(db_index=True)
    taken_by = models.UUIDField(null=True)
    taken_ms = models.BigIntegerField(null=True)
    made = models.BooleanField(default=False)

    class Meta:
        """What every kind of offer is held to."""

        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=models.Q(taken_by__isnull=True, taken_ms__isnull=True, made=False)
                | models.Q(taken_by__isnull=False, taken_ms__isnull=False),
                name="%(class)s_taken_when",
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("taken_ms",),
                condition=models.Q(taken_by__isnull=False, made=False),
                name="%(class)s_unfinished",
            ),
        )

    def __str__(self) -> str:
        """The offer with its player."""
        return f"{self.id} of {self.player}"

    @property
    def answered(self) -> bool:
        """Whether somebody has answered it, so that it is not open any more."""
        return self.taken_by is not None

    def sides(self, taker: uuid.UUID) -> tuple[uuid.UUID, uuid.UUID]:
        """Who sits where once the taker has accepted: the player in seat 0."""
        return self.player, taker


class Seek(Offer):
    """Somebody who looks for an opponent, for whoever's rating is within the range."""

    rating = models.IntegerField(null=True)
    rating_min = models.IntegerField(null=True)
    rating_max = models.IntegerField(null=True)

    class Meta(Offer.Meta):
        """One open seek a player; an accepted one is not open."""

        constraints = (
            *Offer.Meta.constraints,
            models.UniqueConstraint(
                fields=("player",),
                condition=models.Q(taken_by__isnull=True),
                name="seek_open_once",
            ),
        )


class Challenge(Offer):
    """Somebody who asks one player for a match; `declined` is the reason of a refusal."""

    OPEN: ClassVar[models.Q] = models.Q(taken_by__isnull=True, declined__isnull=True)

    opponent = models.UUIDField()
    declined = models.CharField(max_length=16, null=True)  # noqa: DJ001 - null: not declined

    class Meta(Offer.Meta):
        """One open challenge of a player to another; what is accepted is not declined."""

        constraints = (
            *Offer.Meta.constraints,
            models.UniqueConstraint(
                fields=("player", "opponent"),
                condition=models.Q(taken_by__isnull=True, declined__isnull=True),
                name="challenge_open_once",
            ),
            models.CheckConstraint(
                condition=models.Q(taken_by__isnull=True) | models.Q(declined__isnull=True),
                name="challenge_answered_once",
            ),
        )
        indexes = (
            *Offer.Meta.indexes,
            models.Index(fields=("opponent", "-created_ms"), name="challenge_received"),
        )

    @property
    def answered(self) -> bool:
        """Whether it was accepted or declined."""
        return self.taken_by is not None or self.declined is not None


class Rematch(Offer):
    """A seat of a match that is over asks the other for another one, with the same seats.

    `seat` is the player's in both, `first_dealer` deals first in the new one.
    """

    rematch_of = models.UUIDField(unique=True)
    opponent = models.UUIDField()
    seat = models.PositiveSmallIntegerField()
    first_dealer = models.PositiveSmallIntegerField()

    class Meta(Offer.Meta):
        """One rematch a match, whoever offers it."""

    def sides(self, taker: uuid.UUID) -> tuple[uuid.UUID, uuid.UUID]:
        """The seats of the match before."""
        return (self.player, taker) if self.seat == 0 else (taker, self.player)


class Pairing(models.Model):
    """Somebody who waits to be paired with whoever comes, and then the match of both.

    Players are public ids. As with a seek, `match_id` is reserved when two are
    paired, and `made` says that the match is there.
    """

    player = models.UUIDField(primary_key=True)
    ruleset = models.CharField(max_length=64)
    control = models.CharField(max_length=64)
    rated = models.BooleanField()
    rating = models.IntegerField(null=True)
    since_ms = models.BigIntegerField()
    expires_ms = models.BigIntegerField(db_index=True)
    opponent = models.UUIDField(null=True)
    match_id = models.UUIDField(null=True)
    paired_ms = models.BigIntegerField(null=True)
    made = models.BooleanField(default=False)

    class Meta:
        """Whoever is paired has an opponent and a match, all others neither."""

        constraints = (
            models.CheckConstraint(
                condition=models.Q(
                    opponent__isnull=True, match_id__isnull=True, paired_ms__isnull=True, made=False
                )
                | models.Q(opponent__isnull=False, match_id__isnull=False, paired_ms__isnull=False),
                name="pairing_whole",
            ),
        )
        indexes = (
            models.Index(
                fields=("ruleset", "control", "rated", "since_ms"),
                condition=models.Q(match_id__isnull=True),
                name="pairing_waiting",
            ),
            models.Index(
                fields=("paired_ms",),
                condition=models.Q(match_id__isnull=False, made=False),
                name="pairing_unfinished",
            ),
        )

    def __str__(self) -> str:
        """The player and where it waits."""
        return f"{self.player} at {self.ruleset} {self.control}"


class Start(models.Model):
    """What ratings said of the players when a match began: written once, read for ever."""

    match_id = models.UUIDField(primary_key=True)
    standings = models.JSONField()

    class Meta:
        """Named as SQL reads it."""

        db_table = "matches_start"

    def __str__(self) -> str:
        """The match."""
        return str(self.match_id)


class Profile(models.Model):
    """What a player says of itself, and how its clients show the game; none: nothing yet."""

    player = models.OneToOneField(Player, on_delete=models.CASCADE, primary_key=True)
    bio = models.CharField(max_length=500, blank=True)
    country = models.CharField(max_length=2, blank=True)
    language = models.CharField(max_length=8, blank=True)
    pieces = models.CharField(max_length=8, blank=True)
    notation = models.CharField(max_length=8, blank=True)

    def __str__(self) -> str:
        """Whose it is."""
        return f"profile of {self.player_id}"


class RetiredName(models.Model):
    """A name whose account was closed, as `lookalikes.skeleton` has it: nobody gets it again."""

    lookalike = models.CharField(max_length=320, primary_key=True)

    def __str__(self) -> str:
        """The skeleton."""
        return self.lookalike


class SeenAddress(models.Model):
    """That a player (public id) came from an address, of which there is only a keyed hash."""

    player = models.UUIDField()
    address = models.CharField(max_length=32, db_index=True)
    last_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        """One row a player and address."""

        constraints = (
            models.UniqueConstraint(fields=("player", "address"), name="seen_address_once"),
        )

    def __str__(self) -> str:
        """The player and the hash."""
        return f"{self.player} from {self.address}"


class Flag(models.Model):
    """A fact about two players (public ids, the lower first) on one day, for moderators."""

    class Kind(models.TextChoices):
        """What there is to look into."""

        SHARED_ADDRESS = "shared_address"
        MANY_MATCHES = "many_matches"

    kind = models.CharField(max_length=16, choices=Kind.choices)
    one = models.UUIDField()
    other = models.UUIDField()
    day = models.DateField()
    count = models.PositiveIntegerField()

    class Meta:
        """One row a fact and day."""

        constraints = (
            models.UniqueConstraint(fields=("kind", "one", "other", "day"), name="flag_once"),
        )
        indexes = (models.Index(fields=("-day", "kind"), name="flag_newest"),)

    def __str__(self) -> str:
        """The fact in words."""
        return f"{self.day} {self.kind} {self.count}: {self.one} and {self.other}"


class TokenScope(models.Model):
    """What a token made by hand is called and may do; without a row it came from a log-in."""

    # No constraint of the database's: an older release deletes a token and leaves this.
    token = models.OneToOneField(
        "knox.AuthToken",
        on_delete=models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="named",
    )
    name = models.CharField(max_length=40)
    scope = models.CharField(max_length=8)

    class Meta:
        """Scopes are few."""

        db_table = "matches_token_scope"
        constraints = (
            models.CheckConstraint(
                condition=models.Q(scope__in=("play", "bot", "read")), name="token_scope"
            ),
        )

    def __str__(self) -> str:
        """The name and the scope."""
        return f"{self.name} ({self.scope})"


class WriteKey(models.Model):
    """One idempotent write that is no command of a match, and the answer it got.

    `scope` is who asked, `key` what they called it, `fingerprint` tells another
    request apart. `answer` is sealed, since it may hold a token; it and `status`
    are empty while the first request is still at work.
    """

    scope = models.CharField(max_length=80)
    key = models.CharField(max_length=64)
    fingerprint = models.BigIntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        """A key means one request."""

        constraints = (
            models.UniqueConstraint(fields=("scope", "key"), name="write_key_once"),
            models.CheckConstraint(
                condition=models.Q(status__isnull=True, answer__isnull=True)
                | models.Q(status__isnull=False, answer__isnull=False),
                name="write_key_answered",
            ),
        )

    def __str__(self) -> str:
        """The key with its scope."""
        return f"{self.scope}:{self.key}"


class ComputerTurn(models.Model):
    """A reminder that the computer acts in a match at `due_ms`, null while it waits for others.

    `version` is that of the match which it was written for. A hint and nothing
    more: `matches.eventstore.turns` writes and takes the rows.
    """

    match_id = models.UUIDField(primary_key=True)
    version = models.PositiveIntegerField()
    due_ms = models.BigIntegerField(null=True, db_index=True)

    class Meta:
        """Named as SQL reads it."""

        db_table = "matches_computer_turn"

    def __str__(self) -> str:
        """The match."""
        return str(self.match_id)


class Presence(models.Model):
    """When a player (public id) was last heard of, in ms of the database clock.

    `matches.eventstore.presence` writes and reads the rows.
    """

    player = models.UUIDField(primary_key=True)
    seen_ms = models.BigIntegerField()

    class Meta:
        """Named as SQL reads it."""

        db_table = "matches_presence"

    def __str__(self) -> str:
        """The player."""
        return str(self.player)
