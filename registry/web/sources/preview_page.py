"""Context of the preview page: files, differences, conflicts and buttons."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings

from registry.core.bundle import SKILL_MD
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import SkillsiteError
from registry.core.sources import import_request
from registry.services.routing.changes import ChangedSkill
from registry.services.sources import import_preview, sources
from registry.services.sources.import_preview import ImportPreview
from registry.web.access import ProjectRequest
from registry.web.navigation import may_publish
from registry.web.render import comparison, marked_text
from registry.web.render.marked_text import Line
from registry.web.skills import routing_impact
from registry.web.skills.routing_impact import Shown

_BADGES = {
    import_preview.CREATE: ("Not installed", "accent", "plus"),
    import_preview.TAKEN: ("Name is taken", "warn", "warning"),
    import_preview.SAME: ("Installed", "ok", "check"),
    import_preview.UPDATE: ("Update available", "accent", "download"),
    import_preview.MERGE: ("Update available, edited here", "warn", "pencil"),
}
_REPLACES_BUILT_IN = ("Replaces built-in", "accent", "hides")
_READ_FILES, _READ_BYTES = 30, 64 * 1024


@dataclass(frozen=True, slots=True)
class FileText:
    """Text of one file; `why_not` is set if it cannot be shown."""

    path: str
    lines: tuple[Line, ...] = ()
    hidden: str = ""
    why_not: str = ""


def context(
    request: ProjectRequest, preview: ImportPreview, *, refused: SkillsiteError | None = None, unanswered: bool = False
) -> dict[str, Any]:
    """Return the context of the page. `refused` is the error of the last POST, `unanswered` marks missing choices."""
    (status,) = sources.with_state(preview.source, [preview.fetched.entry])
    bundled = preview.mine is not None and preview.mine.candidate.source == BUNDLED
    sent = request.POST
    return {
        "preview": preview,
        "badge": _REPLACES_BUILT_IN if bundled and not preview.installed else _BADGES[preview.action],
        "version": preview.fetched.version or preview.fetched.entry.version,
        "waiting": status.proposal,
        "bundled": bundled,
        "refused": refused,
        "row": {"skill": preview.target, "bundled": bundled},
        "choice": sent.get("conflict", import_request.NEW_VERSION if bundled else ""),
        "new_name": sent.get("name", ""),
        "impact": _impact(request, preview),
        "gate_reason": sent.get("gate_reason", ""),
        "act": _act(request, preview),
        "bar": _bar(request, preview),
        **_files(preview),
        **_differences(preview),
        **_answers(preview, sent.dict(), unanswered),
    }


def _impact(request: ProjectRequest, preview: ImportPreview) -> Shown | None:
    """Return what the import does to the test questions; of a merge, only if it has no conflicts."""
    if preview.action == import_preview.SAME or (preview.action == import_preview.MERGE and not preview.joined.clean):
        return None
    files = preview.joined.files({}) if preview.action == import_preview.MERGE else preview.theirs
    return routing_impact.of_change(request, [ChangedSkill(preview.target, files[SKILL_MD])])


def _act(request: ProjectRequest, preview: ImportPreview) -> str:
    if preview.action == import_preview.MERGE:
        return "Merge" if may_publish(request) else "Propose the merge"
    if not may_publish(request):
        return "Propose the update" if preview.action == import_preview.UPDATE else f"Propose {preview.target}"
    return f"Update {preview.target}" if preview.action == import_preview.UPDATE else f"Import {preview.target}"


def _bar(request: ProjectRequest, preview: ImportPreview) -> str:
    if preview.action == import_preview.SAME:
        return "Nothing to do"
    if not may_publish(request):
        return "Every change in this project is reviewed first"
    if preview.action == import_preview.MERGE:
        return "The history keeps every version"
    if preview.action == import_preview.TAKEN:
        return "Nothing is saved until you decide"
    return "Agents get exactly the files that you see here"


def _files(preview: ImportPreview) -> dict[str, Any]:
    return {
        "files": [(entry, _change(preview, entry.path)) for entry in preview.theirs.manifest],
        "removed": sorted(preview.before.keys() - preview.theirs.keys()),
        "contents": [] if preview.before else [_read(path, preview.theirs[path]) for path in _in_order(preview)],
    }


def _in_order(preview: ImportPreview) -> list[str]:
    return sorted(preview.theirs, key=lambda path: (path != SKILL_MD, path))[:_READ_FILES]


def _change(preview: ImportPreview, path: str) -> str:
    """Return how the import changes a file of the current skill; empty for a new skill."""
    if not preview.before:
        return ""
    if path not in preview.before:
        return "new"
    return "unchanged" if preview.before[path] == preview.theirs[path] else "changed"


def _read(path: str, content: bytes) -> FileText:
    if len(content) > _READ_BYTES:
        return FileText(path, why_not="This file is too long to show here.")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return FileText(path, why_not="This file is not text.")
    if "\0" in text:
        return FileText(path, why_not="This file is not text.")
    comments = PurePosixPath(path).suffix.lower() in (".md", ".markdown")
    return FileText(path, tuple(marked_text.lines(text, comments=comments)), marked_text.summary(text))


def _differences(preview: ImportPreview) -> dict[str, Any]:
    """Return the changes of both sides if the installed skill was edited, else the changes of the import."""
    limits, mine, theirs = settings.LIMITS, preview.before, preview.theirs
    version = preview.mine.candidate.version if preview.mine else ""
    labels = {
        "now": {"label": f"Yours, version {version}", "digest": preview.seen},
        "after": {"label": "From the source", "digest": theirs.digest},
        "base_label": "As imported",
        "theirs_label": "From the source",
        "mine_label": "Yours",
        "take_theirs": "Use the source’s text",
        "take_mine": "Keep yours",
        "theirs_note": preview.fetched.version or preview.fetched.entry.version,
        "mine_note": f"version {version}",
    }
    if preview.mine is not None and preview.mine.candidate.source == BUNDLED:
        labels["now"] = {"label": f"Built-in, {version}", "digest": preview.seen}
    if preview.action != import_preview.MERGE or preview.installed is None:
        return {**labels, "compared": comparison.compare(mine, theirs, limits=limits) if mine else None}
    base = preview.installed.base
    return {
        **labels,
        "imported": {"label": "As imported", "digest": base.digest},
        "base_note": base.source_version,
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
        "open": comparison.three_way(preview.joined.open),
        "answers": [f"{key}={value}" for key, value in sent.items()],
        "missing": [key for key in preview.joined.keys if key not in sent] if unanswered else (),
    }
