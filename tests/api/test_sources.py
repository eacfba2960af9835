"""Sources over the API: entries, previews, jobs and their outcomes, and permissions."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from registry.core import roles
from registry.core.archive.zip_bundle import write_zip
from registry.models import Project, Skill, SourceJob, User
from registry.services.agents import tokens
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from registry.services.sources import source_jobs
from tests.api.contract import problem
from tests.conftest import Api, skill_bundle
from tests.prepared import create_skill, save_skill
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere, elsewhere

BODY = "One.\n\nTwo.\n\nThree."


@pytest.fixture
def site(settings: Any) -> Iterator[Elsewhere]:
    with elsewhere() as created:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [created.receiver.host]
        created.skills["greeting"] = skill_bundle(body=BODY, files={"a.txt": b"a"})
        created.skills["parting"] = skill_bundle("parting")
        yield created


@pytest.fixture
def author(project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    secret = tokens.create_token(project, user=person(roles.AUTHOR), scopes=("read", "write", "propose"), by=operator)
    return Api(project, secret)


@pytest.fixture
def stranger(other_project: Project, operator: Actor) -> Api:
    user = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, user, roles.OWNER, by=operator)
    return Api(other_project, tokens.create_token(other_project, user=user, scopes=roles.SCOPES, by=operator))


@pytest.fixture
def added(author: Api, site: Elsewhere) -> str:
    """Return the path of a source that was checked."""
    created = author.send("POST", "/sources", {"kind": "well-known", "address": site.address, "label": "Elsewhere"})
    assert created.status_code == 201, created.content
    source_jobs.run_due()
    return f"/sources/{created.json()['id']}"


def outcomes(author: Api, accepted: Any) -> dict[str, dict[str, Any]]:
    """Run the job, follow its link, and return the outcome for each skill."""
    assert accepted.status_code == 202, accepted.content
    source_jobs.run_due()
    assert accepted["Location"] == accepted.json()["link"]
    found = author.get(accepted["Location"].removeprefix(author.base)).json()
    assert (found["state"], found["done"]) == ("done", found["total"])
    return {row["name"]: row for row in found["results"]}


def test_a_source_is_added_listed_and_read(author: Api, added: str, site: Elsewhere) -> None:
    (row,) = author.get("/sources").json()["results"]
    assert row == author.get(added).json()
    assert (row["kind"], row["address"], row["label"], row["state"]) == (
        "well-known", site.address, "Elsewhere", "ready",
    )  # fmt: skip
    assert (row["offered"], row["installed"], row["added_by"]) == (2, 0, "author")


def test_entries_are_paged_and_searched_and_show_their_state(author: Api, added: str) -> None:
    first = author.get(f"{added}/entries", limit="1").json()
    assert [row["name"] for row in first["results"]] == ["greeting"]
    second = author.client.get(first["next"], headers=author.headers).json()
    assert ([row["name"] for row in second["results"]], second["next"]) == (["parting"], None)
    (row,) = author.get(f"{added}/entries", q="part").json()["results"]
    assert (row["state"], row["taken"], row["installed"], row["proposal"]) == ("available", False, None, None)


def test_a_search_queries_the_source_itself(author: Api, added: str, site: Elsewhere) -> None:
    found = author.send("POST", f"{added}/search", {"q": "parting"}).json()
    assert ([row["name"] for row in found["results"]], found["next"]) == (["parting"], None)
    problem(author.send("POST", f"{added}/search", {"q": "p"}), 400, "invalid-request")
    site.status = 500
    problem(author.send("POST", f"{added}/search", {"q": "parting"}), 502, "source-failed")


def test_a_preview_shows_files_findings_and_the_digest_to_import(author: Api, added: str, site: Elsewhere) -> None:
    seen = author.send("POST", f"{added}/preview", {"name": "greeting"})
    assert seen.status_code == 200, seen.content
    body = seen.json()
    assert (body["action"], body["skill"], body["seen"], body["changes"], body["conflicts"]) == (
        "create", "greeting", "", [], [],
    )  # fmt: skip
    assert body["digest"] == site.skills["greeting"].digest
    assert [file["path"] for file in body["files"]] == ["SKILL.md", "a.txt"]
    assert body["findings"] is not None
    assert not Skill.objects.exists()


def test_an_import_is_a_job_with_an_outcome_for_each_skill(author: Api, added: str, site: Elsewhere) -> None:
    digest = author.send("POST", f"{added}/preview", {"name": "greeting"}).json()["digest"]
    body = {"skills": [{"name": "greeting", "digest": digest}, {"name": "unheard-of"}]}
    found = outcomes(author, author.send("POST", f"{added}/import", body))
    assert found["greeting"] == {
        "name": "greeting", "status": "imported", "reason": "", "skill": "greeting", "version": "1", "digest": digest,
        "proposal": None,
    }  # fmt: skip
    assert (found["unheard-of"]["status"], "has no skill" in found["unheard-of"]["reason"]) == ("failed", True)
    rows = {row["name"]: row for row in author.get(f"{added}/entries").json()["results"]}
    assert rows["greeting"]["state"] == "installed"
    assert rows["greeting"]["installed"]["edited"] is False
    came = author.get("/skills/greeting/versions").json()["results"][0]["provenance"]
    assert (came["address"], came["name"], came["how"], came["bundle"]) == (
        site.address, "greeting", "imported", digest,
    )  # fmt: skip


def test_a_taken_name_is_skipped_unless_the_request_says_otherwise(
    author: Api, added: str, project: Project, operator: Actor
) -> None:
    create_skill(project, skill_bundle(body="Mine."), by=operator)
    assert author.send("POST", f"{added}/preview", {"name": "greeting"}).json()["action"] == "taken"
    plain = outcomes(author, author.send("POST", f"{added}/import", {"skills": [{"name": "greeting"}]}))
    assert plain["greeting"]["status"] == "skipped"
    renamed = {"name": "greeting", "on_conflict": "rename", "as": "theirs"}
    found = outcomes(author, author.send("POST", f"{added}/import", {"skills": [renamed]}))
    assert (found["greeting"]["status"], found["greeting"]["skill"]) == ("imported", "theirs")


def test_an_update_shows_the_changes_and_merges_with_answers(
    author: Api, added: str, site: Elsewhere, project: Project, operator: Actor
) -> None:
    outcomes(author, author.send("POST", f"{added}/import", {"skills": [{"name": "greeting"}]}))
    mine = save_skill(
        project, "greeting", skill_bundle(body=BODY.replace("Two.", "Mine."), files={"a.txt": b"a"}),
        base=site.skills["greeting"].digest, by=operator,
    ).version  # fmt: skip
    site.skills["greeting"] = skill_bundle(body=BODY.replace("Two.", "Theirs."), files={"a.txt": b"a"})
    looked = author.send("POST", f"{added}/look")
    assert (looked.status_code, looked.json()["kind"]) == (202, "look")
    source_jobs.run_due()
    rows = {row["name"]: row for row in author.get(f"{added}/entries").json()["results"]}
    assert (rows["greeting"]["state"], rows["greeting"]["installed"]["edited"]) == ("update", True)
    seen = author.send("POST", f"{added}/preview", {"name": "greeting"}).json()
    assert (seen["action"], seen["seen"]) == ("merge", mine.digest)
    assert "+Theirs." in seen["changes"][0]["diff"]
    (conflict,) = seen["conflicts"]
    assert (conflict["path"], "Mine." in conflict["mine"], "Theirs." in conflict["theirs"]) == ("SKILL.md", True, True)

    def update(**choices: Any) -> dict[str, Any]:
        body = {"skills": [{"name": "greeting", **choices}]}
        return outcomes(author, author.send("POST", f"{added}/update", body))["greeting"]

    assert update()["status"] == "edited"
    assert update(if_edited="merge")["status"] == "conflicts"
    done = update(
        digest=seen["digest"], seen=seen["seen"], if_edited="merge", answers={conflict["key"]: "theirs"}
    )  # fmt: skip
    assert (done["status"], done["version"]) == ("merged", "3")


def test_uninstalling_an_edited_skill_needs_its_digest(
    author: Api, added: str, site: Elsewhere, project: Project, operator: Actor
) -> None:
    outcomes(author, author.send("POST", f"{added}/import", {"skills": [{"name": "greeting"}]}))
    base = site.skills["greeting"].digest
    mine = save_skill(project, "greeting", skill_bundle(body="Mine."), base=base, by=operator).version
    path = f"{added}/installed/greeting"
    with nothing_left_behind():
        problem(author.send("DELETE", path), 428, "precondition-required")
    with nothing_left_behind():
        problem(author.send("DELETE", path, headers={"If-Match": '"sha256:0"'}), 412, "stale")
    gone = author.send("DELETE", path, headers={"If-Match": f'"{mine.digest}"'})
    assert (gone.status_code, gone.json()["status"]) == (200, "uninstalled")
    problem(author.send("DELETE", path), 404, "not-found")


def test_removing_a_source_leaves_its_skills(author: Api, added: str) -> None:
    outcomes(author, author.send("POST", f"{added}/import", {"skills": [{"name": "greeting"}]}))
    assert author.send("DELETE", added).status_code == 204
    problem(author.get(added), 404, "not-found")
    assert author.get("/skills/greeting").status_code == 200


def test_an_unreachable_source_is_a_502(author: Api, added: str, site: Elsewhere) -> None:
    site.status = 503
    with nothing_left_behind():
        problem(author.send("POST", f"{added}/preview", {"name": "greeting"}), 502, "source-failed")
    author.send("POST", f"{added}/look")
    source_jobs.run_due()
    row = author.get(added).json()
    assert (row["state"], row["offered"]) == ("unreachable", 2)
    assert "503" in row["problem"]


def test_only_writers_see_sources(api: Callable[..., Api], added: str) -> None:
    reader = api("read", "propose", agent="reader")
    job = SourceJob.objects.get().pk
    for path in ("/sources", added, f"{added}/entries", f"{added}/jobs/{job}"):
        problem(reader.get(path), 403, "forbidden")
    for path in (
        "/sources",
        f"{added}/look",
        f"{added}/search",
        f"{added}/preview",
        f"{added}/import",
        f"{added}/update",
    ):
        with nothing_left_behind():
            problem(reader.send("POST", path, {}), 403, "forbidden")
    for path in (added, f"{added}/installed/greeting"):
        with nothing_left_behind():
            problem(reader.send("DELETE", path), 403, "forbidden")


def test_an_agent_uses_sources_but_cannot_add_any(api: Callable[..., Api], added: str, site: Elsewhere) -> None:
    bot = api("read", "write")
    with nothing_left_behind():
        problem(bot.send("POST", "/sources", {"kind": "url", "address": site.address}), 403, "forbidden")
    with nothing_left_behind():
        problem(bot.send("DELETE", added), 403, "forbidden")
    found = outcomes(bot, bot.send("POST", f"{added}/import", {"skills": [{"name": "greeting"}]}))
    assert found["greeting"]["status"] == "imported"
    assert bot.get("/skills/greeting/versions").json()["results"][0]["agent"] is True


def test_a_token_of_another_project_gets_404(stranger: Api, added: str) -> None:
    job = SourceJob.objects.get().pk
    for path in (added, f"{added}/entries", f"{added}/jobs/{job}"):
        problem(stranger.get(path), 404, "not-found")
    for path in (f"{added}/look", f"{added}/preview", f"{added}/import", f"{added}/update"):
        with nothing_left_behind():
            body = {"name": "greeting"} if path.endswith("preview") else {"skills": [{"name": "greeting"}]}
            problem(stranger.send("POST", path, body), 404, "not-found")
    for path in (added, f"{added}/installed/greeting"):
        with nothing_left_behind():
            problem(stranger.send("DELETE", path), 404, "not-found")
    assert stranger.get("/sources").json()["results"] == []


@pytest.mark.parametrize("number", ["0", "-1", "x", "999999999999999999999", "1.5"])
def test_an_unknown_source_is_not_found(author: Api, added: str, number: str) -> None:
    problem(author.get(f"/sources/{number}"), 404, "not-found")
    problem(author.get(f"{added}/jobs/{number}"), 404, "not-found")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"skills": []},
        {"skills": [{}]},
        {"skills": ["greeting"]},
        {"skills": [{"name": "greeting", "on_conflict": "overwrite"}]},
        {"skills": [{"name": "greeting", "if_edited": "discard"}]},
        {"skills": [{"name": "greeting", "as": "theirs"}]},
        {"skills": [{"name": "greeting", "on_conflict": "rename"}]},
        {"skills": [{"name": "greeting"}, {"name": "greeting"}]},
        {"skills": [{"name": "greeting", "force": True}]},
        {"skills": [{"name": "greeting", "answers": {"take-0": 1.5, "b": []}}]},
    ],
)
def test_invalid_import_requests_are_refused(author: Api, added: str, body: Any) -> None:
    with nothing_left_behind():
        problem(author.send("POST", f"{added}/import", body), 400, "invalid-request")


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "ftp", "address": "https://1.1.1.1/"},
        {"kind": "url"},
        {"kind": "url", "address": "https://u:p@1.1.1.1/a.zip"},
        {"kind": "url", "address": "https://1.1.1.1/a.zip?X-Amz-Signature=abc"},
        {"kind": "url", "address": "https://169.254.169.254/latest"},
        {"kind": "url", "address": "https://1.1.1.1/a.zip", "password": "x"},
    ],
)
def test_an_invalid_source_is_refused(author: Api, body: Any) -> None:
    with nothing_left_behind():
        refused = author.send("POST", "/sources", body)
        problem(refused, 400, "invalid-request")
    assert b"abc" not in refused.content


def test_the_same_source_twice_is_a_conflict(author: Api, added: str, site: Elsewhere) -> None:
    with nothing_left_behind():
        again = author.send("POST", "/sources", {"kind": "well-known", "address": site.address})
        problem(again, 409, "already-exists")


def test_no_answer_contains_a_storage_path(author: Api, added: str, blob_directory: Any) -> None:
    accepted = author.send("POST", f"{added}/import", {"skills": [{"name": "greeting"}]})
    outcomes(author, accepted)
    answers = [
        author.get("/sources"), author.get(added), author.get(f"{added}/entries"), accepted,
        author.send("POST", f"{added}/preview", {"name": "greeting"}),
        author.get(accepted["Location"].removeprefix(author.base)),
    ]  # fmt: skip
    for answer in answers:
        assert str(blob_directory).encode() not in answer.content
        assert b"manifest" not in answer.content
        assert b"location" not in answer.content


def test_in_a_protected_project_an_import_becomes_a_proposal(
    author: Api, added: str, project: Project, operator: Actor
) -> None:
    Project.objects.filter(pk=project.pk).update(protected=True)
    found = outcomes(author, author.send("POST", f"{added}/import", {"skills": [{"name": "greeting"}]}))
    number = found["greeting"]["proposal"]
    assert found["greeting"]["status"] == "proposed"
    assert author.get(f"/proposals/{number}").json()["kind"] == "create"
    rows = {row["name"]: row for row in author.get(f"{added}/entries").json()["results"]}
    assert (rows["greeting"]["state"], rows["greeting"]["proposal"]) == ("available", number)


def test_an_agent_with_allowed_skills_imports_no_others(api: Callable[..., Api], project: Project, added: str) -> None:
    bot = api("read", "write", agent="bounded")
    project.agents.filter(name="bounded").update(allowed_skills=["greeting"])
    with nothing_left_behind():
        problem(bot.send("POST", "/skills", {"skill_md": skill_bundle("other")["SKILL.md"].decode()}), 403, "forbidden")
    with nothing_left_behind():
        problem(bot.upload(write_zip(skill_bundle("other"))), 403, "forbidden")
    found = outcomes(bot, bot.send("POST", f"{added}/import", {"skills": [{"name": "parting"}]}))
    assert found["parting"]["status"] == "failed"
