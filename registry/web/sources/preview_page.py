"""What the page of one skill of a source draws: its files, the differences, and what deciding would do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings

from registry.core.bundle import SKILL_MD
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import SkillsiteError
from registry.core.sources import import_request
from registry.services.sources import import_preview, sources
from registry.services.sources.import_preview import ImportPreview
from registry.web.access import ProjectRequest
from registry.web.navigation import may_publish
from registry.web.render import comparison, marked_text
from registry.web.render.marked_text import Line

_BADGES = {
    import_preview.CREATE: ("Not installed", "accent", "plus"),
    import_preview.TAKEN: ("Name is taken", "warn", "warning"),
    import_preview.SAME: ("Installed", "ok", "check"),
    import_preview.UPDATE: ("Update available", "accent", "download"),
    import_preview.MERGE: ("Update available, edited here", "warn", "pencil"),
}
_HIDES = ("Would hide bundled", "accent", "hides")
_READ_FILES, _READ_BYTES = 30, 64 * 1024


@dataclass(frozen=True, slots=True)
class Read:
    """A file to be read before it is imported; `why_not` where it cannot be shown."""

    path: str
    lines: tuple[Line, ...] = ()
    hidden: str = ""
    why_not: str = ""


def context(
    request: ProjectRequest, preview: ImportPreview, *, refused: SkillsiteError | None = None, unanswered: bool = False
) -> dict[str, Any]:
    """`refused` says what is wrong with what was sent, which is shown again; `unanswered` that choices are missing."""
    (offered,) = sources.with_state(preview.source, [preview.fetched.entry])
    bundled = preview.mine is not None and preview.mine.candidate.source == BUNDLED
    sent = request.POST
    return {
        "arrival": preview,
        "badge": _HIDES if bundled and not preview.installed else _BADGES[preview.action],
        "version": preview.fetched.version or preview.fetched.entry.version,
        "waiting": offered.proposal,
        "bundled": bundled,
        "refused": refused,
        "row": {"skill": preview.target, "bundled": bundled},
        "choice": sent.get("conflict", import_request.NEW_VERSION if bundled else ""),
        "new_name": sent.get("name", ""),
        "act": _act(request, preview),
        "bar": _bar(request, preview),
        **_files(preview),
        **_differences(preview),
        **_answers(preview, sent.dict(), unanswered),
    }


def _act(request: ProjectRequest, preview: ImportPreview) -> str:
    if not may_publish(request):
        return "Propose the update" if preview.action == import_preview.UPDATE else f"Propose {preview.target}"
    return f"Update {preview.target}" if preview.action == import_preview.UPDATE else f"Import {preview.target}"


def _bar(request: ProjectRequest, preview: ImportPreview) -> str:
    if preview.action == import_preview.SAME:
        return "There is nothing to decide"
    if not may_publish(request):
        return "Every change of this project is reviewed first"
    if preview.action == import_preview.MERGE:
        return "Whatever you choose, every version stays in the history"
    if preview.action == import_preview.TAKEN:
        return "Nothing is stored before you decide"
    return "Agents get exactly the bytes that you see here"


def _files(preview: ImportPreview) -> dict[str, Any]:
    return {
        "files": [(entry, _fate(preview, entry.path)) for entry in preview.theirs.manifest],
        "removed": sorted(preview.before.keys() - preview.theirs.keys()),
        "contents": [] if preview.before else [_read(path, preview.theirs[path]) for path in _in_order(preview)],
    }


def _in_order(preview: ImportPreview) -> list[str]:
    return sorted(preview.theirs, key=lambda path: (path != SKILL_MD, path))[:_READ_FILES]


def _fate(preview: ImportPreview, path: str) -> str:
    """What becomes of a file against what stands; nothing is said where nothing stands."""
    if not preview.before:
        return ""
    if path not in preview.before:
        return "new"
    return "unchanged" if preview.before[path] == preview.theirs[path] else "changed"


def _read(path: str, content: bytes) -> Read:
    if len(content) > _READ_BYTES:
        return Read(path, why_not="Too long to be shown here.")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return Read(path, why_not="It is no text.")
    if "\0" in text:
        return Read(path, why_not="It is no text.")
    comments = PurePosixPath(path).suffix.lower() in (".md", ".markdown")
    return Read(path, tuple(marked_text.lines(text, comments=comments)), marked_text.summary(text))


def _differences(preview: ImportPreview) -> dict[str, Any]:
    """Where the project's copy was edited: what either side changed since it came. Else what the import changes."""
    limits, mine, theirs = settings.LIMITS, preview.before, preview.theirs
    version = preview.mine.candidate.version if preview.mine else ""
    labels = {
        "now": {"label": f"Yours, version {version}", "digest": preview.seen},
        "after": {"label": "From the source", "digest": theirs.digest},
        "mine_note": f"version {version}",
    }
    if preview.mine is not None and preview.mine.candidate.source == BUNDLED:
        labels["now"] = {"label": f"Bundled, {version}", "digest": preview.seen}
    if preview.action != import_preview.MERGE or preview.installed is None:
        return {**labels, "compared": comparison.compare(mine, theirs, limits=limits) if mine else None}
    came = preview.installed.base
    return {
        **labels,
        "came": {"label": "As it came", "digest": came.digest},
        "base_note": came.source_version,
        "compared": comparison.compare(preview.base, theirs, limits=limits),
        "edits": comparison.compare(preview.base, mine, limits=limits),
        "result": _result(preview),
        "then": {"label": "Merged", "digest": ""},
    }


def _result(preview: ImportPreview) -> comparison.Comparison | None:
    if not preview.joined.clean:
        return None
    return comparison.compare(preview.before, preview.joined.files({}), limits=settings.LIMITS)


def _answers(preview: ImportPreview, sent: Mapping[str, str], unanswered: bool) -> dict[str, Any]:
    if preview.action != import_preview.MERGE:
        return {"open": (), "answers": (), "missing": ()}
    return {
        "open": [comparison.three_way(file) for file in preview.joined.open],
        "answers": [f"{key}={value}" for key, value in sent.items()],
        "missing": [key for key in preview.joined.keys if key not in sent] if unanswered else (),
    }
