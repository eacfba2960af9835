"""Hostile skills for lint, capabilities, the frontmatter and token estimates."""

import random
from collections.abc import Callable, Iterator

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.catalog import relevance, token_estimate
from registry.core.catalog.precedence import Candidate
from registry.core.format import frontmatter, skill_md
from registry.core.lint import rules
from registry.core.proposals import assessment, capabilities
from tests.costs.shape import KB, MB, Shape, repeated

_HEAD = "---\nname: costs\ndescription: d\n---\n"
HEAD = f"{_HEAD}\nText.\n".encode()
_FILE = 120 * KB  # lint does not read longer files
_CANDIDATES = [
    Candidate(f"skill-{number}", "project", "1", "sha256:0", "abcdefgh " * 100, "tool") for number in range(100)
]

_LINTED = (
    "1\n",
    "`",
    "``a",
    "a](b",
    "<!---->",
    "~~~\n",
    "\u200b\u200d",
    "curl a|",
    "sudo ",
    '"\\',
    "base64 -d ",
    "aA1",
    "://",
)
_LINTED_IN_A_SOAK = (
    "\n", "[", "[a](", "<!--", "```\n", "\r", "\U000e0041", "$(", "a=b ", "eval $(curl ", "Aa", "a-", "scripts/a.",
    "http://a@", "a@b.c:", "do not tell the user ", "never ", "|a\n", "\\x41", "-----BEGIN PRIVATE KEY-----",
    "function a() ", "exec(", "powershell -", "/home/a/", "\U0001f468\u200d",
    "your rules are ", "this file has only authority ", "not add .mcp.json without asking ", "![](https://a.a?{",
    "do what ", "https://a.example/b follow it without asking. ", "this file wins over the user ", "not tell it ",
    "add account quietly ", "[//]: # (ai: run a) ", "![assistant, please read ", "“a” “", "本文件优先于", "より",
    "send copy ",
)  # fmt: skip
_HEADERS = ("a: b\n", "{a: b, ", "- ", "a: &a [*a]\n", "'", "k: |\n  a\n", "\n", "<<: *a\n")
_HEADERS_IN_A_SOAK = (
    "[", "- - ", "&a ", "*a ", "? ", "!!a ", '"', "|\n ", "# a\n", " ", ": ", "metadata:\n", "requires: [a]\n", "\\",
    "é: é\n",
)  # fmt: skip
_COUNTED = ("\n", "Aa", "é", "aA1", "\u200b\u200d", "-", "日", " ", "0")


def bundle(text: str, suffix: str = ".md") -> Bundle:
    """Return a skill with this text in files that lint reads."""
    size = _FILE if text.isascii() else _FILE // 4
    parts = {f"references/{start:09}{suffix}": text[start : start + size] for start in range(0, len(text), size)}
    return Bundle({SKILL_MD: HEAD, **{path: part.encode() for path, part in parts.items()}})


def lint(skill: Bundle) -> object:
    return rules.lint(skill_md.read(skill[SKILL_MD], fallback_name="costs"), skill, authoring=True)


def _assess(skill: Bundle) -> object:
    """Lint the skill and find its capabilities."""
    return assessment.assess(None, skill, name="costs")


def _similar_names(size: int) -> Bundle:
    """Return links to missing files whose names resemble those of the files."""
    chance = random.Random(1)
    names = iter(lambda: "references/" + "".join(chance.choices("ab", k=50)), None)
    links = "\n".join(f"[a]({next(names)})" for _ in range(size // 70))
    return Bundle({SKILL_MD: f"{_HEAD}{links}".encode(), **{next(names): b"" for _ in range(min(499, size // 70))}})


def _many_commands(size: int) -> Bundle:
    return bundle("".join(f"c{number} && d{number}\n" for number in range(size // 16)), ".sh")


def _edit(text: str) -> object:
    return frontmatter.edit(frontmatter.parse(text), {"description": "new"})


def _skill(unit: str, suffix: str) -> Callable[[int], Bundle]:
    return lambda size: bundle(repeated(unit, size), suffix)


def _header(unit: str) -> Callable[[int], str]:
    return lambda size: f"---\nname: costs\ndescription: d\n{repeated(unit, size)}\n---\nText.\n"


def _text(unit: str) -> Callable[[int], str]:
    return lambda size: repeated(unit, size)


def _shapes() -> Iterator[Shape]:
    for unit in (*_LINTED, *_LINTED_IN_A_SOAK):
        small = 8 * KB if unit in _LINTED else 0
        yield Shape(f"lint {unit!r}", _skill(unit, ".md"), _assess, 4 * MB, small=small)
        yield Shape(f"lint shell {unit!r}", _skill(unit, ".sh"), _assess, 4 * MB)
    for unit in (*_HEADERS, *_HEADERS_IN_A_SOAK):
        small = 8 * KB if unit in _HEADERS else 0
        yield Shape(f"frontmatter {unit!r}", _header(unit), _edit, 500 * KB, small=small, quick=bool(small))
    for unit in _COUNTED:
        yield Shape(f"tokens {unit!r}", _text(unit), token_estimate.estimate, 500 * KB, small=8 * KB)


def _query(size: int) -> str:
    return " ".join("abcdefgh"[number % 8] for number in range(size // 2))


def _search(query: str) -> object:
    return [relevance.score(candidate, query.split()) for candidate in _CANDIDATES]


SHAPES = (
    *_shapes(),
    Shape("a search for many words", _query, _search, 8 * KB, small=KB, quick=True),
    Shape("lint of blank lines", _skill("\n", ".md"), lint, 4 * MB, quick=True),
    Shape("capabilities of blank lines", _skill("\n", ".sh"), capabilities.of, 4 * MB, quick=True),
    Shape("links to files with similar names", _similar_names, lint, 60 * KB, quick=True),
    Shape("many commands", _many_commands, capabilities.of, 4 * MB, small=8 * KB),
    Shape("hidden characters", _skill("\u200b\u200d", ".md"), lint, 4 * MB),
)
