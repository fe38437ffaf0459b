"""Every refusal that leaves the services: one exception, one table of codes.

`docs/errors.md` lists the table, and a test holds the two together. Codes of
the games' own refusals stand in `matches.games.registry.refusals()` and are
409 unless they are listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from matches.games import registry
from matches.games.protocol import Rejected


class Code(msgspec.Struct, frozen=True):
    """The HTTP status that a code suggests, and one line of what it means."""

    status: int
    meaning: str


CODES: Mapping[str, Code] = MappingProxyType(
    {
        # Whatever is asked for
        "too_many_requests": Code(429, "Too many requests; Retry-After says when to go on."),
        "new_account_limit": Code(
            429, "An account may not make so many on its first day; Retry-After says when again."
        ),
        "cooling_down": Code(
            429, "You left several matches before they began; Retry-After says when to go on."
        ),
        "throttle_unavailable": Code(
            503,
            "Log-in is closed while attempts cannot be counted; Retry-After says when to retry.",
        ),
        # Matches, whatever is asked of them
        "unknown_match": Code(404, "There is no such match, or you may not see it."),
        "match_ended": Code(410, "The match is over."),
        "match_not_over": Code(409, "This opens when the match is over."),
        "stale_seq": Code(412, "You have not seen everything: `seq` is the newest event."),
        "key_reused": Code(409, "This idempotency key already stands for another request."),
        "answer_expired": Code(
            409, "What this idempotency key was answered is not kept any more; use another key."
        ),
        "unavailable": Code(503, "The server cannot do this now; try again."),
        "unreadable_match": Code(503, "This server cannot read the match's log; nothing was done."),
        # Making and joining
        "unknown_ruleset": Code(400, registry.REFUSALS["unknown_ruleset"]),
        "unknown_option": Code(400, registry.REFUSALS["unknown_option"]),
        "bad_option": Code(400, registry.REFUSALS["bad_option"]),
        "unknown_control": Code(400, "The ruleset is not played with this clock control."),
        "unrated_control": Code(409, "Matches with this clock control are never rated."),
        "rated_needs_accounts": Code(409, "A rated match needs two registered players."),
        "unknown_player": Code(404, "There is no such player."),
        "own_opponent": Code(409, "You cannot be your own opponent."),
        "too_many_invitations": Code(409, "Twenty of your invitations wait for an answer already."),
        "computer_opponent": Code(
            409, "The computer plays by `computer`, a level, and with nobody in `opponent`."
        ),
        "computer_unrated": Code(409, "A match against the computer is never rated."),
        "already_seated": Code(409, "You already sit at this table."),
        "seat_taken": Code(409, "No seat is free."),
        "already_playing": Code(
            409, "A player has one live rated match at a time, and this one is not over."
        ),
        # Seeks
        "unknown_seek": Code(404, "There is no such open seek."),
        "seek_taken": Code(409, "Somebody has taken the seek."),
        "seek_open": Code(409, "You have an open seek already."),
        "bad_rating_range": Code(400, "The lowest rating is above the highest."),
        "rating_out_of_range": Code(
            409, "The seek is for other ratings; `rating` is yours where it counts."
        ),
        # Challenges
        "unknown_challenge": Code(404, "There is no such challenge of or to you."),
        "challenge_over": Code(
            409, "The challenge is not open any more: accepted, declined, or its challenger plays."
        ),
        "challenge_open": Code(409, "Your challenge to this player waits for an answer already."),
        "too_many_challenges": Code(409, "Twenty of your challenges wait for an answer already."),
        # Rematches
        "no_rematch": Code(409, "A match that never began has no rematch."),
        "no_rematch_offered": Code(404, "No rematch of this match is offered."),
        "rematch_over": Code(
            409, "The rematch of this match has begun, or whoever offered it plays another match."
        ),
        # Being paired
        "already_waiting": Code(409, "You wait to be paired already, or just have been."),
        "already_paired": Code(409, "You have been paired: the match is yours to play."),
        "not_waiting": Code(404, "You do not wait to be paired."),
        # Playing
        "not_a_seat": Code(403, "You do not sit at this table."),
        "match_not_started": Code(409, "The match has not begun."),
        "hand_over": Code(409, "The hand is over; the next one has not been dealt."),
        "not_absent": Code(
            409,
            "The seat to act is not absent, or not yet for so long: `claim_at_ms` may say when.",
        ),
        "nothing_to_ready": Code(409, "Nothing waits for you to be ready."),
        "already_ready": Code(409, "You are already ready."),
        "nonce_too_late": Code(409, "A nonce counts only before the first deal."),
        "bad_nonce": Code(400, "A nonce is 8 to 32 bytes in lower-case hex."),
        # Players
        "bad_username": Code(
            400,
            "A name is 3 to 24 letters of one script, digits, `_` or `-`; those two not in front.",
        ),
        "username_reserved": Code(409, "This name is kept for the server."),
        "not_a_guest": Code(409, "Only a guest gets an account; you have one."),
        "username_taken": Code(409, "Somebody already has this name, or one that looks like it."),
        "bad_password": Code(400, "The password is too weak or too long; `reasons` says why."),
        "bad_email": Code(400, "This is no e-mail address."),
        "bad_credentials": Code(401, "Name or password is wrong."),
        "scope_forbids": Code(403, "This token's scope does not allow this."),
        "account_needed": Code(409, "A guest has no account yet."),
        "wrong_password": Code(403, "The password is wrong."),
        "unknown_token": Code(404, "You have no such token."),
        "too_many_tokens": Code(409, "You have fifty tokens already; revoke one."),
        "bad_token_name": Code(400, "A token's name is 1 to 40 visible characters."),
        "bad_code": Code(400, "The code is wrong, used or too old; ask for another."),
        "email_taken": Code(409, "Another account has verified this address."),
        "bad_bio": Code(400, "A bio is up to 500 visible characters, and ends of lines."),
        "bad_country": Code(400, "A country is two capital letters of ISO 3166-1."),
        "not_fresh": Code(
            409, "Only an account without matches, seeks and challenges becomes a bot, and once."
        ),
        "bot_busy": Code(409, "The bot plays as many matches as a bot may at a time."),
        "bot_not_paired": Code(409, "Bots are not paired: they seek, challenge or are invited."),
        "bot_needed": Code(409, "Only a bot account has tokens of the scope `bot`."),
        "bad_token": Code(401, "The token is unknown, expired or revoked."),
    }
)
"""Every code that the services add to the games' own: suggested status and meaning."""


Detail = Mapping[str, str | int] | Mapping[str, list[str]]
"""Facts beside a code."""


class ServiceError(Exception):
    """Nothing was done, and `code` says why.

    `detail` holds facts that whoever asked may know, `retry_after_s` is set where
    trying again makes sense.
    """

    def __init__(
        self, code: str, detail: Detail | None = None, *, retry_after_s: int | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.detail: Detail = {} if detail is None else detail
        self.retry_after_s = retry_after_s


def refused(rejected: Rejected) -> ServiceError:
    """The refusal of a game or a match, as it leaves the services."""
    return ServiceError(rejected.code, rejected.detail)


def unavailable() -> ServiceError:
    """The database, or the match's row in it, could not be had in time."""
    return ServiceError("unavailable", retry_after_s=1)


def meanings() -> Mapping[str, Code]:
    """Every code there is, the games' own included."""
    games = {code: Code(409, meaning) for code, meaning in registry.refusals().items()}
    return MappingProxyType({**games, **CODES})
