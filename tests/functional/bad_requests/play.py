"""Commands at the table that are refused."""

from __future__ import annotations

from typing import Any

from tests.functional.bad_requests import Bad, post

ACT = "matches/{live}/act"


def act(what: str, status: int, code: str, action: Any, **more: Any) -> Bad:
    """An action of the seat to move that is refused; `who` and `path` may be others."""
    who, path = more.pop("who", "mover"), more.pop("path", ACT)
    return post(what, status, code, path, {"action": action, **more}, who=who)


WIN = {"type": "win"}
PASS = {"type": "pass"}

# One case a line, however long: the list is read down its columns.
# fmt: off
CASES: tuple[Bad, ...] = (
    # The rules say no: it is the opening, and the dealer has to discard
    act("a tile that is not held", 409, "tile_not_held", {"type": "discard", "tile": "{absent}", "drawn": False}),
    act("a drawn tile at the opening", 409, "drawn_mismatch", {"type": "discard", "tile": "{held}", "drawn": True}),
    act("a win that is none", 409, "win_not_possible", WIN),
    act("a chow on one's own turn", 409, "claim_window_over", {"type": "chow"}),
    act("a pung on one's own turn", 409, "claim_window_over", {"type": "pung"}),
    act("a pass on one's own turn", 409, "claim_window_over", PASS),
    act("not my turn to discard", 409, "not_your_turn", {"type": "discard", "tile": "rP", "drawn": False}, who="waiter"),
    act("not my turn to win", 409, "not_your_turn", WIN, who="waiter"),
    act("not my turn to pass", 409, "not_your_turn", PASS, who="waiter"),
    act("not my turn to chow", 409, "not_your_turn", {"type": "chow"}, who="waiter"),
    act("not at the table", 403, "not_a_seat", WIN, who="eve"),
    act("no such match", 404, "unknown_match", WIN, path="matches/{missing}/act"),
    act("a hidden match", 404, "unknown_match", WIN, path="matches/{hidden}/act", who="ada"),
    act("a match that is over", 410, "match_ended", WIN, path="matches/{ended}/act", who="ada"),
    act("a match that is over, for a stranger", 410, "match_ended", WIN, path="matches/{ended}/act", who="eve"),
    act("a match that waits for a player", 409, "match_not_started", WIN, path="matches/{open}/act", who="ada"),
    act("a match that waits to begin", 409, "match_not_started", WIN, path="matches/{paired}/act", who="ada"),
    # What was seen last
    act("seen too little", 412, "stale_seq", {"type": "discard", "tile": "{held}", "drawn": False}, expected_seq=1),
    act("seen nothing", 412, "stale_seq", {"type": "discard", "tile": "{held}", "drawn": False}, expected_seq=0),
    act("seen the future", 412, "stale_seq", {"type": "discard", "tile": "{held}", "drawn": False}, expected_seq=999),
    act("a negative seq", 400, "invalid_body", WIN, expected_seq=-1),
    act("a seq of a billion", 400, "invalid_body", WIN, expected_seq=10**9),
    act("a seq in quotes", 400, "invalid_body", WIN, expected_seq="5"),
    act("a fraction of a seq", 400, "invalid_body", WIN, expected_seq=5.5),
    act("a true seq", 400, "invalid_body", WIN, expected_seq=True),
    act("a list of seqs", 400, "invalid_body", WIN, expected_seq=[5]),
    # No action at all
    post("nothing", 400, "invalid_body", ACT, {}, who="mover"),
    post("no body", 400, "invalid_body", ACT, b"", who="mover"),
    post("no action but a seq", 400, "invalid_body", ACT, {"expected_seq": 3}, who="mover"),
    post("the action without its wrapper", 400, "unknown_field", ACT, {"type": "win"}, who="mover"),
    act("null", 400, "invalid_body", None),
    act("a word", 400, "invalid_body", "win"),
    act("a list", 400, "invalid_body", [WIN]),
    act("a number", 400, "invalid_body", 0),
    act("an empty action", 400, "invalid_body", {}),
    act("an action without type", 400, "invalid_body", {"tile": "rP", "drawn": False}),
    act("an unknown type", 400, "invalid_body", {"type": "kong"}),
    act("a type in capitals", 400, "invalid_body", {"type": "Win"}),
    act("the base of all actions", 400, "invalid_body", {"type": "Action"}),
    act("a type of null", 400, "invalid_body", {"type": None}),
    act("a type of a number", 400, "invalid_body", {"type": 1}),
    act("a type of a list", 400, "invalid_body", {"type": ["win"]}),
    act("an empty type", 400, "invalid_body", {"type": ""}),
    act("the table's own act", 400, "invalid_body", {"type": "draw"}),
    act("an event for an action", 400, "invalid_body", {"type": "xqmj.tile_discarded", "tile": "rP", "drawn": False}),
    # An action that is not whole
    act("no tile", 400, "invalid_body", {"type": "discard", "drawn": False}),
    act("no word on drawn", 400, "invalid_body", {"type": "discard", "tile": "{held}"}),
    act("drawn null", 400, "invalid_body", {"type": "discard", "tile": "{held}", "drawn": None}),
    act("drawn 0", 400, "invalid_body", {"type": "discard", "tile": "{held}", "drawn": 0}),
    act("drawn in words", 400, "invalid_body", {"type": "discard", "tile": "{held}", "drawn": "false"}),
    act("no such tile", 400, "invalid_body", {"type": "discard", "tile": "rX", "drawn": False}),
    act("a tile in capitals", 400, "invalid_body", {"type": "discard", "tile": "RP", "drawn": False}),
    act("a tile by its glyph", 400, "invalid_body", {"type": "discard", "tile": "兵", "drawn": False}),
    act("a tile by place", 400, "invalid_body", {"type": "discard", "tile": 0, "drawn": False}),
    act("a tile with a space", 400, "invalid_body", {"type": "discard", "tile": "rP ", "drawn": False}),
    act("two tiles", 400, "invalid_body", {"type": "discard", "tile": ["rP", "bP"], "drawn": False}),
    act("a tile of mahjong", 400, "invalid_body", {"type": "discard", "tile": "5m", "drawn": False}),
    # Fields that nobody may set
    act("a place in the hand", 400, "unknown_field", {"type": "discard", "tile": "{held}", "drawn": False, "index": 0}),
    act("a win with tiles", 400, "unknown_field", {"type": "win", "tiles": ["rK"]}),
    act("a win with points", 400, "unknown_field", {"type": "win", "points": 10}),
    act("a chow with tiles", 400, "unknown_field", {"type": "chow", "tiles": ["rK", "rA", "rE"]}),
    act("an instant", 400, "unknown_field", WIN, at_ms=0),
    act("another player", 400, "unknown_field", WIN, player="{missing}"),
    act("a seat", 400, "unknown_field", WIN, seat=1),
    act("a version", 400, "unknown_field", WIN, version=7),
    act("a key in the body", 400, "unknown_field", WIN, idempotency_key="abc"),
    act("a query beside the action", 400, "unknown_parameter", WIN, path="matches/{live}/act?as=bob"),
    # Ready
    post("ready in a hand", 409, "nothing_to_ready", "matches/{live}/ready", who="mover"),
    post("ready alone", 409, "nothing_to_ready", "matches/{open}/ready"),
    post("ready for others", 403, "not_a_seat", "matches/{paired}/ready", who="eve"),
    post("ready after the end", 410, "match_ended", "matches/{ended}/ready"),
    post("ready nowhere", 404, "unknown_match", "matches/{missing}/ready"),
    post("ready at a hidden match", 404, "unknown_match", "matches/{hidden}/ready"),
    post("a short nonce", 400, "bad_nonce", "matches/{paired}/ready", {"nonce": "00" * 7}),
    post("a long nonce", 400, "invalid_body", "matches/{paired}/ready", {"nonce": "00" * 33}),
    post("an empty nonce", 400, "bad_nonce", "matches/{paired}/ready", {"nonce": ""}),
    post("a nonce in capitals", 400, "bad_nonce", "matches/{paired}/ready", {"nonce": "AB" * 8}),
    post("a nonce of half a byte", 400, "bad_nonce", "matches/{paired}/ready", {"nonce": "0" * 17}),
    post("a nonce with spaces", 400, "bad_nonce", "matches/{paired}/ready", {"nonce": "00 " * 16}),
    post("a nonce that is no hex", 400, "bad_nonce", "matches/{paired}/ready", {"nonce": "zz" * 8}),
    post("a nonce in Arabic digits", 400, "bad_nonce", "matches/{paired}/ready", {"nonce": "٠١" * 8}),
    post("a number for a nonce", 400, "invalid_body", "matches/{paired}/ready", {"nonce": 12345678}),
    post("ready by field", 400, "unknown_field", "matches/{paired}/ready", {"ready": True}),
    # Resigning and leaving
    post("resigning nowhere", 404, "unknown_match", "matches/{missing}/resign"),
    post("resigning for others", 403, "not_a_seat", "matches/{live}/resign", who="eve"),
    post("resigning before the deal", 409, "match_not_started", "matches/{paired}/resign"),
    post("resigning alone", 409, "match_not_started", "matches/{open}/resign"),
    post("resigning after the end", 410, "match_ended", "matches/{ended}/resign"),
    post("resigning for the other seat", 400, "unknown_field", "matches/{live}/resign", {"seat": 1}),
    post("leaving nowhere", 404, "unknown_match", "matches/{missing}/leave"),
    post("leaving for others", 403, "not_a_seat", "matches/{live}/leave", who="eve"),
    post("leaving after the end", 410, "match_ended", "matches/{ended}/leave"),
    post("leaving with a reason", 400, "unknown_field", "matches/{live}/leave", {"reason": "dinner"}),
    post("claiming nowhere", 404, "unknown_match", "matches/{missing}/claim-absence"),
    post("claiming for others", 403, "not_a_seat", "matches/{live}/claim-absence", who="eve"),
    post("claiming after the end", 410, "match_ended", "matches/{ended}/claim-absence"),
    post("claiming against who is there", 409, "not_absent", "matches/{live}/claim-absence"),
    post(
        "claiming with an instant of one's own",
        400,
        "unknown_field",
        "matches/{live}/claim-absence",
        {"seen_ms": 0},
    ),
    post("leaving a hidden match", 404, "unknown_match", "matches/{hidden}/leave"),
)
