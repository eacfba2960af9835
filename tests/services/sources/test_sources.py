"""Sources: added and removed by people, looked at by the worker, searched, and never mistaken for one another."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.utils import timezone

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.core.errors import AlreadyExists, Conflict, Forbidden, InvalidRequest, NotFound
from registry.core.sources.import_request import ImportRequest
from registry.models import Event, Project, Source, SourceJob, User
from registry.services import permissions
from registry.services.agents import agents
from registry.services.people import members
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.sources import install, source_jobs, sources
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere, elsewhere


@pytest.fixture
def site(settings: Any) -> Iterator[Elsewhere]:
    with elsewhere() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.receiver.host]
        made.skills["greeting"] = skill_bundle("greeting")
        made.skills["parting"] = skill_bundle("parting", description="Says goodbye. Use at the end of a letter.")
        yield made


def states(project: Project, source: Source, by: Actor, q: str = "") -> dict[str, str]:
    shown = list(sources.entries(project, source.pk, q=q, by=by))
    return {one.entry.name: one.state for one in sources.with_state(source, shown)}


def test_a_new_source_is_checked(project: Project, source: Source, author: Actor) -> None:
    assert (source.state, source.problem, str(source)) == ("ready", "", "Elsewhere")
    assert source.checked_at == source.seen_at is not None
    assert states(project, source, author) == {"greeting": "available", "parting": "available"}
    event = Event.objects.get(verb="source.added")
    assert event.data["source"] == {"id": source.pk, "kind": "well-known", "address": source.address}
    job = sources.latest_job(source)
    assert job is not None
    assert (job.kind, job.state, job.problem) == ("look", "done", "")


def test_search_matches_names_and_descriptions(project: Project, source: Source, author: Actor) -> None:
    assert list(states(project, source, author, q="what PART")) == ["parting"]
    assert states(project, source, author, q="nowhere") == {}
    assert states(project, source, author, q="%_\0") == {}


def test_an_unreachable_source_keeps_its_known_entries(
    project: Project, source: Source, site: Elsewhere, author: Actor
) -> None:
    seen = source.seen_at
    site.status = 503
    sources.look(project, source.pk, by=author)
    source_jobs.run_due()
    source.refresh_from_db()
    assert (source.state, source.seen_at) == ("unreachable", seen)
    assert "503" in source.problem
    assert source.checked_at is not None and seen is not None and source.checked_at > seen
    assert len(states(project, source, author)) == 2
    job = sources.latest_job(source)
    assert job is not None
    assert (job.state, job.problem) == ("failed", source.problem)


def test_a_source_without_skills_is_empty(project: Project, source: Source, site: Elsewhere, author: Actor) -> None:
    site.skills.clear()
    sources.look(project, source.pk, by=author)
    source_jobs.run_due()
    source.refresh_from_db()
    assert (source.state, source.problem) == ("empty", "")
    assert states(project, source, author) == {}


def test_a_wrong_address_is_unusable(project: Project, site: Elsewhere, author: Actor) -> None:
    site.status = 404
    made = sources.add(project, "well-known", site.address, by=author)
    source_jobs.run_due()
    made.refresh_from_db()
    assert made.state == "unusable"
    assert made.problem


def test_an_unexpected_error_is_reported_and_does_not_stop_the_worker(
    project: Project, source: Source, author: Actor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sources.source_entries.remote, "listing", lambda *_, **__: 1 / 0)
    sources.look(project, source.pk, by=author)
    assert not source_jobs.run_due()
    source.refresh_from_db()
    assert (source.state, "in the log" in source.problem) == ("unusable", True)
    assert "ZeroDivisionError" in caplog.text
    assert len(states(project, source, author)) == 2
    job = sources.latest_job(source)
    assert job is not None
    assert (job.state, job.problem) == ("failed", source.problem)


@pytest.mark.parametrize(
    ("kind", "address", "ref", "message", "field"),
    [
        ("ftp", "https://example.org/", "", "no kind of source", "kind"),
        ("well-known", "example.org", "", "whole address", "address"),
        ("well-known", "https://user:secret@example.org/", "", "password", "address"),
        ("url", "https://1.1.1.1/a.zip?X-Amz-Signature=abc", "", "Upload the file instead", "address"),
        ("well-known", "http://10.0.0.1/", "", "https", "address"),
        ("well-known", "https://10.0.0.1/", "", "private network", "address"),
        ("url", "https://1.1.1.1/a.zip", "main", "Only a git source", "ref"),
        ("git", "https://1.1.1.1/a.git", "-x", "cannot be the name", "ref"),
        ("git", "https://1.1.1.1/a.git", "a\0b", "NUL", "ref"),
        ("url", "https://1.1.1.1/\0", "", "NUL", "address"),
        ("url", "https://1.1.1.1/" + "a" * 600, "", "500 are allowed", "address"),
    ],
)
def test_an_unusable_source_is_refused_with_the_field_at_fault(
    project: Project, author: Actor, kind: str, address: str, ref: str, message: str, field: str
) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=message) as refused:
        sources.add(project, kind, address, ref=ref, by=author)
    assert refused.value.field == field
    assert "secret" not in refused.value.message
    assert "abc" not in refused.value.message


def test_a_label_that_is_too_long_is_refused(project: Project, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match="101 characters") as refused:
        sources.add(project, "url", "https://1.1.1.1/a.zip", label="a" * 101, by=author)
    assert refused.value.field == "label"


def test_the_same_address_twice_is_refused(project: Project, source: Source, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(AlreadyExists):
        sources.add(project, "well-known", source.address, by=author)


def test_the_number_of_sources_is_limited(project: Project, author: Actor) -> None:
    Source.objects.bulk_create(
        Source(project=project, kind="url", address=f"https://1.1.1.1/{number}") for number in range(sources.MOST)
    )
    with nothing_left_behind(), pytest.raises(Conflict, match="50 are allowed"):
        sources.add(project, "url", "https://1.1.1.1/a.zip", by=author)


def test_agents_cannot_add_or_remove_sources(project: Project, source: Source, operator: Actor) -> None:
    bot = permissions.agent(ensure_agent(project, "bot", by=operator), frozenset(roles.SCOPES))
    with nothing_left_behind(), pytest.raises(Forbidden, match="Only people"):
        sources.add(project, "url", "https://1.1.1.1/a.zip", by=bot)
    with nothing_left_behind(), pytest.raises(Forbidden, match="Only people"):
        sources.remove(project, source.pk, by=bot)


def test_the_query_of_an_address_is_not_shown(project: Project, author: Actor) -> None:
    made = sources.add(project, "url", "https://1.1.1.1/a.zip?raw=1", by=author)
    assert (made.shown, made.address) == ("https://1.1.1.1/a.zip", "https://1.1.1.1/a.zip?raw=1")
    assert "raw=1" not in str(Event.objects.get(verb="source.added").data)


def test_a_removed_source_keeps_its_skills_and_can_be_restored(project: Project, source: Source, author: Actor) -> None:
    install.import_skill(project, source.pk, ImportRequest("greeting"), by=author)
    sources.remove(project, source.pk, by=author)
    assert Event.objects.get(verb="source.removed").target == source.shown
    assert skills.catalog.find(project.pk, "greeting") is not None
    assert list(sources.listed(project, by=author)) == []
    with pytest.raises(NotFound, match="no such source"):
        sources.find(project, source.pk, by=author)
    again = sources.add(project, "well-known", source.address, by=author)
    source_jobs.run_due()
    assert (again.pk, again.label) == (source.pk, "Elsewhere")
    assert states(project, again, author) == {"greeting": "installed", "parting": "available"}


def test_a_job_of_a_removed_source_does_nothing(project: Project, source: Source, author: Actor) -> None:
    job = sources.start(project, source.pk, [ImportRequest("greeting")], by=author)
    sources.remove(project, source.pk, by=author)
    source_jobs.run_due()
    job.refresh_from_db()
    assert (job.state, job.problem) == ("failed", "The source was removed.")
    assert job.items.get().status == "failed"
    assert skills.catalog.find(project.pk, "greeting") is None


def test_a_second_check_joins_the_running_one(project: Project, source: Source, author: Actor) -> None:
    first = sources.look(project, source.pk, by=author)
    assert sources.look(project, source.pk, by=author) == first
    source_jobs.run_due()
    assert sources.look(project, source.pk, by=author) != first


@pytest.mark.slow
def test_the_number_of_unfinished_jobs_is_limited(project: Project, source: Source, author: Actor) -> None:
    for _ in range(sources.MOST_WAITING):
        sources.start(project, source.pk, [ImportRequest("greeting")], by=author)
    with nothing_left_behind(), pytest.raises(Conflict, match="Elsewhere has 20 unfinished jobs"):
        sources.start(project, source.pk, [ImportRequest("parting")], by=author)
    source_jobs.run_due()
    assert sources.start(project, source.pk, [ImportRequest("parting")], by=author).state == "queued"


def test_install_state_is_by_source_and_name(project: Project, source: Source, site: Elsewhere, author: Actor) -> None:
    """A manual skill of the same name, and that of another source, are not this one installed."""
    create_skill(project, skill_bundle("greeting", body="Mine."), by=author)
    other = sources.add(project, "well-known", f"{site.address}/", by=author)
    source_jobs.run_due()
    install.import_skill(project, source.pk, ImportRequest("parting"), by=author)
    first = {one.entry.name: one for one in sources.with_state(source, list(source.entries.for_list()))}
    second = {one.entry.name: one for one in sources.with_state(other, list(other.entries.for_list()))}
    assert {name: (one.state, one.taken) for name, one in first.items()} == {
        "greeting": ("available", True), "parting": ("installed", False),
    }  # fmt: skip
    assert {name: (one.state, one.taken) for name, one in second.items()} == {
        "greeting": ("available", True), "parting": ("available", True),
    }  # fmt: skip


def test_a_built_in_skill_takes_a_name_too(project: Project, source: Source, library: Any) -> None:
    on_disk(library, "greeting")
    skills.catalog.built_in.index().refresh()
    offered = sources.with_state(source, list(source.entries.for_list()))
    assert [one.taken for one in offered] == [True, False]


def test_states_need_a_fixed_number_of_queries(
    project: Project, source: Source, site: Elsewhere, author: Actor, django_assert_num_queries: Any
) -> None:
    for name in ("greeting", "parting"):
        install.import_skill(project, source.pk, ImportRequest(name), by=author)
    shown = list(source.entries.for_list())
    for part in (shown[:1], shown):
        with django_assert_num_queries(3):
            [one.edited for one in sources.with_state(source, part)]


def test_installed_skills_that_left_the_source_are_listed(
    project: Project, source: Source, site: Elsewhere, author: Actor
) -> None:
    install.import_skill(project, source.pk, ImportRequest("greeting"), by=author)
    del site.skills["greeting"]
    sources.look(project, source.pk, by=author)
    source_jobs.run_due()
    assert [one.name for one in sources.gone(source)] == ["greeting"]


def test_sources_and_jobs_of_another_project_are_not_found(
    project: Project, other_project: Project, source: Source, author: Actor, operator: Actor
) -> None:
    job = SourceJob.objects.get()
    for call in (
        lambda: sources.find(other_project, source.pk, by=operator),
        lambda: sources.remove(other_project, source.pk, by=operator),
        lambda: sources.look(other_project, source.pk, by=operator),
        lambda: sources.entries(other_project, source.pk, by=operator),
        lambda: sources.start(other_project, source.pk, [ImportRequest("greeting")], by=operator),
        lambda: sources.job(other_project, source.pk, job.pk, by=operator),
        lambda: install.import_skill(other_project, source.pk, ImportRequest("greeting"), by=operator),
    ):
        with nothing_left_behind(), pytest.raises(NotFound, match="no such source"):
            call()
    other = sources.add(project, "url", "https://1.1.1.1/a.zip", by=author)
    with pytest.raises(NotFound, match="no such job"):
        sources.job(project, other.pk, job.pk, by=author)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ([], "at least one"),
        ([ImportRequest("a"), ImportRequest("a")], "appears twice"),
        ([ImportRequest("a", on_conflict="overwrite")], "on_conflict must be one of"),
        ([ImportRequest("a", if_edited="discard")], "if_edited must be one of"),
        ([ImportRequest("a", on_conflict="rename")], "Send both or neither"),
        ([ImportRequest("a", new_name="b")], "Send both or neither"),
        ([ImportRequest("a" * 129)], "too long"),
        ([ImportRequest("a\0b")], "NUL"),
        ([ImportRequest("a", answers={"take-0\0": "mine"})], "NUL"),
        ([ImportRequest("a", answers={f"take-{number}": "mine" for number in range(10_001)})], "10,000 are allowed"),
        ([ImportRequest(str(number)) for number in range(1_001)], "1,000 are allowed"),
    ],
)
def test_an_inconsistent_import_request_is_refused(
    project: Project, source: Source, author: Actor, wanted: list[ImportRequest], said: str
) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest, match=said):
        sources.start(project, source.pk, wanted, by=author)


def test_an_invalid_new_name_is_refused(project: Project, source: Source, author: Actor) -> None:
    with nothing_left_behind(), pytest.raises(InvalidRequest.__mro__[1], match="cannot be used"):
        sources.start(project, source.pk, [ImportRequest("a", on_conflict="rename", new_name="../b")], by=author)


def test_a_job_of_a_person_who_lost_the_role_imports_nothing(
    project: Project, source: Source, author: Actor, operator: Actor, person: Callable[[str], User]
) -> None:
    job = sources.start(project, source.pk, [ImportRequest("greeting")], by=author)
    members.set_role(project, person(roles.AUTHOR), roles.VIEWER, by=operator)
    source_jobs.run_due()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "not allowed to change skills" in job.problem
    assert job.items.get().reason == job.problem


def test_an_agent_imports_only_skills_on_its_list(project: Project, source: Source, operator: Actor) -> None:
    agent = agents.create(project, "bot", Definition(allowed_skills=("greeting",)), by=operator)
    bot = permissions.agent(agent, frozenset({roles.WRITE}))
    job = sources.start(project, source.pk, [ImportRequest("greeting"), ImportRequest("parting")], by=bot)
    source_jobs.run_due()
    outcomes = {item.name: (item.status, item.reason) for item in job.items.all()}
    assert outcomes["greeting"] == ("imported", "")
    assert outcomes["parting"][0] == "failed"
    assert "can change only the skills on its list" in outcomes["parting"][1]


def test_old_jobs_and_staged_skills_are_removed(project: Project, source: Source, author: Actor) -> None:
    install.import_skill(project, source.pk, ImportRequest("greeting"), by=author)
    later = timezone.now() + source_jobs._KEPT_FOR * 2
    assert source_jobs.clean(now=later) == {"finished source jobs": 1, "staged skills": 1}
    assert source_jobs.clean(now=later) == {"finished source jobs": 0, "staged skills": 0}
