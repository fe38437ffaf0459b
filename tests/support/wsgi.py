"""The web role's WSGI application as production builds it, asked without a socket."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple
from wsgiref.types import WSGIApplication, WSGIEnvironment

from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from matches.api.moves import Moves


class Told(NamedTuple):
    """What a WSGI server would send."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


@cache
def application() -> WSGIApplication:
    """What xqmj_site.wsgi serves: moves by their own way, everything else by Django's."""
    # get_wsgi_application() would set the log up anew, under whatever test asks first.
    return Moves(WSGIHandler())


def send(method: str, path: str, body: bytes, content_type: str, **more: Any) -> Told:
    """Ask the application; `more` goes into the request's environ as it stands."""
    request: Any = _Environs().generic(method, path, body, content_type, **more)
    return ask(application(), request)


def ask(asked: WSGIApplication, environ: WSGIEnvironment) -> Told:
    """An application's answer, read to its end and closed."""
    begun: list[Any] = []
    answer = asked(environ, lambda *start: begun.extend(start))  # type: ignore[arg-type]
    try:
        body = b"".join(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()
    return Told(int(begun[0].split(" ")[0]), begun[1], body)


class _Environs(RequestFactory):
    """Makes what a WSGI server hands on, where its base would already make Django's request."""

    def request(self, **request: Any) -> Any:
        return self._base_environ(**request)  # type: ignore[attr-defined]  # not in the stubs
