"""What the page of one proposal shows: the change, what it does, what was said about it, and what one may do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings
from django.utils.safestring import SafeString

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.catalog import precedence
from registry.core.errors import Forbidden, SkillsiteError
from registry.core.findings import Finding, Severity
from registry.core.format import skill_md
from registry.core.proposals import lifecycle
from registry.core.proposals.capabilities import Capability, Kind
from registry.core.proposals.lifecycle import Action, State, Who
from registry.models import Version
from registry.services.catalog import catalog
from registry.services.drafts import drafts
from registry.services.proposals import proposal_queries, proposals, review_queue, reviews
from registry.services.proposals.prepare import CREATE
from registry.services.proposals.proposal_queries import Content, Dossier
from registry.services.skills.stale_proposals import DELETE
from registry.web.access import ProjectRequest
from registry.web.humanize import counted
from registry.web.navigation import may
from registry.web.proposals import evidence, queue_address
from registry.web.proposals.evidence import Evidence
from registry.web.proposals.proposal_thread import Entry, thread
from registry.web.render import comparison, markdown, marked_text
from registry.web.render.comparison import Comparison
from registry.web.skills.versions import whole

_RENDERED = "rendered"
_LAYOUTS = (("", "Side by side"), ("one", "One column"), (_RENDERED, "As rendered"))
_REACH = (
    (Kind.SCRIPT, "Scripts", "file"),
    (Kind.COMMAND, "Commands", "terminal"),
    (Kind.HOST, "Hosts", "globe"),
    (Kind.TOOL, "Tools", "wrench"),
    (Kind.VARIABLE, "Variables", "braces"),
)
_KINDS = {"create": "wants to create", "update": "wants to change", "delete": "wants to delete"}


@dataclass(frozen=True, slots=True)
class Powers:
    """What whoever looks may do now; `why_not` says why they may not approve where they otherwise could."""

    approve: bool = False
    edit: bool = False
    ask: bool = False
    reject: bool = False
    rebase: bool = False
    choose: bool = False
    revise: bool = False
    withdraw: bool = False
    why_not: str = ""

    @property
    def any(self) -> bool:
        return any((self.approve, self.ask, self.reject, self.rebase, self.choose, self.revise, self.withdraw))


@dataclass(frozen=True, slots=True)
class Reach:
    """One kind of thing that a skill reaches for, and what the change makes of it."""

    label: str
    icon: str
    items: tuple[tuple[str, Capability], ...]


class ProposalPage:
    """One proposal as one person sees it."""

    def __init__(self, request: ProjectRequest, number: int) -> None:
        self.request, self.project = request, request.project
        self.dossier: Dossier = proposal_queries.look(request.project, number, by=request.actor)
        self.proposal, self.revision = self.dossier.proposal, self.dossier.revision
        self.state = State(self.proposal.state)
        self.decided = self.state in lifecycle.FINAL

    @property
    def content(self) -> Content:
        """People always see it; only an agent that joined does not."""
        return self.dossier.content or proposal_queries.content(self.project, self.revision)

    @cached_property
    def title(self) -> SafeString:
        return marked_text.inline(review_queue.headline(self.dossier.justification))

    @property
    def who(self) -> Any:
        return self.proposal.agent or self.proposal.user

    @property
    def wants(self) -> str:
        return _KINDS[self.proposal.kind]

    # -- What one may do ----------------------------------------------------------------------------------------

    @cached_property
    def is_proposer(self) -> bool:
        return proposals.is_proposer(self.proposal, self.request.actor)

    @cached_property
    def powers(self) -> Powers:
        deciding = lifecycle.allowed(self.state, Who.REVIEWER) if may(self.request, roles.REVIEW) else ()
        proposing = lifecycle.allowed(self.state, Who.PROPOSER) if self.is_proposer else ()
        why_not = self._why_not() if Action.APPROVE in deciding else ""
        approve = Action.APPROVE in deciding and not why_not
        offer = self.dossier.offer
        rebase = Action.REBASE in (*deciding, *proposing) and offer is not None
        gone = self.proposal.kind == DELETE
        return Powers(
            approve=approve,
            edit=approve and not gone,
            ask=Action.REQUEST_CHANGES in deciding and not self.is_proposer,
            reject=Action.REJECT in deciding and not self.is_proposer,
            rebase=rebase and offer is not None and offer.prepared is not None,
            choose=rebase and offer is not None and offer.clash is not None,
            revise=Action.REVISE in proposing and not gone,
            withdraw=Action.WITHDRAW in proposing,
            why_not=why_not,
        )

    def _why_not(self) -> str:
        try:
            reviews.may_decide(self.project, self.proposal.pk, approving=True, by=self.request.actor)
        except Forbidden as error:
            return error.message
        return ""

    # -- The two sides ------------------------------------------------------------------------------------------

    @cached_property
    def base_label(self) -> str:
        """What it was made from, in words."""
        return "nothing" if self.proposal.kind == CREATE else self._called(self.proposal.base_digest)

    @cached_property
    def standing_label(self) -> str:
        return self._called(self.standing)

    @property
    def revision_label(self) -> str:
        return f"revision {self.proposal.revision}"

    def _called(self, digest: str) -> str:
        if not digest:
            return "nothing"
        found = Version.objects.filter(skill__project=self.project, skill__name=self.proposal.skill, digest=digest)
        version = found.order_by("-pk").values_list("version", flat=True).first()
        return f"version {version}" if version else "the bundled skill"

    @property
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
        left = self.content.after
        return {"label": "The bundled skill", "digest": left.digest} if left else {"label": "Nothing", "digest": ""}

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
        """The instructions laid out, before and after, where that was asked for."""
        return (_laid_out(self.content.before), _laid_out(self.content.after)) if self.layout == _RENDERED else None

    # -- What it does -------------------------------------------------------------------------------------------

    @property
    def findings(self) -> tuple[str, str]:
        """What the change adds, in words: the gravest first, then the rest."""
        return graded(self.content.assessment.findings_added)

    @cached_property
    def reach(self) -> list[Reach]:
        found = self.content.assessment.capabilities
        signed = [("New", each) for each in found.added]
        signed += [("Changed", each) for each in found.changed]
        signed += [("Gone", each) for each in found.removed]
        return [
            Reach(label, icon, tuple(pair for pair in signed if pair[1].kind is kind)) for kind, label, icon in _REACH
        ]

    @property
    def reaches(self) -> tuple[str, str]:
        found = self.content.assessment.capabilities
        fresh = [
            counted(amount, f"new {kind.value}")
            for kind, _, _ in sorted(_REACH, key=lambda row: row[0] not in (Kind.HOST, Kind.SCRIPT, Kind.TOOL))
            if (amount := sum(each.kind is kind for each in found.added))
        ]
        fresh += [counted(len(found.changed), "changed script")] if found.changed else []
        return (fresh[0] if fresh else "", f"and {', '.join(fresh[1:])}" if fresh[1:] else "")

    # -- What was said ------------------------------------------------------------------------------------------

    @property
    def why(self) -> SafeString:
        return marked_text.words(self.dossier.justification)

    @property
    def evidence(self) -> list[Evidence]:
        return [evidence.drawn(piece) for piece in self.dossier.evidence]

    @property
    def others(self) -> list[dict[str, Any]]:
        """Who else sent the very same, with their reasons."""
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
    def standing(self) -> str:
        """The digest that agents get now under the name."""
        found = catalog.find(self.project.pk, self.proposal.skill)
        return precedence.digest_of(found)

    def context(self, **more: Any) -> dict[str, Any]:
        layout = self.layout
        return {
            "page": self, "proposal": self.proposal, "powers": self.powers, "compared": self.compared,
            "before": self.before, "after": self.after, "whole": whole(self.request),
            "layouts": layouts(self.request, layout), "assessment": self.content.assessment,
            "neighbours": review_queue.neighbours(
                self.project, self.proposal, queue_address.remembered(self.request), by=self.request.actor
            ),
            "queue_url": queue_address.back(self.request), **more,
        }  # fmt: skip


def compared(
    request: ProjectRequest, before: Mapping[str, bytes] | None, after: Mapping[str, bytes] | None
) -> Comparison:
    return comparison.compare(before or {}, after or {}, limits=settings.LIMITS, whole="all" in request.GET)


def layouts(request: ProjectRequest, chosen: str) -> list[dict[str, Any]]:
    """The ways to look at the change; below 992 px lines stand in one column in any case."""
    keeps = "&all=1" if "all" in request.GET else ""
    return [
        {"label": label, "url": f"?layout={value}{keeps}#change", "current": chosen == value, "one": value == "one"}
        for value, label in _LAYOUTS
    ]


def _laid_out(bundle: Mapping[str, bytes] | None) -> SafeString | str:
    if not bundle:
        return ""
    try:
        return markdown.render(
            skill_md.read(bundle[SKILL_MD], fallback_name="skill", limits=settings.LIMITS).instructions
        )
    except SkillsiteError as error:
        return error.message


def graded(findings: Sequence[Finding]) -> tuple[str, str]:
    each = [(sum(one.severity is severity for one in findings), severity.value) for severity in Severity]
    words = [counted(amount, noun) for amount, noun in each if amount]
    return (words[0] if words else "None", f"and {', '.join(words[1:])}" if words[1:] else "")
