"""The health probes /healthz and /readyz."""

from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError
from django.db.migrations.executor import MigrationExecutor
from django.test import Client


@pytest.mark.parametrize("host", ["localhost", "10.1.2.3:8000", "web"])
@pytest.mark.parametrize(("path", "status"), [("/healthz", "ok"), ("/readyz", "ready")])
def test_probes_accept_any_host_name(db: None, client: Client, path: str, status: str, host: str) -> None:
    response = client.get(path, headers={"Host": host})
    assert (response.status_code, response.json()["status"]) == (200, status)
    assert response["X-Content-Type-Options"] == "nosniff"


def test_other_pages_require_a_known_host_name(client: Client) -> None:
    assert client.get("/sign-in/", headers={"Host": "10.1.2.3:8000"}).status_code == 400


def test_readyz_names_a_missing_skills_directory(db: None, client: Client, settings: Any, tmp_path: Path) -> None:
    settings.AGENT_SKILLS_DIRS = [tmp_path, tmp_path / "gone"]
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"status": "not ready", "database": "ok", "skills": "cannot read: gone"}
    assert client.get("/healthz").status_code == 200


def test_readyz_reports_an_unreachable_database_and_healthz_stays_ok(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise DatabaseError("password of the database")

    monkeypatch.setattr(MigrationExecutor, "__init__", gone)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "cannot be reached: DatabaseError"
    assert client.get("/healthz").status_code == 200


def test_readyz_reports_pending_migrations(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: ["one"])
    response = client.get("/readyz")
    assert (response.status_code, response.json()["database"]) == (503, "1 migrations are waiting")
