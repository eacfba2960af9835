"""The pages about security: quarantine, alarms, refused content and suppressed findings."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils.formats import date_format

from registry.core import roles
from registry.core.text import edits
from registry.models import Project, Suppression, Version
from registry.services.people import projects
from registry.services.permissions import Actor
from registry.services.scans import suppressions
from registry.services.skills import quarantine
from tests.conftest import skill_bundle, skill_text
from tests.prepared import create_skill, propose
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import suggest
from tests.services.scans.alarming import ALARM, LINE, RULE, alarming
from tests.web.conftest import Browser, signed_in

DIGEST = alarming().digest
INDEX, SCAN = "/projects/demo/security/", f"/projects/demo/security/{DIGEST}/"
SUPPRESS = f"{SCAN}suppress/"
PLACE: dict[str, Any] = {"rule": RULE, "file": "SKILL.md", "line": LINE}
FORM = {**PLACE, "reason": "A <b>quote</b>.", "days": 30}


@pytest.fixture
def reviewing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


@pytest.fixture
def writing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.AUTHOR))


@pytest.fixture
def owning(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.OWNER))


@pytest.fixture
def scanned(project: Project, author: Actor) -> Project:
    create_skill(project, alarming(), by=author)
    return project


def text(response: Any, status: int = 200) -> str:
    assert response.status_code == status, response.status_code
    return str(response.content.decode())


def test_the_index_lists_alarms_and_says_what_is_empty(scanned: Project, reviewing: Client) -> None:
    html = text(reviewing.get(INDEX))
    assert f'href="{SCAN}"' in html
    assert "1 warning" in html
    assert "No version is in quarantine." in html
    assert "No finding was suppressed." in html
    assert "Refused" not in html


def test_the_index_lists_quarantine_with_its_reason(scanned: Project, operator: Actor, reviewing: Client) -> None:
    quarantine.quarantine(scanned, "greeting", "1", reason="Sends <i>keys</i>.", by=operator)
    html = text(reviewing.get(INDEX))
    assert "greeting, version 1" in html
    assert "Sends &lt;i&gt;keys&lt;/i&gt;." in html
    assert "no open errors or warnings in the versions that agents get" in html


def test_the_scan_page_shows_findings_and_never_says_safe(scanned: Project, viewing: Client) -> None:
    html = text(viewing.get(SCAN))
    assert "1 warning" in html
    assert "The deep scan has not run yet" in html
    assert "SKILL.md, line 6" in html
    assert "version 1" in html
    assert SUPPRESS not in html
    assert "is safe" not in html.replace("never says that a skill is safe", "")


@pytest.mark.parametrize("digest", [f"sha256:{'0' * 64}", "nothing", "sha256:"])
def test_an_unknown_digest_is_a_missing_page(scanned: Project, reviewing: Client, digest: str) -> None:
    assert reviewing.get(f"{INDEX}{digest}/").status_code == 404
    assert reviewing.post(f"{INDEX}{digest}/suppress/", FORM).status_code == 404


def test_a_scan_of_another_project_is_a_missing_page(
    project: Project, other_project: Project, operator: Actor, reviewing: Client
) -> None:
    create_skill(other_project, alarming(), by=operator)
    assert reviewing.get(SCAN).status_code == 404
    assert reviewing.get(f"/projects/other/security/{DIGEST}/").status_code == 404


def test_a_reviewer_suppresses_a_finding_and_ends_the_suppression(scanned: Project, reviewing: Client) -> None:
    html = text(reviewing.post(SUPPRESS, FORM, follow=True))
    assert "Suppressed" in html
    assert "A &lt;b&gt;quote&lt;/b&gt;." in html
    assert "1 suppressed finding" in html
    row = Suppression.objects.get()
    assert "no open errors or warnings" in text(reviewing.get(INDEX))
    assert "A &lt;b&gt;quote&lt;/b&gt;." in text(reviewing.get(INDEX))
    html = text(reviewing.post(f"{INDEX}suppressions/{row.pk}/end/", follow=True))
    assert "The suppression ended." in html
    assert SUPPRESS in html
    assert "Ended" in text(reviewing.get(INDEX))


@pytest.mark.parametrize(
    "change", [{"reason": ""}, {"reason": "  "}, {"reason": "x" * 301}, {"days": 0}, {"days": 366}, {"days": ""}]
)
def test_an_invalid_form_is_shown_again_at_its_finding(
    scanned: Project, reviewing: Client, change: dict[str, Any]
) -> None:
    with nothing_left_behind():
        html = text(reviewing.post(SUPPRESS, {**FORM, **change}), 422)
    assert '<details class="more finding-more" open>' in html
    assert f'action="{SUPPRESS}#finding-0"' in html  # the browser scrolls to the form with the error
    assert "Ensure this value" not in html


@pytest.mark.parametrize("days", ["0", "366", "", "soon"])
def test_an_invalid_number_of_days_names_the_allowed_ones(scanned: Project, reviewing: Client, days: str) -> None:
    assert "Enter a number of days from 1 to 365." in text(reviewing.post(SUPPRESS, {**FORM, "days": days}), 422)


def test_the_message_says_how_long_a_finding_is_suppressed(scanned: Project, reviewing: Client) -> None:
    html = text(reviewing.post(SUPPRESS, FORM, follow=True))
    assert f"The finding is suppressed until {date_format(Suppression.objects.get().expires_at, 'j M Y')}." in html


def test_the_history_counts_no_suppressed_findings(scanned: Project, operator: Actor, viewing: Client) -> None:
    history = "/projects/demo/skills/greeting/versions/"
    assert "1 warning" in text(viewing.get(history))
    suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=operator)
    assert "1 warning" not in text(viewing.get(history))


def test_a_scan_leads_back_to_the_index_or_to_the_skill(scanned: Project, viewing: Client, writing: Client) -> None:
    assert '<li><a href="/projects/demo/skills/greeting/">greeting</a></li>' in text(viewing.get(SCAN))
    assert f'<li><a href="{INDEX}">Security</a></li>' in text(writing.get(SCAN))


@pytest.mark.parametrize("change", [{"rule": "other"}, {"file": "a.md"}, {"line": 7}])
def test_only_a_finding_of_the_scan_can_be_suppressed(
    scanned: Project, reviewing: Client, change: dict[str, Any]
) -> None:
    with nothing_left_behind():
        assert reviewing.post(SUPPRESS, {**FORM, **change}).status_code == 404


def test_only_reviewers_may_suppress_findings_and_end_suppressions(
    scanned: Project, writing: Client, viewing: Client, operator: Actor
) -> None:
    row = suppressions.suppress(scanned, DIGEST, **PLACE, reason="A quote.", by=operator)
    with nothing_left_behind():
        assert viewing.get(INDEX).status_code == 403
        for client in (writing, viewing):
            assert client.post(SUPPRESS, FORM).status_code == 403
            assert client.post(f"{INDEX}suppressions/{row.pk}/end/").status_code == 403
    assert f"suppressions/{row.pk}/end/" not in text(writing.get(INDEX))


def test_pages_link_to_the_scan(scanned: Project, viewing: Client) -> None:
    for page in ("", "version/1/", "versions/"):
        assert f'href="{SCAN}"' in text(viewing.get(f"/projects/demo/skills/greeting/{page}"))


# -- Publishing is blocked -----------------------------------------------------------------------------------------


@pytest.fixture
def strict(project: Project, operator: Actor) -> Project:
    projects.set_blocking(project, "warning", by=operator)
    return project


def raw(body: str) -> dict[str, str]:
    return {"mode": "raw", "text": skill_text(body=body), "do": "publish", "note": ""}


def test_the_editor_refuses_and_the_index_lists_the_content(
    strict: Project, writing: Client, reviewing: Client
) -> None:
    html = text(writing.post("/projects/demo/new/", raw(ALARM)), 422)
    assert "a security finding blocks it" in html
    assert "Fix 1 finding first." in html
    assert f'<a href="{SCAN}">See the scan</a>' in html
    assert not Version.objects.exists()
    listed = text(reviewing.get(INDEX))
    assert "Refused" in listed
    assert f'href="{SCAN}"' in listed
    assert "Blocks publishing" in text(reviewing.get(SCAN))
    assert "so it can’t be published.</strong>" in text(reviewing.get(SCAN))
    reviewing.post(SUPPRESS, FORM)
    assert "No open errors or warnings, so it can be published now" in text(reviewing.get(INDEX))
    assert writing.post("/projects/demo/new/", raw(ALARM)).status_code == 302
    assert Version.objects.get().digest == DIGEST
    assert "Refused" not in text(reviewing.get(INDEX))


def test_a_blocked_scan_of_a_published_version_says_that_it_was_published(
    scanned: Project, operator: Actor, reviewing: Client
) -> None:
    projects.set_blocking(scanned, "warning", by=operator)
    assert "so it can’t be published again.</strong>" in text(reviewing.get(SCAN))


def test_a_blocked_proposal_says_so_and_is_not_approved(strict: Project, author: Actor, reviewing: Client) -> None:
    proposal = propose(strict, suggest(edits.parse(skill_md=skill_text(body=ALARM))), by=author).proposal
    page = f"/projects/demo/proposals/{proposal.pk}/"
    html = text(reviewing.get(page))
    assert "Security findings block this proposal" in html
    assert f"/security/{proposal.result_digest}/" in html
    assert 'id="approve-button"' not in html
    assert "Edit and approve" in html
    sent = {"result_digest": proposal.result_digest, "base_digest": proposal.base_digest}
    with nothing_left_behind():
        assert "blocks it" in text(reviewing.post(f"{page}approve/", sent), 422)


def test_a_refused_edit_is_listed_and_its_findings_can_be_suppressed(
    strict: Project, author: Actor, reviewing: Client
) -> None:
    proposal = propose(strict, suggest(edits.parse(skill_md=skill_text(body="Wave."))), by=author).proposal
    page = f"/projects/demo/proposals/{proposal.pk}/edit/"
    form = {"result_digest": proposal.result_digest, "current": "", "file:SKILL.md": skill_text(body=ALARM)}
    assert "Approve and publish" in text(reviewing.post(page, {**form, "do": "look"}))
    html = text(reviewing.post(page, {**form, "do": "decide", "seen": DIGEST}), 422)
    assert f'<a href="{SCAN}">See the scan</a>' in html
    assert html.count("tells agents to ignore") == 1
    assert "Refused" in text(reviewing.get(INDEX))
    assert reviewing.post(SUPPRESS, FORM).status_code == 302
    assert reviewing.post(page, {**form, "do": "decide", "seen": DIGEST}).status_code == 302
    assert Version.objects.get().digest == DIGEST


# -- Settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("none", "Security findings no longer block publishing."),
        ("error", "Errors of the security scan now block publishing."),
        ("warning", "Warnings and errors of the security scan now block publishing."),
    ],
)
def test_an_owner_chooses_what_blocks(project: Project, owning: Client, level: str, message: str) -> None:
    answer = owning.post("/projects/demo/blocking/", {"blocking": level}, follow=True)
    assert answer.redirect_chain == [("/projects/demo/settings/#security", 302)]
    html = text(answer)
    assert message in html
    assert f'<option value="{level}" selected>' in html
    assert Project.objects.get(pk=project.pk).blocking == level


def test_an_owner_turns_automatic_quarantine_on_and_off(project: Project, owning: Client) -> None:
    for value, on in (("yes", True), ("no", False)):
        owning.post("/projects/demo/automatic-quarantine/", {"quarantine": value})
        assert Project.objects.get(pk=project.pk).quarantines_alarms is on


def test_an_unknown_level_and_other_roles_are_refused(
    project: Project, owning: Client, reviewing: Client, browser_client: Callable[..., Client]
) -> None:
    with nothing_left_behind():
        assert owning.post("/projects/demo/blocking/", {"blocking": "all"}).status_code == 422
        assert owning.post("/projects/demo/blocking/").status_code == 422
        for path, data in (("blocking", {"blocking": "none"}), ("automatic-quarantine", {"quarantine": "yes"})):
            assert reviewing.post(f"/projects/demo/{path}/", data).status_code == 403
            assert owning.get(f"/projects/demo/{path}/").status_code == 405


def test_a_skill_without_findings_says_how_far_the_scan_went(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    html = text(viewing.get("/projects/demo/skills/greeting/"))
    assert "the deep scan has not run yet" in html


def test_a_finding_that_stands_for_others_has_no_form(project: Project, author: Actor, reviewing: Client) -> None:
    bundle = skill_bundle(body="\n\n".join([ALARM] * 25))
    create_skill(project, bundle, by=author)
    html = text(reviewing.get(f"/projects/demo/security/{bundle.digest}/"))
    assert html.count("<summary>Suppress this finding</summary>") == 19
    assert "5 more like this are not shown." in html
    assert html.count("it stands for others that nobody has seen") == 1
