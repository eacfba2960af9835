"""The page “Waiting for you”: the questions of runs that a person can answer."""

from dataclasses import dataclass
from datetime import timedelta

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from registry.core import roles
from registry.core.text.shorten import shorten
from registry.core.workflows.records import Asks
from registry.models import RunQuestion
from registry.services.workflows import question_queue
from registry.web.access import ProjectRequest, in_project
from registry.web.htmx import render
from registry.web.navigation import may
from registry.web.render import marked_text

_PAGE, _TITLE_CHARS = 30, 160
_SOON = timedelta(days=1)
_KINDS = {
    Asks.APPROVE: ("Approval", "check"),
    Asks.INPUT: ("Input", "pencil"),
    Asks.DOUBT: ("Did it happen?", "ask"),
}


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A question that waits. `is_urgent` means that it expires within a day."""

    row: RunQuestion
    title: SafeString
    kind: str
    icon: str
    is_urgent: bool


@in_project
@require_safe
def index(request: ProjectRequest) -> HttpResponse:
    found = question_queue.find(request.project, by=request.actor)
    page = Paginator(question_queue.lines(found), _PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "rows": [_row(each) for each in page], "reviews": may(request, roles.REVIEW)}
    return render(request, "runs/waiting.html", context)


def _row(question: RunQuestion) -> WaitingRow:
    title = marked_text.inline(shorten(question_queue.title(question), _TITLE_CHARS))
    urgent = question.expires_at is not None and question.expires_at - timezone.now() < _SOON
    return WaitingRow(question, title, *_KINDS[Asks(question.kind)], urgent)
