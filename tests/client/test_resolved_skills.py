"""Definitions resolved on this machine: reading, listing, the catalog, loaders, and the command."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.client import ResolvedSkills, errors, exit_codes, resolve, resolved
from registry.client.command import main
from registry.client.loaders.loading import load_all
from tests.conftest import skill_text
from tests.remote.web import Web, zipped
from tests.services.receivers import receiving

BINARY = bytes(range(256))
Resolve = Callable[..., ResolvedSkills]


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    with receiving() as receiver:
        monkeypatch.setenv("SKILLS_FETCH_ALLOW_HOSTS", receiver.host)
        yield Web(receiver)


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PERSISTENT_VOLUME_STORAGE", str(tmp_path / "volume"))
    return tmp_path / "volume"


@pytest.fixture
def definitions(web: Web, volume: Path) -> list[dict[str, Any]]:
    """A package, an inline text of a platform, and one that fails."""
    packed = {"SKILL.md": skill_text("packed", body="# Packed"), "assets/logo.bin": BINARY}
    return [
        {"name": "packed", "version": "1.0.0", "url": web.put("/packed.zip", zipped(packed))},
        {"Format": "SkillMd", "Name": "inline", "Version": 3, "SkillMd": skill_text("inline", body="# Inline")},
        {"name": "missing", "version": "1", "url": web.url("/missing.zip")},
    ]


def test_definitions_are_resolved_without_a_site(definitions: list[dict[str, Any]], volume: Path) -> None:
    found = resolve(definitions)
    assert [(one.name, one.version, one.status) for one in found.entries] == [
        ("packed", "1.0.0", "loaded"), ("inline", "3", "loaded"), ("missing", "1", "skipped"),
    ]  # fmt: skip
    assert [one.name for one in found.skills] == ["packed", "inline"]
    assert "status 404" in found.skipped[0].reason
    assert (volume / "skills" / "packed" / "1.0.0" / "assets" / "logo.bin").read_bytes() == BINARY


def test_resolved_skills_are_read_like_those_of_a_site(definitions: list[dict[str, Any]]) -> None:
    found = resolve({"skills": definitions})
    skill = found.read("packed")
    assert skill.instructions.startswith("# Packed")
    assert [entry.path for entry in skill.files] == ["SKILL.md", "assets/logo.bin"]
    assert skill.summary.startswith("Skill loaded: packed (approx.")
    assert found.file("packed", "assets/logo.bin", skill.version).content == BINARY
    assert found.read(" INLINE ").instructions.startswith("# Inline")
    assert found.directory("inline").joinpath("SKILL.md").is_file()
    assert dict(found.bundle("packed"))["assets/logo.bin"] == BINARY


@pytest.mark.parametrize(
    ("name", "path", "version", "message"),
    [
        ("missing", "SKILL.md", None, "status 404"), ("other", "SKILL.md", None, "no resolved skill"),
        ("packed", "../x", None, "no file"), ("packed", "SKILL.md", "2.0.0", "no resolved skill"),
    ],
)  # fmt: skip
def test_what_was_not_resolved_is_not_found(
    definitions: list[dict[str, Any]], name: str, path: str, version: str | None, message: str
) -> None:
    with pytest.raises(errors.NotFound, match=message):
        resolve(definitions).file(name, path, version)


def test_resolved_skills_are_text_for_a_prompt(definitions: list[dict[str, Any]]) -> None:
    found = resolve(definitions)
    text = found.catalog_text().text
    assert text.startswith("[Available Skills]\n• `packed` — Does what packed does")
    assert "missing" not in text
    assert "<name>inline</name>" in found.catalog_text(format="xml").text
    assert [line.name for line in found.catalog().skills] == ["packed", "inline"]
    short = found.catalog_text(budget="40").text
    assert len(short) < len(text)
    assert found.instructions().text == text
    assert found.instructions(catalog="none").text == ""
    with pytest.raises(errors.Misconfigured, match="not a budget"):
        found.catalog_text(budget="many")


def test_resolved_skills_are_loaded_into_frameworks(definitions: list[dict[str, Any]]) -> None:
    """The loaders of all frameworks use these methods."""
    loading = load_all(resolve(definitions))
    assert [(one.name, one.skill_md.instructions[:3]) for one in loading.skills] == [
        ("packed", "# P"),
        ("inline", "# I"),
    ]
    assert loading.skills[0].directory.joinpath("assets/logo.bin").read_bytes() == BINARY
    assert loading.skipped == {}


def test_cached_skills_are_resolved_offline(definitions: list[dict[str, Any]], web: Web) -> None:
    resolve(definitions)
    web.pages.clear()
    asked = len(web.asked)
    again = resolve(definitions, offline=True)
    assert [one.status for one in again.entries] == ["cached", "loaded", "skipped"]
    assert again.skipped[0].reason == "Offline, and this skill is not in the cache."
    assert len(web.asked) == asked


def test_every_cached_skill_is_listed_and_read(definitions: list[dict[str, Any]]) -> None:
    assert resolved().entries == ()
    resolve(definitions)
    found = resolved()
    assert [(one.name, one.version, one.origin) for one in found.entries] == [
        ("packed", "1.0.0", definitions[0]["url"]), ("inline", "", "inline"),
    ]  # fmt: skip
    assert found.file("packed", "assets/logo.bin").content == BINARY


def test_a_copy_that_was_changed_is_not_read(definitions: list[dict[str, Any]]) -> None:
    found = resolve(definitions)
    found.directory("packed").joinpath("SKILL.md").write_text("Do something else.")
    with pytest.raises(errors.Untrustworthy, match="Resolve it again"):
        found.read("packed")
    assert resolve(definitions).read("packed").instructions.startswith("# Packed")


def test_a_private_address_is_refused_by_default(volume: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKILLS_FETCH_ALLOW_HOSTS")
    definition = {"name": "a", "version": "1", "url": web.put("/a.md", skill_text("a"))}
    assert resolve([definition]).skipped[0].reason.startswith("Use https")
    assert resolve([definition], allow_hosts=[web.receiver.host]).skipped == ()


def test_a_request_without_definitions_is_an_error(volume: Path) -> None:
    with pytest.raises(errors.Misconfigured, match="skills"):
        resolve({"nothing": 1})
    with pytest.raises(errors.Misconfigured, match="more than 100"):
        resolve([{"name": f"a-{n}", "content": "x"} for n in range(101)])


def test_the_first_version_of_a_name_is_used(volume: Path) -> None:
    found = resolve(
        [{"name": "a", "version": version, "content": skill_text("a", body=f"# {version}")} for version in ("1", "2")]
    )
    assert found.read("a").version == "1"
    assert found.read("a", "2").instructions.startswith("# 2")
    assert len(found.effective().skills) == 1


# -- The command -------------------------------------------------------------------------------------------


def test_the_command_prints_a_line_for_each_definition(
    definitions: list[dict[str, Any]], volume: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It needs neither a site nor a token."""
    file = tmp_path / "definitions.json"
    file.write_text(json.dumps(definitions))
    assert main(["resolve", str(file)]) == exit_codes.DIFFERS
    out, err = capfd.readouterr()
    first, second, third = out.splitlines()
    assert first == f"loaded  packed 1.0.0  {volume}/skills/packed/1.0.0"
    assert second.startswith(f"loaded  inline 3  {volume}/digests/")
    assert third == "skipped  missing 1  The server answered with status 404."
    assert err == ""
    file.write_text(json.dumps(definitions[:2]))
    assert main(["--offline", "resolve", str(file)]) == exit_codes.DONE
    assert capfd.readouterr().out.startswith("cached  packed 1.0.0")


