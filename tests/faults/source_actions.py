"""Actions on sources: add a source, request all imports, run jobs, and return the results."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.core.sources.import_request import ImportRequest
from registry.models import Event, Project, Source, SourceJob, SourceJobItem, Version
from registry.services import permissions
from registry.services.audit_log import verification
from registry.services.people import accounts, members, projects
from registry.services.skills import bundles
from registry.services.sources import source_jobs, sources

OPERATOR = permissions.operator()


def publish(slug: str, number: int) -> None:
    """Create a public project with this many skills."""
    project = projects.create(slug=slug, name=slug.capitalize(), by=OPERATOR)
    for each in range(number):
        name = f"skill-{each:03}"
        text = skill_md.compose(name=name, description=f"Does {name}. Use for {name}.", instructions=f"# {name}")
        bundle = Bundle({SKILL_MD: text.encode(), "references/more.md": name.encode()})
        bundles.import_bundle(project, bundle, by=OPERATOR)
    projects.set_public(project, True, by=OPERATOR)


def add_source(slug: str, address: str) -> int:
    """Create a project with a source, check the source, and return how many skills it offers."""
    settings.SKILLS_FETCH_ALLOW_HOSTS = ["127.0.0.1"]
    project = projects.create(slug=slug, name=slug.capitalize(), by=OPERATOR)
    user = accounts.create_user(f"{slug}-author", by=OPERATOR)
    members.set_role(project, user, roles.AUTHOR, by=OPERATOR)
    source = sources.add(project, "well-known", address, by=permissions.person(user, project))
    source_jobs.run_due()
    return source.entries.count()


def import_all(slug: str) -> int:
    source = Source.objects.get(project__slug=slug)
    author = permissions.person(accounts.User.objects.get(username=f"{slug}-author"), source.project)
    requests = [ImportRequest(name) for name in source.entries.order_by("name").values_list("name", flat=True)]
    return sources.start(source.project, source.pk, requests, by=author).pk


def run_jobs() -> bool:
    settings.SKILLS_FETCH_ALLOW_HOSTS = ["127.0.0.1"]
    return source_jobs.run_due(budget=timedelta(minutes=5))


def end_leases() -> int:
    """End the leases of all running jobs, as if their time had passed."""
    held = SourceJob.objects.filter(state="running")
    return held.update(leased_until=timezone.now() - timedelta(seconds=1))


def settled(slug: str) -> int:
    """Return how many items of the project's jobs have an outcome."""
    return SourceJobItem.objects.filter(job__project__slug=slug).exclude(status="waiting").count()


def import_results(slug: str) -> dict[str, Any]:
    project = Project.objects.get(slug=slug)
    items = SourceJobItem.objects.filter(job__project=project)
    stored = Version.objects.filter(skill__project=project).order_by("pk")
    good, broken = verification.verify(project)
    return {
        "jobs": sorted(set(SourceJob.objects.filter(project=project).values_list("state", flat=True))),
        "outcomes": sorted(set(items.values_list("status", flat=True))),
        "versions": [list(pair) for pair in stored.values_list("skill__name", "digest")],
        "events": Event.objects.filter(chain__project=project, verb="source.imported").count(),
        "broken": [str(fault) for fault in broken],
        "good": good,
    }


ACTIONS: dict[str, Callable[..., Any]] = {
    action.__name__: action
    for action in (publish, add_source, import_all, run_jobs, end_leases, settled, import_results)
}
