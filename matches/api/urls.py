"""The addresses of the API, version 1."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter

from matches.api import (
    accounts,
    catalogue,
    challenges,
    commands,
    docs,
    emails,
    health,
    lobby,
    profile,
    records,
    rematches,
    tokens,
)
from matches.api import matches as views
from matches.api.converters import IdConverter
from matches.api.records import Exporter, Verifier
from matches.services.ports import RatedChanges, RatingOf

register_converter(IdConverter, "id")


def routes(
    *, export: Exporter, verify: Verifier, rating_of: RatingOf, rated_changes: RatedChanges
) -> list[URLPattern]:
    """Every address below /api/v1/.

    What makes and checks records, and what knows ratings, is brought by the site.
    """
    match = "matches/<id:match_id>"
    return [
        # First what is asked for all the time: addresses are tried in order.
        path(match, views.MatchView.as_view(), name="match"),
        path(f"{match}/events", views.EventsView.as_view(), name="events"),
        path(f"{match}/act", commands.ActView.as_view(), name="act"),
        path("", catalogue.RootView.as_view(), name="root"),
        path("schema", catalogue.SchemaView.as_view(), name="schema"),
        path("docs", docs.DocsPage.as_view(), name="docs"),
        path("docs.js", docs.DocsScript.as_view(), name="docs-script"),
        path("health", health.HealthView.as_view(), name="health"),
        path("readiness", health.ReadinessView.as_view(), name="readiness"),
        path("errors", catalogue.ErrorsView.as_view(), name="errors"),
        path("rulesets", catalogue.RulesetsView.as_view(), name="rulesets"),
        path("controls", catalogue.ControlsView.as_view(), name="controls"),
        path("auth/register", accounts.RegisterView.as_view(), name="register"),
        path("auth/login", accounts.LoginView.as_view(), name="login"),
        path("auth/logout", accounts.LogoutView.as_view(), name="logout"),
        path("auth/guest", accounts.GuestView.as_view(), name="guest"),
        path("auth/upgrade", accounts.UpgradeView.as_view(), name="upgrade"),
        path("auth/password", tokens.PasswordView.as_view(), name="password"),
        path("auth/password/forgot", emails.ForgotView.as_view(), name="forgot"),
        path("auth/password/reset", emails.ResetView.as_view(), name="reset"),
        path("auth/email/verify", emails.VerifyView.as_view(), name="verify-email"),
        path("me/email", emails.EmailView.as_view(), name="email"),
        path("tokens", tokens.TokensView.as_view(), name="tokens"),
        path("tokens/<id:token_id>", tokens.TokenView.as_view(), name="token"),
        path("me", accounts.MeView.as_view(), name="me"),
        path("me/profile", profile.OwnProfileView.as_view(), name="own-profile"),
        path("me/close", profile.CloseView.as_view(), name="close"),
        path(
            "me/export",
            profile.MyDataView.as_view(rated_changes=rated_changes),
            name="my-data",
        ),
        path("players/<str:username>/profile", profile.ProfileView.as_view(), name="profile"),
        path("me/bot", accounts.BotView.as_view(), name="bot"),
        path("players/<str:username>", accounts.PlayerView.as_view(), name="player"),
        path("matches", views.MatchesView.as_view(), name="matches"),
        path(f"{match}/join", commands.JoinView.as_view(), name="join"),
        path(f"{match}/ready", commands.ReadyView.as_view(), name="ready"),
        path(f"{match}/resign", commands.ResignView.as_view(), name="resign"),
        path(f"{match}/claim-absence", commands.ClaimAbsenceView.as_view(), name="claim-absence"),
        path(f"{match}/leave", commands.LeaveView.as_view(), name="leave"),
        path(f"{match}/replay", records.ReplayView.as_view(), name="replay"),
        path(f"{match}/export", records.ExportView.as_view(export=export), name="export"),
        *_lobby(rating_of),
        path(f"{match}/rematch", rematches.RematchView.as_view(), name="rematch"),
        path(
            "verifications", records.VerificationsView.as_view(verify=verify), name="verifications"
        ),
    ]


def _lobby(rating_of: RatingOf) -> list[URLPattern]:
    seek, challenge = "seeks/<id:seek_id>", "challenges/<id:challenge_id>"
    return [
        path("seeks", lobby.SeeksView.as_view(rating_of=rating_of), name="seeks"),
        path(seek, lobby.SeekView.as_view(), name="seek"),
        path("pairing", lobby.PairingView.as_view(rating_of=rating_of), name="pairing"),
        path(f"{seek}/accept", lobby.AcceptView.as_view(rating_of=rating_of), name="accept"),
        path("challenges", challenges.ChallengesView.as_view(), name="challenges"),
        path(challenge, challenges.ChallengeView.as_view(), name="challenge"),
        path(f"{challenge}/accept", challenges.AcceptView.as_view(), name="accept-challenge"),
        path(f"{challenge}/decline", challenges.DeclineView.as_view(), name="decline-challenge"),
    ]
