"""What a finished match leaves: its replay, its record, and the proof of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol
from uuid import UUID

import msgspec
from django.http import HttpResponse
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from matches.api.answers import ExportAnswer, ReplayAnswer, VerificationAnswer, answer
from matches.api.base import ApiView
from matches.api.bodies import NoQuery
from matches.api.drf import plain
from matches.api.identity import Caller
from matches.api.requests import no_query, read_body
from matches.api.schema import operation
from matches.domain.visibility import view
from matches.eventstore.rows import Row
from matches.games.protocol import Auditor
from matches.services import matches as services
from matches.services import parsing
from matches.services.problems import Problem
from matches.services.shown import sitting

EXPORT_BYTES = 2 * 1024 * 1024
"""The largest export that is looked at; a whole match is a tenth of it."""

_PATH = {"match_id": "The match."}
_ERRORS = ("unknown_match", "unreadable_match", "match_not_over")


class Exporter(Protocol):
    """Makes the record of a match from its rows and its head."""

    def __call__(
        self, *, match_id: UUID, count: int, head_hash: bytes, rows: Iterable[Row]
    ) -> msgspec.Struct:
        """The record, ready to be encoded."""
        ...


Verifier = Callable[[dict[str, Any]], msgspec.Struct]
"""Looks at a record and reports, whatever it holds."""


class FinishedView(ApiView):
    """Open to everybody who knows the match's id: what is over can be looked at and proved."""

    permission_classes = (AllowAny,)


class ReplayView(FinishedView):
    """All that happened, with every tile."""

    @operation(
        "replay",
        "A finished match with every tile of every hand",
        {200: ReplayAnswer},
        tag="records",
        path=_PATH,
        token=None,
        errors=_ERRORS,
    )
    def get(self, request: Request, match_id: UUID) -> HttpResponse:
        """The replay."""
        self.query(request, NoQuery)
        entry = services.replay(match_id=match_id, player=_player(request))
        return answer(
            ReplayAnswer(
                match=view(entry.match, Auditor()),
                players=sitting(entry.match),
                events=services.replay_lines(entry),
            )
        )


class ExportView(FinishedView):
    """The record as it is stored."""

    @staticmethod
    def export(
        *, match_id: UUID, count: int, head_hash: bytes, rows: Iterable[Row]
    ) -> msgspec.Struct:
        """Brought by the site's addresses: an `Exporter`."""
        raise NotImplementedError

    @operation(
        "export",
        "The raw record of a finished match, to be verified anywhere",
        {200: ExportAnswer},
        tag="records",
        path=_PATH,
        token=None,
        errors=_ERRORS,
    )
    def get(self, request: Request, match_id: UUID) -> HttpResponse:
        """The record."""
        self.query(request, NoQuery)
        loaded = services.record(match_id=match_id, player=_player(request))
        record = self.export(
            match_id=match_id,
            count=loaded.head.version,
            head_hash=loaded.head.head_hash,
            rows=loaded.rows,
        )
        return answer(record)


class VerificationsView(ApiView):
    """The proof. It writes nothing and asks for no key: the same record has the same answer."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    scopes: ClassVar[dict[str, str]] = {"POST": "verify"}

    @staticmethod
    def verify(record: dict[str, Any]) -> msgspec.Struct:
        """Brought by the site's addresses: a `Verifier`."""
        raise NotImplementedError

    @operation(
        "verify",
        "Verify the record of a match",
        {200: VerificationAnswer},
        tag="records",
        body=ExportAnswer,
        token=False,
    )
    def post(self, request: Request) -> HttpResponse:
        """The report; a record that is wrong in any way is a finding, no refusal."""
        no_query(plain(request))
        record = parsing.decode(read_body(plain(request), limit=EXPORT_BYTES) or b"{}")
        if not isinstance(record, dict):
            raise Problem("invalid_body", "The record is no object.")
        return answer(self.verify(record))


def _player(request: Request) -> str | None:
    user: Any = request.user
    return user.id if isinstance(user, Caller) else None
