"""Every kind of source from end to end: a file at an address, a registry, a repository at a commit."""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.errors import InvalidRequest, SourceFailed
from registry.core.sources.import_request import ImportRequest
from registry.models import Event, Project, Source, Version
from registry.services.files import blobs
from registry.services.permissions import Actor
from registry.services.sources import import_preview, install, source_jobs, source_queries, sources
from tests.conftest import skill_text
from tests.remote.sources.servers import as_json, git_server, repository, serving
from tests.services.footprint import nothing_left_behind
from tests.services.receivers import Receiver, answering, receiving

GREETING, PARTING = skill_text("greeting").encode(), skill_text("parting").encode()


@pytest.fixture
def server(settings: Any) -> Iterator[Receiver]:
    with receiving() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.host]
        yield made


def added(project: Project, kind: str, address: str, by: Actor, **more: str) -> Source:
    made = sources.add(project, kind, address, by=by, **more)
    source_jobs.run_due()
    made.refresh_from_db()
    assert made.state == "ready", made.problem
    return made


def looked(project: Project, source: Source, by: Actor) -> dict[str, str]:
    sources.look(project, source.pk, by=by)
    source_jobs.run_due()
    source.refresh_from_db()
    return {one.entry.name: one.state for one in sources.with_state(source, list(source.entries.for_list()))}


def zipped(files: dict[str, bytes]) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return made.getvalue()


def test_a_single_file_is_a_source_of_one_skill(project: Project, server: Receiver, author: Actor) -> None:
    served = {"/greeting.md": GREETING}
    server.behave = serving(served)
    source = added(project, "url", server.url("/greeting.md"), author)
    assert install.import_skill(project, source.pk, ImportRequest("greeting"), by=author).status == "imported"
    assert blobs.bundle(Version.objects.get().manifest)[SKILL_MD] == GREETING
    assert looked(project, source, author) == {"greeting": "installed"}
    served["/greeting.md"] = GREETING + b"More.\n"
    assert looked(project, source, author) == {"greeting": "update"}
    assert install.import_skill(project, source.pk, ImportRequest("greeting"), by=author).status == "updated"


def test_a_zip_is_a_source_of_many_skills(project: Project, server: Receiver, author: Actor) -> None:
    content = {f"skill-{number}/SKILL.md": skill_text(f"skill-{number}").encode() for number in range(5)}
    server.behave = serving({"/all.zip": zipped(content)})
    source = added(project, "url", server.url("/all.zip?raw=1"), author)
    job = sources.start(project, source.pk, [ImportRequest(f"skill-{number}") for number in range(5)], by=author)
    source_jobs.run_due()
    assert set(job.items.values_list("status", flat=True)) == {"imported"}
    assert len(server.got) == 2, "one look, and one download for all five"
    assert "raw=1" not in str([event.data for event in Event.objects.all()])


def test_updates_are_found_in_an_index_without_digests(project: Project, server: Receiver, author: Actor) -> None:
    below = "/.well-known/skills"
    index = {"skills": [{"name": name, "description": name, "files": [SKILL_MD]} for name in ("greeting", "parting")]}
    served: dict[str, Any] = {f"{below}/index.json": as_json(index)}
    served |= {f"{below}/greeting/{SKILL_MD}": GREETING, f"{below}/parting/{SKILL_MD}": PARTING}
    server.behave = serving(served)
    source = added(project, "well-known", server.url(""), author)
    assert install.import_skill(project, source.pk, ImportRequest("greeting"), by=author).status == "imported"
    server.got.clear()
    assert looked(project, source, author) == {"greeting": "installed", "parting": "available"}
    assert not [one.path for one in server.got if "parting" in one.path], "only what came is looked into"
    served[f"{below}/greeting/{SKILL_MD}"] = GREETING + b"More.\n"
    assert looked(project, source, author)["greeting"] == "update"
    assert source_queries.updates(project)[source.pk] == 1
    del served[f"{below}/greeting/{SKILL_MD}"]
    assert looked(project, source, author)["greeting"] == "update", "what was known stays known"
    assert source.state == "ready"