@pytest.mark.parametrize(("form", "expected"), [("text", "• `packed` — "), ("xml", "<name>packed</name>")])
def test_the_command_prints_the_list_for_a_prompt(
    definitions: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    form: str,
    expected: str,
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(definitions[:2]).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["resolve", "-", "--format", form]) == exit_codes.DONE
    assert expected in capfd.readouterr().out


def test_the_command_prints_json(
    definitions: list[dict[str, Any]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "definitions.json"
    file.write_text(json.dumps(definitions))
    main(["resolve", str(file), "--format", "json"])
    packed, _, missing = json.loads(capfd.readouterr().out)["skills"]
    assert packed["digest"].startswith("sha256:")
    assert set(missing) == {"name", "version", "status", "reason"}


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"{", exit_codes.USAGE), (b"{}", exit_codes.USAGE), (b"[" * 100_000, exit_codes.USAGE), (None, exit_codes.LOCAL)],
)
def test_a_file_without_definitions_is_an_error(
    tmp_path: Path, volume: Path, capfd: pytest.CaptureFixture[str], content: bytes | None, code: int
) -> None:
    file = tmp_path / "definitions.json"
    if content is not None:
        file.write_bytes(content)
    assert main(["resolve", str(file)]) == code
    assert "Traceback" not in capfd.readouterr().err
