"""Detects credentials by the formats of their issuers. Placeholders such as `ghp_xxxx` are ignored."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from registry.lib.patterns import lazy


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential in a text. `start` identifies it without revealing it."""

    offset: int
    what: str
    start: str


# Regex group: what to call it, and its pattern. Every pattern starts with a distinctive prefix.
_SHAPES = {
    "aws": ("an AWS access key", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    "github": ("a GitHub token", r"gh[opsur]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,100}"),
    "gitlab": ("a GitLab token", r"glpat-[\w-]{20,60}"),
    "slack": ("a Slack token", r"xox[abeoprs]-[0-9A-Za-z-]{20,250}"),
    "anthropic": ("an Anthropic key", r"sk-ant-[a-z0-9]{2,8}-[\w-]{40,150}"),
    "openai": ("an OpenAI key", r"sk-(?:proj|svcacct|admin)-[\w-]{40,200}|sk-[A-Za-z0-9]{48}"),
    "google": ("a Google key", r"AIza[\w-]{35}"),
    "stripe": ("a live Stripe key", r"[rs]k_live_[A-Za-z0-9]{24,120}"),
    "sendgrid": ("a SendGrid key", r"SG\.[\w-]{22}\.[\w-]{43}"),
    "npm": ("an npm token", r"npm_[A-Za-z0-9]{36}"),
    "pypi": ("a PyPI token", r"pypi-AgE[\w-]{50,250}"),
    "huggingface": ("a Hugging Face token", r"hf_[A-Za-z0-9]{34}"),
    "skillsite": ("a Skillsite token", r"sks_[\w-]{43}"),
    "private": ("a private key", r"-----BEGIN (?:[A-Z]{2,9} ){0,2}PRIVATE KEY-----(?:\\n|\s){1,8}[A-Za-z0-9+/]{40,}+"),
}
_ANY = lazy(
    r"(?=[-ASghnprsx])(?<![A-Za-z0-9_-])(?:"
    + "|".join(f"(?P<{name}>{shape})" for name, (_, shape) in _SHAPES.items())
    + r")(?![A-Za-z0-9])"
)
_PLACEHOLDER = lazy(
    r"example|sample|dummy|fake|place-?_?holder|redacted|secret|your|here|token|changeme|x{4}|0{5}|\.\.\.|1234|abcdef",
    re.IGNORECASE,
)
_MIN_DISTINCT_CHARS = 10  # 20 random characters have more than that
_SHOWN_CHARS = 8


def find(text: str) -> Iterator[Credential]:
    for match in _ANY.finditer(text):
        kind = match.lastgroup or ""
        value = match[0].rsplit("-----", 1)[-1] if kind == "private" else match[0]
        if _looks_random(value) and not _PLACEHOLDER.search(value):
            start = "-----BEGIN" if kind == "private" else value[:_SHOWN_CHARS]
            yield Credential(match.start(), _SHAPES[kind][0], start)


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of everything that has the format of a credential, also of placeholders."""
    return (match.span() for match in _ANY.finditer(text))


def _looks_random(value: str) -> bool:
    """Return False for identifiers made of words: they repeat letters and have no digits."""
    return len(set(value)) >= _MIN_DISTINCT_CHARS and any(character.isdigit() for character in value)
