"""One skill over the API: load, create, save against a digest, delete."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.archive.zip_bundle import write_zip
from registry.core.bundle import Bundle
from registry.core.catalog import token_estimate
from registry.models import Agent, Event, Project, Version
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, disable_skill
from tests.services.footprint import nothing_left_behind


@pytest.fixture
def bot(project: Project, api: Callable[..., Api]) -> Api:
    return api("read", "write")


@pytest.fixture
def digest(project: Project, operator: Actor) -> str:
    """Return the digest of version 1 of greeting, which also has the file a.txt."""
    bundle = skill_bundle(body="One.", files={"a.txt": b"a"})
    return create_skill(project, bundle, by=operator).version.digest


def put(bot: Api, digest: str | None, address: str = "greeting", **body: Any) -> Any:
    headers = {} if digest is None else {"If-Match": f'"{digest}"'}
    return bot.send("PUT", f"/skills/{address}", body or {"skill_md": skill_text(body="Two.")}, headers)


# -- Load --------------------------------------------------------------------------------------------------


def test_a_loaded_skill_contains_everything_an_agent_needs(project: Project, operator: Actor, bot: Api) -> None:
    bundle = skill_bundle(body="# Greet\n\nSay hello.", files={"references/a.md": b"a"}, kind="knowledge")
    create_skill(project, bundle, by=operator)
    cost = token_estimate.estimate("# Greet\n\nSay hello.")
    assert bot.get("/skills/greeting").json() == {
        "name": "greeting",
        "title": "Greet",
        "description": "Does what greeting does for the team. Use when somebody asks for greeting.",
        "kind": "knowledge",
        "version": "1",
        "digest": bundle.digest,
        "source": "project",
        "instructions": "# Greet\n\nSay hello.",
        "tokens": cost,
        "summary": f"Skill loaded: greeting (approx. {cost} tokens)",
        "requires": [],
        "triggers": [],
        "inputs": [],
        "outputs": [],
        "files": [{"path": e.path, "size": e.size, "digest": e.digest} for e in bundle.manifest],
        "scan": {"status": "none", "errors": 0, "warnings": 0},
    }


def test_a_loaded_skill_names_its_triggers_inputs_and_outputs(project: Project, operator: Actor, bot: Api) -> None:
    text = (
        '---\nname: refunds\ndescription: "Refunds an order. Use when a customer wants money back."\nmetadata:\n'
        '  title: "Refund an order"\n  triggers: "money back, refund"\n  inputs: "order number"\n'
        '  outputs: "letter, credit note"\n---\n\n# How we refund\n'
    )
    create_skill(project, skills.from_text(text), by=operator)
    body = bot.get("/skills/refunds").json()
    assert body["title"] == "Refund an order"
    assert body["triggers"] == ["money back", "refund"]
    assert body["inputs"] == ["order number"]
    assert body["outputs"] == ["letter", "credit note"]


def test_an_unknown_kind_is_a_finding_and_means_a_how_to(bot: Api) -> None:
    text = skill_text(metadata={"kind": "wizard"})
    saved = bot.send("POST", "/skills", {"skill_md": text}).json()
    assert [one["line"] for one in saved["findings"] if one["rule"] == "kind-unknown"] == [5]
    assert bot.get("/skills/greeting").json()["kind"] == "tool"


def test_saving_parts_keeps_the_other_header_fields_and_files(project: Project, operator: Actor, bot: Api) -> None:
    text = (
        '---\nname: greeting\ndescription: "Greets people. Use when somebody comes in."\n'
        "license: MIT # as all of ours\nmetadata:\n  tags: hello\n  lane: desk\n---\n\nOne.\n"
    )
    created = create_skill(project, skills.from_text(text).with_changes({"a.txt": b"a"}), by=operator).version
    parts = {"description": "Greets people. Use when somebody arrives.", "instructions": "Two."}
    saved = put(bot, created.digest, **parts).json()
    assert catalog.load(project.pk, "greeting").bundle() == Bundle(
        {
            "a.txt": b"a",
            "SKILL.md": text.replace("somebody comes in", "somebody arrives").replace("One.", "Two.").encode(),
        }
    )
    put(bot, saved["digest"], **parts, metadata={"lane": "door"})
    saved_md = catalog.load(project.pk, "greeting").skill_md()
    assert saved_md.document.fields["metadata"] == {"lane": "door"}
    assert saved_md.document.fields["license"] == "MIT"


def test_a_built_in_skill_has_the_same_keys(project: Project, library: Path, operator: Actor, bot: Api) -> None:
    on_disk(library, "bundled-one")
    create_skill(project, skill_bundle(), by=operator)
    bundled, own = (bot.get(f"/skills/{name}").json() for name in ("bundled-one", "greeting"))
    assert set(bundled) == set(own)
    assert (bundled["source"], own["source"]) == ("bundled", "project")


def test_required_skills_are_only_a_hint(project: Project, operator: Actor, bot: Api) -> None:
    create_skill(project, skill_bundle(requires=["Brand-Voice", "unknown-one"]), by=operator)
    body = bot.get("/skills/greeting").json()
    assert body["requires"] == ["brand-voice", "unknown-one"]
    assert body["hint"] == "This skill requires: brand-voice, unknown-one. Load it first if you haven't already."


def test_a_missing_required_skill_is_a_finding_in_every_write(
    project: Project, operator: Actor, library: Path, bot: Api
) -> None:
    on_disk(library, "on-disk")
    for name in ("own", "off"):
        create_skill(project, skill_bundle(name), by=operator)
    disable_skill(project, "off", by=operator)
    requires = ["own", "on-disk", "off", "unknown-one"]
    created = bot.send("POST", "/skills", {"skill_md": skill_text(requires=requires)})
    upload = write_zip(skill_bundle("other", requires=requires))
    answers = [
        created,
        put(bot, created.json()["digest"], skill_md=skill_text(body="Two.", requires=requires)),
        bot.upload(upload, "?dry_run=1"),
        bot.upload(upload),
    ]
    for answer in answers:
        found = [each["message"] for each in answer.json()["findings"] if each["rule"] == "requires-unknown"]
        assert found == [
            f"The skill requires “{name}”, which is not in this project." for name in ("off", "unknown-one")
        ]


def test_findings_do_not_name_skills_an_agent_may_not_see(
    project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    create_skill(project, skill_bundle("secret"), by=operator)
    bot = api("read", "write", agent="desk")
    Agent.objects.filter(project=project, name="desk").update(allowed_skills=["greeting"])
    body = bot.send("POST", "/skills", {"skill_md": skill_text(requires=["secret"])}).json()
    assert "requires-unknown" in {each["rule"] for each in body["findings"]}


@pytest.mark.parametrize("name", ["nothing", "..", "~", "a%5Cb", "%20", "x" * 500, "é", "%F0%9F%92%A9", "'--"])
def test_an_unknown_name_is_not_found(bot: Api, digest: str, name: str) -> None:
    problem(bot.client.get(f"{bot.base}/skills/{name}", headers=bot.headers), 404, "not-found")


# -- Create ------------------------------------------------------------------------------------------------


def test_a_skill_is_created_from_its_whole_text(bot: Api) -> None:
    response = bot.send("POST", "/skills", {"skill_md": skill_text(body="Hello."), "note": "First"})
    assert response.status_code == 201
    answer = response.json()
    assert set(answer) == {"name", "source", "version", "digest", "findings"}
    assert (answer["name"], answer["source"], answer["version"]) == ("greeting", "project", "1")
    assert bot.get("/skills/greeting").json()["digest"] == answer["digest"]
    assert Version.objects.get().note == "First"


def test_a_skill_is_created_from_its_parts(bot: Api) -> None:
    parts = {
        "name": "greeting",
        "description": "Greets. Use when somebody arrives.",
        "instructions": 'Say: "hello".',
        "metadata": {"owner": "front desk", "tags": "a, b"},
    }
    assert bot.send("POST", "/skills", parts).status_code == 201
    body = bot.get("/skills/greeting").json()
    assert (body["description"], body["instructions"]) == (parts["description"], parts["instructions"])
    assert 'owner: "front desk"' in bot.get("/skills/greeting/files/SKILL.md").json()["content"]


def test_the_text_is_stored_byte_for_byte(bot: Api) -> None:
    text = "---\r\nname: greeting\r\n# remark\r\ndescription: Greets. Use when needed.\r\n---\r\n\r\n  Hi.  \r\n\r\n"
    bot.send("POST", "/skills", {"skill_md": text})
    assert bot.get("/skills/greeting/files/SKILL.md").json()["content"] == text


def test_warnings_are_returned_with_a_save(bot: Api) -> None:
    answer = bot.send("POST", "/skills", {"skill_md": skill_text(body="See references/missing.md.")}).json()
    assert answer["findings"]
    assert set(answer["findings"][0]) == {"rule", "severity", "category", "file", "line", "message", "fix"}


def test_the_history_names_an_agent_that_writes(bot: Api) -> None:
    bot.send("POST", "/skills", {"skill_md": skill_text()})
    (row,) = bot.get("/skills/greeting/versions").json()["results"]
    assert (row["by"], row["agent"]) == ("bot", True)
    event = Event.objects.order_by("-pk").first()
    assert event is not None
    assert (event.actor_kind, event.actor_name) == ("agent", "bot")


def test_a_taken_name_is_refused(bot: Api, digest: str) -> None:
    with nothing_left_behind():
        problem(bot.send("POST", "/skills", {"skill_md": skill_text(body="Other.")}), 409, "already-exists")


def test_a_skill_that_breaks_a_rule_is_refused_with_file_line_and_fix(bot: Api) -> None:
    text = "---\nname: greeting\nname: greeting\ndescription: x\n---\n"
    with nothing_left_behind():
        body = problem(bot.send("POST", "/skills", {"skill_md": text}), 422, "invalid-skill")
    (finding,) = [one for one in body["findings"] if one["severity"] == "error"]
    assert (finding["rule"], finding["file"], finding["line"]) == ("yaml-duplicate-key", "SKILL.md", 3)
    assert finding["fix"]


@pytest.mark.parametrize("name", ["Greeting", "a b", "a--b", "-a", "../x", "x" * 65, ""])
def test_an_invalid_name_is_refused(bot: Api, name: str) -> None:
    parts = {"name": name, "description": "Greets. Use when needed.", "instructions": "Hi."}
    with nothing_left_behind():
        response = bot.send("POST", "/skills", parts)
    assert response.status_code in (400, 422)
    assert response.json()["code"] in {"invalid-skill", "unsafe-path", "invalid-request"}


def test_a_skill_md_over_its_own_limit_is_refused_with_both_numbers(bot: Api) -> None:
    with nothing_left_behind():
        body = problem(bot.send("POST", "/skills", {"skill_md": skill_text() + "x" * 512_000}), 413, "too-large")
    assert "512,000" in body["detail"]


# -- Save --------------------------------------------------------------------------------------------------


def test_a_save_with_the_current_digest_is_the_next_version_and_keeps_other_files(bot: Api, digest: str) -> None:
    response = put(bot, digest)
    assert response.status_code == 200
    assert response.json()["version"] == "2"
    body = bot.get("/skills/greeting").json()
    assert body["instructions"] == "Two."
    assert [entry["path"] for entry in body["files"]] == ["SKILL.md", "a.txt"]


def test_a_save_without_a_digest_is_428_and_names_it(bot: Api, digest: str) -> None:
    with nothing_left_behind():
        body = problem(put(bot, None), 428, "precondition-required")
    assert body["digest"] == digest


def test_a_save_with_a_stale_digest_is_412_and_names_the_new_one(bot: Api, digest: str) -> None:
    new = put(bot, digest).json()["digest"]
    with nothing_left_behind():
        answer = problem(put(bot, digest, skill_md=skill_text(body="Lost.")), 412, "stale")
    assert answer["digest"] == new


@pytest.mark.parametrize("given", ["{}", "W/{}", '"', '""', "*", '{}, "other"', "sha256:abc"])
def test_an_if_match_header_that_is_not_one_quoted_digest_is_refused(bot: Api, digest: str, given: str) -> None:
    header = given.replace("{}", digest if given == "{}" else f'"{digest}"')
    with nothing_left_behind():
        response = bot.send("PUT", "/skills/greeting", {"skill_md": skill_text(body="Two.")}, {"If-Match": header})
    problem(response, 400, "invalid-request")


def test_saving_the_same_text_again_changes_nothing(bot: Api, digest: str) -> None:
    text = bot.get("/skills/greeting/files/SKILL.md").json()["content"]
    with nothing_left_behind():
        response = put(bot, digest, skill_md=text)
    assert (response.status_code, response.json()["version"], response.json()["digest"]) == (200, "1", digest)


def test_a_save_under_an_unused_name_creates_the_skill(bot: Api) -> None:
    assert put(bot, None).status_code == 201
    assert bot.get("/skills/greeting").json()["version"] == "1"


def test_a_save_of_a_deleted_skill_is_412(bot: Api, digest: str) -> None:
    bot.send("DELETE", "/skills/greeting")
    with nothing_left_behind():
        problem(put(bot, digest), 412, "stale")


def test_a_save_over_a_built_in_skill_copies_its_files(project: Project, library: Path, bot: Api) -> None:
    on_disk(library, files={"references/a.md": b"a"})
    with nothing_left_behind():
        problem(put(bot, None), 428, "precondition-required")
    assert put(bot, bot.get("/skills/greeting").json()["digest"]).status_code == 200
    body = bot.get("/skills/greeting").json()
    assert body["source"] == "project"
    assert [entry["path"] for entry in body["files"]] == ["SKILL.md", "references/a.md"]


def test_another_name_in_the_body_is_refused(bot: Api, digest: str) -> None:
    parts = {"name": "farewell", "description": "x", "instructions": "y"}
    with nothing_left_behind():
        body = problem(put(bot, digest, **parts), 400, "invalid-request")
        assert "farewell" in body["detail"]
        problem(put(bot, digest, skill_md=skill_text("farewell")), 422, "invalid-skill")


def test_the_name_in_the_path_is_normalised(bot: Api, digest: str) -> None:
    assert put(bot, digest, "%20GREETING").status_code == 200


def test_a_save_under_the_name_of_another_projects_skill_leaves_theirs(
    bot: Api, other_project: Project, operator: Actor, api: Callable[..., Api]
) -> None:
    theirs = create_skill(other_project, skill_bundle(body="Theirs."), by=operator).version.digest
    problem(put(bot, theirs), 412, "stale")
    assert put(bot, None).status_code == 201
    assert api("read", where=other_project).get("/skills/greeting").json()["instructions"] == "Theirs."


# -- Delete ------------------------------------------------------------------------------------------------


def test_a_delete_returns_no_body(bot: Api, digest: str) -> None:
    response = bot.send("DELETE", "/skills/greeting", headers={"If-Match": f'"{digest}"'})
    assert (response.status_code, response.content) == (204, b"")
    problem(bot.get("/skills/greeting"), 404, "not-found")


def test_a_delete_of_a_skill_saved_meanwhile_is_412(bot: Api, digest: str) -> None:
    put(bot, digest)
    with nothing_left_behind():
        problem(bot.send("DELETE", "/skills/greeting", headers={"If-Match": f'"{digest}"'}), 412, "stale")


@pytest.mark.parametrize("name", ["nothing", "bundled-one", "%2e%2e"])
def test_only_the_projects_own_skill_can_be_deleted(bot: Api, library: Path, name: str) -> None:
    on_disk(library, "bundled-one")
    with nothing_left_behind():
        response = bot.client.delete(f"{bot.base}/skills/{name}", headers=bot.headers)
        problem(response, 404, "not-found")
