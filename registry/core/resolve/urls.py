"""Parts of a URL, its form without credentials, and its identity."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_plus, urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_HASH_CHARS = 32

# Parameters that carry a credential and never select the content. A signed URL changes them with every request.
_CREDENTIAL_PREFIXES = ("x-amz-", "x-goog-")
_CREDENTIALS = frozenset({"access_token", "auth_token", "private_token", "sig", "signature", "token"})
_SIGNATURES = frozenset({"sig", "signature"})
# Parts of a signature of CloudFront, S3 (version 2), Google, Alibaba and Azure. Their names are common, so they count
# only beside a signature.
_SIGNED = frozenset(
    {"awsaccesskeyid", "expires", "googleaccessid", "key-pair-id", "ossaccesskeyid", "policy", "security-token"}
    | {"se", "si", "sip", "ske", "skoid", "sks", "skt", "sktid", "skv", "sp", "spr", "sr", "srt", "ss", "st", "sv"}
)


@dataclass(frozen=True, slots=True)
class Parts:
    scheme: str
    host: str  # with the port, unless it is the default
    path: str
    query: str
    has_user: bool


@lru_cache(maxsize=512)
def parts(url: str) -> Parts | None:
    """Return the parts of a URL, or None if it is invalid."""
    text = url.strip()
    if not text.isprintable() or " " in text:
        return None
    try:
        split = urlsplit(text)
        port = split.port
    except ValueError:
        return None
    host = (split.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS.get(split.scheme):
        host = f"{host}:{port}"
    return Parts(split.scheme, host, split.path or "/", split.query, "@" in split.netloc)


def plain(url: str) -> str:
    """Return scheme, host and path, normalised for comparison and display."""
    split = parts(url)
    if split is None or not split.host:
        return "an invalid address"
    return f"{split.scheme}://{split.host}{split.path}"


@lru_cache(maxsize=512)
def identity(url: str) -> str:
    """Return the plain URL with a hash of the parameters that may select the content.

    Parameters with credentials are left out, so that the same file with a new signature has the same identity. The
    others are hashed and not shown, because a parameter with an unknown name may be a credential too.
    """
    split = parts(url)
    query = _content_query(split.query) if split else ""
    if not query:
        return plain(url)
    digest = hashlib.sha256(query.encode(errors="surrogatepass")).hexdigest()
    return f"{plain(url)}?sha256={digest[:_HASH_CHARS]}"


def _content_query(query: str) -> str:
    parameters = [(_name(one), one) for one in query.split("&") if one]
    signed = any(name in _SIGNATURES or name.endswith("-signature") for name, _ in parameters)
    left_out = _CREDENTIALS | (_SIGNED if signed else frozenset())
    return "&".join(
        one
        for name, one in parameters
        # Some servers split at semicolons, so a semicolon could hide another parameter in this one.
        if ";" in one or not (name in left_out or name.startswith(_CREDENTIAL_PREFIXES))
    )


def _name(parameter: str) -> str:
    return unquote_plus(parameter.partition("=")[0]).strip().lower()
