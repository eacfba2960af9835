"""Every page of the site with its address. A test compares this table with the URL configuration."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.browser.world import World


@dataclass(frozen=True)
class Screen:
    """A page. `path` returns its address in a world, and `signed_in` is false for public pages."""

    route: str
    path: Callable[[World], str]
    signed_in: bool = True
    state: str = ""

    @property
    def name(self) -> str:
        return f"{self.route}-{self.state}" if self.state else self.route


def _project(route: str, path: str, state: str = "") -> Screen:
    return Screen(route, lambda world: f"{world.team.base}/{path}", state=state)


def _skill(route: str, path: str, name: str = "parcel-sizes", state: str = "") -> Screen:
    return _project(route, f"skills/{name}/{path}", state)


def _proposal(route: str, path: str, state: str = "") -> Screen:
    return Screen(route, lambda world: f"{world.team.base}/proposals/{world.waiting}/{path}", state=state)


def _question(kind: str) -> Screen:
    def path(world: World) -> str:
        run, question = world.run_questions[kind]
        return f"{world.team.base}/runs/{run}/questions/{question}/"

    return Screen("run-question", path, state=kind)


def _source(route: str, path: str = "", state: str = "", which: str = "source") -> Screen:
    return Screen(route, lambda world: f"{world.team.base}/sources/{getattr(world.places, which)}/{path}", state=state)


def _run(which: str, path: str = "", route: str = "run", state: str = "") -> Screen:
    def address(world: World) -> str:
        return f"{world.runs.base}/runs/{getattr(world.runs, which)}/{path}"

    return Screen(route, address, state=state or which)


def _job(which: str, state: str = "") -> Screen:
    def path(world: World) -> str:
        return f"{world.team.base}/sources/{world.places.source}/jobs/{getattr(world.places, which)}/"

    return Screen("source-job", path, state=state)


SCREENS = [
    Screen("sign-in", lambda world: "/sign-in/", signed_in=False),
    Screen("sign-in-link", lambda world: f"/sign-in/{world.sign_in_link}/", signed_in=False),
    Screen("invitation", lambda world: f"/invitation/{world.invitation}/", signed_in=False),
    Screen("invitation", lambda world: f"/invitation/{world.invitation}/", state="signed-in"),
    Screen("account", lambda world: "/account/"),
    Screen("account-mail-confirm", lambda world: f"/account/mail/{world.mail_link}/"),
    Screen("styleguide", lambda world: "/styleguide/"),
    Screen("client", lambda world: "/client/", signed_in=False),
    Screen("schemas", lambda world: "/schemas/", signed_in=False),
    Screen("projects", lambda world: "/projects/"),
    _project("members", "members/"),
    _project("settings", "settings/"),
    _project("catalog", "catalog/"),
    _project("skills", "skills/"),
    _project("skills", "skills/?q=brand+replies", "found"),
    _project("skills", "skills/?q=nothing-of-the-kind", "nothing-found"),
    _project("skill-new", "new/"),
    _project("skill-new-file", "new/files/references/example.md"),
    _project("upload", "upload/"),
    Screen("upload-preview", lambda world: f"{world.team.base}/upload/{world.upload}/"),
    _skill("skill-edit", "edit/", "brand-voice"),
    _skill("skill-edit", "edit/?mode=raw", "brand-voice", "raw"),
    _skill("skill-conflict", "edit/conflict/", "shift-handover"),
    _skill("skill-edit-workflow", "edit/workflow/?open=0"),
    _skill("skill-edit-workflow", "edit/workflow/?open=fields", state="fields"),
    _project("skill-new-workflow", "new/workflow/"),
    _skill("skill-edit-file", "edit/files/references/phone-list.md", "shift-handover"),
    _skill("skill", "", "late-shipment-reply"),
    _skill("skill", "", "meeting-minutes", "bundled"),
    _skill("skill", "", "manual-price-quote", "switched-off"),
    _skill("skill", "", "expense-report", "upstream-changed"),
    _skill("skill-disable", "disable/", "late-shipment-reply"),
    _skill("skill-delete", "delete/", "late-shipment-reply"),
    _skill("skill-source", "source/"),
    _skill("skill-workflow", "workflow/"),
    _skill("skill-files", "files/"),
    _skill("skill-file-page", "files/assets/sizes.csv", state="table"),
    _skill("skill-file-page", "files/assets/flaps.png", state="picture"),
    _skill("skill-file-page", "files/scripts/fits.py", state="text"),
    _skill("skill-usage", "usage/", "brand-voice"),
    _skill("skill-compare-bundled", "bundled/", "brand-voice"),
    _skill("skill-upstream", "upstream/", "expense-report"),
    _skill("skill-versions", "versions/"),
    _skill("skill-compare", "versions/compare/?from=1&to=3"),
    _skill("skill-compare", "versions/compare/?from=1&to=3&layout=one", state="one-column"),
    _skill("version", "version/1/"),
    _skill("version-source", "version/1/source/"),
    _skill("version-workflow", "version/1/workflow/"),
    _skill("version-files", "version/1/files/"),
    _skill("version-file-page", "version/1/files/assets/sizes.csv"),
    _skill("version-yank", "version/1/yank/"),
    _skill("version-quarantine", "version/1/quarantine/"),
    _skill("skill-proposals", "proposals/", "late-shipment-reply"),
    _project("proposals", "proposals/"),
    _project("proposals", "proposals/?state=decided", "decided"),
    _proposal("proposal", ""),
    _proposal("proposal-edit", "edit/"),
    _proposal("proposal-reject", "reject/"),
    _proposal("proposal-ask", "request-changes/"),
    _proposal("proposal-compare", "compare/", "one-revision"),
    Screen("proposal-compare", lambda world: f"{world.team.base}/proposals/{world.own}/compare/"),
    Screen("proposal-revise", lambda world: f"{world.team.base}/proposals/{world.own}/revise/"),
    Screen("proposal", lambda world: f"{world.team.base}/proposals/{world.clashing}/", state="overtaken"),
    Screen("proposal-conflict", lambda world: f"{world.team.base}/proposals/{world.clashing}/conflict/"),
    Screen("runs", lambda world: f"{world.runs.base}/runs/"),
    Screen("runs", lambda world: f"{world.runs.base}/runs/?state=denied", state="nothing-found"),
    Screen("runs", lambda world: f"{world.runs.quiet}/runs/", state="empty"),
    *(_run(state) for state in ("queued", "running", "waiting", "failed", "completed", "huge")),
    _run("waiting", "timeline/", "run-timeline"),
    _run("huge", "timeline/", "run-timeline"),
    _run("completed", "data/", "run-lineage"),
    _run("completed", "data/?of=outputs.text", "run-lineage", "value"),
    _run("completed", "steps/render/", "run-step"),
    _run("huge", "steps/each/", "run-step"),
    Screen("skill-run", lambda world: f"{world.runs.base}/skills/supplier-onboarding/run/"),
    Screen("skill-workflow", lambda world: f"{world.runs.base}/skills/supplier-onboarding/workflow/", state="runs"),
    _project("waiting", "waiting/"),
    *(_question(kind) for kind in ("approval", "call", "again", "release", "input", "doubt", "closed", "own")),
    _project("capabilities", "capabilities/"),
    _project("capabilities", "capabilities/?q=nothing-of-the-kind", "nothing-found"),
    _project("capability", "capabilities/ledger.entry.write/"),
    _project("capability", "capabilities/data.filter/", "built-in"),
    _project("capability", "capabilities/ticket.comment.write/", "own"),
    _project("capability", "capabilities/ticket.comment.translate/", "broken"),
    _project("capability-new", "new-capability/"),
    _project("capability-change", "capabilities/ticket.comment.translate/change/"),
    _project("audit", "audit/"),
    _project("security", "security/"),
    Screen("scan", lambda world: f"{world.team.base}/security/{world.scan}/"),
    _skill("skill-versions", "versions/", "vendor-portal", "held"),
    _skill("version", "version/1/", "vendor-portal", "held"),
    _project("routing", "routing/"),
    _project("routing", "routing/?q=a+customer+is+angry+that+the+shipment+is+late", "answer"),
    _project("routing", "routing/?q=zzz", "none"),
    _project("routing-questions", "routing/questions/"),
    _project("routing-questions", "routing/questions/?q=nothing-of-the-kind", "nothing-found"),
    _project("routing-question-new", "routing/questions/new/"),
    Screen("routing-question", lambda world: f"{world.team.base}/routing/questions/{world.asked.case}/"),
    _project("routing-import", "routing/questions/import/"),
    _project("routing-results", "routing/results/"),
    Screen("routing-result", lambda world: f"{world.team.base}/routing/results/{world.asked.evaluation}/"),
    _project("routing-health", "routing/health/"),
    _project("routing-health", "routing/health/?show=all", "all"),
    _project("routing-log", "routing/log/"),
    _project("routing-settings", "routing/settings/"),
    _project("agents", "agents/"),
    _project("agent", "agents/support-desk/"),
    _project("agent-change", "agents/support-desk/change/"),
    _project("agent-tokens", "agents/support-desk/tokens/"),
    _project("agent-new", "new-agent/"),
    _project("tokens", "tokens/"),
    _project("sources", "sources/"),
    _source("source"),
    _source("source", "?q=nothing-of-the-kind", "nothing-found"),
    _source("source", "?show=update", "updates"),
    _source("source", state="unreachable", which="unreachable"),
    _source("source", state="empty", which="empty"),
    _source("source-import", "import/?skill=parcel-sizes&skill=meeting-minutes&skill=shelf-labels"),
    _source("source-entry", "skills/shelf-labels/"),
    _source("source-entry", "skills/parcel-sizes/", "taken"),
    _source("source-entry", "skills/meeting-minutes/", "bundled"),
    _source("source-entry", "skills/goods-return/", "update"),
    _source("source-entry", "skills/gift-wrapping/", "merge"),
    _source("source-entry", "skills/shipping-labels/", "same"),
    _source("source-uninstall", "skills/gift-wrapping/uninstall/"),
    _job("finished"),
    _job("running", "running"),
    _skill("skill", "", "gift-wrapping", "imported"),
    _skill("skill-versions", "versions/", "gift-wrapping", "imported"),
    _project("webhooks", "webhooks/"),
    Screen("webhook", lambda world: f"{world.team.base}/webhooks/{world.webhook}/"),
    Screen("inbox", lambda world: "/inbox/"),
    _project("connect", "connect/"),
    _project("connect-client", "connect/claude-code/"),
]

BYTES = "gives a file or a word for machines, and no page"
NOT_PAGES = {
    "client-wheel": BYTES,
    "skill-file": BYTES,
    "skill-download": BYTES,
    "version-file": BYTES,
    "version-download": BYTES,
    "skill-new-raw": BYTES,
    "skill-edit-raw": BYTES,
    "audit-export": BYTES,
    "export": BYTES,
    "routing-export": BYTES,
    "run-live": "gives the part of a page that follows the run",
    "run-values": BYTES,
    "schema": BYTES,
    "skill-names": BYTES,
    "run-question-data": BYTES,
    "run-questions": "leads on to the question that waits",
    "inbox-entry": "leads on to what the entry is about",
}

ONLY_POSTED = {
    "sign-out", "account-name", "account-password", "session-end", "sessions-end", "theme", "project-bring-back",
    "invite", "member-role", "member-remove", "invitation-withdraw", "project-public", "project-archive",
    "skill-enable", "skill-undelete", "skill-customise", "skill-upstream-keep",
    "version-restore", "skill-propose-deletion", "project-protected", "project-makers", "project-advice",
    "proposal-approve",
    "proposal-withdraw", "proposal-rebase", "proposal-comment", "agent-token-revoke", "agent-remove", "token-revoke",
    "account-mail", "inbox-read", "inbox-read-all", "webhook-switch", "webhook-secret", "webhook-test",
    "webhook-replay", "webhook-remove", "source-look", "source-remove", "source-retry", "project-blocking",
    "routing-delete", "routing-run", "routing-baseline", "routing-log-delete",
    "run-cancel", "run-replay", "run-approve", "run-deny", "run-answer", "capability-remove",
    "project-quarantine", "suppression-end", "scan-suppress", "version-release",
}  # fmt: skip
