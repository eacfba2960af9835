"""System checks: each configuration problem has an id that operators can look up."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.checks import run_checks

from registry.core.limits import Limits

RANDOM = "h6b8Zr0vT3qLx9WcYp2Jd5KsNf7Gm4Ea1RuVwXyZoBiDgHjQtC"


def reported_ids(settings: Any, **changed: Any) -> set[str]:
    """Return the ids of our own checks that fail with these settings. All other settings are valid."""
    for name, value in {"SECRET_KEY": RANDOM, "AGENT_SKILLS_DIRS": [], "REDIS_URL": "", **changed}.items():
        setattr(settings, name, value)
    return {message.id for message in run_checks() if message.id and message.id.startswith("skillsite.")}


@pytest.mark.parametrize(
    ("changed", "ids"),
    [
        ({}, set()),
        ({"AGENT_SKILLS_DIRS": [Path("/nowhere/at/all")]}, {"skillsite.W001"}),
        ({"CAPABILITIES_DIRS": [Path("/nowhere/at/all")]}, {"skillsite.W006"}),
        ({"DEBUG": True}, {"skillsite.W002"}),
        ({"ALLOWED_HOSTS": ["*"]}, {"skillsite.W003"}),
        ({"SECRET_KEY": "changeme"}, {"skillsite.W004"}),
        ({"SECRET_KEY": "x" * 60}, {"skillsite.W004"}),
        ({"PUBLIC_URL": "skills.example"}, {"skillsite.E001"}),
        ({"LIMITS": Limits(file_bytes=2, expanded_bytes=1)}, {"skillsite.E002"}),
        ({"LIMITS": Limits(soft_tokens=2, loud_tokens=1)}, {"skillsite.E003"}),
        ({"REDIS_URL": "redis.example:6379"}, {"skillsite.E006"}),
        ({"REDIS_URL": "redis:6379"}, {"skillsite.E006"}),
        ({"REDIS_URL": "rediss://redis.example:6379/0"}, set()),
    ],
)
def test_each_problem_is_reported_with_its_id(settings: Any, changed: dict[str, Any], ids: set[str]) -> None:
    assert reported_ids(settings, **changed) == ids


def test_a_missing_package_is_reported(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert reported_ids(settings, REDIS_URL="redis://x", S3_BUCKET="skills") == {"skillsite.E004", "skillsite.E005"}


def test_every_id_is_in_the_operating_guide() -> None:
    code = (Path(site.BASE_DIR) / "registry" / "checks.py").read_text(encoding="utf-8")
    guide = (Path(site.BASE_DIR) / "docs" / "operating.md").read_text(encoding="utf-8")
    ids = {part.partition('"')[0] for part in code.split('id="')[1:]}
    assert len(ids) == 12
    assert {name for name in ids if f"`{name}`" not in guide} == set()
