"""Validation of source addresses. Credentials are refused, because rows, logs and pages would show them."""

import re
from dataclasses import replace

import httpx

from registry.core.errors import InvalidRequest
from registry.remote import outbound_http
from registry.remote.sources.types import GIT, KINDS, URL, WELL_KNOWN, RemoteSource

REF_CHARS = 200
COMMIT = re.compile(r"[0-9a-f]{40}")

_SIGNED = re.compile(
    r"x-(amz|goog|oss|cos|ms)-.*|.*(signature|token|secret|password|credential|access_?key|api_?key|accessid).*"
    r"|sig|sign|key|auth|jwt|code|policy|expires|key-pair-id|hmac|sas",
    re.IGNORECASE,
)
_LEAK = "This address contains a token, which everybody who sees the source could use. Use a public project."
_OUR_TOKEN = re.compile(r"sks_[\w-]{8,}")
# Everything that git does not allow in a ref, and a leading dash, which git would take for an option.
_REF_FAULT = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/+]|[/.]$|(^|/)\.|\.lock(/|$)|^@$")


def check(source: RemoteSource, *, allowed: frozenset[str]) -> RemoteSource:
    """Return the source with its normalised address, or raise InvalidRequest."""
    if source.kind not in KINDS:
        raise InvalidRequest(
            f"There is no kind of source called {source.kind[:40]!r}. Nothing was saved.", field="kind"
        )
    ref = source.ref.strip()
    try:
        address = outbound_http.check(source.address, allowed=allowed)
    except InvalidRequest as error:
        error.field = "address"
        raise
    url = httpx.URL(address)
    if fault := credential_fault(url) or _address_fault(source.kind, url):
        raise InvalidRequest(f"{fault} Nothing was saved.", field="address")
    if fault := "Only a git source has a branch, tag or commit." if ref and source.kind != GIT else ref_fault(ref):
        raise InvalidRequest(f"{fault} Nothing was saved.", field="ref")
    return replace(source, address=address, ref=ref)


def credential_fault(url: httpx.URL) -> str:
    """Return why an address must not be stored because it contains a secret, or an empty string."""
    if url.userinfo:
        return "The address contains a username or password. Remove them."
    if any(_SIGNED.fullmatch(key) for key, _ in url.params.multi_items()):
        return "This address is signed and will stop working. Upload the file instead."
    if _OUR_TOKEN.search(url.path) or _OUR_TOKEN.search(url.query.decode(errors="replace")):
        return _LEAK
    return ""


def _address_fault(kind: str, url: httpx.URL) -> str:
    if kind == WELL_KNOWN and re.match(r"/t/[^/]", url.path):
        return _LEAK
    if kind != URL and url.query:
        return "An address of this kind has no question mark. Remove it and the text after it."
    return ""


def ref_fault(ref: str) -> str:
    """Return why `ref` is not a valid branch, tag or commit, or an empty string. An empty ref is valid."""
    if len(ref) > REF_CHARS:
        return f"The branch, tag or commit has {len(ref)} characters. {REF_CHARS} are allowed."
    if _REF_FAULT.search(ref) or not ref.isprintable():
        return f"{ref!r} cannot be the name of a branch, tag or commit."
    return ""


def shown(address: str) -> str:
    """Return the address without its query, which may be shown and logged."""
    return address.partition("?")[0]
