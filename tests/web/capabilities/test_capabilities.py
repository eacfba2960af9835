"""The pages of capabilities: the list, one capability, and the form of owners."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, ProjectCapability
from registry.services.capabilities import project_capabilities
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.web.capabilities.starting_points import STARTING_POINTS
from tests.conftest import skill_bundle
from tests.core.workflows.definitions import LEDGER, text
from tests.services.workflows.conftest import capabilities as capabilities
from tests.web.conftest import Browser, signed_in

LIST, NEW = "/projects/demo/capabilities/", "/projects/demo/new-capability/"
OURS = f"{LIST}our.echo/"


@pytest.fixture
def owner(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.OWNER))


@pytest.fixture
def row(project: Project, operator: Actor) -> ProjectCapability:
    return project_capabilities.register(project, text("our.echo"), by=operator)


def page(client: Client, address: str, status: int = 200, **data: Any) -> str:
    answer = client.post(address, data) if data else client.get(address)
    assert answer.status_code == status, answer.content.decode()
    return unescape(answer.content.decode())


def test_the_list_has_all_capabilities_with_their_origin(
    viewing: Client, row: ProjectCapability, capabilities: Callable[..., None]
) -> None:
    capabilities(ledger=LEDGER)
    shown = page(viewing, LIST)
    for id_ in ("our.echo", "ledger.entry.write", "data.filter", "human.approve"):
        assert f'href="{LIST}{id_}/"' in shown
    assert shown.index("our.echo") < shown.index("ledger.entry.write") < shown.index("text.template")
    assert "Calls an HTTP address: ledger.internal" in shown
    assert "needs a confirmation" in shown
    assert "Register a capability" not in shown
    assert 'aria-current="page"' in shown


@pytest.mark.parametrize(
    ("query", "has", "has_not"),
    [
        ("q=filter", "data.filter", "data.sort"),
        ("q=PERSONAL+data", "security.pii.detect", "data.filter"),
        ("q=nothing-of-the-kind", "No capability matches", "data.filter"),
        ("effect=changes", "our.echo", "data.filter"),
        ("effect=nothing", "data.filter", "our.echo"),
        ("effect=nonsense", "data.filter", "No capability matches"),
    ],
)
def test_the_list_is_searched(viewing: Client, row: ProjectCapability, query: str, has: str, has_not: str) -> None:
    shown = page(viewing, f"{LIST}?{query}")
    assert has in shown
    assert f"{LIST}{has_not}/" not in shown
    part = viewing.get(f"{LIST}?{query}", headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith("<div")


def test_files_with_errors_are_shown_with_line_and_fix(viewing: Client, capabilities: Callable[..., None]) -> None:
    capabilities(bad=LEDGER.replace("trust_level", "trust_levle"))
    shown = page(viewing, LIST)
    assert "capabilities/bad.yaml, line 7" in shown
    assert "Did you mean <code>trust_level</code>?" in shown
    assert "Not registered" in shown
    capabilities(good=LEDGER)
    capabilities(good="id: [")
    page(viewing, LIST)


def test_a_broken_file_says_that_an_earlier_definition_is_used(
    viewing: Client, capabilities: Callable[..., None]
) -> None:
    capabilities(ledger=LEDGER)
    page(viewing, LIST)
    capabilities(ledger="id: [")
    shown = page(viewing, LIST)
    assert "Earlier definition in use" in shown
    assert "ledger.entry.write" in shown


def test_one_capability_says_what_protects_a_call(
    viewing: Client, project: Project, operator: Actor, capabilities: Callable[..., None]
) -> None:
    capabilities(ledger=LEDGER)
    flow = b"id: flow\nversion: 1\nsteps:\n- {id: a, uses: ledger.entry.write, input: {key: x}}\n"
    skills.create(project, skill_bundle("bookkeeping", {"workflow.yaml": flow}), by=operator)
    skills.create(project, skill_bundle("other"), by=operator)
    shown = page(viewing, f"{LIST}ledger.entry.write/")
    for said in (
        "a person says whether it happened before it is repeated",
        "Reviewers approve each call with exactly its input",
        "Before the call, <code>security.secrets.detect</code> checks <code>text</code> = <code>input.key</code>",
        "the call is blocked and the step fails",
        "uses: ledger.entry.write",
        "key: inputs.key",
        'href="/projects/demo/skills/bookkeeping/workflow/"',
        "capabilities/ledger.yaml",
    ):
        assert said in shown, said
    assert "/skills/other/" not in shown
    assert "LEDGER_TOKEN" not in shown.partition("</header>")[0]


def test_an_alias_leads_to_the_capability_and_others_to_a_hint(
    viewing: Client, project: Project, operator: Actor
) -> None:
    project_capabilities.register(project, text("our.echo", aliases="[our.old]"), by=operator)
    assert "<h1>our.echo</h1>" in page(viewing, f"{LIST}our.old/")
    assert "Did you mean data.filter?" in page(viewing, f"{LIST}data.filtr/", 404)


def test_members_see_the_definition_and_only_owners_its_buttons(
    viewing: Client, owner: Client, row: ProjectCapability
) -> None:
    assert "kind: builtin" in page(viewing, OURS)
    assert "/change/" not in page(viewing, OURS)
    assert f'href="{OURS}change/"' in page(owner, OURS)
    assert f'action="{OURS}remove/"' in page(owner, OURS)
    assert "/change/" not in page(owner, f"{LIST}data.echo/")


@pytest.mark.parametrize("start", STARTING_POINTS)
def test_examples_to_start_from_have_no_errors(owner: Client, start: str) -> None:
    shown = page(owner, f"{NEW}?start={start}")
    assert "No findings" in shown, shown
    assert page(owner, NEW, 302, text=STARTING_POINTS[start].text, do="save") == ""


def test_a_stricter_version_of_a_capability_is_prepared(owner: Client) -> None:
    assert "extends: data.filter" in page(owner, f"{NEW}?extends=data.filter")
    page(owner, f"{NEW}?extends=no.such.thing", 404)


def test_a_check_shows_findings_and_saves_nothing(owner: Client) -> None:
    shown = page(owner, NEW, text=text("our.echo", safetty="{}"), do="check")
    assert "Did you mean <code>safety</code>?" in shown
    assert "capability.yaml, line 5" in shown
    part = owner.post(NEW, {"text": text("data.echo"), "do": "save"}, headers={"HX-Request": "true"}).content.decode()
    assert "nothing can replace" in part
    assert "<html" not in part
    assert not ProjectCapability.objects.exists()


def test_an_owner_registers_changes_and_removes(owner: Client, project: Project) -> None:
    answer = owner.post(NEW, {"text": text("our.echo"), "do": "save"}, follow=True)
    assert answer.redirect_chain == [(OURS, 302)]
    assert "our.echo registered. Workflows can use it now." in answer.content.decode()
    row = ProjectCapability.objects.get()
    assert f'value="{row.digest}"' in page(owner, f"{OURS}change/")
    changed = text("our.echo", description="Changed.")
    answer = owner.post(f"{OURS}change/", {"text": changed, "seen": row.digest, "do": "save"}, follow=True)
    assert "Changed." in answer.content.decode()
    answer = owner.post(f"{OURS}remove/", follow=True)
    assert "our.echo removed." in answer.content.decode()
    assert not ProjectCapability.objects.exists()


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        ("", 422, "Write a definition"),
        ("a\0b", 422, "NUL character"),
        ("id: [", 422, "not valid"),
        (text("our.other"), 422, "The id cannot change"),
        (text("our.echo", binding="{kind: llm, prompt: a}"), 422, "Only an operator"),
    ],
)
def test_a_change_with_errors_keeps_what_was_typed(
    owner: Client, row: ProjectCapability, content: str, status: int, said: str
) -> None:
    shown = page(owner, f"{OURS}change/", status, text=content, seen=row.digest, do="save")
    assert said in shown
    row.refresh_from_db()
    assert row.text == text("our.echo")


def test_a_change_of_somebody_else_is_not_overwritten(owner: Client, row: ProjectCapability) -> None:
    seen = row.digest
    page(owner, f"{OURS}change/", 302, text=text("our.echo", version="2"), seen=seen, do="save")
    typed = text("our.echo", version="3")
    shown = page(owner, f"{OURS}change/", 409, text=typed, seen=seen, do="save")
    assert "Somebody else changed our.echo meanwhile" in shown
    assert "version: 3" in shown


def test_what_people_write_is_shown_as_text(owner: Client, project: Project, operator: Actor) -> None:
    evil = "<script>alert(1)</script>"
    content = text("our.echo", description=f"'{evil}'", inputs=f"{{a: {{type: string, description: '{evil}'}}}}")
    project_capabilities.register(project, content, by=operator)
    for address in (LIST, OURS, f"{OURS}change/"):
        assert evil not in owner.get(address).content.decode()
    assert evil not in owner.post(NEW, {"text": f"id: '{evil}'", "do": "check"}).content.decode()


def test_a_capability_with_errors_is_listed_and_can_be_corrected(
    owner: Client, project: Project, operator: Actor
) -> None:
    gate = text("our.gate", outputs="{allowed: {type: boolean}}", properties="{side_effects: false}")
    project_capabilities.register(project, gate, by=operator)
    project_capabilities.register(project, text("our.echo", safety="{mandatory_pre_gates: [our.gate]}"), by=operator)
    page(owner, f"{LIST}our.gate/remove/", 302, confirm="1")
    assert "Has errors" in page(owner, LIST)
    assert "There is no gate <code>our.gate</code>" in page(owner, OURS)
    assert "There is no gate" in page(owner, f"{OURS}change/")
