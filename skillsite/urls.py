"""Pages at the root, the API below /api."""

from django.urls import include, path

urlpatterns = [
    path("api/", include("registry.api.urls")),
    path("", include("registry.web.urls")),
]
