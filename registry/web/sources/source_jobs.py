"""Pages to import several skills of a source at once and to follow the job."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core import roles
from registry.core.errors import InvalidInput, InvalidRequest
from registry.core.sources import import_request
from registry.core.sources.import_request import ImportRequest
from registry.models import Source, SourceJob, SourceJobItem
from registry.models.sources import LOOK, QUEUED, UPDATE, WAITING
from registry.services.routing import routing_settings
from registry.services.sources import source_queries, sources
from registry.services.sources.sources import AVAILABLE, EntryStatus
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render, wants_fragment
from registry.web.humanize import counted
from registry.web.navigation import may_publish
from registry.web.sources import source_page
from registry.web.sources import source_words as words
from registry.web.sources.source_page import Query, Row
from registry.web.sources.sources import frame

_STORED = (import_request.IMPORTED, import_request.UPDATED, import_request.MERGED)
_TO_REVIEW = (import_request.SKIPPED, import_request.EDITED, import_request.CONFLICTS)


@in_project
@needs(roles.WRITE, to="import skills")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def choose(request: ProjectRequest, source_id: int) -> HttpResponse:
    """Show the selected skills with a choice for each name that is taken. A POST starts the job."""
    source = sources.find(request.project, source_id, by=request.actor)
    sent = request.POST if request.method == "POST" else request.GET
    chosen = _chosen(source, sent)
    if not chosen:
        messages.info(request, "Select at least one skill of this source.")
        return redirect("source", request.project.slug, source_id)
    if request.method != "POST":
        return _page(request, source, chosen, sent)
    try:
        requests = [_import_request(place, each, sent) for place, each in enumerate(chosen)]
        job = sources.start(request.project, source_id, requests, by=request.actor)
    except InvalidInput as error:
        return _page(request, source, chosen, sent, refused=error)
    return redirect("source-job", request.project.slug, source_id, job.pk)


def _chosen(source: Source, sent: QueryDict) -> list[EntryStatus]:
    """Return the selected entries, or with `all` every matching entry that has no conflict."""
    if "all" not in sent:
        return source_queries.entries_named(source, sent.getlist("skill")[: import_request.MOST])
    query = Query(" ".join(sent.get("q", "")[:200].split()), "")
    return [
        each
        for each in source_queries.all_entries(source)
        if each.state == AVAILABLE and not each.taken and source_page.matches(each, query.words)
    ]


def _import_request(place: int, each: EntryStatus, sent: QueryDict) -> ImportRequest:
    name = each.entry.name
    choice = sent.get(f"conflict-{place}", import_request.SKIP) if each.taken else import_request.SKIP
    new_name = sent.get(f"name-{place}", "").strip() if choice == import_request.RENAME else ""
    if choice == import_request.RENAME and not new_name:
        raise InvalidRequest(f"Enter a new name for {name}. Nothing was imported.", name=name)
    return ImportRequest(name, on_conflict=choice, new_name=new_name, gate_reason=sent.get("gate_reason", ""))


def _page(
    request: ProjectRequest,
    source: Source,
    chosen: list[EntryStatus],
    sent: QueryDict,
    refused: InvalidInput | None = None,
) -> HttpResponse:
    rows = source_page.rows(request, source, chosen)
    context = {
        **frame(request, source),
        "verb": "Import" if may_publish(request) else "Propose",
        "rows": rows,
        "conflicts": [_conflict(place, row, sent, refused) for place, row in enumerate(rows) if row.status.taken],
        "free": [row for row in rows if not row.status.taken],
        "refused": refused.message if refused else "",
        "gate_blocks": may_publish(request)
        and routing_settings.of(source.project_id, request.project.revision).blocking,
        "gate_reason": sent.get("gate_reason", ""),
    }
    return render(request, "sources/import.html", context, status=422 if refused else 200)


def _conflict(place: int, row: Row, sent: QueryDict, refused: InvalidInput | None) -> dict[str, Any]:
    standard = import_request.NEW_VERSION if row.bundled else import_request.SKIP
    wrong = refused is not None and refused.data.get("name") == row.name
    return {
        "row": row,
        "key": f"-{place}",
        "choice": sent.get(f"conflict-{place}", standard),
        "new_name": sent.get(f"name-{place}", ""),
        "error": refused.message if refused and wrong else "",
    }


# -- Progress of a job ---------------------------------------------------------------------------------------


@in_project
@needs(roles.WRITE, to="import skills")
@never_cache
@require_safe
def job(request: ProjectRequest, source_id: int, job_id: int) -> HttpResponse:
    """Show the progress of a job. htmx polls it once a second and gets 204 if nothing changed."""
    source = sources.find(request.project, source_id, by=request.actor)
    job = sources.job(request.project, source_id, job_id, by=request.actor)
    if wants_fragment(request) and request.GET.get("was") == _mark(job):
        return HttpResponse(status=204)
    items = source_queries.items(job)
    context = {**frame(request, source), "job": job, "mark": _mark(job), **_progress(request, job, items)}
    return render(request, "sources/job.html", context, partial="sources/_progress.html")


def _mark(work: SourceJob) -> str:
    return f"{work.state}-{getattr(work, 'done', 0)}"


def _progress(request: ProjectRequest, work: SourceJob, items: list[SourceJobItem]) -> dict[str, Any]:
    by_status = Counter(item.status for item in items)
    failed = len(source_queries.failed_requests(work)) if work.finished else 0
    return {
        "title": words.job_title(work, len(items)),
        "status": _status(work, by_status, len(items)),
        "tally": _tally(by_status),
        "items": [_item(request, work, item) for item in items],
        "done": len(items) - by_status[WAITING],
        "failed": by_status[import_request.FAILED],
        "stored": any(by_status[status] for status in _STORED),
        "proposed": by_status[import_request.PROPOSED],
        "retry": _retry(work, failed),
    }


def _status(work: SourceJob, by_status: Counter[str], total: int) -> str:
    if work.state == QUEUED and not total - by_status[WAITING]:
        return "Waiting to start"
    if not total:
        return words.JOB_STATES[work.state].label
    return f"{total - by_status[WAITING]:,} of {counted(total, 'skill')} done"


def _tally(by_status: Counter[str]) -> str:
    counts = ((badge.label.lower(), by_status[status]) for status, badge in words.RESULTS.items() if status != WAITING)
    return ", ".join(f"{count:,} {label}" for label, count in counts if count)


def _retry(work: SourceJob, failed: int) -> str:
    if work.kind == LOOK:
        return "Check again" if work.problem else ""
    return f"Retry {counted(failed, 'skill')}" if failed else ""


def _item(request: ProjectRequest, work: SourceJob, item: SourceJobItem) -> dict[str, Any]:
    slug = request.project.slug
    entry = reverse("source-entry", args=[slug, work.source_id, item.name])
    url = reverse("skill", args=[slug, item.skill]) if item.skill and item.status in import_request.DONE else ""
    if item.proposal_id:
        url = reverse("proposal", args=[slug, item.proposal_id])
    review_url = entry if item.status in _TO_REVIEW else ""
    return {"item": item, "url": url, "state": words.RESULTS[item.status], "review_url": review_url}


@in_project
@require_POST
def retry(request: ProjectRequest, source_id: int, job_id: int) -> HttpResponse:
    """Start a new job for the skills that failed, with the same choices."""
    job = sources.job(request.project, source_id, job_id, by=request.actor)
    if job.kind == LOOK:
        sources.look(request.project, source_id, by=request.actor)
        return redirect("source", request.project.slug, source_id)
    requests = source_queries.failed_requests(job)
    new_job = sources.start(request.project, source_id, requests, update=job.kind == UPDATE, by=request.actor)
    return redirect("source-job", request.project.slug, source_id, new_job.pk)
