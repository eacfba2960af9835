"""Finds what looks like a credential that works, by the shapes that issuers give them; never what stands in for one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Credential:
    """`start` is as much of it as may be shown: which one it is, and not what it is."""

    offset: int
    what: str
    start: str


# By the name of the group: what it is, and how it is written. Each opens with letters that nothing else opens with.
_SHAPES = {
    "aws": ("an access key of AWS", r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    "github": ("a token of GitHub", r"gh[opsur]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,100}"),
    "gitlab": ("a token of GitLab", r"glpat-[\w-]{20,60}"),
    "slack": ("a token of Slack", r"xox[abeoprs]-[0-9A-Za-z-]{20,250}"),
    "anthropic": ("a key of Anthropic", r"sk-ant-[a-z0-9]{2,8}-[\w-]{40,150}"),
    "openai": ("a key of OpenAI", r"sk-(?:proj|svcacct|admin)-[\w-]{40,200}|sk-[A-Za-z0-9]{48}"),
    "google": ("a key of Google", r"AIza[\w-]{35}"),
    "stripe": ("a live key of Stripe", r"[rs]k_live_[A-Za-z0-9]{24,120}"),
    "sendgrid": ("a key of SendGrid", r"SG\.[\w-]{22}\.[\w-]{43}"),
    "npm": ("a token of npm", r"npm_[A-Za-z0-9]{36}"),
    "pypi": ("a token of PyPI", r"pypi-AgE[\w-]{50,250}"),
    "huggingface": ("a token of Hugging Face", r"hf_[A-Za-z0-9]{34}"),
    "skillsite": ("a token of Skillsite", r"sks_[\w-]{43}"),
    "private": ("a private key", r"-----BEGIN (?:[A-Z]{2,9} ){0,2}PRIVATE KEY-----(?:\\n|\s){1,8}[A-Za-z0-9+/]{40,}+"),
}
_ANY = re.compile(
    r"(?=[-ASghnprsx])(?<![A-Za-z0-9_-])(?:"
    + "|".join(f"(?P<{name}>{shape})" for name, (_, shape) in _SHAPES.items())
    + r")(?![A-Za-z0-9])"
)
_STANDS_IN = re.compile(
    r"example|sample|dummy|fake|place-?_?holder|redacted|secret|your|here|token|changeme|x{4}|0{5}|\.\.\.|1234|abcdef",
    re.IGNORECASE,
)
_FEWEST_DIFFERENT = 10  # characters; twenty by chance have more, and a run of one letter has one
_SHOWN_CHARS = 8


def find(text: str) -> Iterator[Credential]:
    for match in _ANY.finditer(text):
        kind = match.lastgroup or ""
        value = match[0].rsplit("-----", 1)[-1] if kind == "private" else match[0]
        if _by_chance(value) and not _STANDS_IN.search(value):
            start = "-----BEGIN" if kind == "private" else value[:_SHOWN_CHARS]
            yield Credential(match.start(), _SHAPES[kind][0], start)


def _by_chance(value: str) -> bool:
    """Whether it may have been drawn; names of things in words have the same letters over and over, and no digit."""
    return len(set(value)) >= _FEWEST_DIFFERENT and any(character.isdigit() for character in value)
