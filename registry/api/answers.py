"""Parts that several answers share. An answer is a TypedDict: the view sends it, and `openapi` describes it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from registry.core.bundle import FileEntry
from registry.core.catalog.precedence import Hidden
from registry.core.findings import Finding, FindingShape


class ProblemShape(TypedDict):
    """An error. Some errors add keys that help to recover, such as the current digest."""

    type: str
    title: str
    status: int
    code: Annotated[str, "For programs. It never changes."]
    detail: Annotated[str, "For people."]
    field: NotRequired[Annotated[str, "The input at fault, if it is a single one."]]
    findings: NotRequired[list[FindingShape]]


class FileShape(TypedDict):
    path: str
    size: int
    digest: str


class HiddenShape(TypedDict):
    source: str
    root: str
    version: str
    digest: str
    reason: str


def file_shapes(files: Iterable[FileEntry]) -> list[FileShape]:
    return [{"path": file.path, "size": file.size, "digest": file.digest} for file in files]


def finding_shapes(findings: Iterable[Finding]) -> list[FindingShape]:
    return [finding.as_json() for finding in findings]


def hidden_shapes(hidden: Iterable[Hidden]) -> list[HiddenShape]:
    return [
        {
            "source": each.candidate.source,
            "root": each.candidate.root,
            "version": each.candidate.version,
            "digest": each.candidate.digest,
            "reason": each.reason,
        }
        for each in hidden
    ]


def timestamp(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
