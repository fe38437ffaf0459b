"""The shapes of questions and answers.

Ids are 32 lower-case hex digits, instants and spans integer milliseconds. Ratings, deviations and
volatilities are decimal texts: exactly what is recorded.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

Fields = serializers.Serializer[Any]


@extend_schema_field({"type": "string", "pattern": "^[0-9a-f]{32}$"})
class HexId(serializers.UUIDField):
    """An id."""

    def __init__(self, **options: Any) -> None:
        super().__init__(format="hex", **options)


def _points() -> serializers.DecimalField:
    return serializers.DecimalField(max_digits=12, decimal_places=6)


def _volatility() -> serializers.DecimalField:
    return serializers.DecimalField(max_digits=10, decimal_places=9)


class NoQuery(Fields):
    """A query without parameters."""


class LeaderboardQuery(Fields):
    """How many lines."""

    limit = serializers.IntegerField(min_value=1, max_value=100, default=50)


class HistoryQuery(Fields):
    """A page: its size, and the cursor that the page before it gave."""

    limit = serializers.IntegerField(min_value=1, max_value=100, default=50)
    cursor = serializers.RegexField(r"^[1-9][0-9]{0,9}$", default=None)


class RatedPlayer(Fields):
    """A player; `username` is null where there is no account any more."""

    id = HexId(source="public_id")
    username = serializers.CharField(allow_null=True)


class GlickoAnswer(Fields):
    """Rating, deviation (RD) and volatility."""

    rating = _points()
    rd = _points()
    vol = _volatility()


class RatingAnswer(Fields):
    """Where a player stands in a pool now. `rd` grows with the time since `last_at_ms`."""

    pool = serializers.CharField()
    rating = _points()
    rd = _points()
    vol = _volatility()
    provisional = serializers.BooleanField()
    games = serializers.IntegerField()
    wins = serializers.IntegerField()
    draws = serializers.IntegerField()
    losses = serializers.IntegerField()
    last_at_ms = serializers.IntegerField()


class PlayerRatingsAnswer(Fields):
    """A player's ratings, by name of pool; none without a rated match."""

    player = RatedPlayer()
    ratings = RatingAnswer(many=True)


class OpponentAnswer(Fields):
    """Who sat at another seat, with the strength last recorded before the match."""

    player = RatedPlayer()
    place = serializers.IntegerField()
    before = GlickoAnswer()


class ChangeAnswer(Fields):
    """What one match did: `before` was widened by `idle_ms` of idleness first."""

    match_id = HexId()
    at_ms = serializers.IntegerField()
    place = serializers.IntegerField()
    idle_ms = serializers.IntegerField()
    before = GlickoAnswer()
    after = GlickoAnswer()
    opponents = OpponentAnswer(many=True)


class RatingHistoryAnswer(Fields):
    """A page of a player's changes, newest first; `next` is the cursor of the page after it."""

    player = RatedPlayer()
    pool = serializers.CharField()
    changes = ChangeAnswer(many=True)
    next = serializers.CharField(allow_null=True)


class RankedAnswer(Fields):
    """A line of a leaderboard; equal ratings share a rank."""

    rank = serializers.IntegerField()
    player = RatedPlayer()
    rating = RatingAnswer(source="shown")


class LeaderboardAnswer(Fields):
    """The best of a pool; provisional players are left out."""

    pool = serializers.CharField()
    players = RankedAnswer(many=True)


class PoolAnswer(Fields):
    """A pool: one ruleset at one class of speed, and the clock controls of that class."""

    pool = serializers.CharField(source="key")
    ruleset = serializers.CharField()
    speed = serializers.CharField()
    controls = serializers.ListField(child=serializers.CharField())


class PoolsAnswer(Fields):
    """Every pool there is."""

    pools = PoolAnswer(many=True)
