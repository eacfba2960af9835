"""Deliveries to webhooks: queued with the change they report, signed, sent and retried."""

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

from registry.core.notifications.events import Event
from registry.core.text.printable import printable
from registry.models import Delivery, Endpoint
from registry.models.outgoing import SENT, is_due
from registry.remote.outbound_http import Failure, OutboundRequest
from registry.services.notifications import links, retries
from registry.services.resolve import outbound_http

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 10.0
_RESPONSE_BYTES = 4 * 1024
_EXCERPT_CHARS = 1_000
_SLOTS = 8
_SECRET_PREFIX = "whsec_"  # noqa: S105 - the prefix of every secret in the Standard Webhooks convention


def endpoints_for(project_id: int) -> list[Endpoint]:
    """Return the enabled endpoints of a project."""
    endpoints = Endpoint.objects.filter(project_id=project_id, enabled=True, project__archived_at=None)
    return list(endpoints.select_related("project").order_by("pk"))


def queue(endpoints: Sequence[Endpoint], events: Iterable[Event], *, who: str) -> int:
    """Queue a delivery for each endpoint that subscribes to the event. Return how many."""
    rows = [
        _row(endpoint, event.type, event_data(endpoint, event, who=who))
        for event in events
        for endpoint in endpoints
        if event.type in endpoint.events
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


def event_data(endpoint: Endpoint, event: Event, *, who: str) -> dict[str, object]:
    """Return the payload. It has no text of the proposal, which must not leave the site before it is approved."""
    project = endpoint.project
    data: dict[str, object] = {
        "text": event.sentence(who),
        "url": links.absolute(links.event_path(project.slug, event)),
        "project": {"slug": project.slug, "name": project.name},
        "actor": {"kind": event.actor_kind, "name": event.actor},
        "skill": event.skill,
    }
    if event.proposal is not None:
        data["proposal"] = asdict(event.proposal)
    if event.version is not None:
        data["version"] = asdict(event.version)
    if event.run is not None:
        data["run"] = asdict(event.run)
    return data


def secret_of(endpoint: Endpoint) -> str:
    """Derive the secret from SECRET_KEY, so that a copy of the database cannot sign anything."""
    return f"{_SECRET_PREFIX}{base64.b64encode(_key(endpoint)).decode()}"


def _key(endpoint: Endpoint) -> bytes:
    message = f"skillsite webhook {endpoint.salt}".encode()
    return hmac.new(settings.SECRET_KEY.encode(), message, hashlib.sha256).digest()


def signature(endpoint: Endpoint, key: str, timestamp: int, body: str) -> str:
    signed = hmac.new(_key(endpoint), f"{key}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    return f"v1,{base64.b64encode(signed).decode()}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one attempt. `error` is empty if the receiver accepted the delivery."""

    error: str = ""
    status: int | None = None
    milliseconds: int | None = None
    excerpt: str = ""


def send_due(*, clock: Callable[[], datetime] = timezone.now, budget: timedelta = timedelta(seconds=30)) -> int:
    """Send the deliveries that are due, within the time budget. Return the number of attempts.

    Requests run in parallel, one at a time for each endpoint, so that a slow receiver delays only itself. Only this
    thread reads and writes rows.
    """
    stop, attempts = clock() + budget, 0
    running: dict[Future[Attempt], Delivery] = {}
    with ThreadPoolExecutor(_SLOTS, thread_name_prefix="webhook") as pool:
        while True:
            for delivery in _take_due(running.values(), now=clock()) if clock() < stop else ():
                running[pool.submit(post, delivery, now=clock())] = delivery
            if not running:
                return attempts
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                _record(running.pop(future), _attempt(future), now=clock())
                attempts += 1


def _take_due(running: Iterable[Delivery], *, now: datetime) -> list[Delivery]:
    """Lease the oldest due delivery of each endpoint that has no request running."""
    busy = [delivery.endpoint_id for delivery in running]
    oldest = (
        Delivery.objects.filter(is_due(now), endpoint__enabled=True, endpoint__project__archived_at=None)
        .exclude(endpoint__in=busy)
        .values("endpoint")
        .annotate(first=Min("pk"))
        .order_by("first")
        .values_list("first", flat=True)[: _SLOTS - len(busy)]
    )
    due = Delivery.objects.filter(pk__in=list(oldest)).select_related("endpoint").order_by("pk")
    return [delivery for delivery in due if retries.take(delivery, now=now)]


def post(delivery: Delivery, *, now: datetime) -> Attempt:
    """Send one request. Redirects are not followed, so that an owner checks every address."""
    timestamp = int(now.timestamp())
    headers = {
        "Content-Type": "application/json",
        "Webhook-Id": delivery.key,
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": signature(delivery.endpoint, delivery.key, timestamp, delivery.body),
    }
    request = OutboundRequest(
        "POST", delivery.endpoint.address, delivery.body.encode(), headers, TIMEOUT_SECONDS, _RESPONSE_BYTES
    )
    try:
        response = outbound_http.send(request)
    except Failure as failure:
        return Attempt(str(failure))
    excerpt = printable(response.body.decode(errors="replace"), _EXCERPT_CHARS)
    return Attempt(_status_error(response.status), response.status, round(response.seconds * 1000), excerpt)


def _status_error(status: int) -> str:
    if 200 <= status < 300:
        return ""
    if 300 <= status < 400:
        return f"The receiver responded with {status}, a redirect. Redirects are not followed. Enter the new address."
    return f"The receiver responded with {status}. A status from 200 to 299 is a success."


def _attempt(future: Future[Attempt]) -> Attempt:
    try:
        return future.result()
    except Exception:
        log.exception("A webhook could not be sent.")
        return Attempt("The request failed because of an error on this site. An administrator finds it in the log.")


def _record(delivery: Delivery, attempt: Attempt, *, now: datetime) -> None:
    response = {"status": attempt.status, "milliseconds": attempt.milliseconds, "excerpt": attempt.excerpt}
    if attempt.error:
        retries.retry_later(delivery, now=now, error=attempt.error, response=response)
    else:
        retries.finish(delivery, SENT, now=now, response=response)