def test_versions_of_a_registry_are_kept(project: Project, server: Receiver, author: Actor) -> None:
    served = {}

    def publish(version: str, body: str) -> None:
        newest = {"version": version}
        content = zipped({SKILL_MD: skill_text("greeting", body=body).encode()})
        item = {"slug": "greeting", "displayName": "Greeting", "summary": "Greets.", "latestVersion": newest}
        served.update({
            "/api/v1/skills": as_json({"items": [item], "nextCursor": None}),
            "/api/v1/skills/greeting": as_json({"skill": item, "latestVersion": newest}),
            "/api/v1/download": content,
        })  # fmt: skip

    publish("1.0.0", "First.")
    server.behave = serving(served)
    source = added(project, "clawhub", server.url(""), author)
    done = install.import_skill(project, source.pk, ImportRequest("greeting"), by=author)
    assert (done.status, done.version) == ("imported", "1.0.0")
    publish("1.1.0", "Second.")
    assert looked(project, source, author) == {"greeting": "update"}
    done = install.import_skill(project, source.pk, ImportRequest("greeting"), by=author)
    assert (done.status, done.version) == ("updated", "1.1.0")
    newest = Version.objects.latest("pk")
    assert newest.provenance.source_version == "1.1.0"


@pytest.mark.slow
def test_skills_beyond_the_listing_of_a_registry_are_searched(
    project: Project, server: Receiver, author: Actor
) -> None:
    def item(slug: str, version: str = "1") -> dict[str, Any]:
        return {"slug": slug, "summary": f"Does {slug}.", "latestVersion": {"version": version}}

    rare = zipped({SKILL_MD: skill_text("rare").encode()})
    served: dict[str, bytes] = {
        "/api/v1/skills": as_json({"items": [item(f"skill-{number}") for number in range(1_001)]}),
        "/api/v1/search": as_json({"results": [item("rare"), item("skill-7")]}),
        "/api/v1/download": rare,
    }
    server.behave = serving(served)
    source = added(project, "clawhub", server.url(""), author)
    assert (source.entries.count(), "more than 1,000" in source.problems[0]) == (1_000, True)
    found = sources.search(project, source.pk, " rare ", by=author)
    assert [(one.entry.name, one.state) for one in found] == [("rare", "available"), ("skill-7", "available")]
    assert install.import_skill(project, source.pk, ImportRequest("rare"), by=author).status == "imported"
    served["/api/v1/search"] = as_json({"results": [item("rare", "2")]})
    assert looked(project, source, author)["rare"] == "update"
    served["/api/v1/search"] = answering(503)  # type: ignore[assignment]
    assert looked(project, source, author)["rare"] == "update"
    with nothing_left_behind(), pytest.raises(SourceFailed, match="search http"):
        sources.search(project, source.pk, "rare", by=author)
    for words in ("", "a", "\0 a", "a" * 201):
        with nothing_left_behind(), pytest.raises(InvalidRequest, match="2 to 200 characters"):
            sources.search(project, source.pk, words, by=author)


@pytest.mark.processes
def test_a_repository_is_read_at_one_commit(project: Project, server: Receiver, author: Actor, tmp_path: Path) -> None:
    files = {"skills/greeting/SKILL.md": GREETING, "skills/parting/SKILL.md": PARTING}
    first = repository(tmp_path / "skills.git", files)
    server.behave = git_server(server, tmp_path)
    source = added(project, "git", server.url("/skills.git"), author)
    assert source.pin == first
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    second = repository(tmp_path / "skills.git", {**files, "skills/greeting/SKILL.md": GREETING + b"More.\n"})
    done = install.import_skill(project, source.pk, ImportRequest("greeting", digest=seen.digest), by=author)
    assert (done.status, done.digest) == ("imported", seen.digest)
    assert Version.objects.get().provenance.pin == first
    assert Event.objects.get(verb="source.imported").data["source"]["commit"] == first
    assert looked(project, source, author) == {"greeting": "update", "parting": "available"}
    assert source.pin == second
    job = sources.start(
        project, source.pk, [ImportRequest("greeting"), ImportRequest("parting")], update=True, by=author
    )
    source_jobs.run_due()
    assert dict(job.items.values_list("name", "status")) == {"greeting": "updated", "parting": "imported"}
    assert Version.objects.latest("pk").provenance.pin == second


@pytest.mark.processes
def test_content_staged_before_the_last_check_has_no_commit(
    project: Project, server: Receiver, author: Actor, tmp_path: Path
) -> None:
    repository(tmp_path / "skills.git", {"greeting/SKILL.md": GREETING})
    server.behave = git_server(server, tmp_path)
    source = added(project, "git", server.url("/skills.git"), author)
    seen = import_preview.load(project, source.pk, "greeting", by=author)
    repository(tmp_path / "skills.git", {"greeting/SKILL.md": GREETING + b"More.\n"})
    looked(project, source, author)
    done = install.import_skill(project, source.pk, ImportRequest("greeting", digest=seen.digest), by=author)
    assert (done.status, done.digest, Version.objects.get().provenance.pin) == ("imported", seen.digest, "")
    assert looked(project, source, author) == {"greeting": "update"}
