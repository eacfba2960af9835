"""Questions to the site: which skill fits."""

from typing import Any

from registry.client import values
from registry.client.cached_reader import JSON_BYTES, parse_json
from registry.client.errors import NotCached, NotFound
from registry.client.http import HttpClient
from registry.client.values import Routed


def ask(http: HttpClient, base: str, body: dict[str, Any], *, offline: bool) -> Routed:
    """Send a question. The answer is never cached, because it depends on the skills of this moment."""
    if offline:
        raise NotCached("The client is offline, and only the site can find the skill for a question.")
    payload = {key: value for key, value in body.items() if value not in (None, "") or key == "query"}
    try:
        response = http.post(f"{base}/route", payload, limit=JSON_BYTES)
    except NotFound as error:
        raise NotFound(
            f"{error.message} If the project exists, the site is too old to answer questions. Update it, or search "
            "with catalog.",
            status=error.status,
            code=error.code,
            data=error.data,
        ) from error
    return values.routed(parse_json(response.body))
