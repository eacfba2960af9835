"""Download of a skill from a URL: a zip, or the text of its SKILL.md."""

from urllib.parse import unquote, urlsplit

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import TooLarge
from registry.core.format import sniffing
from registry.core.limits import DEFAULT, Limits
from registry.remote import outbound_http
from registry.remote.budget import MeteredDownload
from registry.remote.outbound_http import NO_HOSTS, Failure, OutboundRequest, OutboundResponse

REDIRECTS = 5


def fetch(
    url: str,
    *,
    seconds: float,
    allowed: frozenset[str] = NO_HOSTS,
    limits: Limits = DEFAULT,
    redirects: int = REDIRECTS,
    metered: MeteredDownload | None = None,
) -> Bundle:
    """Return the bundle. Raise Failure or a SkillsiteError if there is none.

    `metered` counts the bytes. The bundle is unpacked when it is the turn of this download.
    """
    request = OutboundRequest(
        "GET",
        url,
        seconds=seconds,
        most=limits.archive_bytes,
        redirects=redirects,
        count=metered.count if metered else None,
    )
    response = outbound_http.send(request, allowed=allowed)
    _check(response, limits)
    if metered:
        metered.wait_for_turn()
    kind = sniffing.kind_of(unquote(urlsplit(url).path), response.headers.get("content-type", ""), response.body)
    if kind == sniffing.PAGE:
        raise Failure("The server sent a web page (HTML), not a skill.")
    if kind == sniffing.ZIP:
        return zip_bundle.read_zip(response.body, limits=limits)
    return text_bundle(response.body, limits=limits)


def text_bundle(content: bytes, *, limits: Limits = DEFAULT) -> Bundle:
    """Return a skill that consists of its SKILL.md only."""
    if len(content) > limits.skill_md_bytes:
        size, most = len(content), limits.skill_md_bytes
        message = f"SKILL.md has {size:,} bytes. {most:,} are allowed. Nothing was saved."
        raise TooLarge(message, actual=size, allowed=most)
    return Bundle({SKILL_MD: content})


def _check(response: OutboundResponse, limits: Limits) -> None:
    if not 200 <= response.status < 300:
        raise Failure(f"The server answered with status {response.status}.")
    if not response.complete:
        raise TooLarge(f"The download is larger than the limit of {limits.archive_bytes:,} bytes.")
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Failure("The response is compressed, but we did not ask for compression.")
