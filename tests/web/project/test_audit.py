"""The audit log in the browser: filters, export and verification, for reviewers."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from registry.core import roles
from registry.core.text import edits
from registry.models import Event, Project, User
from registry.services import audit, permissions
from registry.services.agents import tokens
from registry.services.people import accounts, projects
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills
from registry.services.workflows import run_events, runs
from registry.services.workflows.run_worker import RunWorker
from registry.web.project import audit_words
from tests.conftest import skill_bundle, skill_text
from tests.prepared import create_skill, disable_skill, ensure_agent, save_skill
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in

LOG, EXPORT = "/projects/demo/audit/", "/projects/demo/audit/export.jsonl"


@pytest.fixture
def reviewing(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))


@pytest.fixture
def events(project: Project, author: Actor, operator: Actor) -> str:
    """A skill by the author, saved by an agent; returns the digest agents get."""
    bot = permissions.agent(ensure_agent(project, "bot", by=operator), frozenset({roles.READ, roles.WRITE}))
    first = create_skill(project, skill_bundle(), by=author).version
    return save_skill(project, "greeting", skill_bundle(body="2"), base=first.digest, by=bot).version.digest


def text(response: Any, status: int = 200) -> str:
    assert response.status_code == status, response.status_code
    return str(response.content.decode())


def verbs_of(client: Client, query: str) -> list[str]:
    return [row.event.verb for row in client.get(f"{LOG}{query}").context["rows"]]


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR])
def test_only_reviewers_read_the_log(events: str, browser_client: Browser, role: str) -> None:
    client = signed_in(browser_client(role))
    for address in (LOG, EXPORT, f"{LOG}?check=1"):
        assert client.get(address).status_code == 403
    assert "Audit" not in text(client.get("/projects/demo/skills/"))


def test_a_page_without_access_says_who_can_open_it_and_whom_to_ask(
    events: str, browser_client: Browser, person: Callable[[str], User]
) -> None:
    client = signed_in(browser_client(roles.VIEWER))
    assert "Only reviewers can open the audit log. To get access, ask an owner" in text(client.get(LOG), 403)
    accounts.rename(person(roles.OWNER), "Ines Marchetti")
    assert "Only reviewers can open the audit log. To get access, ask Ines Marchetti." in text(client.get(LOG), 403)


def test_people_are_shown_and_filtered_by_their_names(
    events: str, reviewing: Client, person: Callable[[str], User]
) -> None:
    accounts.rename(person(roles.AUTHOR), "Ada Okafor")
    html = text(reviewing.get(f"{LOG}?actor=author"))
    assert "<strong>Ada Okafor</strong> created the skill" in html
    assert '<option value="author" selected>Ada Okafor</option>' in html
    assert '<option value="bot">Agent bot</option>' in html
    assert '<option value="skill.saved">Version published</option>' in html


def test_the_operator_is_shown_with_a_capital_and_exported_unchanged(
    project: Project, operator: Actor, reviewing: Client
) -> None:
    skills.create(project, skill_bundle(), by=operator)
    html = text(reviewing.get(f"{LOG}?actor=command+line&verb=skill.created"))
    assert "<strong>Command line</strong> created the skill" in html
    assert '<option value="command line" selected>Command line</option>' in html
    (line,) = b"".join(reviewing.get(f"{EXPORT}?verb=skill.created")).splitlines()
    assert json.loads(line)["actor"] == {"kind": "operator", "name": "command line", "id": None}


def test_a_former_member_stays_in_the_filter(events: str, reviewing: Client) -> None:
    assert '<option value="gone" selected>gone</option>' in text(reviewing.get(f"{LOG}?actor=gone"))


def test_a_person_of_another_project_gets_404(events: str, django_user_model: Any) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create(username="stranger"))
    assert stranger.get(LOG).status_code == 404
    assert stranger.get(EXPORT).status_code == 404
    assert Client().get(LOG).status_code == 302


def test_the_log_is_read_and_never_written(events: str, reviewing: Client) -> None:
    for address in (LOG, EXPORT):
        with nothing_left_behind():
            assert reviewing.post(address).status_code == 405
    with nothing_left_behind():
        reviewing.get(f"{LOG}?check=1")


def test_the_log_shows_the_actor_the_action_and_both_digests(events: str, reviewing: Client) -> None:
    html = text(reviewing.get(f"{LOG}?verb=skill.saved"))
    assert "<strong>Agent bot</strong> published a version of" in html
    assert "avatar--agent" in html
    event = Event.objects.get(verb="skill.saved")
    assert event.before[7:19] in html
    assert events[7:19] in html
    assert event.hash in html


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?verb=skill.created", ["skill.created"]),
        ("?verb=skill.", ["skill.saved", "skill.created"]),
        ("?actor=author", ["skill.created"]),
        ("?actor=bot", ["skill.saved"]),
        ("?target=greeting", ["skill.saved", "skill.created"]),
        ("?target=greeting&actor=bot", ["skill.saved"]),
        ("?actor=nobody", []),
        ("?target=greeting&since=2001-01-01&until=9999-12-31", ["skill.saved", "skill.created"]),
        ("?since=9999-12-31", []),
        ("?until=2001-01-01", []),
    ],
)
def test_filters_are_read_from_the_address(events: str, reviewing: Client, query: str, found: list[str]) -> None:
    assert verbs_of(reviewing, query) == found


def test_a_day_is_whole(events: str, reviewing: Client) -> None:
    day = Event.objects.get(verb="skill.saved").at.date().isoformat()
    assert "skill.saved" in verbs_of(reviewing, f"?since={day}&until={day}")


@pytest.mark.parametrize("day", ["yesterday", "2026-02-30", "0", "١٢"])
def test_an_invalid_date_is_refused(events: str, reviewing: Client, day: str) -> None:
    assert "is not a date" in text(reviewing.get(LOG, {"since": day}), 422)


def test_nothing_found_offers_a_way_on(events: str, reviewing: Client) -> None:
    assert "No events match these filters" in text(reviewing.get(f"{LOG}?actor=nobody"))


def test_the_export_contains_the_filtered_events_oldest_first(events: str, reviewing: Client) -> None:
    answer = reviewing.get(EXPORT)
    records = [json.loads(line) for line in b"".join(answer).splitlines()]
    assert [record["sequence"] for record in records] == list(range(1, len(records) + 1))
    assert ("agent", "bot") in [(record["actor"]["kind"], record["actor"]["name"]) for record in records]
    assert answer["Content-Disposition"] == 'attachment; filename="demo-audit.jsonl"'
    assert answer["Cache-Control"] == "private, no-store"
    some = reviewing.get(f"{EXPORT}?actor=bot")
    assert [json.loads(line)["verb"] for line in b"".join(some).splitlines()] == ["skill.saved"]


def test_the_record_is_checked_on_demand(events: str, reviewing: Client) -> None:
    assert "Verify the log" in text(reviewing.get(LOG))
    count = Event.objects.filter(chain__project__slug="demo").count()
    assert f"The log is intact. {count} events verified." in text(reviewing.get(f"{LOG}?check=1"))
    with connection.cursor() as cursor:
        cursor.execute("UPDATE registry_event SET target = 'x' WHERE verb = 'skill.created'")
    html = text(reviewing.get(f"{LOG}?check=1"))
    assert "The log was tampered with." in html
    assert "its content was changed" in html


def test_hostile_names_do_nothing(project: Project, reviewing: Client, operator: Actor) -> None:
    hostile = '"><script>alert(1)</script>'
    create_skill(project, skill_bundle(), note=hostile, by=permissions.operator(hostile))
    html = text(reviewing.get(LOG, {"target": hostile})) + text(reviewing.get(LOG))
    assert "<script>alert" not in html


def test_details_are_shown_without_python_syntax(project: Project, reviewing: Client, operator: Actor) -> None:
    with audit.change(project, "webhook.created", by=operator, target="webhook 1") as change:
        change.data = {"events": ["opened", "revised"], "source": {"id": 3, "kind": "url", "version": ""}}
    (row,) = reviewing.get(f"{LOG}?verb=webhook.created").context["rows"]
    assert row.details == (("events", "opened, revised"), ("source", "id: 3, kind: url"))


def test_the_number_of_queries_does_not_grow_with_the_events(
    project: Project, events: str, operator: Actor, reviewing: Client, django_assert_max_num_queries: Any
) -> None:
    for times in (1, 15):
        for _ in range(times):
            disable_skill(project, "greeting", by=operator)
            skills.enable(project, "greeting", by=operator)
        text(reviewing.get(LOG))
        # session, user, membership; count, page, chain; members and agents of the filter; switcher and sidebar
        with django_assert_max_num_queries(12):
            text(reviewing.get(LOG))


def test_every_verb_of_the_log_has_a_description(events: str) -> None:
    for verb in Event.objects.filter(chain__project__slug="demo").values_list("verb", flat=True):
        assert audit_words.in_words(verb) != verb


def test_the_log_shows_the_runs_of_workflows_and_leads_to_them(
    project: Project, reviewing: Client, operator: Actor
) -> None:
    run = runs.start_call(project, "text.trim", inputs={"text": " x "}, by=operator)
    worker = RunWorker(poll_seconds=0)
    while worker.work(timeout=10) or worker.held:
        pass
    page = text(reviewing.get(f"{LOG}?verb=run."))
    assert "completed the run of" in page
    assert f'<a href="/projects/demo/runs/{run.pk}/">run {run.pk}</a>' in page
    verbs = {
        value
        for value in vars(run_events).values()
        if isinstance(value, str) and value.startswith(("run.", "question."))
    }
    assert len(verbs) >= 12
    for verb in {*verbs, *run_events.ENDINGS.values()}:
        assert audit_words.in_words(verb) != verb


def test_the_log_shows_the_address_of_the_caller(events: str, browser_client: Browser, reviewing: Client) -> None:
    author = signed_in(browser_client(roles.AUTHOR))
    author.post("/projects/demo/skills/greeting/disable/", headers={"X-Forwarded-For": "192.0.2.7"})

    page = text(reviewing.get(f"{LOG}?verb=skill.disabled"))
    assert "from 127.0.0.1" in page
    assert "192.0.2.7" not in page


def test_the_log_says_that_somebody_approved_for_an_agent_whose_token_they_made(
    project: Project, operator: Actor, person: Callable[[str], User], browser_client: Browser, reviewing: Client
) -> None:
    bot = ensure_agent(project, "bot", by=operator)
    tokens.create_token(project, agent=bot, by=permissions.person(person(roles.OWNER), project))
    projects.set_makers_approve(project, True, by=operator)
    edit = edits.parse(skill_md=skill_text("greeting"))
    proposal = proposals.propose(
        project, Suggestion("greeting", edit, "New."), by=permissions.agent(bot, frozenset({roles.PROPOSE}))
    ).proposal
    shown = {"result_digest": proposal.result_digest, "base_digest": proposal.base_digest}
    owner = signed_in(browser_client(roles.OWNER))
    assert owner.post(f"/projects/demo/proposals/{proposal.pk}/approve/", shown).status_code == 302
    assert "for an agent whose token they made" in text(reviewing.get(f"{LOG}?verb=proposal.approved"))
