"""URLs of the API, the protocols and the pages."""

from django.urls import include, path

urlpatterns = [
    path("api/", include("registry.api.urls")),
    path("", include("registry.protocols.urls")),
    path("", include("registry.web.urls")),
]

handler400 = "skillsite.errors.bad_request"
handler403 = "skillsite.errors.forbidden"
handler404 = "skillsite.errors.not_found"
handler500 = "skillsite.errors.server_error"
