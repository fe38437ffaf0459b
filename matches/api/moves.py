"""The way of a move under WSGI: to the gate at once.

Django's handler tells listeners of the beginning and the end of every request,
who then look after the ORM's connections, caches and translations of the
thread. No command of a match uses any of them, and they cost it a seventh of
its processor time (docs/adr/0014).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.core.handlers.wsgi import WSGIRequest

from matches.api.gate import answered
from matches.services.wire import ID_PATTERN

_MOVE = re.compile(f"/api/v1/matches/{ID_PATTERN}/(?:act|join|ready|resign|leave|claim-absence)")


class Moves:
    """A WSGI application: answers the commands of matches, hands on everything else.

    What it answers is what `rest` would have answered.
    """

    def __init__(self, rest: WSGIApplication) -> None:
        self._rest = rest

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """The answer's body, after its status and headers."""
        if _MOVE.fullmatch(environ.get("PATH_INFO", "")) is None:
            return self._rest(environ, start_response)
        response, headers = answered(WSGIRequest(environ))
        status = f"{response.status_code} {response.reason_phrase}"
        start_response(status, list(headers.items()))
        # Not the response itself: its end would be announced like any other.
        return [response.getvalue()]
