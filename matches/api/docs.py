"""The page that shows the API, from files of our own: no script, style or font of anybody else."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.urls import reverse
from django.views import View

from matches.api.base import not_allowed

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>xqmj API</title>
<link rel="stylesheet" href="{css}">
<link rel="icon" href="{icon}">
</head>
<body>
<main id="api">The document itself is at <a href="{schema}">{schema}</a>.</main>
<script src="{bundle}"></script>
<script src="{script}"></script>
</body>
</html>
"""

_SCRIPT = """"use strict";
SwaggerUIBundle({
  url: document.querySelector("#api a").href,
  dom_id: "#api",
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});
"""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Swagger UI sets styles from its script, hence the one `unsafe-inline`; nothing inline runs."""

_FILES = "drf_spectacular_sidecar/swagger-ui-dist/"


class _Page(View):
    """Something to read; other methods are refused as everywhere."""

    http_method_names: ClassVar[list[str]] = ["get", "head"]  # type: ignore[misc]

    def http_method_not_allowed(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        *_args: Any,
        **_kwargs: Any,
    ) -> NoReturn:
        raise not_allowed(["GET", "HEAD"])


class DocsPage(_Page):
    """GET docs: Swagger UI over the schema."""

    def get(self, _request: HttpRequest) -> HttpResponse:
        """The page."""
        page = _PAGE.format(
            css=static(_FILES + "swagger-ui.css"),
            icon=static(_FILES + "favicon-32x32.png"),
            bundle=static(_FILES + "swagger-ui-bundle.js"),
            script=reverse("docs-script"),
            schema=reverse("schema"),
        )
        return HttpResponse(page, headers={"Content-Security-Policy": _POLICY})


class DocsScript(_Page):
    """GET docs.js: what starts the page, in a file so that no inline script is needed."""

    def get(self, _request: HttpRequest) -> HttpResponse:
        """The script."""
        return HttpResponse(_SCRIPT, content_type="text/javascript; charset=utf-8")
