"""The list of runs."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.core import roles
from registry.models import Project, Run
from registry.services.permissions import Actor
from registry.services.workflows import runs
from tests.services.workflows.conftest import CHAIN
from tests.web.conftest import Browser, signed_in
from tests.web.runs.conftest import Started, Workflow
from tests.web.runs.workflows import ASKS, FAILS, main

HERE = "/projects/demo/runs/"
Queries = Callable[[int], CaptureQueriesContext]


def listed(client: Client, query: str = "") -> list[int]:
    return [row.run.pk for row in client.get(f"{HERE}{query}").context["rows"]]


@pytest.fixture
def several(started: Started, operator: Actor, author: Actor) -> dict[str, int]:
    """Return runs by name: one that is finished, one that failed, one that waits, and one that is queued."""
    done = started(CHAIN, inputs={"name": "Ada"})
    failed = started(FAILS, "fails", by=operator)
    waiting = started(ASKS, "asks")
    queued = started(CHAIN, inputs={"name": "Jun"}, carried=False)
    return {"done": done.pk, "failed": failed.pk, "waiting": waiting.pk, "queued": queued.pk}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", "queued waiting failed done"),
        ("?state=completed", "done"),
        ("?state=unfinished", "queued waiting"),
        ("?state=finished", "failed done"),
        ("?skill=asks", "waiting"),
        ("?by=author", "queued waiting done"),
        ("?mine=1", "queued waiting done"),
        ("?mine=1&state=waiting", "waiting"),
        ("?state=nonsense", "queued waiting failed done"),
        ("?skill=nothing-of-the-kind", ""),
        ("?page=99", "queued waiting failed done"),
    ],
)
def test_runs_are_filtered(several: dict[str, int], browser_client: Browser, query: str, names: str) -> None:
    client = signed_in(browser_client(roles.AUTHOR))
    assert listed(client, query) == [several[name] for name in names.split()]


def test_each_run_shows_its_state_its_starter_and_its_reason(several: dict[str, int], viewing: Client) -> None:
    words = main(viewing.get(HERE))
    for word in ("Queued", "Waiting", "Failed", "Completed", "for a reviewer"):
        assert word in words
    assert "Step call failed: No answer." in words
    assert f"Run {several['done']}" in words


def test_a_reviewer_reads_that_a_run_waits_for_them(several: dict[str, int], browser_client: Browser) -> None:
    assert "Waiting for you" in main(signed_in(browser_client(roles.REVIEWER)).get(HERE))
    assert "Waiting for you" not in main(signed_in(browser_client(roles.AUTHOR)).get(HERE))


def test_the_people_who_are_asked_are_named(started: Started, viewing: Client) -> None:
    config = 'question: "Publish the text?"}, config: {approvers: {people: [ines, tomas]}}'
    started(ASKS.replace('question: "Publish the text?"}', config), "named")
    assert "for ines or tomas" in main(viewing.get(HERE))


def test_an_empty_list_says_what_to_do(project: Project, viewing: Client, browser_client: Browser) -> None:
    assert "No runs yet Authors and agents run" in main(viewing.get(HERE))
    assert "No runs yet Open a skill that has a workflow" in main(signed_in(browser_client(roles.AUTHOR)).get(HERE))


def test_filters_that_match_nothing_lead_back(several: dict[str, int], viewing: Client) -> None:
    words = main(viewing.get(f"{HERE}?skill=nothing-of-the-kind"))
    assert "No run matches these filters. Show all runs" in words
    assert "No runs yet" not in words


def test_the_list_has_pages(project: Project, workflow: Workflow, author: Actor, viewing: Client) -> None:
    workflow(CHAIN)
    first = runs.start(project, "flow", inputs={"name": "Ada"}, by=author)
    Run.objects.bulk_create([_copy(first) for _ in range(60)])
    assert len(listed(viewing)) == 50
    assert "51 to 61 of 61" in main(viewing.get(f"{HERE}?page=2&skill=flow"))
    assert "?skill=flow&amp;page=1" in viewing.get(f"{HERE}?page=2&skill=flow").content.decode()


def test_the_number_of_queries_does_not_grow_with_the_runs(
    project: Project, several: dict[str, int], viewing: Client
) -> None:
    viewing.get(HERE)
    with CaptureQueriesContext(connection) as few:
        viewing.get(HERE)
    Run.objects.bulk_create([_copy(run) for run in Run.objects.all() for _ in range(5)])
    with CaptureQueriesContext(connection) as many:
        viewing.get(HERE)
    assert len(many) == len(few)


def test_runs_of_another_project_are_not_listed(
    other_project: Project, several: dict[str, int], viewing: Client
) -> None:
    Run.objects.filter(pk=several["done"]).update(project=other_project)
    assert several["done"] not in listed(viewing)


def test_the_navigation_leads_to_the_list(project: Project, viewing: Client) -> None:
    assert f'href="{HERE}" aria-current="page"' in viewing.get(HERE).content.decode()


def _copy(run: Run) -> Run:
    return Run(
        project=run.project, skill=run.skill, version=run.version, digest=run.digest, lock=run.lock, state=run.state,
        trust=run.trust, user=run.user, started_by=run.started_by, finished_at=run.finished_at,
    )  # fmt: skip
