"""Chat completions of any server that speaks the API of OpenAI."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from registry.remote import outbound_http
from registry.remote.outbound_http import OutboundRequest, OutboundResponse

Message = Mapping[str, str]


class NotACompletion(Exception):
    """The answer is too long, or no chat completion. The message is a sentence that quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """An endpoint that the operator configured. `key` may be empty."""

    url: str
    model: str
    key: str = ""

    @property
    def host(self) -> str:
        """Return the host in lower case, in brackets if it is an IPv6 address."""
        host = httpx.URL(self.url).host.lower()
        return f"[{host}]" if ":" in host else host


@dataclass(frozen=True, slots=True)
class Completion:
    """`cut` is True if the answer ended at a limit of tokens."""

    text: str
    cut: bool


def send(
    endpoint: ChatEndpoint, messages: Sequence[Message], *, seconds: float, most: int, **options: Any
) -> OutboundResponse:
    """Return the response, whatever its status. Raise outbound_http.Failure if there is none.

    The operator chose the host, so it may be in a private network and without TLS. Redirects are not followed. The key
    is sent in a header and never logged. `options` are more parameters of the request, such as `max_tokens`.
    """
    body = {"model": endpoint.model, "messages": list(messages), **options}
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    content = json.dumps(body).encode()
    request = OutboundRequest("POST", endpoint.url, content, headers, seconds=seconds, most=most)
    return outbound_http.send(request, allowed=frozenset({endpoint.host}))


def completion(response: OutboundResponse) -> Completion:
    """Return the answer of the model in a successful response, or raise NotACompletion."""
    if not response.complete:
        raise NotACompletion("The answer of the endpoint is too long.")
    try:
        choice = json.loads(response.body)["choices"][0]
        content, cut = choice["message"]["content"], choice.get("finish_reason") == "length"
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise NotACompletion("The answer of the endpoint is not a chat completion.") from None
    if not isinstance(content, str):
        raise NotACompletion("The answer of the endpoint contains no text.")
    return Completion(content, cut)
