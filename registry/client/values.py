"""What the client gives back: frozen values, read from the site's JSON with every field checked for its type.

`from_cache` is true where the site could not be asked and the answer is an earlier one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from registry.client.errors import Untrustworthy
from registry.core.bundle import FileEntry

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CatalogLine:
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Catalog:
    """L1. `omitted` names what a budget left out."""

    skills: tuple[CatalogLine, ...]
    omitted: tuple[str, ...]
    tokens: int
    revision: str
    from_cache: bool


@dataclass(frozen=True, slots=True)
class Text:
    """The catalog as text or XML, ready for a prompt; empty where there are no skills."""

    text: str
    from_cache: bool

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Skill:
    """L2: the instructions without their frontmatter, and the list of files."""

    name: str
    description: str
    kind: str
    version: str
    digest: str
    source: str
    instructions: str
    tokens: int
    summary: str
    requires: tuple[str, ...]
    hint: str
    files: tuple[FileEntry, ...]
    from_cache: bool

    def entry(self, path: str) -> FileEntry | None:
        return next((entry for entry in self.files if entry.path == path), None)


@dataclass(frozen=True, slots=True)
class File:
    """L3: the bytes of one file; `digest` is that of the bundle they belong to."""

    name: str
    version: str
    digest: str
    path: str
    content: bytes
    from_cache: bool

    @property
    def text(self) -> str:
        """UnicodeDecodeError where the file is no text."""
        return self.content.decode()


@dataclass(frozen=True, slots=True)
class Effective:
    """The winner under one name. Disabled ones have no bytes for an agent."""

    name: str
    source: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class EffectiveSkills:
    skills: tuple[Effective, ...]
    from_cache: bool


@dataclass(frozen=True, slots=True)
class EffectivePage:
    skills: tuple[Effective, ...]
    next: str
    from_cache: bool


@dataclass(frozen=True, slots=True)
class Proposal:
    """`data` is the whole answer, with whatever else the site says about it."""

    id: str
    state: str
    base_digest: str
    result_digest: str
    data: Mapping[str, Any]
    from_cache: bool


def catalog(said: Any, from_cache: bool) -> Catalog:
    lines = [CatalogLine(_get(one, "name", str), _get(one, "description", str)) for one in _get(said, "skills", list)]
    return Catalog(
        tuple(lines), _strings(said, "omitted"), _get(said, "tokens", int), _get(said, "revision", str), from_cache
    )


def skill(said: Any, from_cache: bool) -> Skill:
    return Skill(
        name=_get(said, "name", str),
        description=_get(said, "description", str),
        kind=_get(said, "kind", str),
        version=_get(said, "version", str),
        digest=_get(said, "digest", str),
        source=_get(said, "source", str),
        instructions=_get(said, "instructions", str),
        tokens=_get(said, "tokens", int),
        summary=_get(said, "summary", str),
        requires=_strings(said, "requires"),
        hint=_get(said, "hint", str) if "hint" in said else "",
        files=tuple(
            FileEntry(_get(one, "path", str), _get(one, "size", int), _get(one, "digest", str))
            for one in _get(said, "files", list)
        ),
        from_cache=from_cache,
    )


def text(body: bytes, from_cache: bool) -> Text:
    try:
        return Text(body.decode(), from_cache)
    except UnicodeDecodeError as error:
        raise Untrustworthy("The answer of the site is not text in UTF-8.") from error


def effective_page(said: Any, from_cache: bool) -> EffectivePage:
    """Of one page, the skills that an agent gets."""
    found = [
        Effective(*(_get(one, key, str) for key in ("name", "source", "version", "digest")))
        for one in _get(said, "results", list)
        if _get(one, "enabled", bool) and one.get("digest") is not None
    ]
    return EffectivePage(tuple(found), _get(said, "next", str) if said.get("next") is not None else "", from_cache)


def proposal(said: Any, from_cache: bool) -> Proposal:
    return Proposal(
        str(_get(said, "id", object)),
        _get(said, "state", str),
        str(said.get("base_digest") or ""),
        str(said.get("result_digest") or ""),
        said,
        from_cache,
    )


def _get(said: Any, key: str, kind: type[_T]) -> _T:
    value = said.get(key) if isinstance(said, dict) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Untrustworthy(f"The answer of the site has no usable “{key}”. Is this the address of a Skillsite?")
    return value


def _strings(said: Any, key: str) -> tuple[str, ...]:
    values = _get(said, key, list)
    if not all(isinstance(value, str) for value in values):
        raise Untrustworthy(f"The answer of the site has no usable “{key}”. Is this the address of a Skillsite?")
    return tuple(values)
