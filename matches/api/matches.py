"""Matches: made, listed, looked at."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request

from matches.api.answers import SERVER_TIME, EventsAnswer, MatchesAnswer, Summary, answer, timed
from matches.api.base import ApiView, caller
from matches.api.bodies import CreateBody, EventsQuery, MatchesQuery, NoQuery
from matches.api.cursors import cursor_of, read_cursor
from matches.api.drf import plain
from matches.api.etags import etag_of
from matches.api.etags import matches as etag_matches
from matches.api.identity import caller_of
from matches.api.requests import idempotency_key
from matches.api.schema import operation
from matches.eventstore.rows import ABORTED, FINISHED, LIVE, Listed
from matches.games.protocol import Seat, Viewer
from matches.games.registry import rulesets
from matches.services import absence, execute, newcomers, queries, standings
from matches.services import matches as services
from matches.services.cache import Entry
from matches.services.keys import command_key, written
from matches.services.people import PlayerRef
from matches.services.problems import Problem
from matches.services.shown import MatchAnswer, by_seat, match_answer
from matches.services.standings import Standings
from matches.services.viewers import viewer_of

_PATH = {"match_id": "The match."}
_STATUS: dict[int, Literal["live", "finished", "aborted"]] = {
    LIVE: "live",
    FINISHED: "finished",
    ABORTED: "aborted",
}
_BY_NAME = {name: status for status, name in _STATUS.items()}


class MatchesView(ApiView):
    """My matches."""

    @operation(
        "my_matches",
        "My matches, the newest first",
        {200: MatchesAnswer},
        tag="matches",
        query=MatchesQuery,
    )
    def get(self, request: Request) -> HttpResponse:
        """One page."""
        query, who = self.query(request, MatchesQuery), caller(request)
        found = queries.my_matches(
            who.id,
            before=read_cursor(query.cursor),
            limit=query.limit + 1,
            status=None if query.status is None else _BY_NAME[query.status],
        )
        page, more = found[: query.limit], len(found) > query.limit
        known = queries.players(player for listed in page for _, player in listed.players)
        following = cursor_of(page[-1].created_at_ms, page[-1].match_id) if more else None
        started = standings.known(listed.match_id for listed in page)
        return answer(
            MatchesAnswer(
                tuple(_summary(one, who.id, known, started.get(one.match_id, ())) for one in page),
                following,
            )
        )

    @operation(
        "create_match",
        "Make a match and sit down",
        {201: MatchAnswer},
        tag="matches",
        body=CreateBody,
        key=True,
        errors=(
            "unknown_ruleset",
            "unknown_option",
            "bad_option",
            "unknown_control",
            "too_many_invitations",
            "unrated_control",
            "rated_needs_accounts",
            "unknown_player",
            "own_opponent",
            "computer_opponent",
            "computer_unrated",
            "already_playing",
            "bot_busy",
            "cooling_down",
            "new_account_limit",
        ),
    )
    def post(self, request: Request) -> HttpResponse:
        """Create; repeated with its key it shows the match that it made."""
        who, key = caller(request), idempotency_key(plain(request))
        body = self.read(request, CreateBody)
        newcomers.count(who, "new_match")
        done = services.create_match(
            creator=who,
            ruleset=body.ruleset,
            rules_version=body.rules_version,
            options=body.options,
            control=body.control,
            rated=body.rated,
            opponent=body.opponent,
            computer=body.computer,
            key=command_key(
                player=who.id,
                key=key,
                path=request.path_info,
                body=written(body),
            ),
        )
        return shown(done.entry, viewer_of(done.entry.match, who.id), status=201)


class MatchView(ApiView):
    """One match, as I may see it."""

    @operation(
        "match",
        "My view of a match",
        {200: MatchAnswer, 304: None},
        tag="matches",
        path=_PATH,
        errors=("unknown_match", "unreadable_match"),
    )
    def get(self, request: Request, match_id: UUID) -> HttpResponse:
        """The view; 304 where the client has it already."""
        self.query(request, NoQuery)
        entry = execute.observe(match_id=match_id)
        full = shown(entry, viewer_of(entry.match, caller(request).id))
        if not etag_matches(plain(request), full["ETag"]):
            return full
        kept = {name: full[name] for name in ("ETag", SERVER_TIME)}
        return HttpResponse(status=304, headers=kept)


class EventsView(ApiView):
    """What happened in a match, as I may know it."""

    @operation(
        "events",
        "The events after one, waiting for them up to 25 s",
        {200: EventsAnswer},
        tag="matches",
        path=_PATH,
        query=EventsQuery,
        errors=("unknown_match", "unreadable_match", "seq_ahead"),
    )
    def get(self, request: Request, match_id: UUID) -> HttpResponse:
        """The events that there are; with none yet, the next, or none when the wait is over."""
        query, player = self.query(request, EventsQuery), caller(request).id
        # First without waiting: what is there is answered, and what cannot come is refused.
        found = services.events(match_id=match_id, player=player, after=query.after)
        if not found.events:
            seq = found.entry.seq(viewer_of(found.entry.match, player))
            if query.after > seq:
                raise Problem("seq_ahead", facts={"seq": seq})
            if query.wait:
                found = services.events(
                    match_id=match_id, player=player, after=query.after, wait_s=query.wait
                )
                # The wait may have outlasted the token.
                caller_of(plain(request))
        gone = absence.shown(found.entry, viewer_of(found.entry.match, player))
        told = services.now(found.entry, absent=gone)
        return timed(EventsAnswer(found.seq, found.events, told))


def shown(entry: Entry, viewer: Viewer, *, status: int = 200) -> HttpResponse:
    """A viewer's answer about a match.

    The ETag is of all of it but the time, and so a weak one; whoever has gone is part of it.
    """
    told = match_answer(entry, viewer)
    response = timed(told, status=status)
    seen = (told.match, told.players, told.seq, told.now.absent, told.standings)
    response["ETag"] = etag_of(msgspec.json.encode(seen))
    return response


def _seats(listed: Listed) -> list[str | None]:
    """The players (ids in hex) by seat, None where a seat is free."""
    taken = dict(listed.players)
    played = {(one.key, one.version): one.seats for one in rulesets()}
    # A ruleset of a newer release has at least the seats that are taken.
    seats = played.get((listed.ruleset, listed.rules_version), max(taken, default=-1) + 1)
    return [taken.get(seat) for seat in range(seats)]


def _summary(
    listed: Listed, player: str, known: dict[str, PlayerRef], started: Standings
) -> Summary:
    ended = listed.summary
    return Summary(
        match_id=listed.match_id.hex,
        ruleset=listed.ruleset,
        rules_version=listed.rules_version,
        control=listed.control,
        rated=listed.rated,
        created_at_ms=listed.created_at_ms,
        status=_STATUS[listed.status],
        players=by_seat(_seats(listed), known),
        you=next((Seat(seat) for seat, one in listed.players if one == player), None),
        reason=None if ended is None else ended.reason,
        winner=None if ended is None or ended.winner is None else Seat(ended.winner),
        scores=None if ended is None else ended.scores,
        ended_at_ms=listed.ended_at_ms,
        standings=started,
    )
