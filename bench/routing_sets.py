"""Sets of skills with questions, for the benchmark of routing: the shipped one, and directories of others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry.core.routing.golden import Case

ROOT = Path(__file__).resolve().parent.parent
LIBRARY, GOLDEN = ROOT / "registry" / "library", ROOT / "registry" / "golden" / "library.json"
DEVELOPMENT = ROOT / "bench" / "routing_development.json"


@dataclass(frozen=True)
class SkillSet:
    """Skills as name → SKILL.md, and questions about them."""

    label: str
    skills: Mapping[str, bytes]
    cases: Sequence[Case]

    def among(self, others: Sequence["SkillSet"]) -> "SkillSet":
        """Return this set with the skills of others added, which no question expects. Its own names win."""
        skills: dict[str, bytes] = {}
        for other in others:
            skills |= other.skills
        skills |= self.skills
        return SkillSet(f"{self.label} among {len(skills):,}", skills, self.cases)


def shipped() -> SkillSet:
    """Return the golden set of the built-in library. Nothing is learned from it."""
    return _of_library("built-in library", GOLDEN)


def development() -> SkillSet:
    """Return other questions about the built-in library, which the ranking was developed with."""
    return _of_library("built-in library, development questions", DEVELOPMENT)


def _of_library(label: str, questions: Path) -> SkillSet:
    rows = json.loads(questions.read_text(encoding="utf-8"))["cases"]
    return SkillSet(label, _skills(LIBRARY), [_case(row) for row in rows])


def others(directory: Path) -> list[SkillSet]:
    """Return the sets in a directory: each has skills/NAME/SKILL.md and cases.jsonl."""
    found = []
    for cases in sorted(directory.glob("*/cases.jsonl")):
        rows = [json.loads(line) for line in cases.read_text().splitlines() if line.strip()]
        skills = _skills(cases.parent / "skills")
        topic = cases.parent.name.rpartition("-")[2]
        found.append(SkillSet(f"{topic}, {len(skills)} skills", skills, [_case(row) for row in rows]))
    return found


def _skills(directory: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(directory.glob("*/SKILL.md"))}


def _case(row: Mapping[str, object]) -> Case:
    return Case(
        str(row["query"]), tuple(row["expected"]), tuple(row.get("acceptable") or ()), note=str(row.get("note") or "")
    )  # type: ignore[arg-type]
