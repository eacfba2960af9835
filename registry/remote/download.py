"""A skill at a web address, as one request brings it: a zip, or the text of its SKILL.md."""

from urllib.parse import unquote, urlsplit

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import TooLarge
from registry.core.format import sniffing
from registry.core.limits import DEFAULT, Limits
from registry.remote import outbound_http
from registry.remote.outbound_http import NOBODY, Answer, Asked, Failure

REDIRECTS = 5


def fetch(
    url: str, *, seconds: float, allowed: frozenset[str] = NOBODY, limits: Limits = DEFAULT, redirects: int = REDIRECTS
) -> Bundle:
    """The bundle, with SKILL.md at its top; Failure or an error of the family says in a sentence why there is none."""
    asked = Asked("GET", url, seconds=seconds, most=limits.archive_bytes, redirects=redirects)
    answer = outbound_http.send(asked, allowed=allowed)
    _check(answer, limits)
    kind = sniffing.kind_of(unquote(urlsplit(url).path), answer.headers.get("content-type", ""), answer.body)
    if kind == sniffing.PAGE:
        raise Failure("It answered with a web page (HTML), not with a skill.")
    if kind == sniffing.ZIP:
        return zip_bundle.read_zip(answer.body, limits=limits)
    return text(answer.body, limits=limits)


def text(content: bytes, *, limits: Limits = DEFAULT) -> Bundle:
    """A skill that is its SKILL.md and nothing else."""
    if len(content) > limits.skill_md_bytes:
        raise TooLarge(f"SKILL.md has {len(content):,} bytes. {limits.skill_md_bytes:,} are allowed.")
    return Bundle({SKILL_MD: content})


def _check(answer: Answer, limits: Limits) -> None:
    if not 200 <= answer.status < 300:
        raise Failure(f"It answered with status {answer.status}.")
    if not answer.complete:
        raise TooLarge(f"The download has more than the {limits.archive_bytes:,} bytes that are allowed.")
    if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Failure("The answer is compressed, which was not asked for.")
