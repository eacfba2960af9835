"""View model of the page of one proposal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString

from registry.core.bundle import SKILL_MD
from registry.core.catalog.precedence import digest_of
from registry.core.errors import SkillsiteError
from registry.core.findings import Finding, Severity
from registry.core.format import skill_md
from registry.core.proposals import lifecycle
from registry.core.proposals.capabilities import Capability, Kind
from registry.core.proposals.lifecycle import State
from registry.models import Version
from registry.services.catalog import catalog
from registry.services.drafts import drafts
from registry.services.proposals import proposal_queries, proposals, review_queue
from registry.services.proposals.prepare import CREATE
from registry.services.proposals.proposal_queries import Content, Dossier
from registry.services.routing.changes import ChangedSkill
from registry.services.skills.stale_proposals import DELETE
from registry.web.access import ProjectRequest
from registry.web.humanize import counted, number
from registry.web.proposals import decision, queue_address
from registry.web.proposals.decision import Powers, ReasonStep
from registry.web.proposals.proposal_thread import Entry, Evidence, render_evidence, thread
from registry.web.render import comparison, markdown, marked_text
from registry.web.render.comparison import Comparison
from registry.web.skills import routing_impact, workflow_change
from registry.web.skills.routing_impact import Shown
from registry.web.skills.scan_words import scan_in_words
from registry.web.skills.versions import file_choice, whole

_RENDERED = "rendered"
_LAYOUTS = (("", "Side by side"), ("one", "One column"), (_RENDERED, "Rendered"))
_CAPABILITIES = (
    (Kind.SCRIPT, "Scripts", "file"),
    (Kind.COMMAND, "Commands", "terminal"),
    (Kind.HOST, "Hosts", "globe"),
    (Kind.TOOL, "Tools", "wrench"),
    (Kind.VARIABLE, "Variables", "braces"),
)
_WANTS = {"create": "wants to create", "update": "wants to change", "delete": "wants to delete"}


@dataclass(frozen=True, slots=True)
class CapabilityRow:
    """One kind of capability, and those that the change adds, changes or removes."""

    label: str
    icon: str
    items: tuple[tuple[str, Capability], ...]


class ProposalPage:
    """One proposal as one user sees it."""

    def __init__(self, request: ProjectRequest, number: int) -> None:
        self.request, self.project = request, request.project
        self.dossier: Dossier = proposal_queries.details(request.project, number, by=request.actor)
        self.proposal, self.revision = self.dossier.proposal, self.dossier.revision
        self.state = State(self.proposal.state)
        self.decided = self.state in lifecycle.FINAL

    @property
    def content(self) -> Content:
        """The content is missing only for an agent that joined, and no agent opens a page."""
        return self.dossier.content or proposal_queries.content(self.project, self.revision)

    @cached_property
    def title(self) -> SafeString:
        return marked_text.inline(review_queue.headline(self.dossier.justification))

    @property
    def who(self) -> Any:
        return self.proposal.agent or self.proposal.user

    @property
    def wants(self) -> str:
        return _WANTS[self.proposal.kind]

    # -- Actions ------------------------------------------------------------------------------------------------

    @cached_property
    def is_proposer(self) -> bool:
        return proposals.is_proposer(self.proposal, self.request.actor)

    @cached_property
    def powers(self) -> Powers:
        return decision.powers(self.request, self.dossier)

    @property
    def reject_step(self) -> ReasonStep:
        return decision.reject_step(self.proposal.pk, self.proposal.proposer)

    @property
    def request_step(self) -> ReasonStep:
        return decision.request_changes_step(self.proposal.pk, self.proposal.proposer)

    @property
    def update_label(self) -> str:
        return f"Update to {self.current_label}"

    @property
    def approved_version(self) -> str:
        """The version that the approval published; empty if it deleted the skill."""
        version = self.proposal.approval.version
        return version.version if version else ""

    # -- An outdated proposal -----------------------------------------------------------------------------------

    @property
    def outdated_because(self) -> str:
        name = self.proposal.skill
        return f"{name} has changed since this was proposed." if self.current_digest else f"{name} no longer exists."

    @property
    def next_step(self) -> str:
        """Say how the outdated proposal can proceed."""
        reason = self.dossier.rebase.reason if self.dossier.rebase else ""
        if self.powers.update:
            return f"The change still applies. Update it to {self.current_label}, then review it again."
        if self.powers.resolve:
            other = "revise the proposal" if self.is_proposer else "wait until the proposer revises it"
            return f"{reason} Choose a side for each conflict, or {other}."
        return f"{reason} The proposer has to revise it." if reason else ""

    # -- Before and after ---------------------------------------------------------------------------------------

    @cached_property
    def base_label(self) -> str:
        return "nothing" if self.proposal.kind == CREATE else self._version_label(self.proposal.base_digest)

    @cached_property
    def current_label(self) -> str:
        return self._version_label(self.current_digest)

    @property
    def revision_label(self) -> str:
        return f"revision {self.proposal.revision}"

    def _version_label(self, digest: str) -> str:
        if not digest:
            return "nothing"
        versions = Version.objects.filter(skill__project=self.project, skill__name=self.proposal.skill, digest=digest)
        version = versions.order_by("-pk").values_list("version", flat=True).first()
        return f"version {version}" if version else "the built-in skill"

    @cached_property
    def next_version(self) -> str:
        return drafts.next_version(self.project, self.proposal.skill)

    @property
    def before(self) -> dict[str, str]:
        now = "Now" if self.state in (State.OPEN, State.CHANGES_REQUESTED) else "Before"
        return {"label": f"{now}, {self.base_label}", "digest": self.proposal.base_digest}

    @property
    def after(self) -> dict[str, str]:
        if self.proposal.kind != DELETE:
            label = "Approved" if self.state is State.APPROVED else "Proposed"
            return {"label": label, "digest": self.proposal.result_digest}
        built_in = self.content.after
        if built_in:
            return {"label": "The built-in skill", "digest": built_in.digest}
        return {"label": "Nothing", "digest": ""}

    @cached_property
    def compared(self) -> Comparison:
        return compared(self.request, self.content.before, self.content.after)

    @property
    def files(self) -> int:
        return len({*(self.content.before or ()), *(self.content.after or ())})

    @property
    def layout(self) -> str:
        return self.request.GET.get("layout", "")

    @property
    def rendered(self) -> tuple[SafeString | str, SafeString | str] | None:
        """The instructions before and after as HTML, in the layout that shows them."""
        return (_render(self.content.before), _render(self.content.after)) if self.layout == _RENDERED else None

    # -- Assessment ---------------------------------------------------------------------------------------------

    @property
    def findings(self) -> dict[str, str]:
        """The new findings in words: `worst` counts those of the highest severity, `note` the others."""
        assessment = self.content.assessment
        counts = count_by_severity(assessment.findings_added)
        rest = [f"and {', '.join(counts[1:])}"] if counts[1:] else []
        fixed = [f"{number(len(assessment.findings_removed))} fixed"] if assessment.findings_removed else []
        return {"worst": counts[0] if counts else "None", "note": ", ".join(rest + fixed)}

    @cached_property
    def impact(self) -> Shown | None:
        """The effect on the test questions, until the proposal is decided."""
        if self.decided:
            return None
        after = self.content.after
        if after is None:
            return routing_impact.of_deletion(self.request, self.proposal.skill)
        return routing_impact.of_change(self.request, [ChangedSkill(self.proposal.skill, after[SKILL_MD])])

    @property
    def scan_words(self) -> tuple[str, str]:
        return scan_in_words(self.dossier.scan) if self.dossier.scan else ("", "")

    @cached_property
    def workflow(self) -> workflow_change.Shown | None:
        return workflow_change.shown(self.project, self.content.before, self.content.after)

    @property
    def more_reasons(self) -> int:
        return max(0, len(self.content.assessment.reasons) - 12)

    @cached_property
    def capabilities(self) -> list[CapabilityRow]:
        difference = self.content.assessment.capabilities
        signed = [("New", each) for each in difference.added]
        signed += [("Changed", each) for each in difference.changed]
        signed += [("Gone", each) for each in difference.removed]
        return [
            CapabilityRow(label, icon, tuple(pair for pair in signed if pair[1].kind is kind))
            for kind, label, icon in _CAPABILITIES
        ]

    @property
    def capability_summary(self) -> tuple[str, str] | None:
        """New capabilities in words, the most dangerous kind first and the others in a note."""
        difference = self.content.assessment.capabilities
        dangerous_first = sorted(_CAPABILITIES, key=lambda row: row[0] not in (Kind.HOST, Kind.SCRIPT, Kind.TOOL))
        counts = self.workflow.new_calls if self.workflow else []
        counts += [
            counted(amount, f"new {kind.value}")
            for kind, _, _ in dangerous_first
            if (amount := sum(each.kind is kind for each in difference.added))
        ]
        counts += [counted(len(difference.changed), "changed script")] if difference.changed else []
        return (counts[0], f"and {', '.join(counts[1:])}" if counts[1:] else "") if counts else None

    # -- Discussion ---------------------------------------------------------------------------------------------

    @property
    def why(self) -> SafeString:
        return marked_text.words(self.dossier.justification)

    @property
    def evidence(self) -> list[Evidence]:
        return [render_evidence(piece) for piece in self.dossier.evidence]

    @property
    def others(self) -> list[dict[str, Any]]:
        """The backers other than the proposer, with their justifications."""
        first = self.proposal.agent_id, self.proposal.user_id
        backers = [each for each in self.dossier.backers if (each.agent_id, each.user_id) != first]
        return [
            {"who": each.agent or each.user, "why": marked_text.words(each.justification), "at": each.created_at}
            for each in backers
        ]

    @property
    def advice(self) -> list[dict[str, Any]]:
        return [
            {"who": each.agent, "verdict": each.verdict, "why": marked_text.words(each.reason), "at": each.created_at,
             "old": each.revision != self.proposal.revision, "revision": each.revision}
            for each in self.dossier.recommendations
        ]  # fmt: skip

    @property
    def thread(self) -> list[Entry]:
        return thread(self.dossier)

    @cached_property
    def current_digest(self) -> str:
        """The digest that agents get now; empty if there is no such skill."""
        return digest_of(catalog.find(self.project.pk, self.proposal.skill))

    def context(self, **more: Any) -> dict[str, Any]:
        layout = self.layout
        return {
            "page": self, "proposal": self.proposal, "powers": self.powers, "compared": self.compared,
            "before": self.before, "after": self.after, "whole": whole(self.request),
            "layouts": layouts(self.request, layout), "assessment": self.content.assessment,
            "neighbours": review_queue.neighbours(
                self.project, self.proposal, queue_address.remembered(self.request), by=self.request.actor
            ),
            "queue_url": queue_address.back(self.request), "impact": self.impact,
            "gate_reason": self.request.POST.get("gate_reason", ""), **more,
        }  # fmt: skip


def compared(
    request: ProjectRequest, before: Mapping[str, bytes] | None, after: Mapping[str, bytes] | None
) -> Comparison:
    return comparison.compare(
        before or {}, after or {}, limits=settings.LIMITS, whole="all" in request.GET, **file_choice(request)
    )


def layouts(request: ProjectRequest, chosen: str) -> list[dict[str, Any]]:
    """Return the layouts of a comparison. Below 992 px every layout has one column."""
    keeps = "&all=1" if "all" in request.GET else ""
    return [
        {"label": label, "url": f"?layout={value}{keeps}#change", "current": chosen == value, "one": value == "one"}
        for value, label in _LAYOUTS
    ]


def _render(bundle: Mapping[str, bytes] | None) -> SafeString | str:
    if not bundle:
        return ""
    try:
        return markdown.render(
            skill_md.read(bundle[SKILL_MD], fallback_name="skill", limits=settings.LIMITS).instructions
        )
    except SkillsiteError as error:
        return error.message


def count_by_severity(findings: Sequence[Finding]) -> list[str]:
    """Return the number of findings of each severity in words, the highest severity first."""
    counts = [(sum(one.severity is severity for one in findings), severity.value) for severity in Severity]
    return [counted(amount, noun) for amount, noun in counts if amount]
