"""The addresses of the doors for existing clients."""

from django.urls import URLPattern, path

from registry.protocols import well_known
from registry.protocols.mcp import endpoint

# Clients look for skills below any address that a person may copy: the site, a project, its list, one skill.
_PLACES = {
    "site": "",
    "project": "projects/<slug:slug>/",
    "skills": "projects/<slug:slug>/skills/",
    "skill": "projects/<slug:slug>/skills/<str:only>/",
    "token": "t/<str:secret>/",
    "token-skill": "t/<str:secret>/skills/<str:only>/",
}


def _discovery(place: str, start: str) -> list[URLPattern]:
    new, old = f"{start}.well-known/{well_known.V2}", f"{start}.well-known/{well_known.V1}"
    return [
        path(f"{new}/index.json", well_known.index, name=f"{place}-index"),
        path(f"{new}/<str:name>.zip", well_known.archive, name=f"{place}-archive"),
        path(f"{new}/<str:name>/<path:path>", well_known.file, name=f"{place}-file"),
        path(f"{old}/index.json", well_known.legacy_index, name=f"{place}-legacy-index"),
        path(f"{old}/<str:name>/<path:path>", well_known.file, name=f"{place}-legacy-file"),
    ]


urlpatterns = [
    path("mcp", endpoint.mcp, name="mcp"),
    path("t/<str:secret>/mcp", endpoint.mcp, name="mcp-by-path"),
    path(".well-known/oauth-protected-resource", well_known.protected_resource),
    path(".well-known/oauth-protected-resource/mcp", well_known.protected_resource, name="protected-resource"),
    *(pattern for place, start in _PLACES.items() for pattern in _discovery(place, start)),
]
