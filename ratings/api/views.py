"""Ratings over REST. All of it is public, so a token is not even looked at."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ratings import selectors, source
from ratings.api import serializers as shapes
from ratings.api.refusals import InvalidParameter, UnknownParameter, UnknownPlayer, UnknownPool
from ratings.api.schema import operation
from ratings.pools import Pool, controls_of


class RatingsView(APIView):
    """What these views share: they only read, for everybody."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    http_method_names = ["get", "head"]  # noqa: RUF012 - as DRF declares it


class PlayerRatingsView(RatingsView):
    """Where a player stands."""

    @operation(
        "player_ratings",
        "A player's ratings",
        shapes.PlayerRatingsAnswer,
        path=("username",),
        errors=("unknown_player",),
    )
    def get(self, request: Request, username: str) -> HttpResponseBase:
        """Every pool that the player has a rated match in."""
        _query(request, shapes.NoQuery)
        player = _player(username)
        ratings = selectors.ratings_of(player.public_id)
        return _answer(shapes.PlayerRatingsAnswer, player=player, ratings=ratings)


class RatingHistoryView(RatingsView):
    """How a player came to stand there."""

    @operation(
        "rating_history",
        "A player's rated matches in a pool",
        shapes.RatingHistoryAnswer,
        path=("username", "pool"),
        query=shapes.HistoryQuery,
        errors=("unknown_player", "unknown_pool"),
    )
    def get(self, request: Request, username: str, pool: str) -> HttpResponseBase:
        """One page, newest first."""
        query = _query(request, shapes.HistoryQuery)
        player, found = _player(username), _pool(pool)
        cursor = query["cursor"]
        changes, following = selectors.history(
            player.public_id,
            found.key,
            before_seq=None if cursor is None else int(cursor),
            limit=query["limit"],
        )
        return _answer(
            shapes.RatingHistoryAnswer,
            player=player,
            pool=found.key,
            changes=changes,
            next=None if following is None else str(following),
        )


class LeaderboardView(RatingsView):
    """The best of a pool."""

    @operation(
        "leaderboard",
        "The best of a pool",
        shapes.LeaderboardAnswer,
        path=("pool",),
        query=shapes.LeaderboardQuery,
        errors=("unknown_pool",),
    )
    def get(self, request: Request, pool: str) -> HttpResponseBase:
        """The first lines."""
        query = _query(request, shapes.LeaderboardQuery)
        found = _pool(pool)
        best = selectors.leaderboard(found.key, limit=query["limit"])
        return _answer(shapes.LeaderboardAnswer, pool=found.key, players=best)


class PoolsView(RatingsView):
    """What is rated together."""

    @operation("pools", "Pools of ratings", shapes.PoolsAnswer)
    def get(self, request: Request) -> HttpResponseBase:
        """Every pool."""
        _query(request, shapes.NoQuery)
        pools = [
            {
                "key": pool.key,
                "ruleset": pool.ruleset,
                "speed": pool.speed,
                "controls": controls_of(pool.speed),
            }
            for pool in source.pools().values()
        ]
        return _answer(shapes.PoolsAnswer, pools=pools)


def _answer(shape: type[shapes.Fields], **value: Any) -> Response:
    return Response(shape(value).data)


def _query(request: Request, kind: type[shapes.Fields]) -> dict[str, Any]:
    """The query's parameters; raises UnknownParameter and InvalidParameter."""
    # A plain dict: of a QueryDict DRF would take an empty text for a missing one.
    asked = kind(data=request.query_params.dict())
    for name, values in request.query_params.lists():
        if name not in asked.fields:
            raise UnknownParameter(f"There is no parameter {name!r} here.")
        if len(values) != 1:
            raise InvalidParameter(f"{name} stands in the query more than once.")
    if not asked.is_valid():
        name, reasons = next(iter(asked.errors.items()))
        raise InvalidParameter(f"{name}: {reasons[0]}")
    return dict(asked.validated_data)


def _player(username: str) -> source.Person:
    found = source.person(username)
    if found is None:
        raise UnknownPlayer
    return found


def _pool(key: str) -> Pool:
    found = source.pools().get(key)
    if found is None:
        raise UnknownPool
    return found
