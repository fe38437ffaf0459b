from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from ratings import services
from ratings.models import CatchUp, Rating, RatingEvent
from tests.integration.ratings.fakes import ANN, CAT, DAN, FakeQueries

MODELS = (RatingEvent, Rating, CatchUp)


@pytest.fixture
def staff(matches: FakeQueries) -> Client:
    """Somebody who may do anything that anybody may, and two rated matches to look at."""
    matches.finish()
    matches.finish(CAT, DAN)
    services.apply_finished()
    boss = get_user_model().objects.create_superuser(
        username=f"boss{uuid4().hex[:8]}", password=uuid4().hex
    )
    client = Client()
    client.force_login(boss)
    return client


def url(model: type, page: str, *arguments: object) -> str:
    return reverse(f"admin:ratings_{model.__name__.lower()}_{page}", args=arguments)


class TestAdmin:
    @pytest.mark.parametrize("model", MODELS)
    def test_lists_and_shows_rows(self, staff: Client, model: type[RatingEvent]) -> None:
        row = model.objects.all()[0]

        assert staff.get(url(model, "changelist")).status_code == 200
        assert staff.get(url(model, "change", row.pk)).status_code == 200

    @pytest.mark.parametrize("model", MODELS)
    def test_lets_nobody_change_anything(self, staff: Client, model: type[RatingEvent]) -> None:
        row = model.objects.all()[0]

        assert staff.get(url(model, "add")).status_code == 403
        assert staff.post(url(model, "change", row.pk), {"seq": 5}).status_code == 403
        assert staff.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403
        assert admin.site.get_model_admin(model).actions is None

    @pytest.mark.parametrize(
        ("sought", "found"), [(ANN.hex, 1), (str(ANN), 1), (f" {ANN} ", 1), ("ann", 0), ("", 4)]
    )
    def test_finds_by_id(self, staff: Client, sought: str, found: int) -> None:
        page = staff.get(url(RatingEvent, "changelist"), {"q": sought})

        assert page.context["cl"].queryset.count() == found

    def test_finds_a_matchs_lines(self, staff: Client) -> None:
        match_id = RatingEvent.objects.all()[0].match_id

        page = staff.get(url(RatingEvent, "changelist"), {"q": match_id.hex})

        assert page.context["cl"].queryset.count() == 2
