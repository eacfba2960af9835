"""One resolver: whatever door is used, the names, versions and digests are the same, before and after every change."""

import base64
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client

from registry.client import SkillsiteClient
from registry.core import roles
from registry.core.bundle import Bundle
from registry.core.text import edits
from registry.models import Project, User
from registry.services import permissions
from registry.services.catalog import built_in
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.proposals import proposals, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills, versions
from tests.conftest import Api, on_disk, skill_bundle, skill_text
from tests.protocols.conftest import Mcp

Seen = dict[str, str]
NEW, OLD = "/.well-known/agent-skills", "/.well-known/skills"


def through_rest(api: Api) -> Seen:
    listed = [entry["name"] for entry in api.get("/catalog").json()["skills"]]
    effective = {
        entry["name"]: (entry["version"], entry["digest"])
        for entry in api.get("/effective").json()["results"]
        if entry["enabled"] and entry["version"]
    }
    assert sorted(effective) == listed
    seen = {}
    for name in listed:
        loaded = api.get(f"/skills/{name}").json()
        assert effective[name] == (loaded["version"], loaded["digest"])
        assert _digest_of_zip(api.get(f"/skills/{name}/bundle.zip").content) == loaded["digest"]
        seen[name] = loaded["digest"]
    return seen


def through_mcp(mcp: Mcp, api: Api) -> Seen:
    seen = {}
    for entry in mcp.ask("skills/list")["skills"]:
        files = {}
        for resource in entry["resources"]:
            content = mcp.ask("resources/read", uri=resource["uri"])["contents"][0]
            raw = content["text"].encode() if "text" in content else base64.b64decode(content["blob"])
            files[resource["uri"].split("/", 3)[3]] = raw
        name = entry["frontmatter"]["name"]
        seen[name] = Bundle(files).digest
        assert entry["_meta"]["app.skillsite/digest"] == seen[name]
        assert entry["_meta"]["app.skillsite/version"] == api.get(f"/skills/{name}").json()["version"]
        assert entry["_meta"].items() <= mcp.call("read_skill", skill_id=name)["_meta"].items()
    index = json.loads(mcp.ask("resources/read", uri="skill://index.json")["contents"][0]["text"])
    assert [entry["name"] for entry in index["skills"]] == list(seen)
    return seen


def through_well_known(client: Client, base: str) -> Seen:
    seen = {}
    for entry in client.get(f"{base}{NEW}/index.json").json()["skills"]:
        content = client.get(entry["url"]).content
        only = Bundle({"SKILL.md": content}).digest if entry["type"] == "skill-md" else _digest_of_zip(content)
        seen[entry["name"]] = only
    for entry in client.get(f"{base}{OLD}/index.json").json()["skills"]:
        files = {path: client.get(f"{base}{OLD}/{entry['name']}/{path}").content for path in entry["files"]}
        assert Bundle(files).digest == seen[entry["name"]]
    return seen


def through_client(site: SkillsiteClient, api: Api) -> Seen:
    """With what it kept from before every change, which must not show through."""
    seen = {}
    for one in site.effective().skills:
        loaded = site.read(one.name)
        assert (loaded.version, loaded.digest) == (one.version, one.digest)
        assert loaded.version == api.get(f"/skills/{one.name}").json()["version"]
        fetched = site.bundle(one.name)
        files = {entry.path: site.file(one.name, entry.path).content for entry in loaded.files}
        assert files == dict(fetched)
        seen[one.name] = fetched.digest
    assert [entry.name for entry in site.catalog().skills] == sorted(seen)
    return seen


def _digest_of_zip(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return Bundle({name: archive.read(name) for name in archive.namelist()}).digest


@pytest.fixture
def site(
    same_connection: None, project: Project, secret: Callable[..., str], tmp_path: Path
) -> Iterator[SkillsiteClient]:
    inside = httpx.WSGITransport(app=get_wsgi_application())
    with SkillsiteClient(
        "http://localhost", project.slug, secret(), cache_dir=tmp_path / "cache", transport=inside
    ) as connected:
        yield connected


@pytest.fixture
def doors(
    project: Project,
    api: Callable[..., Api],
    secret: Callable[..., str],
    operator: Actor,
    client: Client,
    site: SkillsiteClient,
) -> Callable[[], list[Seen]]:
    """What each door shows at this moment."""
    projects.set_public(project, True, by=operator)
    rest, token = api(), secret()

    def look() -> list[Seen]:
        return [
            through_rest(rest),
            through_mcp(Mcp(token), rest),
            through_well_known(client, f"/t/{token}"),
            through_well_known(client, ""),
            through_client(site, rest),
        ]

    return look


def approve(project: Project, name: str, text: str, person: Callable[[str], User]) -> str:
    """A change that an author suggested and a reviewer let through; the digest of its result."""
    author, reviewer = (permissions.person(person(role), project) for role in (roles.AUTHOR, roles.REVIEWER))
    suggestion = Suggestion(name, edits.parse(skill_md=text), "Better.")
    made = proposals.propose(project, suggestion, by=author).proposal
    reviews.approve(project, made.pk, result_digest=made.result_digest, by=reviewer)
    return made.result_digest


# The client goes through the site as a server runs it, which gives its connection back after each request.
@pytest.mark.django_db(transaction=True)
def test_every_door_shows_the_same(
    doors: Callable[[], list[Seen]],
    project: Project,
    library: Path,
    operator: Actor,
    person: Callable[[str], User],
) -> None:
    on_disk(library, "shared", {"references/a.md": b"a\n", "assets/b.bin": bytes(range(256))})
    on_disk(library, "plain")
    built_in.index().refresh()
    seen: list[Any] = []

    def expect(*names: str) -> None:
        looked = doors()
        assert all(one == looked[0] for one in looked), looked
        assert sorted(looked[0]) == sorted(names)
        seen.append(looked[0])

    expect("plain", "shared")
    first = skills.save(project, "shared", skill_bundle("shared", body="Ours."), base=seen[-1]["shared"], by=operator)
    expect("plain", "shared")
    assert seen[-1]["shared"] != seen[-2]["shared"]
    own = skill_bundle("own", {"x.txt": b"x"})
    skills.create(project, own, by=operator)
    expect("own", "plain", "shared")
    skills.disable(project, "plain", by=operator)
    expect("own", "shared")
    skills.save(project, "own", skill_bundle("own", body="Next."), base=own.digest, by=operator)
    expect("own", "shared")
    versions.yank(project, "own", "2", reason="Wrong.", by=operator)
    expect("own", "shared")
    assert seen[-1]["own"] == own.digest
    approved = approve(project, "own", skill_text("own", body="Better."), person)
    expect("own", "shared")
    assert seen[-1]["own"] == approved
    versions.yank(project, "shared", first.version.version, reason="Wrong.", by=operator)
    expect("own")
    skills.delete(project, "shared", by=operator)
    skills.enable(project, "plain", by=operator)
    expect("own", "plain", "shared")
    assert seen[-1]["shared"] == seen[0]["shared"]
