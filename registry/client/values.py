"""Return values of the client, parsed from the JSON of the site with type checks.

`from_cache` is true if the site could not be reached and the value is a cached one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.client.errors import Untrustworthy
from registry.client.json_fields import get, number, strings
from registry.core.bundle import FileEntry


@dataclass(frozen=True, slots=True)
class CatalogLine:
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """L1. `omitted` has the names of skills that did not fit into the budget."""

    skills: tuple[CatalogLine, ...]
    omitted: tuple[str, ...]
    tokens: int
    revision: str
    from_cache: bool


@dataclass(frozen=True, slots=True)
class Text:
    """The catalog as text or XML for a prompt. Empty if there are no skills."""

    text: str
    from_cache: bool

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Skill:
    """L2: the instructions without the header, and the list of files."""

    name: str
    title: str
    description: str
    kind: str
    version: str
    digest: str
    source: str
    instructions: str
    tokens: int
    summary: str
    requires: tuple[str, ...]
    triggers: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    hint: str
    files: tuple[FileEntry, ...]
    from_cache: bool

    def entry(self, path: str) -> FileEntry | None:
        return next((entry for entry in self.files if entry.path == path), None)


@dataclass(frozen=True, slots=True)
class File:
    """L3: the content of one file. `digest` is that of its bundle."""

    name: str
    version: str
    digest: str
    path: str
    content: bytes
    from_cache: bool

    @property
    def text(self) -> str:
        """Decode the content. Raises UnicodeDecodeError for binary files."""
        return self.content.decode()


@dataclass(frozen=True, slots=True)
class InstructionsPart:
    """A part of the instructions: `prompt`, `skill`, `instructions` or `catalog`. Only a skill has a name."""

    kind: str
    text: str
    tokens: int
    name: str = ""
    version: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Instructions:
    """The complete instructions of an agent. `text` has all parts in order, the catalog last."""

    agent: str
    text: str
    tokens: int
    parts: tuple[InstructionsPart, ...]
    from_cache: bool

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class EffectiveSkill:
    """The skill that agents get under one name."""

    name: str
    source: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class EffectiveList:
    skills: tuple[EffectiveSkill, ...]
    from_cache: bool


@dataclass(frozen=True, slots=True)
class EffectivePage:
    skills: tuple[EffectiveSkill, ...]
    next: str
    from_cache: bool


@dataclass(frozen=True, slots=True)
class Match:
    """A skill for a question. `confidence` is the probability that it is the right one."""

    name: str
    title: str
    kind: str
    version: str
    digest: str
    source: str
    link: str
    reason: str
    score: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Routed:
    """The answer to a question, best match first. No match means that no skill is likely to be right.

    `links` are the reports of the links of the chain, as the site sends them.
    """

    matches: tuple[Match, ...]
    threshold: float
    threshold_from: str
    answered_by: str
    links: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal. `data` is the whole response of the site."""

    id: str
    state: str
    base_digest: str
    result_digest: str
    data: Mapping[str, Any]
    from_cache: bool


def catalog(data: Any, from_cache: bool) -> Catalog:
    lines = [CatalogLine(get(one, "name", str), get(one, "description", str)) for one in get(data, "skills", list)]
    return Catalog(
        tuple(lines), strings(data, "omitted"), get(data, "tokens", int), get(data, "revision", str), from_cache
    )


def skill(data: Any, from_cache: bool) -> Skill:
    return Skill(
        name=get(data, "name", str),
        title=get(data, "title", str) if "title" in data else "",
        description=get(data, "description", str),
        kind=get(data, "kind", str),
        version=get(data, "version", str),
        digest=get(data, "digest", str),
        source=get(data, "source", str),
        instructions=get(data, "instructions", str),
        tokens=get(data, "tokens", int),
        summary=get(data, "summary", str),
        requires=strings(data, "requires"),
        **{key: strings(data, key) if key in data else () for key in ("triggers", "inputs", "outputs")},
        hint=get(data, "hint", str) if "hint" in data else "",
        files=tuple(
            FileEntry(get(one, "path", str), get(one, "size", int), get(one, "digest", str))
            for one in get(data, "files", list)
        ),
        from_cache=from_cache,
    )


def text(body: bytes, from_cache: bool) -> Text:
    try:
        return Text(body.decode(), from_cache)
    except UnicodeDecodeError as error:
        raise Untrustworthy("The response of the site is not UTF-8 text.") from error


def instructions(data: Any, from_cache: bool) -> Instructions:
    parts = [
        InstructionsPart(
            get(one, "kind", str),
            get(one, "text", str),
            get(one, "tokens", int),
            *(get(one, key, str) if key in one else "" for key in ("name", "version", "digest")),
        )
        for one in get(data, "parts", list)
    ]
    return Instructions(
        get(data, "agent", str), get(data, "text", str), get(data, "tokens", int), tuple(parts), from_cache
    )


def effective_page(data: Any, from_cache: bool) -> EffectivePage:
    """Parse one page. Disabled skills are left out."""
    skills = [
        EffectiveSkill(*(get(one, key, str) for key in ("name", "source", "version", "digest")))
        for one in get(data, "results", list)
        if get(one, "enabled", bool) and one.get("digest") is not None
    ]
    return EffectivePage(tuple(skills), get(data, "next", str) if data.get("next") is not None else "", from_cache)


def routed(data: Any) -> Routed:
    links = get(data, "links", list)
    return Routed(
        tuple(_match(one) for one in get(data, "matches", list)),
        number(data, "threshold"),
        get(data, "threshold_from", str),
        get(data, "answered_by", str),
        tuple(link for link in links if isinstance(link, dict)),
    )


def _match(data: Any) -> Match:
    texts = {key: get(data, key, str) for key in _MATCH_TEXTS}
    return Match(**texts, score=number(data, "score"), confidence=number(data, "confidence"))


_MATCH_TEXTS = ("name", "title", "kind", "version", "digest", "source", "link", "reason")


def proposal(data: Any, from_cache: bool) -> Proposal:
    return Proposal(
        str(get(data, "id", object)),
        get(data, "state", str),
        str(data.get("base_digest") or ""),
        str(data.get("result_digest") or ""),
        data,
        from_cache,
    )
