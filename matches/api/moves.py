"""The way of a move under WSGI: to the gate at once.

Django's handler tells listeners of the beginning and the end of every request,
who then look after the ORM's connections, caches and translations of the
thread. No command of a match uses any of them, and they cost it a seventh of
its processor time (docs/adr/0014).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from uuid import UUID
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.http import HttpRequest

from matches.api import commands
from matches.api.answers import Told
from matches.api.gate import answered
from matches.services.wire import ID_PATTERN

_VIEWS: Mapping[str, commands.CommandView] = {
    view.verb: view
    for view in (
        commands.ActView(),
        commands.ClaimAbsenceView(),
        commands.JoinView(),
        commands.LeaveView(),
        commands.ReadyView(),
        commands.ResignView(),
    )
}
"""By the last word of the address. A view of commands holds nothing, so one serves all threads."""
_MOVE = re.compile(f"/api/v1/matches/({ID_PATTERN})/({'|'.join(_VIEWS)})")


class MoveRequest(HttpRequest):
    """A request as far as commands look at it: address, method, headers, body."""

    def __init__(self, environ: WSGIEnvironment) -> None:
        # Not the base's: forms, cookies and files are for pages.
        self.META = environ
        self.path = self.path_info = environ["PATH_INFO"]
        self.method = self.META["REQUEST_METHOD"].upper()
        self._stream = environ["wsgi.input"]
        self._read_started = False

    def _get_scheme(self) -> str:
        scheme: str = self.META["wsgi.url_scheme"]
        return scheme


class Moves:
    """A WSGI application: answers the commands of matches, hands on everything else.

    What it answers is what `rest` would have answered.
    """

    def __init__(self, rest: WSGIApplication) -> None:
        self._rest = rest

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """The answer's body, after its status and headers."""
        found = _MOVE.fullmatch(environ.get("PATH_INFO", ""))
        if found is None:
            return self._rest(environ, start_response)
        match_id, view = UUID(found[1]), _VIEWS[found[2]]

        def asked(request: HttpRequest) -> Told:
            return view.dispatch(request, match_id)

        response, headers = answered(MoveRequest(environ), asked)
        status = f"{response.status_code} {response.reason_phrase}"
        start_response(status, list(headers.items()))
        # Not the response itself: its end would be announced like any other.
        return [response.getvalue()]
