"""Challenges that cannot be sent, accepted, declined or taken back, and rematches.

`{again}` is a match of ada and bob whose rematch has begun, `{aborted}` one of theirs that never
began. `{challenge}` is ada's to bob, `{rated_challenge}` a rated one of eve's to ada, who plays a rated
match, `{declined}` one of bob's that eve declined.
"""

from __future__ import annotations

from typing import Any

from tests.functional.bad_requests import Bad, get, post

TERMS = {"ruleset": "xqmj-32-2p", "control": "3+2"}


def new(what: str, status: int, code: str, who: str = "bob", **fields: Any) -> Bad:
    """A challenge that is refused for its fields, to eve unless another is named; none of Ellipsis."""
    body = {**TERMS, "opponent": "{eve}", **fields}
    sent = {name: value for name, value in body.items() if value is not Ellipsis}
    return post(what, status, code, "challenges", sent, who=who)


def delete(what: str, status: int, code: str, path: str, **more: Any) -> Bad:
    """A challenge that is not taken back."""
    return Bad(what, status, code, "DELETE", path, **more)


# One case a line, however long: the list is read down its columns.
# fmt: off
CASES: tuple[Bad, ...] = (
    # Sending
    new("a challenge to nobody", 400, "invalid_body", opponent=...),
    new("a challenge to null", 400, "invalid_body", opponent=None),
    new("a challenge to two", 400, "invalid_body", opponent=["{ada}", "{eve}"]),
    new("a challenge to a number", 400, "invalid_body", opponent=1),
    new("a challenge to an unknown name", 404, "unknown_player", opponent="nobody-at-all"),
    new("a challenge to an empty name", 404, "unknown_player", opponent=""),
    new("a challenge to a wildcard", 404, "unknown_player", opponent="{ada}%"),
    new("a challenge to SQL", 404, "unknown_player", opponent="x' OR '1'='1"),
    new("a challenge to 512 characters", 404, "unknown_player", opponent="x" * 512),
    new("a challenge to 513 characters", 400, "invalid_body", opponent="x" * 513),
    new("a challenge to oneself", 409, "own_opponent", opponent="{bob}"),
    new("a challenge to oneself in capitals", 409, "own_opponent", who="ada", opponent="{ADA}"),
    new("a challenge to the computer", 409, "computer_opponent", opponent="computer-3"),
    new("a challenge to the computer, in capitals", 409, "computer_opponent", opponent="COMPUTER-3"),
    new("a challenge to a level that there is not", 404, "unknown_player", opponent="computer-9"),
    new("a challenge at an unknown ruleset", 400, "unknown_ruleset", ruleset="riichi"),
    new("a challenge at version 2", 400, "unknown_ruleset", rules_version=2),
    new("a challenge with an unknown option", 400, "unknown_option", options={"jokers": True}),
    new("a challenge with another value", 400, "bad_option", options={"last_discard_claims": "none"}),
    new("a challenge at an unknown control", 400, "unknown_control", control="2+1"),
    new("a challenge without a control", 400, "invalid_body", control=...),
    new("a challenge with a side", 400, "unknown_field", seat=0),
    new("a challenge for ever", 400, "unknown_field", expires_at_ms=9_999_999_999_999),
    new("a rated challenge at 10+5", 409, "unrated_control", rated=True, control="10+5"),
    new("a rated challenge beside a rated match", 409, "already_playing", who="ada", rated=True),
    new("a rated challenge of a guest", 409, "rated_needs_accounts", who="guest", rated=True),
    new("a second challenge to the same player", 409, "challenge_open", who="ada", opponent="{bob}"),
    new("a challenge of nobody", 401, "not_authenticated", who="anon"),
    post("a challenge with a query", 400, "unknown_parameter", "challenges?x=1", {**TERMS, "opponent": "{eve}"}),
    post("a challenge without a key", 400, "idempotency_key_missing", "challenges", {**TERMS, "opponent": "{eve}"}, key=False),
    # Listing
    get("challenges with a query", 400, "unknown_parameter", "challenges?sent=1"),
    get("challenges for nobody", 401, "not_authenticated", "challenges", who="anon"),
    get("one challenge", 405, "method_not_allowed", "challenges/{challenge}"),
    # Taking back
    delete("a challenge to oneself taken back", 404, "unknown_challenge", "challenges/{challenge}", who="bob"),
    delete("another's challenge taken back", 404, "unknown_challenge", "challenges/{challenge}", who="eve"),
    delete("a challenge that is not there taken back", 404, "unknown_challenge", "challenges/{missing}"),
    delete("a declined challenge taken back", 409, "challenge_over", "challenges/{declined}", who="bob"),
    delete("a challenge taken back without a key", 400, "idempotency_key_missing", "challenges/{challenge}", key=False),
    delete("a challenge taken back with a query", 400, "unknown_parameter", "challenges/{challenge}?x=1"),
    delete("a challenge taken back by nobody", 401, "not_authenticated", "challenges/{challenge}", who="anon"),
    # Accepting
    post("accepting one's own challenge", 409, "own_opponent", "challenges/{challenge}/accept"),
    post("accepting another's challenge", 404, "unknown_challenge", "challenges/{challenge}/accept", who="eve"),
    post("accepting a challenge that is not there", 404, "unknown_challenge", "challenges/{missing}/accept"),
    post("accepting a declined challenge", 409, "challenge_over", "challenges/{declined}/accept", who="eve"),
    post("accepting a rated challenge beside a rated match", 409, "already_playing", "challenges/{rated_challenge}/accept"),
    post("accepting a challenge with a side", 400, "unknown_field", "challenges/{challenge}/accept", {"seat": 0}, who="bob"),
    post("accepting a challenge with a query", 400, "unknown_parameter", "challenges/{challenge}/accept?x=1", who="bob"),
    post("accepting a challenge without a key", 400, "idempotency_key_missing", "challenges/{challenge}/accept", who="bob", key=False),
    post("accepting a challenge as nobody", 401, "not_authenticated", "challenges/{challenge}/accept", who="anon"),
    # Declining
    post("declining for a reason of one's own", 400, "invalid_body", "challenges/{challenge}/decline", {"reason": "no mood"}, who="bob"),
    post("declining for no reason", 400, "invalid_body", "challenges/{challenge}/decline", {"reason": None}, who="bob"),
    post("declining with more words", 400, "unknown_field", "challenges/{challenge}/decline", {"text": "sorry"}, who="bob"),
    post("declining one's own challenge", 404, "unknown_challenge", "challenges/{challenge}/decline"),
    post("declining another's challenge", 404, "unknown_challenge", "challenges/{challenge}/decline", who="eve"),
    post("declining twice", 409, "challenge_over", "challenges/{declined}/decline", who="eve"),
    post("declining with a query", 400, "unknown_parameter", "challenges/{challenge}/decline?x=1", who="bob"),
    post("declining without a key", 400, "idempotency_key_missing", "challenges/{challenge}/decline", who="bob", key=False),
    # Rematches
    post("a rematch of a live match", 409, "match_not_over", "matches/{live}/rematch"),
    post("a rematch of what never began", 409, "no_rematch", "matches/{aborted}/rematch"),
    post("a rematch of others", 403, "not_a_seat", "matches/{ended}/rematch", who="eve"),
    post("a rematch of what there is not", 404, "unknown_match", "matches/{missing}/rematch"),
    post("a rematch of what one may not see", 404, "unknown_match", "matches/{hidden}/rematch"),
    post("a rematch with a side", 400, "unknown_field", "matches/{ended}/rematch", {"seat": 0}),
    post("a rematch with a query", 400, "unknown_parameter", "matches/{ended}/rematch?x=1"),
    post("a rematch without a key", 400, "idempotency_key_missing", "matches/{ended}/rematch", key=False),
    post("a rematch as nobody", 401, "not_authenticated", "matches/{ended}/rematch", who="anon"),
    get("a rematch of others looked at", 403, "not_a_seat", "matches/{ended}/rematch", who="eve"),
    get("a rematch looked at with a query", 400, "unknown_parameter", "matches/{ended}/rematch?x=1"),
    get("a rematch looked at as nobody", 401, "not_authenticated", "matches/{ended}/rematch", who="anon"),
    delete("a rematch that nobody offers declined", 404, "no_rematch_offered", "matches/{ended}/rematch"),
    delete("a rematch that has begun declined", 409, "rematch_over", "matches/{again}/rematch"),
    delete("a rematch of others declined", 403, "not_a_seat", "matches/{ended}/rematch", who="eve"),
    delete("a rematch declined with a query", 400, "unknown_parameter", "matches/{ended}/rematch?x=1"),
    delete("a rematch declined without a key", 400, "idempotency_key_missing", "matches/{ended}/rematch", key=False),
    delete("a rematch declined as nobody", 401, "not_authenticated", "matches/{ended}/rematch", who="anon"),
    post("declining as nobody", 401, "not_authenticated", "challenges/{challenge}/decline", who="anon"),
)
