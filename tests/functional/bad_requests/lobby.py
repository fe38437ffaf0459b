"""Seeks that cannot be opened, closed or accepted, and players who cannot be paired.

`{seek}` is one of ada's, `{rated_seek}` a rated one of eve's, `{low_seek}` one for ratings up to
1200, `{taken_seek}` one of bob's that somebody has accepted.
Eve waits to be paired at 1+1.
"""

from __future__ import annotations

from typing import Any

from tests.functional.bad_requests import Bad, get, post


def new(what: str, status: int, code: str, **fields: Any) -> Bad:
    """A seek of bob's that is refused for its fields; one of Ellipsis is left out."""
    body = {"ruleset": "xqmj-32-2p", "control": "3+2", **fields}
    sent = {name: value for name, value in body.items() if value is not Ellipsis}
    return post(what, status, code, "seeks", sent, who="bob")


def delete(what: str, status: int, code: str, path: str, **more: Any) -> Bad:
    """A seek that is not closed."""
    return Bad(what, status, code, "DELETE", path, **more)


# One case a line, however long: the list is read down its columns.
# fmt: off
CASES: tuple[Bad, ...] = (
    # Opening
    new("a seek of an unknown ruleset", 400, "unknown_ruleset", ruleset="riichi"),
    new("a seek of version 2", 400, "unknown_ruleset", rules_version=2),
    new("a seek of an unknown option", 400, "unknown_option", options={"jokers": True}),
    new("a seek of another value", 400, "bad_option", options={"last_discard_claims": "none"}),
    new("a seek of an unknown control", 400, "unknown_control", control="2+1"),
    new("a seek without a control", 400, "invalid_body", control=...),
    new("a seek without a ruleset", 400, "invalid_body", ruleset=...),
    new("a seek for somebody", 400, "unknown_field", opponent="{ada}"),
    new("a seek for a computer", 400, "unknown_field", computer=1),
    new("a seek for ever", 400, "unknown_field", expires_at_ms=9_999_999_999_999),
    new("a rated seek at 10+5", 409, "unrated_control", rated=True, control="10+5"),
    new("a range of ratings at 10+5", 409, "unrated_control", rating_min=1500, control="10+5"),
    new("a range that is upside down", 400, "bad_rating_range", rating_min=1501, rating_max=1500),
    new("a negative rating", 400, "invalid_body", rating_min=-1),
    new("a rating beyond all", 400, "invalid_body", rating_max=5_001),
    new("half a rating", 400, "invalid_body", rating_max=1500.5),
    new("a rating in quotes", 400, "invalid_body", rating_min="1500"),
    post("a second seek", 409, "seek_open", "seeks", {"ruleset": "xqmj-32-2p", "control": "1+1"}),
    post("a rated seek beside a rated match", 409, "already_playing", "seeks", {"ruleset": "xqmj-32-2p", "control": "3+2", "rated": True}),
    post("a rated seek of a guest", 409, "rated_needs_accounts", "seeks", {"ruleset": "xqmj-32-2p", "control": "3+2", "rated": True}, who="guest"),
    post("a seek with a query", 400, "unknown_parameter", "seeks?x=1", {"ruleset": "xqmj-32-2p", "control": "3+2"}),
    post("a seek without a key", 400, "idempotency_key_missing", "seeks", {"ruleset": "xqmj-32-2p", "control": "3+2"}, key=False),
    post("a seek of nobody", 401, "not_authenticated", "seeks", {"ruleset": "xqmj-32-2p", "control": "3+2"}, who="anon"),
    # Listing
    get("seeks with a query", 400, "unknown_parameter", "seeks?ruleset=xqmj-32-2p"),
    get("seeks for nobody", 401, "not_authenticated", "seeks", who="anon"),
    get("one seek", 405, "method_not_allowed", "seeks/{seek}"),
    # Closing
    delete("another's seek", 404, "unknown_seek", "seeks/{seek}", who="bob"),
    delete("a seek that is not there", 404, "unknown_seek", "seeks/{missing}"),
    delete("a seek that was accepted", 409, "seek_taken", "seeks/{taken_seek}", who="bob"),
    delete("a seek without a key to close it", 400, "idempotency_key_missing", "seeks/{seek}", key=False),
    delete("a seek with a query to close it", 400, "unknown_parameter", "seeks/{seek}?x=1"),
    delete("a seek by nobody", 401, "not_authenticated", "seeks/{seek}", who="anon"),
    # Being paired
    post("pairing of an unknown ruleset", 400, "unknown_ruleset", "pairing", {"ruleset": "riichi", "control": "3+2"}),
    post("pairing of an unknown control", 400, "unknown_control", "pairing", {"ruleset": "xqmj-32-2p", "control": "2+1"}),
    post("pairing rated at 10+5", 409, "unrated_control", "pairing", {"ruleset": "xqmj-32-2p", "control": "10+5", "rated": True}, who="bob"),
    post("pairing rated as a guest", 409, "rated_needs_accounts", "pairing", {"ruleset": "xqmj-32-2p", "control": "3+2", "rated": True}, who="guest"),
    post("pairing rated beside a rated match", 409, "already_playing", "pairing", {"ruleset": "xqmj-32-2p", "control": "3+2", "rated": True}),
    post("pairing twice", 409, "already_waiting", "pairing", {"ruleset": "xqmj-32-2p", "control": "10+5"}, who="eve"),
    post("pairing with a rating", 400, "unknown_field", "pairing", {"ruleset": "xqmj-32-2p", "control": "3+2", "rating": 3000}),
    post("pairing without a control", 400, "invalid_body", "pairing", {"ruleset": "xqmj-32-2p"}),
    post("pairing with a query", 400, "unknown_parameter", "pairing?x=1", {"ruleset": "xqmj-32-2p", "control": "3+2"}),
    post("pairing without a key", 400, "idempotency_key_missing", "pairing", {"ruleset": "xqmj-32-2p", "control": "3+2"}, key=False),
    post("pairing of nobody", 401, "not_authenticated", "pairing", {"ruleset": "xqmj-32-2p", "control": "3+2"}, who="anon"),
    get("a pairing with a query", 400, "unknown_parameter", "pairing?x=1"),
    get("a pairing of nobody", 401, "not_authenticated", "pairing", who="anon"),
    delete("a wait that there is not", 404, "not_waiting", "pairing"),
    delete("a wait without a key to end it", 400, "idempotency_key_missing", "pairing", who="eve", key=False),
    delete("a wait with a query to end it", 400, "unknown_parameter", "pairing?x=1", who="eve"),
    delete("a wait of nobody", 401, "not_authenticated", "pairing", who="anon"),
    # Accepting
    post("accepting one's own seek", 409, "own_opponent", "seeks/{seek}/accept"),
    post("accepting what is not there", 404, "unknown_seek", "seeks/{missing}/accept"),
    post("accepting what was accepted", 409, "seek_taken", "seeks/{taken_seek}/accept"),
    post("accepting a rated seek as a guest", 409, "rated_needs_accounts", "seeks/{rated_seek}/accept", who="guest"),
    post("accepting a rated seek beside a rated match", 409, "already_playing", "seeks/{rated_seek}/accept"),
    post("accepting a seek for others", 409, "rating_out_of_range", "seeks/{low_seek}/accept"),
    post("accepting with a side", 400, "unknown_field", "seeks/{seek}/accept", {"seat": 0}, who="bob"),
    post("accepting with a query", 400, "unknown_parameter", "seeks/{seek}/accept?x=1", who="bob"),
    post("accepting without a key", 400, "idempotency_key_missing", "seeks/{seek}/accept", who="bob", key=False),
    post("accepting as nobody", 401, "not_authenticated", "seeks/{seek}/accept", who="anon"),
    post("a word for a seek", 404, "not_found", "seeks/mine/accept"),
)
