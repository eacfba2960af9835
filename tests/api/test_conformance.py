"""The API against its OpenAPI document: no request causes a server error or an answer that breaks its schema."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from registry.core import roles
from registry.core.routing.golden import Case
from registry.models import Project, SourceEntry, SourceJob, User
from registry.remote.sources import FetchedBundle
from registry.services.agents import tokens
from registry.services.permissions import Actor
from registry.services.routing import golden_set
from registry.services.sources import source_entries, sources
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.api import contract
from tests.conftest import Api, skill_bundle, skill_text
from tests.prepared import create_skill, ensure_agent
from tests.services.receivers import Receiver, answering, receiving
from tests.services.workflows.conftest import finish

WORKFLOW = b"""
id: text.greeting
version: 1.0.0
steps:
  - {id: greet, uses: data.echo, input: {value: 1}}
  - {id: sign, uses: human.approve, input: {question: "Send it?"}}
"""
NUMBERS = ("source", "job", "case", "run", "question")  # parameters that have to exist
METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = [
    f"{method.upper()} {path}"
    for path, operations in json.loads(contract.DOCUMENT.read_text())["paths"].items()
    for method in METHODS
    if method in operations
]


@pytest.fixture
def owner(same_connection: None, project: Project, person: Callable[[str], User], operator: Actor) -> Api:
    """Return a caller with every scope, in a project with a skill and an agent."""
    create_skill(project, skill_bundle(files={"a.txt": b"a", "workflow.yaml": WORKFLOW}), by=operator)
    ensure_agent(project, "bot", by=operator)
    secret = tokens.create_token(project, user=person(roles.OWNER), scopes=roles.SCOPES, by=operator)
    return Api(project, secret)


@pytest.fixture
def elsewhere(settings: Any) -> Iterator[Receiver]:
    """Serve a reachable source. An unreachable one is rightly a 502, which the check would count as a crash."""
    with receiving() as server:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [server.host]
        server.behave = answering(200, skill_text(body="Theirs.").encode(), **{"Content-Type": "text/markdown"})
        yield server


@pytest.fixture
def known(project: Project, owner: Api, operator: Actor, elsewhere: Receiver) -> dict[str, str]:
    """Return path parameters that exist: a skill, an agent, and a source with a staged skill and a job."""
    source = sources.add(project, "url", elsewhere.url("/greeting.md"), by=operator)
    entry = SourceEntry.objects.create(source=source, name="greeting", digest="1")
    source_entries.stage(entry, FetchedBundle(skill_bundle(body="Theirs."), "", "1"))
    job = SourceJob.objects.get(source=source)
    [case] = golden_set.add(project, [Case("Hello?", ("greeting",))], by=operator).rows
    run = runs.start(project, "greeting", by=operator)
    finish(RunWorker(poll_seconds=0))
    numbers = {"source": str(source.pk), "job": str(job.pk), "case": str(case.pk), "run": str(run.pk)}
    numbers["question"] = str(run.questions.get().pk)
    return {"name": "greeting", "version": "1", "path": "a.txt", "agent": "bot", **numbers}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_answer_conforms_to_the_document(operation: str, owner: Api, known: dict[str, str]) -> None:
    from tests.api import conformance

    def check(case: Any, owner: Api, known: dict[str, str]) -> None:
        parameters = case.path_parameters or {}
        parameters["project"] = "demo"
        for name, value in known.items():
            if name in parameters and (name in NUMBERS or len(str(parameters[name])) % 2):
                parameters[name] = value
        if isinstance(case.body, dict) and case.path.endswith("/preview"):
            case.body |= {"name": "greeting"}
        if "/steps/" in case.path:
            parameters["path"] = "greet"
        if isinstance(case.body, dict) and case.path.endswith("/runs"):
            case.body |= {"skill": "greeting"}
        response = case.call_and_validate(headers=owner.headers, checks=conformance.CHECKS)
        [content_type] = response.headers.get("content-type", [""])
        if case.method.upper() != "OPTIONS":
            contract.check(case.path, case.method.upper(), response.status_code, content_type, response.content)

    conformance.run(operation, check, owner=owner, known=known)
