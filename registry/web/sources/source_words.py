"""Labels, badges and titles for sources, their jobs and the results of imports."""

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
class Badge:
    label: str
    tone: str = ""
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of source. `phrase` has an article, for use inside a sentence."""

    label: str
    icon: str
    phrase: str
    about: str


KINDS = {
    GIT: Kind(
        "Git repository", "routing", "a git repository",
        "Every folder with a SKILL.md is a skill. We read one commit and run nothing from it.",
    ),
    WELL_KNOWN: Kind(
        "Website with a skill index", "globe", "a website with a skill index",
        "A site that lists its skills at /.well-known/, such as another Skillsite with a public project.",
    ),
    CLAWHUB: Kind(
        "ClawHub registry", "skills", "a registry with the ClawHub API",
        "A registry with search and versions, such as ClawHub.",
    ),
    URL: Kind(
        "Single file", "file", "a single file",
        "A public zip of skills, or a single SKILL.md.",
    ),
}  # fmt: skip

STATES = {
    NEW: Badge("Not checked yet", "", "clock"),
    EMPTY: Badge("No skills", "line", "inbox"),
    UNREACHABLE: Badge("Unreachable", "danger", "error"),
    UNUSABLE: Badge("Not a source", "warn", "warning"),
}
CHECKING = Badge("Checking", "accent", "clock")

JOB_STATES = {
    QUEUED: Badge("Waiting", "", "clock"),
    RUNNING: Badge("In progress", "accent", "clock"),
    DONE: Badge("Done", "ok", "check"),
    FAILED: Badge("Failed", "danger", "error"),
}

RESULTS = {
    WAITING: Badge("Waiting", "", "clock"),
    import_request.IMPORTED: Badge("Imported", "ok", "check"),
    import_request.UPDATED: Badge("Updated", "ok", "check"),
    import_request.MERGED: Badge("Merged", "ok", "check"),
    import_request.KEPT: Badge("Yours kept", "line", "check"),
    import_request.UNCHANGED: Badge("Unchanged", "line", "check"),
    import_request.PROPOSED: Badge("Proposed", "accent", "proposals"),
    import_request.UNINSTALLED: Badge("Uninstalled", "line", "check"),
    import_request.SKIPPED: Badge("Skipped", "", "skip"),
    import_request.EDITED: Badge("Edited here", "warn", "pencil"),
    import_request.CONFLICTS: Badge("Needs a choice", "warn", "warning"),
    import_request.MOVED: Badge("Changed meanwhile", "warn", "warning"),
    import_request.FAILED: Badge("Failed", "danger", "error"),
}

_FILES = (".zip", ".skill", ".md", ".markdown")
_FORGES = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht")


def guess_kind(address: str) -> str:
    """Return the kind that an address looks like, without a request. Empty if it is not a complete address."""
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


def job_title(job: SourceJob, total: int) -> str:
    if job.kind == LOOK:
        return "Check of the source" if job.finished else "Checking the source"
    noun, participle = {IMPORT: ("Import", "Importing"), UPDATE: ("Update", "Updating")}[job.kind]
    return f"{noun} of {counted(total, 'skill')}" if job.finished else f"{participle} {counted(total, 'skill')}"
