"""Tables: the rating log, which nothing can change, and what is projected from it."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar
from uuid import UUID

import msgspec
from django.db import models
from django.db.models.functions import Now

from ratings.fold import Entry, Standing
from ratings.glicko2 import Glicko, settled_ms


def _points() -> models.DecimalField[Decimal, Decimal]:
    """A rating or a deviation: 6 places, as quantised."""
    return models.DecimalField(max_digits=12, decimal_places=6)


def _volatility() -> models.DecimalField[Decimal, Decimal]:
    """A volatility: 9 places, as quantised."""
    return models.DecimalField(max_digits=10, decimal_places=9)


class RatingEvent(models.Model):
    """One line of the rating log: what one match did to the rating of one of its seats.

    Append-only by right and by trigger (docs/adr/0010). `seq` is dense in its pool, from 1, and
    is the order of application. `kind` leaves room for lines that are not a match's.
    """

    class Kind(models.TextChoices):
        """What a line is about."""

        MATCH = "match"

    pool = models.CharField(max_length=80)
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.MATCH)
    algorithm = models.PositiveSmallIntegerField()
    match_id = models.UUIDField()
    player = models.UUIDField()
    seat = models.PositiveSmallIntegerField()
    seats = models.PositiveSmallIntegerField()
    place = models.PositiveSmallIntegerField()
    at_ms = models.BigIntegerField()
    idle_ms = models.BigIntegerField()
    before_rating = _points()
    before_rd = _points()
    before_vol = _volatility()
    after_rating = _points()
    after_rd = _points()
    after_vol = _volatility()
    recorded_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        """Each match rates each seat and each player once, whoever asks and however often."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["pool", "seq"], name="rating_event_pool_seq"),
            models.UniqueConstraint(
                fields=["match_id", "seat"],
                condition=models.Q(kind="match"),
                name="rating_event_match_seat",
            ),
            models.UniqueConstraint(
                fields=["match_id", "player"],
                condition=models.Q(kind="match"),
                name="rating_event_match_player",
            ),
            models.CheckConstraint(
                condition=models.Q(seq__gte=1, seats__gte=2, place__gte=1, idle_ms__gte=0)
                & models.Q(seat__lt=models.F("seats")),
                name="rating_event_sound",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["player", "pool", "-seq"], name="rating_event_history")
        ]

    def __str__(self) -> str:
        return f"{self.pool} {self.seq}"

    @classmethod
    def of(cls, entry: Entry) -> RatingEvent:
        """Return the row, not yet saved, that holds the entry."""
        return cls(
            pool=entry.pool,
            seq=entry.seq,
            algorithm=entry.algorithm,
            match_id=entry.match_id,
            player=entry.player,
            seat=entry.seat,
            seats=entry.seats,
            place=entry.place,
            at_ms=entry.at_ms,
            idle_ms=entry.idle_ms,
            before_rating=entry.before.rating,
            before_rd=entry.before.rd,
            before_vol=entry.before.vol,
            after_rating=entry.after.rating,
            after_rd=entry.after.rd,
            after_vol=entry.after.vol,
        )

    @property
    def entry(self) -> Entry:
        """What the row holds."""
        return Entry(
            pool=self.pool,
            seq=self.seq,
            match_id=self.match_id,
            seat=self.seat,
            seats=self.seats,
            player=self.player,
            place=self.place,
            at_ms=self.at_ms,
            idle_ms=self.idle_ms,
            algorithm=self.algorithm,
            before=Glicko(self.before_rating, self.before_rd, self.before_vol),
            after=Glicko(self.after_rating, self.after_rd, self.after_vol),
        )


class Rating(models.Model):
    """Where one player stands in one pool: a projection, which a rebuild may replace.

    `rd` is as of `last_at_ms` and widens since. `settled_until_ms` is the instant at which it
    will have reached 110: from then on (at once, where it is above already) the rating is
    provisional. So nothing here has to be touched as time goes by.
    """

    pool = models.CharField(max_length=80)
    player = models.UUIDField()
    rating = _points()
    rd = _points()
    vol = _volatility()
    games = models.PositiveIntegerField()
    wins = models.PositiveIntegerField()
    draws = models.PositiveIntegerField()
    losses = models.PositiveIntegerField()
    last_at_ms = models.BigIntegerField()
    settled_until_ms = models.BigIntegerField()

    class Meta:
        """One row a player and pool, in an order without ties."""

        constraints: ClassVar = [
            models.UniqueConstraint(fields=["player", "pool"], name="rating_player_pool")
        ]
        indexes: ClassVar = [
            models.Index(fields=["pool", "-rating", "rd", "player"], name="rating_leaderboard")
        ]

    def __str__(self) -> str:
        return f"{self.pool} {self.player}"

    @classmethod
    def of(cls, *, pool: str, player: UUID, standing: Standing) -> Rating:
        """Return the row, not yet saved, that holds the standing of a player with a match."""
        last_at_ms = standing.last_at_ms
        if last_at_ms is None:
            raise ValueError(f"{player} has no match in {pool}")
        glicko = standing.glicko
        return cls(
            pool=pool,
            player=player,
            rating=glicko.rating,
            rd=glicko.rd,
            vol=glicko.vol,
            games=standing.games,
            wins=standing.wins,
            draws=standing.draws,
            losses=standing.losses,
            last_at_ms=last_at_ms,
            settled_until_ms=last_at_ms + settled_ms(glicko),
        )

    @property
    def glicko(self) -> Glicko:
        """The strength when last rated."""
        return Glicko(self.rating, self.rd, self.vol)

    @property
    def standing(self) -> Standing:
        """What the row holds."""
        return Standing(
            self.glicko, self.games, self.wins, self.draws, self.losses, self.last_at_ms
        )

    def line(self) -> bytes:
        """Return the row's canonical bytes, by which a rebuild compares it."""
        return msgspec.json.encode(
            [self.pool, self.player.hex, self.standing, self.settled_until_ms]
        )


class CatchUp(models.Model):
    """How far the log of matches has been rated: the only row, whose lock orders all application.

    (`ended_order`, `match_id`) is the last match applied; None: none yet.
    """

    only = models.BooleanField(primary_key=True, default=True)
    ended_order = models.BigIntegerField(null=True)
    match_id = models.UUIDField(null=True)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        """A second row would be a second order."""

        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(only=True), name="catch_up_only_one")
        ]

    def __str__(self) -> str:
        return f"({self.ended_order}, {self.match_id})"
