"""The worker's sweep of the cache: unused copies, and room in the quotas."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from registry.models import Project
from registry.remote.cache import Cache, charge
from registry.services import counters, housekeeping
from registry.services.permissions import Actor
from registry.services.resolve import resolver
from tests.conftest import skill_bundle, skill_text
from tests.services.resolving import volume

__all__ = ["volume"]

DAY = 86_400.0
SIZE = charge(skill_bundle("a"))


@pytest.fixture(autouse=True)
def due(volume: Path) -> None:
    counters.forget("resolve:sweep")


def store(version: str, *, days: float, by: str = "7", slug: str = "demo") -> Path:
    """Store a copy that was used so many days ago."""
    root = resolver.root(slug)
    copy = Cache(root, by=by).keep("a", version, skill_bundle("a", body=version), origin="https://example.org/a")
    used = time.time() - days * DAY
    for record in (root / "skills" / "a" / ".records" / version).iterdir():
        os.utime(record, (used, used))
    return copy.directory


def sweep() -> int:
    return housekeeping.sweep(now=timezone.now())["cached skills"]


@pytest.mark.django_db
def test_copies_that_nobody_uses_are_removed_in_every_project(settings: Any) -> None:
    settings.RESOLVE_UNUSED_DAYS = 10
    old, new, other = store("1", days=11), store("2", days=9), store("1", days=11, slug="deleted")
    assert sweep() == 2
    assert (old.exists(), new.exists(), other.exists()) == (False, True, False)
    store("1", days=11)
    assert sweep() == 0, "at most once an hour"


@pytest.mark.django_db
def test_room_is_made_before_a_quota_is_used_up(settings: Any) -> None:
    settings.RESOLVE_TOKEN_BYTES, settings.RESOLVE_PROJECT_BYTES = 5 * SIZE, 100 * SIZE
    mine = [store(str(number), days=10 - number) for number in range(5)]
    other = store("other", days=20, by="8")
    assert sweep() == 1
    assert [path.exists() for path in mine] == [False, True, True, True, True]
    assert other.exists()


@pytest.mark.django_db
def test_copies_in_use_stay_even_over_the_quota(settings: Any) -> None:
    settings.RESOLVE_TOKEN_BYTES = settings.RESOLVE_PROJECT_BYTES = 1
    used, unused = store("1", days=0.1), store("2", days=0.5)
    assert sweep() == 1
    assert (used.exists(), unused.exists()) == (True, False)


def test_a_token_over_its_quota_has_room_again_after_the_sweep(
    project: Project, operator: Actor, settings: Any
) -> None:
    settings.RESOLVE_TOKEN_BYTES = SIZE
    text = {"name": "b", "version": "1", "content": skill_text("b")}
    store("1", days=2)
    (found,) = resolver.resolve(project, [text], token_id=7, by=operator)
    assert "RESOLVE_TOKEN_BYTES" in found.reason
    assert sweep() == 1
    (found,) = resolver.resolve(project, [text], token_id=7, by=operator)
    assert found.status == "loaded"


@pytest.mark.django_db
def test_a_volume_that_cannot_be_read_does_not_stop_the_worker(
    volume: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store("1", days=50)
    real = os.scandir

    def failing(path: Any) -> Any:
        if str(path).startswith(str(volume)):
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr(os, "scandir", failing)
    assert sweep() == 0
    assert "could not be cleaned" in caplog.text
