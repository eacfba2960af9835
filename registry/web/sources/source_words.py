"""How pages call the kinds and states of sources, the work that is done about them, and what came of it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from registry.core.sources import import_request
from registry.models import SourceJob
from registry.models.sources import (
    CLAWHUB,
    DONE,
    EMPTY,
    FAILED,
    GIT,
    IMPORT,
    LOOK,
    NEW,
    QUEUED,
    RUNNING,
    UNREACHABLE,
    UNUSABLE,
    UPDATE,
    URL,
    WAITING,
    WELL_KNOWN,
)
from registry.web.humanize import counted


@dataclass(frozen=True, slots=True)
class Sign:
    """A badge: a word, a tone and an icon."""

    label: str
    tone: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    label: str
    icon: str
    said: str
    about: str


KINDS = {
    GIT: Kind(
        "Git repository", "routing", "a git repository",
        "Every folder with a SKILL.md in it is a skill. It is read at one commit, and nothing in it is run.",
    ),
    WELL_KNOWN: Kind(
        "Skills of a site", "globe", "a site with an index of its skills",
        "A site that lists its skills at /.well-known/, such as another Skillsite with a public project.",
    ),
    CLAWHUB: Kind(
        "ClawHub registry", "skills", "a registry that speaks as ClawHub does",
        "A registry that has search and versions, such as ClawHub.",
    ),
    URL: Kind(
        "One file", "file", "one file",
        "A zip of skills, or a single SKILL.md, that anybody can fetch.",
    ),
}  # fmt: skip

STATES = {
    NEW: Sign("Not looked at yet", "", "clock"),
    EMPTY: Sign("Nothing there", "line", "inbox"),
    UNREACHABLE: Sign("Unreachable", "danger", "error"),
    UNUSABLE: Sign("Not a source", "warn", "warning"),
}
LOOKING = Sign("Being looked at", "accent", "clock")

JOB_STATES = {
    QUEUED: Sign("Waiting", "", "clock"),
    RUNNING: Sign("Under way", "accent", "clock"),
    DONE: Sign("Done", "ok", "check"),
    FAILED: Sign("Failed", "danger", "error"),
}

OUTCOMES = {
    WAITING: Sign("Waiting", "", "clock"),
    import_request.IMPORTED: Sign("Imported", "ok", "check"),
    import_request.UPDATED: Sign("Updated", "ok", "check"),
    import_request.MERGED: Sign("Merged", "ok", "check"),
    import_request.KEPT: Sign("Yours kept", "line", "check"),
    import_request.UNCHANGED: Sign("Unchanged", "line", "check"),
    import_request.PROPOSED: Sign("Proposed", "accent", "proposals"),
    import_request.UNINSTALLED: Sign("Uninstalled", "line", "check"),
    import_request.SKIPPED: Sign("Skipped", "", "skip"),
    import_request.EDITED: Sign("Edited here", "warn", "pencil"),
    import_request.CONFLICTS: Sign("Needs a choice", "warn", "warning"),
    import_request.MOVED: Sign("Changed meanwhile", "warn", "warning"),
    import_request.FAILED: Sign("Failed", "danger", "error"),
}

_FILES = (".zip", ".skill", ".md", ".markdown")
_FORGES = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht")


def guess(address: str) -> str:
    """The kind that an address looks like, without going there; nothing where it is no address yet."""
    try:
        parts = urlsplit(address.strip())
        host, path = (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/").lower()
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host:
        return ""
    if path.endswith(_FILES):
        return URL
    if path.endswith(".git") or (host in _FORGES and path.count("/") >= 2):
        return GIT
    if "clawhub" in host or path.endswith("/api/v1"):
        return CLAWHUB
    return WELL_KNOWN


def of_job(job: SourceJob, total: int) -> str:
    """What a job does, or did, as a title."""
    if job.kind == LOOK:
        return "A look at the source" if job.finished else "Looking at the source"
    verb = {IMPORT: ("Import", "Importing"), UPDATE: ("Update", "Updating")}[job.kind]
    return f"{verb[0]} of {counted(total, 'skill')}" if job.finished else f"{verb[1]} {counted(total, 'skill')}"
