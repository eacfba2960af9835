"""The corpus of the security scan: planted skills and harmless look-alikes, with the class of each.

Every third skill of a file is held back. Rules are not tuned on held skills; the tests measure them separately.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.findings import Finding
from registry.core.scan.scanner import scan

DIRECTORY = Path(__file__).parent / "corpus"
KNOWN_NAMES = ("code-review", "expense-report", "skill-creator", "release-notes", "sql-review")


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    kind: str  # the class of harm that it has or looks like
    held: bool
    bundle: Bundle

    @property
    def alarms(self) -> tuple[Finding, ...]:
        return scan(self.bundle, known_names=KNOWN_NAMES).alarms


@cache
def samples(prefix: str) -> tuple[Sample, ...]:
    """Return the skills of the files whose names start with `bad`, `good`, `late_bad`, `second_bad` and so on."""
    return tuple(
        Sample(entry["id"], entry["class"], index % 3 == 1, _bundle(entry))
        for path in sorted(DIRECTORY.glob(f"{prefix}*.yaml"))
        for index, entry in enumerate(yaml.load(path.read_text(), yaml.CSafeLoader))
    )


def _bundle(entry: dict[str, Any]) -> Bundle:
    if "body" not in entry:
        return Bundle({path: content.encode() for path, content in entry["files"].items()})
    header = yaml.safe_dump(
        {"name": entry["name"], "description": entry["description"]}, allow_unicode=True, width=1000
    )
    text = f"---\n{header}{entry.get('header', '')}---\n\n{entry['body']}"
    files: dict[str, str] = {SKILL_MD: text, **dict(entry.get("files", {}))}
    return Bundle({path: content.encode() for path, content in files.items()})
