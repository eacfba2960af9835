"""The impact of a change on routing in words, for the pages that publish or review one."""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.models import Version
from registry.services.catalog import catalog
from registry.services.files import blobs
from registry.services.routing import impact
from registry.services.routing.changes import ChangedSkill
from registry.services.routing.impact import Impact, Moved
from registry.web.access import ProjectRequest
from registry.web.humanize import counted
from registry.web.navigation import may

ROWS, FEW_ROWS = 20, 6  # questions on a page, and in a narrow panel or above the button of a form
NO_SKILL = "no skill"


@dataclass(frozen=True, slots=True)
class Row:
    """A question that moves. `tone` is that of a finding."""

    moved: Moved
    now: str
    then: str
    tone: str
    sign: str

    @property
    def expected(self) -> str:
        return " or ".join(self.moved.expected) or NO_SKILL


@dataclass(frozen=True, slots=True)
class Shown:
    """An impact as a page shows it."""

    impact: Impact
    rows: tuple[Row, ...]
    more: int
    refusable: bool = True  # false for a change that only takes something away, which the gate never refuses

    @property
    def needs_reason(self) -> bool:
        return self.refusable and self.impact.needs_reason and self.judged

    @property
    def judged(self) -> bool:
        """Return whether every test question has a result. The figures of a part of them would mislead."""
        after = self.impact.after
        return after.cases + len(after.stale) >= self.impact.total

    @property
    def calm(self) -> bool:
        return not self.impact.worse and not self.gone and not self.gate

    @property
    def gone(self) -> int:
        """Return the number of questions that can no longer be judged, because agents do not get their skill."""
        return sum(each.stale for each in self.impact.moved)

    @property
    def summary(self) -> str:
        found, better = self.impact, len(self.impact.better)
        worse = sum(not each.stale for each in found.worse)
        scope = f"{found.checked:,} of {found.total:,} test questions checked"
        if found.complete:
            scope = f"{counted(found.total, 'test question')} checked"
        parts = [counted(self.gone, "question loses its skill,questions lose their skill")] if self.gone else []
        parts += [
            f"{counted(count, 'question')} {word}" for count, word in ((worse, "worse"), (better, "better")) if count
        ]
        return f"{', '.join(parts) or 'No question gets better or worse'}. {scope}."

    @property
    def gate(self) -> str:
        """Say why the gate fails after the change; empty if it passes, has no verdict or saw only a part."""
        found = self.impact
        if found.verdict.passed is not False or not self.judged:
            return ""
        already = "still fails" if found.verdict_before.passed is False else "would fail"
        advice = " It does not stop this." if found.blocking and not self.refusable else ""
        return f"The routing gate {already}. {' '.join(found.verdict.reasons)}{advice}"

    @property
    def skills(self) -> str:
        """Say which skills gain and lose questions."""
        parts = []
        for row in self.impact.skills:
            changes = [
                f"{word} {counted(count, 'question')}"
                for word, count in (("loses", row.lost), ("gains", row.gained))
                if count
            ]
            parts.append(f"{row.name} {' and '.join(changes)}")
        return f"{'; '.join(parts[:6])}." if parts else ""


def of_absence(request: ProjectRequest, name: str) -> Shown | None:
    """Return the impact of switching a skill off."""
    return of_change(request, [ChangedSkill(name, None)], most=FEW_ROWS, refusable=False)


def of_deletion(request: ProjectRequest, name: str) -> Shown | None:
    """Return the impact of deleting a project skill. Agents get a built-in skill of the same name again."""
    loaded = catalog.built_in_skill(name)
    content = loaded.read(loaded.entry(SKILL_MD)) if loaded else None
    return of_change(request, [ChangedSkill(name, content)], most=FEW_ROWS, refusable=False)


def of_withdrawal(request: ProjectRequest, name: str, following: Version | None) -> Shown | None:
    """Return the impact of taking the current version away, if agents get `following` instead, or nothing."""
    content = blobs.bundle(following.manifest)[SKILL_MD] if following else None
    return of_change(request, [ChangedSkill(name, content)], most=FEW_ROWS, refusable=False)


def of_change(
    request: ProjectRequest,
    changes: Sequence[ChangedSkill],
    *,
    seconds: float = impact.PAGE_SECONDS,
    most: int = ROWS,
    refusable: bool = True,
) -> Shown | None:
    """Return the impact for people who may read the test questions; None if there are none."""
    if not may(request, roles.WRITE):
        return None
    found = impact.of_change(request.project, changes, seconds=seconds)
    if not found.total:
        return None
    rows = tuple(_row(each) for each in found.moved[:most])
    return Shown(found, rows, len(found.moved) - len(rows), refusable)


def _row(moved: Moved) -> Row:
    tone, sign = {True: ("ok", "check"), False: ("warn", "warning"), None: ("hint", "info")}[moved.better]
    now, then = moved.before or NO_SKILL, moved.after or NO_SKILL
    if moved.stale:
        tone, sign, then = "warn", "warning", "no longer counted"
    elif moved.before == moved.after:
        now, then = (_place(name, rank) for name, rank in ((now, moved.rank_before), (then, moved.rank_after)))
    return Row(moved, now, then, tone, sign)


def _place(name: str, rank: int) -> str:
    return f"{name}, the right one in place {rank}" if rank else f"{name}, the right one not found"
