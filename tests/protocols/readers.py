"""Readers of all skills through each protocol. Each returns the digest of every skill, computed from its files."""

import base64
import io
import json
import zipfile

from django.test import Client

from registry.client import SkillsiteClient
from registry.core.bundle import Bundle
from tests.conftest import Api
from tests.protocols.mcp_client import Mcp

Digests = dict[str, str]
NEW, OLD = "/.well-known/agent-skills", "/.well-known/skills"


def through_rest(api: Api) -> Digests:
    listed = [entry["name"] for entry in api.get("/catalog").json()["skills"]]
    effective = {
        entry["name"]: (entry["version"], entry["digest"])
        for entry in api.get("/effective").json()["results"]
        if entry["enabled"] and entry["version"]
    }
    assert sorted(effective) == listed
    digests = {}
    for name in listed:
        loaded = api.get(f"/skills/{name}").json()
        assert effective[name] == (loaded["version"], loaded["digest"])
        assert _digest_of_zip(api.get(f"/skills/{name}/bundle.zip").content) == loaded["digest"]
        digests[name] = loaded["digest"]
    return digests


def through_mcp(mcp: Mcp, api: Api) -> Digests:
    digests = {}
    for entry in mcp.ask("skills/list")["skills"]:
        files = {}
        for resource in entry["resources"]:
            content = mcp.ask("resources/read", uri=resource["uri"])["contents"][0]
            raw = content["text"].encode() if "text" in content else base64.b64decode(content["blob"])
            files[resource["uri"].split("/", 3)[3]] = raw
        name = entry["frontmatter"]["name"]
        digests[name] = Bundle(files).digest
        assert entry["_meta"]["app.skillsite/digest"] == digests[name]
        assert entry["_meta"]["app.skillsite/version"] == api.get(f"/skills/{name}").json()["version"]
        assert entry["_meta"].items() <= mcp.call("read_skill", skill_id=name)["_meta"].items()
    index = json.loads(mcp.ask("resources/read", uri="skill://index.json")["contents"][0]["text"])
    assert [entry["name"] for entry in index["skills"]] == list(digests)
    return digests


def through_well_known(client: Client, base: str) -> Digests:
    digests = {}
    for entry in client.get(f"{base}{NEW}/index.json").json()["skills"]:
        content = client.get(entry["url"]).content
        digest = Bundle({"SKILL.md": content}).digest if entry["type"] == "skill-md" else _digest_of_zip(content)
        digests[entry["name"]] = digest
    for entry in client.get(f"{base}{OLD}/index.json").json()["skills"]:
        files = {path: client.get(f"{base}{OLD}/{entry['name']}/{path}").content for path in entry["files"]}
        assert Bundle(files).digest == digests[entry["name"]]
    return digests


def through_client(site: SkillsiteClient, api: Api) -> Digests:
    """Read with the client, whose cache from before a change must not be used."""
    digests = {}
    for skill in site.effective().skills:
        loaded = site.read(skill.name)
        assert (loaded.version, loaded.digest) == (skill.version, skill.digest)
        assert loaded.version == api.get(f"/skills/{skill.name}").json()["version"]
        fetched = site.bundle(skill.name)
        files = {entry.path: site.file(skill.name, entry.path).content for entry in loaded.files}
        assert files == dict(fetched)
        digests[skill.name] = fetched.digest
    assert [entry.name for entry in site.catalog().skills] == sorted(digests)
    return digests


def _digest_of_zip(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return Bundle({name: archive.read(name) for name in archive.namelist()}).digest
