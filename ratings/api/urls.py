"""Addresses of ratings, to be included under the API's root."""

from django.urls import path

from ratings.api import views

urlpatterns = [
    path("pools", views.PoolsView.as_view(), name="pools"),
    path("leaderboards/<str:pool>", views.LeaderboardView.as_view(), name="leaderboard"),
    path(
        "players/<str:username>/ratings",
        views.PlayerRatingsView.as_view(),
        name="player-ratings",
    ),
    path(
        "players/<str:username>/ratings/<str:pool>/history",
        views.RatingHistoryView.as_view(),
        name="rating-history",
    ),
]
