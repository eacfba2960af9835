"""URLs of MCP and well-known discovery."""

from django.urls import URLPattern, path

from registry.protocols import well_known
from registry.protocols.mcp import endpoint

# Clients look for skills below any URL that a person may copy: the site, a project, its list, one skill.
_PREFIXES = {
    "site": "",
    "project": "projects/<slug:slug>/",
    "skills": "projects/<slug:slug>/skills/",
    "skill": "projects/<slug:slug>/skills/<str:only>/",
    "token": "t/<str:secret>/",
    "token-skill": "t/<str:secret>/skills/<str:only>/",
}


def _discovery(name: str, prefix: str) -> list[URLPattern]:
    new, old = f"{prefix}.well-known/{well_known.V2}", f"{prefix}.well-known/{well_known.V1}"
    return [
        path(f"{new}/index.json", well_known.index, name=f"{name}-index"),
        path(f"{new}/<str:name>.zip", well_known.archive, name=f"{name}-archive"),
        path(f"{new}/<str:name>/<path:path>", well_known.file, name=f"{name}-file"),
        path(f"{old}/index.json", well_known.legacy_index, name=f"{name}-legacy-index"),
        path(f"{old}/<str:name>/<path:path>", well_known.file, name=f"{name}-legacy-file"),
    ]


urlpatterns = [
    path("mcp", endpoint.mcp, name="mcp"),
    path("t/<str:secret>/mcp", endpoint.mcp, name="mcp-by-path"),
    path(".well-known/oauth-protected-resource", well_known.protected_resource),
    path(".well-known/oauth-protected-resource/mcp", well_known.protected_resource, name="protected-resource"),
    *(pattern for name, prefix in _PREFIXES.items() for pattern in _discovery(name, prefix)),
]
