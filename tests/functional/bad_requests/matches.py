"""Matches that cannot be made or joined."""

from __future__ import annotations

from typing import Any

from tests.functional.bad_requests import Bad, post


def new(what: str, status: int, code: str, **fields: Any) -> Bad:
    """A match that is refused for its fields; one of None is left out."""
    body = {"ruleset": "xqmj-32-2p", "control": "3+2", **fields}
    return post(what, status, code, "matches", {k: v for k, v in body.items() if v is not Ellipsis})


# One case a line, however long: the list is read down its columns.
# fmt: off
CASES: tuple[Bad, ...] = (
    # Ruleset and version
    new("an unknown ruleset", 400, "unknown_ruleset", ruleset="riichi"),
    new("a ruleset in capitals", 400, "unknown_ruleset", ruleset="XQMJ-32-2P"),
    new("a ruleset with a space", 400, "unknown_ruleset", ruleset="xqmj-32-2p "),
    new("an empty ruleset", 400, "unknown_ruleset", ruleset=""),
    new("a ruleset that climbs", 400, "unknown_ruleset", ruleset="../xqmj"),
    new("a module for a ruleset", 400, "unknown_ruleset", ruleset="os.system"),
    new("a ruleset of 64 characters", 400, "unknown_ruleset", ruleset="x" * 64),
    new("a ruleset of 65 characters", 400, "invalid_body", ruleset="x" * 65),
    new("a ruleset of 40,000 characters", 400, "invalid_body", ruleset="x" * 40_000),
    new("no ruleset", 400, "invalid_body", ruleset=...),
    new("null for a ruleset", 400, "invalid_body", ruleset=None),
    new("a number for a ruleset", 400, "invalid_body", ruleset=32),
    new("a list for a ruleset", 400, "invalid_body", ruleset=["xqmj-32-2p"]),
    new("version 2", 400, "unknown_ruleset", rules_version=2),
    new("version 0", 400, "invalid_body", rules_version=0),
    new("version -1", 400, "invalid_body", rules_version=-1),
    new("version 1.0", 400, "invalid_body", rules_version=1.5),
    new("version true", 400, "invalid_body", rules_version=True),
    new("a version in quotes", 400, "invalid_body", rules_version="1"),
    new("version null", 400, "invalid_body", rules_version=None),
    new("version a million", 400, "unknown_ruleset", rules_version=1_000_000),
    new("version 2 to the 62", 400, "invalid_body", rules_version=2**62),
    # Clock
    new("an unknown control", 400, "unknown_control", control="2+1"),
    new("no increment", 400, "unknown_control", control="3"),
    new("an endless clock", 400, "unknown_control", control="0+0"),
    new("a control with spaces", 400, "unknown_control", control="3 + 2"),
    new("a control with a minus", 400, "unknown_control", control="-3+2"),
    new("an empty control", 400, "unknown_control", control=""),
    new("a control in full width", 400, "unknown_control", control="３+２"),
    new("no control", 400, "invalid_body", control=...),
    new("null for a control", 400, "invalid_body", control=None),
    new("milliseconds for a control", 400, "invalid_body", control=180_000),
    new("an object for a control", 400, "invalid_body", control={"base_ms": 1, "increment_ms": 1}),
    # Options
    new("an unknown option", 400, "unknown_option", options={"jokers": True}),
    new("an option of no name", 400, "unknown_option", options={"": "x"}),
    new("an option of another type", 400, "bad_option", options={"last_discard_claims": True}),
    new("an option of another value", 400, "bad_option", options={"last_discard_claims": "none"}),
    new("an option in capitals", 400, "bad_option", options={"last_discard_claims": "ALL"}),
    new("a number for an option", 400, "bad_option", options={"last_discard_claims": 1}),
    new("null for an option", 400, "invalid_body", options={"last_discard_claims": None}),
    new("a list for an option", 400, "invalid_body", options={"last_discard_claims": ["all"]}),
    new("an object for an option", 400, "invalid_body", options={"last_discard_claims": {}}),
    new("a list of options", 400, "invalid_body", options=["last_discard_claims"]),
    new("null for options", 400, "invalid_body", options=None),
    new("a key of 65 characters", 400, "invalid_body", options={"k" * 65: 1}),
    # Rated
    new("rated in words", 400, "invalid_body", rated="yes"),
    new("rated as 1", 400, "invalid_body", rated=1),
    new("rated null", 400, "invalid_body", rated=None),
    new("rated at 10+5", 409, "unrated_control", rated=True, control="10+5"),
    new("a second rated match", 409, "already_playing", rated=True),
    new("a second rated match for somebody", 409, "already_playing", rated=True, opponent="{eve}"),
    post("rated by a guest", 409, "rated_needs_accounts", "matches", {"ruleset": "xqmj-32-2p", "control": "3+2", "rated": True}, who="guest"),
    # Opponent
    new("nobody of that name", 404, "unknown_player", opponent="nobody-at-all"),
    new("an empty opponent", 404, "unknown_player", opponent=""),
    new("oneself", 409, "own_opponent", opponent="{ada}"),
    new("oneself in capitals", 409, "own_opponent", opponent="{ADA}"),
    new("an opponent with a wildcard", 404, "unknown_player", opponent="{ada}%"),
    new("SQL for an opponent", 404, "unknown_player", opponent="x' OR '1'='1"),
    new("an opponent of 512 characters", 404, "unknown_player", opponent="x" * 512),
    new("an opponent of 513 characters", 400, "invalid_body", opponent="x" * 513),
    new("a number for an opponent", 400, "invalid_body", opponent=1),
    new("two opponents", 400, "invalid_body", opponent=["bob", "eve"]),
    # The computer
    new("a rated match against the computer", 409, "computer_unrated", computer=3, rated=True),
    new("the computer and an opponent", 409, "computer_opponent", computer=3, opponent="{ada}"),
    new("the computer for an opponent", 409, "computer_opponent", opponent="computer-3"),
    new("the computer for an opponent, in capitals", 409, "computer_opponent", opponent="COMPUTER-3"),
    new("a level of the computer that there is not", 404, "unknown_player", opponent="computer-9"),
    new("level 0", 400, "invalid_body", computer=0),
    new("level 9", 400, "invalid_body", computer=9),
    new("level true", 400, "invalid_body", computer=True),
    new("a level and a half", 400, "invalid_body", computer=1.5),
    new("a level in quotes", 400, "invalid_body", computer="3"),
    # Fields that nobody may set
    new("a secret", 400, "unknown_field", secret="00" * 32),
    new("a seed", 400, "unknown_field", seed=1),
    new("players", 400, "unknown_field", players=["a", "b"]),
    new("a seat", 400, "unknown_field", seat=0),
    new("a score", 400, "unknown_field", scores=[6, 0]),
    new("a clock", 400, "unknown_field", remaining_ms=10**9),
    new("an id", 400, "unknown_field", match_id="{missing}"),
    new("a date", 400, "unknown_field", created_at_ms=0),
    new("a dealer", 400, "unknown_field", dealer=0),
    new("a constructor", 400, "unknown_field", __proto__={"rated": True}),
    new("a misspelt field", 400, "unknown_field", Rated=True),
    # Joining
    post("a match that is not there", 404, "unknown_match", "matches/{missing}/join", who="eve"),
    post("one's own match", 409, "already_seated", "matches/{open}/join"),
    post("a match that is kept for another", 404, "unknown_match", "matches/{kept}/join", who="eve"),
    post("a hidden match", 404, "unknown_match", "matches/{hidden}/join"),
    post("a full match", 409, "seat_taken", "matches/{live}/join", who="eve"),
    post("a paired match", 409, "seat_taken", "matches/{paired}/join", who="eve"),
    post("again", 409, "already_seated", "matches/{live}/join", who="bob"),
    post("a match that is over", 410, "match_ended", "matches/{ended}/join", who="eve"),
    post("with a seat", 400, "unknown_field", "matches/{open}/join", {"seat": 1}, who="bob"),
    post("with a player", 400, "unknown_field", "matches/{open}/join", {"player": "{missing}"}, who="bob"),
    post("a rated match as a guest", 409, "rated_needs_accounts", "matches/{rated}/join", who="guest"),
)
