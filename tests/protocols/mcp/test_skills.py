"""The skills extension, resources and tools: exact bytes and exact errors."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.models import Project
from registry.protocols.mcp import context
from registry.services.agents import agents
from registry.services.catalog import built_in, usage
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, import_bundle
from tests.protocols.mcp_client import Mcp


def content(read: Any) -> bytes:
    one = read["contents"][0]
    return one["text"].encode() if "text" in one else base64.b64decode(one["blob"])


def save(project: Project, operator: Actor, text: str, files: dict[str, bytes] | None = None) -> None:
    import_bundle(project, Bundle({SKILL_MD: text.encode(), **(files or {})}), by=operator)


def test_an_entry_has_the_frontmatter_and_every_file_with_its_digest(caller: Mcp, offers: Bundle) -> None:
    (entry,) = caller.ask("skills/list")["skills"]
    assert entry["uri"] == "skill://offers/SKILL.md"
    assert entry["frontmatter"]["name"] == "offers"
    assert entry["frontmatter"]["metadata"] == {"requires": "greeting"}
    assert len(entry["resources"]) == len(offers)
    for resource in entry["resources"]:
        raw = content(caller.ask("resources/read", uri=resource["uri"]))
        assert resource["size"] == len(raw)
        assert resource["digest"] == f"sha256:{hashlib.sha256(raw).hexdigest()}"
    assert set(entry["_meta"]) == {"app.skillsite/version", "app.skillsite/digest", "app.skillsite/source"}
    assert entry["_meta"]["app.skillsite/digest"] == offers.digest


def test_get_returns_the_same_entry_as_list(caller: Mcp, offers: Bundle) -> None:
    result = caller.ask("skills/get", uri="skill://offers/SKILL.md")
    assert result["skill"] == caller.ask("skills/list")["skills"][0]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
    assert result["ttlMs"] >= 0


UNKNOWN = [
    "skill://nothing/SKILL.md",
    "skill://offers",
    "skill://offers/",
    "skill://offers/references/terms.md",
    "skill://offers/skill.md",
    "skill://../offers/SKILL.md",
    "skill://offers/../offers/SKILL.md",
    "skill://offers%2FSKILL.md",
    "SKILL://offers/SKILL.md",
    "file:///etc/passwd",
    "skill:///SKILL.md",
    "skill://",
    "offers",
    "skill://of\u0000fers/SKILL.md",
    "skill://%00/SKILL.md",
    "skill://" + "x" * 5_000 + "/SKILL.md",
]


@pytest.mark.parametrize("uri", UNKNOWN)
def test_an_invalid_uri_is_refused(caller: Mcp, offers: Bundle, uri: str) -> None:
    refused = caller.refusal("skills/get", uri=uri)
    assert (refused["code"], refused["data"]) == (-32602, {"uri": uri})


@pytest.mark.parametrize(
    "uri",
    [
        "skill://offers/absent.md",
        "skill://offers",
        "skill://offers/references",
        "skill://offers/../greeting/SKILL.md",
        "skill://offers/%2e%2e/greeting/SKILL.md",
        "skill://offers/..%2fgreeting%2fSKILL.md",
        "skill://offers/references/../SKILL.md",
        "skill://offers/./SKILL.md",
        "skill://offers//SKILL.md",
        "skill://offers/references\\terms.md",
        "skill://offers//etc/passwd",
        "skill://offers/%00",
        "skill://offers/SKILL.md?x=1",
        "skill://offers/SKILL.md#x",
        "skill://nothing/_manifest",
        "skill://index.json/",
        "http://testserver/api/schema/",
    ],
)
def test_an_unknown_resource_has_the_error_that_clients_expect(
    caller: Mcp, offers: Bundle, project: Project, operator: Actor, uri: str
) -> None:
    create_skill(project, skill_bundle(), by=operator)
    refused = caller.refusal("resources/read", uri=uri)
    assert (refused["code"], refused["data"]) == (-32602, {"uri": uri})


@pytest.mark.parametrize("method", ["skills/get", "resources/read", "resources/directory/read"])
@pytest.mark.parametrize("params", [{}, {"uri": 3}, {"uri": ""}, {"uri": None}, {"uri": ["skill://offers/SKILL.md"]}])
def test_a_uri_must_be_a_string(caller: Mcp, method: str, params: dict[str, Any]) -> None:
    assert caller.refusal(method, **params)["code"] == -32602


@pytest.mark.parametrize("path", ["assets/%C3%9C%20ber%20100%25.txt", "assets/Ü ber 100%.txt"])
def test_a_file_is_found_encoded_or_not(caller: Mcp, offers: Bundle, path: str) -> None:
    assert content(caller.ask("resources/read", uri=f"skill://offers/{path}")) == offers["assets/Ü ber 100%.txt"]


def test_every_listed_uri_returns_its_file(caller: Mcp, project: Project, operator: Actor) -> None:
    """Also if the name of one file equals the encoded name of another."""
    files = {"a b.md": b"space", "a%20b.md": b"percent", "c d/x.md": b"space", "c%20d/y.md": b"percent"}
    save(project, operator, skill_text("own"), files)
    (entry,) = caller.ask("skills/list")["skills"]
    for one in entry["resources"]:
        read = content(caller.ask("resources/read", uri=one["uri"]))
        assert one["digest"] == f"sha256:{hashlib.sha256(read).hexdigest()}"
    for folder in ("c%20d", "c%2520d"):
        below = caller.ask("resources/directory/read", uri=f"skill://own/{folder}")["resources"]
        assert [one["uri"].rpartition("/")[0] for one in below] == [f"skill://own/{folder}"]


def test_binary_files_are_returned_unchanged(caller: Mcp, offers: Bundle) -> None:
    read = caller.ask("resources/read", uri="skill://offers/assets/bytes.bin")
    assert content(read) == bytes(range(256))
    assert read["contents"][0]["mimeType"] == "application/octet-stream"


def test_a_skill_that_the_extension_cannot_carry_is_named_as_left_out(
    caller: Mcp, offers: Bundle, project: Project, operator: Actor
) -> None:
    save(project, operator, "---\nname: odd\ndescription: Odd.\nmetadata:\n  version: 1.0\n---\nOdd.\n")
    result = caller.ask("skills/list")
    assert [entry["uri"] for entry in result["skills"]] == ["skill://offers/SKILL.md"]
    (left_out,) = result["_meta"]["app.skillsite/leftOut"]
    assert left_out["name"] == "odd"
    assert "metadata.version" in left_out["reason"]
    assert "metadata.version" in caller.refusal("skills/get", uri="skill://odd/SKILL.md")["message"]
    assert b"Odd." in content(caller.ask("resources/read", uri="skill://odd/SKILL.md"))


def test_long_lists_are_paginated(
    caller: Mcp, project: Project, operator: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "PAGE", 2)
    names = [f"skill-{number}" for number in range(5)]
    for name in names:
        create_skill(project, skill_bundle(name), by=operator)
    for method, key in (("skills/list", "skills"), ("resources/list", "resources")):
        found, cursor = [], None
        for _ in range(3):
            result = caller.ask(method, **({"cursor": cursor} if cursor else {}))
            found += [one["uri"] for one in result[key] if one["uri"] != "skill://index.json"]
            cursor = result.get("nextCursor")
        assert (found, cursor) == ([f"skill://{name}/SKILL.md" for name in names], None)


@pytest.mark.parametrize("cursor", ["", "x", "!!!", 3, "e30=", "bnVsbA==", "\u00ff", "W1tb" * 33_333])
def test_an_invalid_cursor_is_refused(caller: Mcp, offers: Bundle, cursor: Any) -> None:
    assert caller.refusal("skills/list", cursor=cursor)["code"] == -32602


def test_a_directory_lists_its_direct_children(caller: Mcp, offers: Bundle) -> None:
    root = {
        one["uri"]: one["mimeType"] for one in caller.ask("resources/directory/read", uri="skill://offers")["resources"]
    }
    assert root == {
        "skill://offers/SKILL.md": "text/markdown",
        "skill://offers/assets": "inode/directory",
        "skill://offers/references": "inode/directory",
    }
    below = caller.ask("resources/directory/read", uri="skill://offers/references")["resources"]
    assert [(one["name"], one["mimeType"]) for one in below] == [
        ("terms.md", "text/markdown"),
        ("deep", "inode/directory"),
    ]


@pytest.mark.parametrize(
    "uri",
    [
        "skill://nothing",
        "skill://offers/",
        "skill://offers/SKILL.md",
        "skill://offers/absent",
        "skill://offers/ref",
        "skill://offers/references/",
        "skill://offers/..",
        "skill://offers/references/..",
        "skill://",
        "file:///",
    ],
)
def test_reading_an_unknown_directory_is_refused(caller: Mcp, offers: Bundle, uri: str) -> None:
    refused = caller.refusal("resources/directory/read", uri=uri)
    assert (refused["code"], refused["data"]) == (-32602, {"uri": uri})


def test_older_clients_can_read_the_index_and_manifests(caller: Mcp, offers: Bundle) -> None:
    listed = caller.ask("resources/list")["resources"]
    assert [one["uri"] for one in listed] == ["skill://index.json", "skill://offers/SKILL.md"]
    (entry,) = json.loads(content(caller.ask("resources/read", uri="skill://index.json")))["skills"]
    assert (entry["name"], entry["type"], entry["url"]) == ("offers", "skill-md", "skill://offers/SKILL.md")
    manifest = json.loads(content(caller.ask("resources/read", uri="skill://offers/_manifest")))
    assert manifest["skill"] == "offers"
    assert {file["path"] for file in manifest["files"]} == set(offers)


def test_the_index_names_the_skills_it_leaves_out(
    caller: Mcp, offers: Bundle, project: Project, operator: Actor
) -> None:
    save(project, operator, f"---\nname: wordy\ndescription: {'word ' * 300}\n---\nBody.\n")
    index = json.loads(content(caller.ask("resources/read", uri="skill://index.json")))
    assert [entry["name"] for entry in index["skills"]] == ["offers"]
    (left_out,) = index["x-left-out"]
    assert left_out["name"] == "wordy"
    assert "1,024 are allowed" in left_out["reason"]


def test_a_file_named_like_the_manifest_takes_precedence(caller: Mcp, project: Project, operator: Actor) -> None:
    save(project, operator, skill_text("own"), {"_manifest": b"mine"})
    assert content(caller.ask("resources/read", uri="skill://own/_manifest")) == b"mine"


# -- Tools -----------------------------------------------------------------------------------------------------


def test_the_tools_depend_on_the_scopes_of_the_token(caller: Mcp) -> None:
    names = [tool["name"] for tool in caller.ask("tools/list")["tools"]]
    assert names[:3] == ["list_skills", "read_skill", "read_skill_resource"]
    assert not [name for name in names if name.startswith("skills.")]


def test_tools_list_and_load_a_skill_and_read_its_file(caller: Mcp, offers: Bundle) -> None:
    listed = caller.call("list_skills")["content"][0]["text"]
    assert listed.startswith("[Available Skills]\n• `offers` — ")
    loaded = caller.call("read_skill", skill_id=" Offers ")
    text = loaded["content"][0]["text"]
    assert text.startswith("Skill loaded: offers (approx. ")
    assert "This skill requires: greeting." in text
    assert "references/terms.md" in text
    assert text.endswith("See references/terms.md.")
    assert loaded["_meta"]["app.skillsite/digest"] == offers.digest
    read = caller.call("read_skill_resource", skill_id="offers", path="references/deep/more.txt")
    assert read["content"][0]["text"] == "more\n"


def test_the_best_match_is_first_and_omitted_skills_are_named(caller: Mcp, project: Project, operator: Actor) -> None:
    for name, description in (("alpha", "About the refund of a beta."), ("beta", "Something."), ("gamma", "Other.")):
        create_skill(project, skill_bundle(name, description=description), by=operator)
    found = caller.call("list_skills", query="BETA")["content"][0]["text"]
    assert found.index("`beta`") < found.index("`alpha`")
    assert "gamma" not in found
    tight = caller.call("list_skills", budget="20")["content"][0]["text"]
    assert "not listed" in tight
    assert caller.call("list_skills", query="zzz")["content"][0]["text"] == "No skill matches these words."


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_skill", {}),
        ("read_skill", {"skill_id": ""}),
        ("read_skill", {"skill_id": 3}),
        ("read_skill", {"skill_id": "nothing"}),
        ("read_skill", {"skill_id": "../offers"}),
        ("read_skill", {"skill_id": "a\u0000b"}),
        ("read_skill", {"skill_id": "offers", "more": "x"}),
        ("read_skill_resource", {"skill_id": "offers", "path": "../SKILL.md"}),
        ("read_skill_resource", {"skill_id": "offers", "path": "/etc/passwd"}),
        ("read_skill_resource", {"skill_id": "offers", "path": "references"}),
        ("read_skill_resource", {"skill_id": "offers", "path": "assets/bytes.bin"}),
        ("read_skill_resource", {"skill_id": "offers"}),
        ("list_skills", {"query": 3}),
        ("list_skills", {"budget": "much"}),
        ("skills.load", {"name": "nothing"}),
        ("skills.readFile", {"name": "offers", "path": "absent"}),
    ],
)
def test_mistakes_of_the_model_are_returned_as_results(
    caller: Mcp, offers: Bundle, tool: str, arguments: dict[str, Any]
) -> None:
    result = caller.call(tool, **arguments)
    assert result["isError"] is True
    assert result["content"][0]["text"]


def test_a_path_that_leaves_the_skill_is_called_a_traversal(caller: Mcp, offers: Bundle) -> None:
    result = caller.call("read_skill_resource", skill_id="offers", path="../other/SKILL.md")
    assert result["isError"] is True
    assert "Path traversal detected" in result["content"][0]["text"]


@pytest.mark.parametrize("params", [{"name": "nothing"}, {}, {"name": "read_skill", "arguments": [1]}, {"name": 3}])
def test_a_call_of_an_unknown_tool_is_an_error(caller: Mcp, params: dict[str, Any]) -> None:
    assert caller.refusal("tools/call", **params)["code"] == -32602


def test_tool_names_of_older_systems_work(caller: Mcp, offers: Bundle) -> None:
    loaded = caller.call("skills.load", name="offers")["structuredContent"]
    assert (loaded["ok"], loaded["name"], loaded["source"]) == (True, "offers", "db")
    assert loaded["content"].startswith("# Offers")
    read = caller.call("skills.readFile", name="offers", path="references/deep/more.txt")
    assert read["structuredContent"] == {
        "ok": True, "name": "offers", "path": "references/deep/more.txt", "content": "more\n",
    }  # fmt: skip
    missed = caller.call("skills.load", name="nothing")["structuredContent"]
    assert missed["ok"] is False
    assert "nothing" in missed["error"]
    assert json.loads(caller.call("skills.load", name="nothing")["content"][0]["text"]) == missed


# -- What is counted, and what an agent may see --------------------------------------------------------------------


def test_only_loading_a_skill_counts_as_a_load(caller: Mcp, offers: Bundle) -> None:
    for _ in range(2):
        caller.ask("skills/list")
        caller.ask("resources/read", uri="skill://offers/references/terms.md")
        caller.ask("resources/read", uri="skill://offers/SKILL.md")
    caller.call("read_skill", skill_id="offers")
    caller.call("skills.load", name="offers")
    counted = usage._buffer.loads
    assert [(load.skill, load.caller, number) for load, number in counted.items()] == [("offers", "bot", 4)]


def test_a_skill_that_an_agent_may_not_see_does_not_exist_for_it(
    caller: Mcp, offers: Bundle, project: Project, library: Path, operator: Actor
) -> None:
    on_disk(library, "greeting")
    built_in.index().refresh()
    create_skill(project, skill_bundle("secret-plan"), by=operator)
    assert len(caller.ask("skills/list")["skills"]) == 3
    bot = agents.definition_of(agents.get(project, "bot"))
    limited = replace(bot, allowed_skills=("offers",), uses_skills=("greeting",))
    agents.update(project, "bot", limited, by=operator)
    assert [one["frontmatter"]["name"] for one in caller.ask("skills/list")["skills"]] == ["greeting", "offers"]
    assert "secret-plan" not in json.dumps(caller.ask("resources/list"))
    assert "secret-plan" not in json.dumps(caller.ask("resources/read", uri="skill://index.json"))
    assert "secret-plan" not in json.dumps(caller.call("list_skills"))
    uri = "skill://secret-plan/SKILL.md"
    for method in ("skills/get", "resources/read"):
        assert caller.refusal(method, uri=uri)["data"] == {"uri": uri}
    assert caller.refusal("resources/directory/read", uri="skill://secret-plan")["code"] == -32602
    assert caller.call("read_skill", skill_id="secret-plan")["isError"] is True
    assert caller.call("skills.load", name="secret-plan")["isError"] is True


def test_two_agents_never_share_a_cached_result(
    mcp: Callable[..., Mcp], offers: Bundle, project: Project, operator: Actor
) -> None:
    every, few = mcp(agent="every"), mcp(agent="few")
    agents.update(project, "few", agents.Definition(allowed_skills=()), by=operator)
    assert len(every.ask("skills/list")["skills"]) == 1
    assert few.ask("skills/list")["skills"] == []
    assert few.refusal("resources/read", uri="skill://offers/SKILL.md")["code"] == -32602


def test_a_token_of_another_project_sees_no_skills(
    mcp: Callable[..., Mcp], offers: Bundle, other_project: Project
) -> None:
    stranger = mcp(where=other_project)
    assert stranger.ask("skills/list")["skills"] == []
    assert stranger.refusal("resources/read", uri="skill://offers/SKILL.md")["code"] == -32602


def test_a_loaded_skill_names_its_triggers_inputs_and_outputs(caller: Mcp, project: Project, operator: Actor) -> None:
    header = 'metadata:\n  triggers: "money back"\n  inputs: "order number"\n  outputs: "letter, credit note"\n---'
    save(project, operator, skill_text("refunds", body="Refund it.").replace("\n---", f"\n{header}", 1))
    text = caller.call("read_skill", skill_id="refunds")["content"][0]["text"]
    assert "Triggers: money back\nInputs: order number\nOutputs: letter, credit note\n" in text
