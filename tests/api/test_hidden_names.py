"""An agent with a list of skills cannot learn which other names the project has."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.core.sources.import_request import RENAME, ImportRequest
from registry.models import Agent, Project, SourceEntry
from registry.remote.sources import FetchedBundle
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.sources import install, source_entries, sources
from tests.conftest import Api, skill_bundle, skill_text
from tests.prepared import create_skill
from tests.remote.web import zipped

# The same length, so that only the existence differs.
HIDDEN, FREE = "their-plans", "no-such-one"


@pytest.fixture
def limited(project: Project, operator: Actor, api: Callable[..., Api]) -> Api:
    create_skill(project, skill_bundle(), by=operator)
    create_skill(project, skill_bundle(HIDDEN), by=operator)
    caller = api("read", "propose", "write", "run")
    Agent.objects.filter(name="bot").update(allowed_skills=["greeting"])
    return caller


def _propose(kind: str | None, **edit: str) -> Callable[[Api, str], Any]:
    more = {"kind": kind} if kind else {}

    def call(caller: Api, name: str) -> Any:
        change = {} if kind == "delete" else edit or {"skill_md": skill_text(name)}
        return caller.send("POST", "/proposals", {"skill": name, "justification": "Why.", **change, **more})

    return call


REQUESTS: dict[str, Callable[[Api, str], Any]] = {
    "load": lambda a, name: a.get(f"/skills/{name}"),
    "load a version": lambda a, name: a.get(f"/skills/{name}", version="1"),
    "file": lambda a, name: a.get(f"/skills/{name}/files/SKILL.md"),
    "bundle": lambda a, name: a.get(f"/skills/{name}/bundle.zip"),
    "versions": lambda a, name: a.get(f"/skills/{name}/versions"),
    "create": lambda a, name: a.send("POST", "/skills", {"skill_md": skill_text(name)}),
    "save": lambda a, name: a.send("PUT", f"/skills/{name}", {"skill_md": skill_text(name)}),
    "save with a base": lambda a, name: a.send(
        "PUT", f"/skills/{name}", {"skill_md": skill_text(name)}, headers={"If-Match": '"x"'}
    ),
    "save a part": lambda a, name: a.send("PUT", f"/skills/{name}", {"instructions": "Other."}),
    "delete": lambda a, name: a.send("DELETE", f"/skills/{name}"),
    "disable": lambda a, name: a.send("POST", f"/skills/{name}/disable"),
    "enable": lambda a, name: a.send("POST", f"/skills/{name}/enable"),
    "restore": lambda a, name: a.send("POST", f"/skills/{name}/versions/1/restore", {}),
    "yank": lambda a, name: a.send("POST", f"/skills/{name}/versions/1/yank", {"reason": "Old."}),
    "quarantine": lambda a, name: a.send("POST", f"/skills/{name}/versions/1/quarantine", {"reason": "Odd."}),
    "run": lambda a, name: a.send("POST", "/runs", {"skill": name}),
    "run a version": lambda a, name: a.send("POST", "/runs", {"skill": name, "version": "1"}),
    "list runs": lambda a, name: a.get("/runs", skill=name),
    "call": lambda a, name: a.send("POST", f"/capabilities/skill:{name}/call"),
    "upload": lambda a, name: a.upload(zipped({f"{name}/SKILL.md": skill_text(name)})),
    "propose": _propose(None),
    "propose to create": _propose("create"),
    "propose to update": _propose("update"),
    "propose to delete": _propose("delete"),
    "propose a diff": _propose(None, diff="@@ -1,1 +1,1 @@\n-x\n+y\n"),
    "propose a broken text": _propose("create", skill_md="no header"),
    "require it": lambda a, name: a.send(
        "POST", "/proposals",
        {"skill": "greeting", "justification": "Why.", "skill_md": skill_text(metadata={"requires": name}, body=name)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("request_name", REQUESTS)
def test_the_answer_does_not_tell_whether_a_hidden_name_exists(limited: Api, request_name: str) -> None:
    answers = []
    for name in (HIDDEN, FREE):
        with CaptureQueriesContext(connection) as queries:
            answer = REQUESTS[request_name](limited, name)
        text = re.sub(r"sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT[^\"]+", "…", answer.content.decode().replace(name, "NAME"))
        answers.append((answer.status_code, re.sub(r'"id": ?\d+|proposal \d+|proposals/\d+', "…", text), len(queries)))
    assert answers[0] == answers[1]


def test_a_source_does_not_tell_what_else_is_installed(
    project: Project, operator: Actor, author: Actor, limited: Api
) -> None:
    source = sources.add(project, "url", "https://1.1.1.1/a.zip", by=author)
    for name in (FREE, HIDDEN, "brought-in", "greeting"):
        entry = SourceEntry.objects.create(source=source, name=name, digest="1")
        source_entries.stage(entry, FetchedBundle(skill_bundle(name), "", "1"))
    install.import_skill(project, source.pk, ImportRequest("brought-in"), by=author)
    entries = limited.get(f"/sources/{source.pk}/entries").json()["results"]
    seen = {entry.pop("name"): entry for entry in entries}
    assert seen[FREE] == seen[HIDDEN] == seen["brought-in"] != seen["greeting"]
    for name in (FREE, HIDDEN, "brought-in"):
        refused = limited.send("DELETE", f"/sources/{source.pk}/installed/{name}")
        assert (refused.status_code, refused.json()["code"]) == (404, "not-found")
        refused = limited.send("POST", f"/sources/{source.pk}/preview", {"name": name})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    theirs = sources.start(project, source.pk, [ImportRequest(HIDDEN)], by=author)
    assert limited.get(f"/sources/{source.pk}/jobs/{theirs.pk}").status_code == 404
    assert catalog.find(project.pk, "brought-in") is not None


def test_an_entry_that_is_installed_under_a_hidden_name_tells_nothing_about_it(
    project: Project, author: Actor, limited: Api
) -> None:
    source = sources.add(project, "url", "https://1.1.1.1/a.zip", by=author)
    entry = SourceEntry.objects.create(source=source, name="greeting", digest="1")
    source_entries.stage(entry, FetchedBundle(skill_bundle("greeting"), "", "1"))
    install.import_skill(
        project, source.pk, ImportRequest("greeting", on_conflict=RENAME, new_name="their-copy"), by=author
    )
    removed = limited.send("DELETE", f"/sources/{source.pk}/installed/greeting")
    previewed = limited.send("POST", f"/sources/{source.pk}/preview", {"name": "greeting"})
    assert (removed.status_code, previewed.status_code) == (404, 403)
    assert b"their-copy" not in removed.content + previewed.content
    assert catalog.find(project.pk, "their-copy") is not None
