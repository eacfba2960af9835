"""Events on their way to webhooks: put in the queue with the change they tell of, signed, sent, put off, given up."""

import base64
import hashlib
import hmac
import json
import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from registry.core.notifications.events import News
from registry.core.text.printable import printable
from registry.models import Delivery, Endpoint
from registry.models.outgoing import SENT, is_due
from registry.remote.outbound_http import Asked, Failure
from registry.services.notifications import links, retries
from registry.services.resolve import outbound_http

log = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0
_ANSWER_BYTES = 4 * 1024
_EXCERPT_CHARS = 1_000
_SLOTS = 8
_SECRET = "whsec_"  # noqa: S105 - how a secret begins, by the convention that our signatures follow


def endpoints_for(project_id: int) -> list[Endpoint]:
    """Those that are switched on."""
    found = Endpoint.objects.filter(project_id=project_id, enabled=True, project__archived_at=None)
    return list(found.select_related("project").order_by("pk"))


def queue(endpoints: Sequence[Endpoint], news: Iterable[News], *, who: str) -> int:
    """Inside a change: a row for each endpoint that wants to know. Says how many."""
    rows = [
        _row(endpoint, one.event, described(endpoint, one, who=who))
        for one in news
        for endpoint in endpoints
        if one.event in endpoint.events
    ]
    Delivery.objects.bulk_create(rows)
    return len(rows)


def _row(endpoint: Endpoint, event: str, data: dict[str, object]) -> Delivery:
    now = timezone.now()
    body = {"type": event, "timestamp": now.isoformat(), "data": data}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Delivery(
        endpoint=endpoint, event=event, key=f"evt_{uuid.uuid4().hex}", body=text, created_at=now, due_at=now
    )


def queue_one(endpoint: Endpoint, event: str, data: dict[str, object]) -> Delivery:
    row = _row(endpoint, event, data)
    row.save(force_insert=True)
    return row


def described(endpoint: Endpoint, news: News, *, who: str) -> dict[str, object]:
    """What a receiver gets to know. The text of a proposal stays here: it reaches nobody before it is approved."""
    project = endpoint.project
    said: dict[str, object] = {
        "text": news.sentence(who),
        "url": links.absolute(links.news_path(project.slug, news)),
        "project": {"slug": project.slug, "name": project.name},
        "actor": {"kind": news.actor_kind, "name": news.actor},
        "skill": news.skill,
    }
    if news.proposal is not None:
        said["proposal"] = asdict(news.proposal)
    if news.version is not None:
        said["version"] = asdict(news.version)
    return said


def secret_of(endpoint: Endpoint) -> str:
    """Made from the key of the site, so that a copy of the database signs nothing."""
    return f"{_SECRET}{base64.b64encode(_key(endpoint)).decode()}"


def _key(endpoint: Endpoint) -> bytes:
    made_from = f"skillsite webhook {endpoint.salt}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), made_from, hashlib.sha256).digest()


def signature(endpoint: Endpoint, key: str, timestamp: int, body: str) -> str:
    signed = hmac.new(_key(endpoint), f"{key}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one try; `error` is empty where the receiver took it."""

    error: str = ""
    status: int | None = None
    milliseconds: int | None = None
    excerpt: str = ""


def send_due(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = timedelta(seconds=30)) -> int:
    """Sends what is due, for as long as the budget lasts. Says how many tries it made.

    Requests run side by side, one at a time for each endpoint: a receiver that hangs holds up nobody else. Rows are
    read and written here alone.
    """
    stop, tries = clock() + budget, 0
    flying: dict[Future[Outcome], Delivery] = {}
    with ThreadPoolExecutor(_SLOTS, thread_name_prefix="webhook") as pool:
        while True:
            for delivery in _taken(flying.values(), now=clock()) if clock() < stop else ():
                flying[pool.submit(post, delivery, now=clock())] = delivery
            if not flying:
                return tries
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                _record(flying.pop(future), _outcome(future), now=clock())
                tries += 1


def _taken(flying: Iterable[Delivery], *, now: datetime) -> list[Delivery]:
    busy = [delivery.endpoint_id for delivery in flying]
    firsts = (
        Delivery.objects.filter(is_due(now), endpoint__enabled=True, endpoint__project__archived_at=None)
        .exclude(endpoint__in=busy)
        .values("endpoint")
        .annotate(first=Min("pk"))
        .order_by("first")
        .values_list("first", flat=True)[: _SLOTS - len(busy)]
    )
    due = Delivery.objects.filter(pk__in=list(firsts)).select_related("endpoint").order_by("pk")
    return [delivery for delivery in due if retries.take(delivery, now=now)]


def post(delivery: Delivery, *, now: datetime) -> Outcome:
    """One try. Redirects are not followed: whoever moved says so to an owner, who looks at the new address."""
    timestamp = int(now.timestamp())
    headers = {
        "Content-Type": "application/json",
        "Webhook-Id": delivery.key,
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": signature(delivery.endpoint, delivery.key, timestamp, delivery.body),
    }
    asked = Asked("POST", delivery.endpoint.address, delivery.body.encode(), headers, ANSWER_SECONDS, _ANSWER_BYTES)
    try:
        answer = outbound_http.send(asked)
    except Failure as failure:
        return Outcome(str(failure))
    excerpt = printable(answer.body.decode(errors="replace"), _EXCERPT_CHARS)
    return Outcome(_complaint(answer.status), answer.status, round(answer.seconds * 1000), excerpt)


def _complaint(status: int) -> str:
    if 200 <= status < 300:
        return ""
    if 300 <= status < 400:
        return f"The answer was {status}, a redirect. Redirects are not followed: enter the new address."
    return f"The answer was {status}. It takes one from 200 to 299."


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except Exception:
        log.exception("A webhook could not be sent.")
        return Outcome("The request could not be made. The reason is in the log of the site.")


def _record(delivery: Delivery, outcome: Outcome, *, now: datetime) -> None:
    response = {"status": outcome.status, "milliseconds": outcome.milliseconds, "excerpt": outcome.excerpt}
    if outcome.error:
        retries.retry_later(delivery, now=now, error=outcome.error, response=response)
    else:
        retries.finish(delivery, SENT, now=now, response=response)
