"""Every address of the site, and what the API is given from beside it."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from matches.api.urls import routes
from matches.audit.export import export
from matches.audit.verify import verify
from ratings.api.urls import urlpatterns as ratings
from xqmj_site.standings import rated_changes, rating_of

urlpatterns: list[URLPattern | URLResolver] = [
    path(
        "api/v1/",
        include(
            [
                *routes(
                    export=export,
                    verify=verify,
                    rating_of=rating_of,
                    rated_changes=rated_changes,
                ),
                *ratings,
            ]
        ),
    ),
    path("admin/", admin.site.urls),
]

handler400 = "matches.api.handlers.bad_request"
handler403 = "matches.api.handlers.forbidden"
handler404 = "matches.api.handlers.not_found"
handler500 = "matches.api.handlers.internal_error"
