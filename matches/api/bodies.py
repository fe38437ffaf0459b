"""What requests say: one frozen struct for each body and each query, unknown fields refused."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from matches.services.bodies import Body, Name
from matches.services.challenges import Reason
from matches.services.drafts import Terms
from matches.services.grants import Scope
from matches.services.profiles import Language, Notation, Pieces

Text = Annotated[str, msgspec.Meta(max_length=512)]


class RegisterBody(Body, frozen=True, kw_only=True):
    """A new account: 3 to 24 letters, digits, `_` or `-`; a password of at least 12 characters."""

    username: Text
    password: Text
    email: Text | None = None


class LoginBody(Body, frozen=True, kw_only=True):
    """Name and password of an account."""

    username: Text
    password: Text


class PasswordBody(Body, frozen=True, kw_only=True):
    """Another password, by whoever knows the one so far."""

    old: Text
    new: Text


class CloseBody(Body, frozen=True, kw_only=True):
    """The password of the account that is to be closed."""

    password: Text


class EmailBody(Body, frozen=True, kw_only=True):
    """Another e-mail address, or none (""), by whoever knows the password."""

    email: Text
    password: Text


class CodeBody(Body, frozen=True, kw_only=True):
    """A code from a mail."""

    code: Text


class ForgotBody(Body, frozen=True, kw_only=True):
    """The address of an account whose password was forgotten."""

    email: Text


class ResetBody(Body, frozen=True, kw_only=True):
    """Another password, by a code from a mail."""

    code: Text
    password: Text


class ProfileBody(Body, frozen=True, kw_only=True):
    """What changes in my profile; null: back to nothing. What is left out stays as it is."""

    bio: Annotated[str, msgspec.Meta(max_length=2000)] | msgspec.UnsetType | None = msgspec.UNSET
    country: Text | msgspec.UnsetType | None = msgspec.UNSET
    language: Language | msgspec.UnsetType | None = msgspec.UNSET
    pieces: Pieces | msgspec.UnsetType | None = msgspec.UNSET
    notation: Notation | msgspec.UnsetType | None = msgspec.UNSET


class TokenBody(Body, frozen=True, kw_only=True):
    """A new token: what it is called, what it may do, and for how many days."""

    name: Text
    scope: Scope = "play"
    days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 30


class TermsBody(Body, frozen=True, kw_only=True):
    """How a match is to be played; options that are not given take their usual values."""

    ruleset: Name
    control: Name
    rules_version: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1
    options: dict[Name, Name | int | bool] = {}  # noqa: RUF012 - msgspec copies an empty one
    rated: bool = False

    def terms(self) -> Terms:
        """The same as services know it."""
        return Terms(
            ruleset=self.ruleset,
            control=self.control,
            rules_version=self.rules_version,
            options=self.options,
            rated=self.rated,
        )


class CreateBody(TermsBody, frozen=True, kw_only=True):
    """A new match.

    `opponent` is the name of the only player who may take the other seat;
    without it whoever has the match's id may. `computer` lets the computer sit
    there, at a level from 1 to 8: without `opponent`, and never rated. Options
    that are not given take their usual values.
    """

    opponent: Text | None = None
    computer: Annotated[int, msgspec.Meta(ge=1, le=8)] | None = None


Rating = Annotated[int, msgspec.Meta(ge=0, le=5_000)]


class SeekBody(TermsBody, frozen=True, kw_only=True):
    """A search for an opponent, for whoever's rating is from `rating_min` to `rating_max`.

    Ratings are those of the ruleset at this control. Options that are not given
    take their usual values.
    """

    rating_min: Rating | None = None
    rating_max: Rating | None = None


class ChallengeBody(TermsBody, frozen=True, kw_only=True):
    """A match that one player, of the name `opponent`, is asked for.

    Options that are not given take their usual values.
    """

    opponent: Text


class DeclineBody(Body, frozen=True, kw_only=True):
    """Why a challenge is declined, in one word of a closed list."""

    reason: Reason = "generic"


class PairingBody(Body, frozen=True, kw_only=True):
    """What one wants to be paired for; options have their usual values."""

    ruleset: Name
    control: Name
    rated: bool = False


class NoQuery(Body, frozen=True, kw_only=True):
    """A query without parameters."""


class EventsQuery(Body, frozen=True, kw_only=True):
    """The events after `after`; with none yet, `wait` seconds for the next."""

    after: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    wait: Annotated[int, msgspec.Meta(ge=0, le=25)] = 0


class MatchesQuery(Body, frozen=True, kw_only=True):
    """A page of one's own matches, the newest first."""

    status: Literal["live", "finished", "aborted"] | None = None
    cursor: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
