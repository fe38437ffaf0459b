"""What matches are told of ratings."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from ratings.models import Rating
from xqmj_site.standings import rating_of

pytestmark = pytest.mark.django_db


def rated(rating: str, *, pool: str) -> str:
    """A player (id in hex) with a rating in the pool."""
    player = uuid4()
    Rating.objects.create(
        pool=pool,
        player=player,
        rating=Decimal(rating),
        rd=Decimal(80),
        vol=Decimal("0.06"),
        games=1,
        wins=1,
        draws=0,
        losses=0,
        last_at_ms=1,
        settled_until_ms=1,
    )
    return player.hex


class TestRatingOf:
    def test_is_of_the_pool_in_whole_points(self) -> None:
        player = rated("1623.600000", pool="xqmj-32-2p-blitz")

        assert rating_of(player=player, ruleset="xqmj-32-2p", control="3+2") == 1624
        assert rating_of(player=player, ruleset="xqmj-32-2p", control="1+1") == 1500

    def test_is_a_newcomers_without_a_match(self) -> None:
        assert rating_of(player=uuid4().hex, ruleset="xqmj-32-2p", control="3+2") == 1500

    def test_is_none_where_nothing_is_rated(self) -> None:
        assert rating_of(player=uuid4().hex, ruleset="xqmj-32-2p", control="10+5") is None
