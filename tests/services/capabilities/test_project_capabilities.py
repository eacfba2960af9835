"""Capabilities of owners: register, change and remove them, within limits."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.core.errors import Forbidden, InvalidRequest, NotFound, Stale
from registry.core.findings import errors
from registry.core.workflows.failures import StepFailed
from registry.models import Event, Project, ProjectCapability
from registry.services.capabilities import capability_registry, project_capabilities
from registry.services.capabilities.project_capabilities import MOST_CHARS_OF_A_PROJECT, MOST_OF_A_PROJECT
from registry.services.permissions import Actor
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker
from tests.core.workflows.definitions import LEDGER, text
from tests.services.workflows.conftest import capabilities as capabilities
from tests.services.workflows.conftest import celery as celery
from tests.services.workflows.conftest import finish, states
from tests.services.workflows.conftest import worker as worker
from tests.services.workflows.conftest import workflow as workflow

HTTP = "{kind: http, url: https://a.example"


def known(project: Project, name: str) -> bool:
    return name in capability_registry.of(project.pk).by_id


def events() -> list[tuple[str, str]]:
    return list(Event.objects.filter(verb__startswith="capability.").order_by("pk").values_list("verb", "target"))


def test_an_owner_registers_changes_and_removes_a_capability(project: Project, owner: Actor) -> None:
    row = project_capabilities.register(project, text("our.echo"), by=owner)
    assert (row.name, row.changed_by_id) == ("our.echo", owner.user_id)
    assert capability_registry.of(project.pk).get("our.echo").kind == "builtin"
    changed = text("our.echo", safety="{requires_confirmation: true}")
    project_capabilities.change(project, "our.echo", changed, seen=row.digest, by=owner)
    assert capability_registry.of(project.pk).get("our.echo").safety.requires_confirmation
    project_capabilities.remove(project, "our.echo", by=owner)
    assert not known(project, "our.echo")
    assert events() == [
        ("capability.registered", "our.echo"), ("capability.changed", "our.echo"), ("capability.removed", "our.echo"),
    ]  # fmt: skip


def test_a_capability_belongs_to_one_project(project: Project, other_project: Project, owner: Actor) -> None:
    project_capabilities.register(project, text("our.echo"), by=owner)
    assert not known(other_project, "our.echo")
    found = capability_registry.of(project.pk)
    assert (found.get("our.echo").project, found.get("data.echo").project) == (project.pk, 0)


def test_a_change_that_changes_nothing_has_no_event(project: Project, owner: Actor) -> None:
    row = project_capabilities.register(project, text("our.echo"), by=owner)
    again = text("our.echo").replace("\n", "\r\n")
    assert project_capabilities.change(project, "our.echo", again, seen=row.digest, by=owner).digest == row.digest
    assert len(events()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("id: [", "line"),
        (text("data.echo"), "nothing can replace"),
        (text("ledger.entry.write"), "nothing can replace"),
        (text("our.echo", binding="{kind: mcp, tool: a, command: sh}"), "Only an operator"),
        (text("our.echo", binding="{kind: llm, prompt: a}"), "Only an operator"),
        (
            text("our.echo", binding="{kind: http, url: https://a.example, headers: {a: secret:LEDGER_TOKEN}}"),
            "Only an",
        ),
        (text("our.echo", safety="{mandatory_pre_gates: [no.no]}"), "no gate"),
        (text("our.echo", aliases="[ledger.entry.write]"), "another capability"),
        (text("our.echo", safetty="{}"), "Did you mean `safety`?"),
    ],
)
def test_what_could_harm_the_site_or_cannot_work_is_refused(
    project: Project, owner: Actor, capabilities: Callable[..., None], content: str, said: str
) -> None:
    capabilities(ledger=LEDGER)
    checked = project_capabilities.check(project, content, by=owner)
    assert checked.capability is None
    with pytest.raises(InvalidRequest) as refused:
        project_capabilities.register(project, content, by=owner)
    assert said in refused.value.message
    assert refused.value.message.startswith("Line ")
    assert (ProjectCapability.objects.count(), events()) == (0, [])


def test_nobody_takes_the_place_of_a_gate_that_the_operator_removed(
    project: Project, owner: Actor, capabilities: Callable[..., None]
) -> None:
    """The last good definition of the guarded capability stays in use, and its gate stops every call."""
    gate = text("their.gate", properties="{side_effects: false}", safety="{trust_level: sandbox}")
    guarded = text("their.call", safety="{mandatory_pre_gates: [their.gate]}", properties="{side_effects: true}")
    capabilities(gate=gate, guarded=guarded)
    assert known(project, "their.gate")
    capabilities(gate=gate.replace("their.gate", "their.renamed"), guarded=guarded)
    assert known(project, "their.call") and not known(project, "their.gate")
    for content in (gate, text("our.gate", aliases="[their.gate]")):
        with pytest.raises(InvalidRequest, match=r"their\.gate"):
            project_capabilities.register(project, content, by=owner)
    ProjectCapability.objects.create(project=project, name="their.gate", text=gate, digest="earlier")
    assert not known(project, "their.gate")


def test_only_owners_register(project: Project, author: Actor, reviewer: Actor, owner: Actor) -> None:
    row = project_capabilities.register(project, text("our.echo"), by=owner)
    for by in (author, reviewer):
        with pytest.raises(Forbidden):
            project_capabilities.register(project, text("our.other"), by=by)
        with pytest.raises(Forbidden):
            project_capabilities.change(project, "our.echo", text("our.echo"), seen=row.digest, by=by)
        with pytest.raises(Forbidden):
            project_capabilities.remove(project, "our.echo", by=by)
        assert project_capabilities.find(project, "our.echo", by=by) == row


def test_a_change_keeps_the_id_and_sees_what_others_saved(project: Project, owner: Actor) -> None:
    row = project_capabilities.register(project, text("our.echo"), by=owner)
    with pytest.raises(InvalidRequest, match="The id cannot change"):
        project_capabilities.change(project, "our.echo", text("our.other"), seen=row.digest, by=owner)
    project_capabilities.change(project, "our.echo", text("our.echo", version="2"), seen=row.digest, by=owner)
    with pytest.raises(Stale):
        project_capabilities.change(project, "our.echo", text("our.echo", version="3"), seen=row.digest, by=owner)
    with pytest.raises(NotFound):
        project_capabilities.change(project, "our.none", text("our.none"), seen="", by=owner)
    with pytest.raises(NotFound):
        project_capabilities.remove(project, "our.none", by=owner)


def test_one_id_is_registered_once(project: Project, owner: Actor) -> None:
    project_capabilities.register(project, text("our.echo"), by=owner)
    with pytest.raises(InvalidRequest, match="already has"):
        project_capabilities.register(project, text("our.echo", version="2"), by=owner)


def test_capabilities_of_a_project_are_bounded(project: Project, owner: Actor) -> None:
    ProjectCapability.objects.bulk_create(
        ProjectCapability(project=project, name=f"our.c{number}", text=text(f"our.c{number}"), digest=f"{number}")
        for number in range(MOST_OF_A_PROJECT)
    )
    with pytest.raises(InvalidRequest, match=f"{MOST_OF_A_PROJECT} are allowed"):
        project_capabilities.register(project, text("our.echo"), by=owner)
    ProjectCapability.objects.all().delete()
    long = "#" * (MOST_CHARS_OF_A_PROJECT // 5)
    for number in range(4):
        project_capabilities.register(project, text(f"our.c{number}") + long, by=owner)
    with pytest.raises(InvalidRequest, match=f"{MOST_CHARS_OF_A_PROJECT:,} are allowed"):
        project_capabilities.register(project, text("our.echo") + long, by=owner)


def test_capabilities_of_owners_build_on_each_other(project: Project, owner: Actor) -> None:
    gate = text("our.gate", outputs="{allowed: {type: boolean}}", properties="{side_effects: false}")
    project_capabilities.register(project, gate, by=owner)
    guarded = text("our.echo", safety="{mandatory_pre_gates: [our.gate]}")
    row = project_capabilities.register(project, guarded, by=owner)
    project_capabilities.register(project, text("our.child", binding="", extends="our.echo"), by=owner)
    assert capability_registry.of(project.pk).get("our.child").safety.pre_gates
    circle = text("our.echo", binding="", extends="our.child")
    with pytest.raises(InvalidRequest, match="circle"):
        project_capabilities.change(project, "our.echo", circle, seen=row.digest, by=owner)


def test_a_capability_whose_gate_is_gone_is_not_called(project: Project, owner: Actor) -> None:
    gate = text("our.gate", outputs="{allowed: {type: boolean}}", properties="{side_effects: false}")
    project_capabilities.register(project, gate, by=owner)
    project_capabilities.register(project, text("our.echo", safety="{mandatory_pre_gates: [our.gate]}"), by=owner)
    project_capabilities.remove(project, "our.gate", by=owner)
    assert not known(project, "our.echo")
    (finding,) = errors(capability_registry.of_owners(project.pk).findings["our.echo"])
    assert "There is no gate `our.gate`" in finding.message


def test_a_file_of_the_operator_wins_an_id(project: Project, owner: Actor, capabilities: Callable[..., None]) -> None:
    project_capabilities.register(project, text("our.echo", description="Of the owner."), by=owner)
    capabilities(echo=text("our.echo", description="Of the operator."))
    assert capability_registry.of(project.pk).get("our.echo").description == "Of the operator."
    (finding,) = errors(capability_registry.of_owners(project.pk).findings["our.echo"])
    assert "nothing can replace" in finding.message


def test_the_registry_asks_one_query(project: Project, owner: Actor, capabilities: Callable[..., None]) -> None:
    capabilities(ledger=LEDGER)
    for registered in range(2):
        capability_registry.of(project.pk)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            capability_registry.of(project.pk).get("ledger.entry.write")
        assert len(queries) == 1
        if not registered:
            project_capabilities.register(project, text("our.echo"), by=owner)


def test_a_run_uses_a_capability_of_an_owner(
    project: Project, owner: Actor, workflow: Callable[..., str], worker: RunWorker
) -> None:
    inputs = "{text: {type: string, required: true}, case: {type: string, default: upper}}"
    binding = "{kind: builtin, function: text.case}"
    upper = text("our.shout", inputs=inputs, outputs="{text: {type: string}}", binding=binding, safety="{}")
    project_capabilities.register(project, upper, by=owner)
    name = workflow("id: shout\nversion: 1\noutputs: {text: {type: string}}\nsteps:\n- id: a\n  uses: our.shout\n"
                    "  input: {text: hello}\n  output: {text: outputs.text}\n")  # fmt: skip
    run = runs.start(project, name, by=owner)
    finish(worker)
    run.refresh_from_db()
    assert (run.state, run.outputs) == ("completed", {"text": "HELLO"})


def test_an_unknown_capability_names_a_similar_one(project: Project, owner: Actor) -> None:
    project_capabilities.register(project, text("our.echo"), by=owner)
    with pytest.raises(StepFailed, match=r"Did you mean our\.echo"):
        capability_registry.of(project.pk).get("our.ecco")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_change_applies_to_the_next_call_of_a_run_that_a_worker_holds(
    project: Project, owner: Actor, workflow: Callable[..., str]
) -> None:
    row = project_capabilities.register(project, text("our.echo"), by=owner)
    steps = "".join(f"- {{id: s{number}, uses: our.echo}}\n" for number in range(2))
    run = runs.start(project, workflow(f"id: twice\nversion: 1\nsteps:\n{steps}"), by=owner)
    clock = Clock()
    worker = RunWorker(poll_seconds=0, monotonic=clock)
    assert worker.work()  # the first call is on its way
    stricter = text("our.echo", safety="{requires_confirmation: true}")
    project_capabilities.change(project, "our.echo", stricter, seen=row.digest, by=owner)
    clock.now += 1
    finish(worker)
    assert states(run) == {"s0": "completed", "s1": "waiting"}
