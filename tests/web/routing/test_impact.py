"""Pages that publish or review a change show what it does to the test questions, and ask for a reason."""

from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD
from registry.core.routing import metrics
from registry.core.routing.gate import Verdict
from registry.core.text import edits
from registry.models import Event, Project, Proposal, Version
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.routing.impact import Impact
from registry.services.skills import skills
from registry.web.skills.routing_impact import Shown
from tests.prepared import proposing_agent
from tests.services.routing.gated import DESCRIPTIONS, ELSEWHERE, QUESTIONS, bundle, gated_project
from tests.web.conftest import Browser
from tests.web.routing.pages import HTMX, REASON, words

EDIT = "/projects/demo/skills/desk/edit/"
LOST = QUESTIONS["desk"][0]
WORSE = "4 questions worse. 10 test questions checked."


@pytest.fixture
def gated(project: Project, operator: Actor) -> Project:
    return gated_project(project, operator)


@pytest.fixture
def browser(browser_client: Browser) -> Client:
    return browser_client("author")


def typed(do: str, description: str, **more: str) -> dict[str, str]:
    fields = {"mode": "form", "base": bundle().digest, "name": "desk", "kind": "tool"}
    return {**fields, "do": do, "description": description, "instructions": "Follow these steps.", **more}


def made(project: Project, by: Actor) -> Proposal:
    content = bundle("desk", ELSEWHERE)[SKILL_MD].decode()
    return proposals.propose(project, Suggestion("desk", edits.parse(skill_md=content), "Nicer."), by=by).proposal


def test_a_project_without_test_questions_shows_no_impact(project: Project, author: Actor, browser: Client) -> None:
    skills.create(project, bundle(), by=author)
    page = browser.post(EDIT, typed("save", ELSEWHERE), headers=HTMX).content.decode()
    assert 'id="impact"' not in page
    assert "gate_reason" not in page


def test_a_part_of_the_test_questions_gives_no_verdict_of_the_gate() -> None:
    """The questions near to a change are routed first, and their figures are worse than those of all."""
    part, failed = metrics.report(()), Verdict(False, ("P@1 is 0.500, and at least 0.800 is needed.",))
    found = Impact(part, part, (), 0, 10, failed, failed, needs_reason=True, blocking=True)
    assert (Shown(found, (), 0).gate, Shown(found, (), 0).needs_reason) == ("", False)
    every = Shown(replace(found, total=0), (), 0)
    assert every.gate == "The routing gate still fails. P@1 is 0.500, and at least 0.800 is needed."
    assert every.needs_reason


def test_somebody_who_may_only_propose_sees_no_test_question(gated: Project, browser_client: Browser) -> None:
    page = words(browser_client("viewer").post(EDIT, typed("save", ELSEWHERE), headers=HTMX))
    assert LOST not in page
    assert "Routing" not in page


def test_the_editor_shows_the_lost_questions_while_somebody_types(gated: Project, browser: Client) -> None:
    page = words(browser.post(EDIT, typed("save", ELSEWHERE), headers=HTMX))
    assert WORSE in page
    assert f"{LOST} should find desk Now desk" in page
    assert "The routing gate would fail. " in page
    assert "Publish anyway, because" in page
    mended = words(browser.post(EDIT, typed("save", f"{DESCRIPTIONS['desk']} Also letters."), headers=HTMX))
    assert "No question gets better or worse. 10 test questions checked." in mended
    assert "Publish anyway" not in mended


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_publishing_needs_a_reason(
    gated: Project, browser: Client, browser_client: Browser, headers: dict[str, str]
) -> None:
    refused = browser.post(EDIT, typed("publish", ELSEWHERE, gate_reason=" "), headers=headers)
    assert refused.status_code == (422 if headers else 409)
    assert "the routing gate refuses it" in words(refused)
    assert 'name="gate_reason"' in refused.content.decode()
    assert Version.objects.filter(skill__name="desk").count() == 1
    done = browser.post(EDIT, typed("publish", ELSEWHERE, gate_reason=REASON), headers=headers)
    assert done.status_code == 302
    assert Event.objects.order_by("-pk")[0].data["gate_reason"] == REASON
    audited = words(browser_client("reviewer").get("/projects/demo/audit/"))
    assert REASON in audited
    assert ".," not in audited


def test_a_reviewer_sees_the_impact_and_approves_with_a_reason(
    gated: Project, operator: Actor, browser_client: Browser
) -> None:
    proposal = made(gated, proposing_agent(gated, "bot", operator))
    reviewer, address = browser_client("reviewer"), f"/projects/demo/proposals/{proposal.pk}/"
    page = words(reviewer.get(address))
    assert WORSE in page
    assert LOST in page
    sent = {"result_digest": proposal.result_digest, "base_digest": proposal.base_digest}
    refused = reviewer.post(f"{address}approve/", sent)
    assert refused.status_code == 409
    assert "the routing gate refuses it" in words(refused)
    assert reviewer.post(f"{address}approve/", {**sent, "gate_reason": REASON}).status_code == 302
    assert WORSE not in words(reviewer.get(address)), "a decided proposal has no impact any more"


def test_a_reviewer_sees_the_impact_of_an_edit(gated: Project, operator: Actor, browser_client: Browser) -> None:
    proposal = made(gated, proposing_agent(gated, "bot", operator))
    reviewer, address = browser_client("reviewer"), f"/projects/demo/proposals/{proposal.pk}/edit/"
    sent = {"result_digest": proposal.result_digest, "do": "look"}
    content = bundle("desk", f"{ELSEWHERE} And songs.")[SKILL_MD].decode()
    page = words(reviewer.post(address, {**sent, f"file:{SKILL_MD}": content}))
    assert "test questions checked" in page
    assert "Publish anyway, because" in page
    whole = words(reviewer.post(address, {**sent, f"file:{SKILL_MD}": bundle()[SKILL_MD].decode()}))
    assert "Publish anyway" not in whole


def test_an_upload_shows_the_impact_and_needs_a_reason(gated: Project, browser: Client) -> None:
    file = SimpleUploadedFile("desk.zip", zip_bundle.write_zip(bundle("desk", ELSEWHERE)))
    address = browser.post("/projects/demo/upload/", {"file": file})["Location"]
    assert WORSE in words(browser.get(address))
    sent = {"do": "confirm", "seen": bundle().digest}
    refused = browser.post(address, {**sent, "gate_reason": ""})
    assert '<a href="#f-gate-reason">Give a reason</a>' in refused.content.decode()
    assert refused.status_code == 409
    assert LOST in words(refused)
    assert browser.post(address, {**sent, "gate_reason": REASON}).status_code == 302


def test_other_pages_ask_for_the_reason_and_repeat_the_request(gated: Project, author: Actor, browser: Client) -> None:
    for description in (ELSEWHERE, DESCRIPTIONS["desk"]):
        current = Version.objects.filter(skill__name="desk").order_by("-pk")[0].digest
        skills.save(gated, "desk", bundle("desk", description), base=current, gate_reason=REASON, by=author)
    address = "/projects/demo/skills/desk/version/2/restore/"
    refused = browser.post(address, {"other": '"><script>'})
    page = refused.content.decode()
    assert refused.status_code == 409
    assert f'action="{address}"' in page
    assert '<input type="hidden" name="other" value="&quot;&gt;&lt;script&gt;">' in page
    assert LOST in page
    assert browser.post(address, {"gate_reason": REASON}).status_code == 302
