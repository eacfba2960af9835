"""The optional last link of the chain: a language model at an endpoint that the operator configured. Off by default.

The operator chose the host, so it may be in a private network and without TLS. Redirects are not followed, and the
answer is limited in size and time. The key is sent in a header and never logged.
"""

import json
from collections.abc import Sequence

import httpx
from django.conf import settings

from registry.core.routing.chain import Chained
from registry.core.routing.link import Invalid, Unavailable
from registry.core.routing.links.rerank import Message, Rerank
from registry.core.routing.question import Question
from registry.remote import outbound_http
from registry.remote.outbound_http import Failure, OutboundRequest
from registry.services.routing import link_runs
from registry.services.routing.indexes import ProjectIndex

_ANSWER_BYTES = 256 * 1024
REST_SECONDS = 30.0  # after a failure, so that not every question waits for an endpoint that is down


def reorder(found: ProjectIndex, question: Question, chained: Chained, *, most: int) -> Chained:
    """Return the answer with the best skills reordered, or as it is if no endpoint is configured."""
    if not settings.ROUTING_RERANK_URL:
        return chained

    def describe(row: int) -> tuple[str, str]:
        name = found.index.names[row]
        return name, found.candidates[name].description

    seconds = float(settings.ROUTING_RERANK_SECONDS)
    link = Rerank(_ask, describe)
    # The request has a time limit of its own. The step gets a little more, so that the thread is free again.
    return link_runs.reorder(link, question, chained, most=most, seconds=seconds + 0.5, rest=REST_SECONDS)


def _ask(messages: Sequence[Message]) -> str:
    body = {"model": settings.ROUTING_RERANK_MODEL, "messages": list(messages), "temperature": 0}
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if settings.ROUTING_RERANK_KEY:
        headers["Authorization"] = f"Bearer {settings.ROUTING_RERANK_KEY}"
    url = settings.ROUTING_RERANK_URL
    request = OutboundRequest(
        "POST",
        url,
        json.dumps(body).encode(),
        headers,
        seconds=float(settings.ROUTING_RERANK_SECONDS),
        most=_ANSWER_BYTES,
    )
    try:
        response = outbound_http.send(request, allowed=frozenset({_host(url)}))
    except Failure as error:
        raise Unavailable(str(error)) from None
    if response.status != httpx.codes.OK:
        raise Unavailable(f"The endpoint for re-ranking answered with status {response.status}.")
    if not response.complete:
        raise Invalid("The answer of the endpoint is too long.")
    return _content(response.body)


def _content(body: bytes) -> str:
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise Invalid("The answer of the endpoint is not a chat completion.") from None
    if not isinstance(content, str):
        raise Invalid("The answer of the endpoint contains no text.")
    return content


def _host(url: str) -> str:
    """Return the host in lower case, in brackets if it is an IPv6 address."""
    host = httpx.URL(url).host.lower()
    return f"[{host}]" if ":" in host else host
