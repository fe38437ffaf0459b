"""What can be played, and where things are: the same for everybody."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from matches.api.answers import (
    ControlAnswer,
    ControlsAnswer,
    ErrorCode,
    ErrorsAnswer,
    RootAnswer,
    RulesetsAnswer,
    answer,
)
from matches.api.base import ApiView
from matches.api.bodies import NoQuery
from matches.api.schema import operation
from matches.domain.clock import CONTROLS
from matches.games.registry import rulesets
from matches.services.codes import ERRORS_PATH, TABLE

ROOT = "/api/v1/"


class PublicView(ApiView):
    """Open to everybody, counted by address; a token is not even looked at."""

    authentication_classes = ()
    permission_classes = (AllowAny,)


class RootView(PublicView):
    """Where things are."""

    @operation("root", "Where things are", {200: RootAnswer}, tag="about", token=False)
    def get(self, request: Request) -> HttpResponse:
        """The addresses of the documents and of the live streams."""
        self.query(request, NoQuery)
        return answer(
            RootAnswer(
                name="xqmj",
                version="1",
                docs=f"{ROOT}docs",
                schema=f"{ROOT}schema",
                errors=ERRORS_PATH,
                rulesets=f"{ROOT}rulesets",
                controls=f"{ROOT}controls",
                live=settings.XQMJ_LIVE_URL or None,
            )
        )


class SchemaView(PublicView):
    """The OpenAPI document."""

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """The document, written once by each process."""
        self.query(request, NoQuery)
        return HttpResponse(_document(), content_type="application/vnd.oai.openapi+json")


@cache
def _document() -> bytes:
    generator: Any = SchemaGenerator
    return msgspec.json.encode(generator().get_schema(request=None, public=True))


class RulesetsView(PublicView):
    """What can be played."""

    @operation(
        "rulesets", "Rulesets and their options", {200: RulesetsAnswer}, tag="about", token=False
    )
    def get(self, request: Request) -> HttpResponse:
        """Every ruleset and version."""
        self.query(request, NoQuery)
        return answer(RulesetsAnswer(rulesets=rulesets()))


class ControlsView(PublicView):
    """The clocks."""

    @operation("controls", "Clock controls", {200: ControlsAnswer}, tag="about", token=False)
    def get(self, request: Request) -> HttpResponse:
        """Every clock control."""
        self.query(request, NoQuery)
        found = (ControlAnswer(c.name, c.base_ms, c.increment_ms) for c in CONTROLS.values())
        return answer(ControlsAnswer(controls=tuple(found)))


class ErrorsView(PublicView):
    """The error table."""

    @operation("errors", "Error codes", {200: ErrorsAnswer}, tag="about", token=False)
    def get(self, request: Request) -> HttpResponse:
        """Every code with its status and meaning."""
        self.query(request, NoQuery)
        found = (ErrorCode(code, one.status, one.meaning) for code, one in sorted(TABLE.items()))
        return answer(ErrorsAnswer(errors=tuple(found)))
