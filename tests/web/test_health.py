"""What a machine is told that asks whether the site lives, and whether it can work."""

from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError
from django.db.migrations.executor import MigrationExecutor
from django.test import Client


@pytest.mark.parametrize("host", ["localhost", "10.1.2.3:8000", "web"])
@pytest.mark.parametrize(("path", "status"), [("/healthz", "ok"), ("/readyz", "ready")])
def test_a_probe_is_answered_under_any_name(db: None, client: Client, path: str, status: str, host: str) -> None:
    response = client.get(path, headers={"Host": host})
    assert (response.status_code, response.json()["status"]) == (200, status)
    assert response["X-Content-Type-Options"] == "nosniff"


def test_everything_else_asks_for_a_name_that_is_known(client: Client) -> None:
    assert client.get("/sign-in/", headers={"Host": "10.1.2.3:8000"}).status_code == 400


def test_a_skills_directory_that_is_gone_is_named(db: None, client: Client, settings: Any, tmp_path: Path) -> None:
    settings.AGENT_SKILLS_DIRS = [tmp_path, tmp_path / "gone"]
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"status": "not ready", "database": "ok", "skills": "cannot read: gone"}
    assert client.get("/healthz").status_code == 200


def test_a_database_that_is_gone_is_told_and_the_process_lives(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise DatabaseError("password of the database")

    monkeypatch.setattr(MigrationExecutor, "__init__", gone)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "cannot be reached: DatabaseError"
    assert client.get("/healthz").status_code == 200


def test_a_migration_that_waits_is_told(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MigrationExecutor, "migration_plan", lambda *_: ["one"])
    response = client.get("/readyz")
    assert (response.status_code, response.json()["database"]) == (503, "1 migrations are waiting")
