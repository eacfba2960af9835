"""The optional last link of the chain: a language model at an endpoint that the operator configured. Off by default.

The answer is limited in size and time. `registry/remote/chat.py` sends the request.
"""

from collections.abc import Sequence

import httpx
from django.conf import settings

from registry.core.routing.chain import Chained
from registry.core.routing.link import Invalid, Unavailable
from registry.core.routing.links.rerank import Message, Rerank
from registry.core.routing.question import Question
from registry.remote import chat
from registry.remote.chat import ChatEndpoint, NotACompletion
from registry.remote.outbound_http import Failure
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
    endpoint = ChatEndpoint(settings.ROUTING_RERANK_URL, settings.ROUTING_RERANK_MODEL, settings.ROUTING_RERANK_KEY)
    seconds = float(settings.ROUTING_RERANK_SECONDS)
    try:
        response = chat.send(endpoint, messages, seconds=seconds, most=_ANSWER_BYTES, temperature=0)
    except Failure as error:
        raise Unavailable(str(error)) from None
    if response.status != httpx.codes.OK:
        raise Unavailable(f"The endpoint for re-ranking answered with status {response.status}.")
    try:
        return chat.completion(response).text
    except NotACompletion as error:
        raise Invalid(str(error)) from None
