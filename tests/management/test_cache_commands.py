"""`clean_cache` and `warm_cache`: what they fetch, remove, print and refuse."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError

from registry.core.bundle import SKILL_MD
from registry.models import Project
from registry.remote.cache import Cache
from registry.remote.reach import Bounds
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.resolve import resolver
from tests.conftest import skill_bundle, skill_text
from tests.management.conftest import command_output
from tests.remote.web import Web

pytestmark = pytest.mark.usefixtures("volume")
TEXT = skill_text("a")


def versions(slug: str = "demo") -> list[str]:
    parent = resolver.root(slug) / "skills" / "a"
    return sorted(path.name for path in parent.iterdir() if not path.name.startswith(".")) if parent.is_dir() else []


def inline(version: str) -> dict[str, str]:
    return {"name": "a", "version": version, "content": TEXT}


def aged(slug: str, version: str) -> None:
    for record in (resolver.root(slug) / "skills" / "a" / ".records" / version).iterdir():
        os.utime(record, (1e9, 1e9))


@pytest.fixture
def cached(project: Project, other_project: Project, operator: Actor) -> None:
    """Versions 1 and 2 in both projects, 1 not used for years; a leftover of a run that was killed."""
    for one in (project, other_project):
        for version in ("1", "2"):
            Cache(resolver.root(one.slug)).keep("a", version, skill_bundle("a"), origin="https://example.org/a.zip")
        aged(one.slug, "1")
    left = resolver.root("demo") / "skills" / "a" / ".new-0123456789abcdef"
    left.mkdir()
    (left / "part.md").write_text("half")
    os.utime(left, (1e9, 1e9))


# -- clean_cache -------------------------------------------------------------------------------------------


def test_clean_cache_removes_only_leftovers_by_default(cached: None) -> None:
    said = command_output("clean_cache")
    assert "demo  skills/a/.new-0123456789abcdef  left by an interrupted run" in said
    assert said.endswith("1 removed, 4 bytes.\n")
    assert versions("demo") == versions("other") == ["1", "2"]
    assert command_output("clean_cache") == "0 removed, 0 bytes.\n"


def test_older_than_removes_unused_versions(cached: None) -> None:
    said = command_output("clean_cache", "--older-than", "30d")
    assert "demo  skills/a/1  unused" in said
    assert "other  skills/a/1" in said
    assert versions("demo") == versions("other") == ["2"]


def test_keep_limits_the_versions_but_not_those_in_use(cached: None) -> None:
    command_output("clean_cache", "--keep", "0", "--project", "demo")
    assert (versions("demo"), versions("other")) == (["2"], ["1", "2"])


def test_an_empty_cache_is_not_an_error(project: Project) -> None:
    assert command_output("clean_cache") == "0 removed, 0 bytes.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--older-than", "soon"), "such as 90d"),
        (("--keep", "-1"), "whole number"),
        (("--keep", "many"), "whole number"),
        (("--project", "nobody"), "no cache for project"),
    ],
)
def test_invalid_options_are_refused(cached: None, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        command_output("clean_cache", *arguments)
    assert versions("demo") == ["1", "2"]


# -- warm_cache --------------------------------------------------------------------------------------------


def warm(tmp_path: Path, given: Any, *arguments: str) -> str:
    file = tmp_path / "definitions.json"
    file.write_text(given if isinstance(given, str) else json.dumps(given))
    return command_output("warm_cache", "--project", "demo", *arguments, str(file))


def test_warm_cache_fetches_the_definitions_of_a_file(project: Project, tmp_path: Path, web: Web) -> None:
    url = web.put("/a.md", TEXT)
    given = {"skills": [{"name": "a", "version": "1", "url": url}]}
    assert warm(tmp_path, given) == "loaded  a 1\n"
    assert warm(tmp_path, given) == "cached  a 1\n"
    assert (resolver.root("demo") / "skills" / "a" / "1" / SKILL_MD).read_text() == TEXT


def test_warm_cache_reads_standard_input(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps([inline("1")])))
    assert command_output("warm_cache", "--project", "demo") == "loaded  a 1\n"


def test_many_definitions_are_fetched_in_parts(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "BOUNDS", Bounds(most=2))
    given = [{"name": f"a-{number}", "content": TEXT} for number in range(5)]
    assert warm(tmp_path, given).count("loaded") == 5


def test_a_failed_fetch_is_printed_and_fails_the_command(
    project: Project, tmp_path: Path, web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="1 not fetched"):
        warm(tmp_path, [{"name": "gone", "url": web.url("/gone.zip")}, inline("1")])
    assert len(list((resolver.root("demo") / "digests").iterdir())) == 1


@pytest.mark.parametrize(("given", "said"), [("{", "not JSON"), ("[" * 99_999, "not JSON"), ("5", "not a list")])
def test_input_without_definitions_is_refused(project: Project, tmp_path: Path, given: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        warm(tmp_path, given)


def test_a_missing_file_or_project_is_refused(project: Project, operator: Actor) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        command_output("warm_cache", "--project", "demo", "/nowhere/definitions.json")
    with pytest.raises(CommandError, match="There is no project"):
        command_output("warm_cache", "--project", "nobody")
    projects.archive(project, by=operator)
    with pytest.raises(CommandError, match="There is no project"):
        command_output("warm_cache", "--project", "demo")
