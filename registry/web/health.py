"""Health probes: /healthz (the process is alive) and /readyz (it can serve requests)."""

import os
from collections.abc import Callable

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse


class Probes:
    """Answer probes before ALLOWED_HOSTS is checked, because probes use the machine's address as host name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.probes = {"/healthz": healthz, "/readyz": readyz}

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = self.probes.get(request.path)
        return probe(request) if probe else self.get_response(request)


def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """Check that the database is reachable and migrated, and that every skills directory is readable."""
    checks = {"database": _database(), "skills": _directories()}
    ready = not any(checks.values())
    body = {
        "status": "ready" if ready else "not ready",
        **{name: fault or "ok" for name, fault in checks.items()},
    }
    return JsonResponse(body, status=200 if ready else 503)


def _database() -> str:
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except Error as error:
        return f"cannot be reached: {type(error).__name__}"
    return f"{len(waiting)} migrations are waiting" if waiting else ""


def _directories() -> str:
    bad = [
        root.name
        for root in (*settings.AGENT_SKILLS_DIRS, *settings.CAPABILITIES_DIRS)
        if not os.access(root, os.R_OK | os.X_OK)
    ]
    return f"cannot read: {', '.join(bad)}" if bad else ""
