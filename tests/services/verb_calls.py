"""Prepared calls of all service functions that take `by`, except those of proposals.

`VERBS` has a call of each function that changes a project or the site. `NO_EVENT_OF_THEIR_OWN` lists the others, and
modules whose functions need no call, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.test import override_settings

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.core.routing.golden import Case
from registry.core.sources.import_request import ImportRequest
from registry.models import Evaluation, GoldenCase, Project, ProjectCapability, User
from registry.services.agents import agents, tokens
from registry.services.audit_log import sealing
from registry.services.capabilities import project_capabilities
from registry.services.catalog import built_in
from registry.services.notifications import webhooks
from registry.services.people import accounts, invitations, members, projects
from registry.services.permissions import Actor
from registry.services.routing import evaluations, golden_set, route_log, routing_settings
from registry.services.scans import suppressions
from registry.services.skills import bulk_edit, bundles, customisation, quarantine, skills, versions
from registry.services.sources import install, sources, uninstalling
from tests.conftest import skill_bundle
from tests.core.workflows.definitions import text as capability


@dataclass(frozen=True)
class World:
    """A project with skills in every state that a verb starts from, a member, an agent, a token and a webhook."""

    project: Project
    member: User
    agent: Any
    invitation: int
    token: int
    webhook: int
    source: int
    alarming: str
    suppression: int

    @property
    def digest(self) -> str:
        return versions.history(self.project, "greeting")[0].digest

    @property
    def copy(self) -> str:
        return versions.history(self.project, "copied")[0].digest

    @property
    def capability(self) -> str:
        return ProjectCapability.objects.get(project=self.project, name="our.echo").digest

    @property
    def case(self) -> int:
        return GoldenCase.objects.get(project=self.project).pk

    @property
    def evaluation(self) -> int:
        return Evaluation.objects.get(project=self.project).pk

    @property
    def bundled(self) -> str:
        return built_in.snapshot().skills["copied"][0].candidate.digest


@dataclass(frozen=True)
class Verb:
    """A prepared call, and its event. `scope` is None for a function of the site, which needs no role in a project."""

    call: Callable[[World, Actor], object]
    event: str
    scope: str | None = roles.WRITE


SITE = "https://1.1.1.1"
# The findings of the skill “alarming”: nobody suppressed the first, and the second is suppressed.
PLACE, SUPPRESSED = ({"rule": "orders-override", "file": "SKILL.md", "line": line} for line in (6, 8))
HOOK = f"{SITE}/hook"


def _seal_with_another_key(by: Actor) -> None:
    with override_settings(AUDIT_KEY="another"):
        sealing.seal_again(key_was_lost=True, by=by)


def _reactivate(user: User, by: Actor) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)
    accounts.reactivate(user, by=by)


VERBS: dict[str, Verb] = {
    "skills.create": Verb(lambda w, by: skills.create(w.project, skill_bundle("new"), by=by), "skill.created"),
    "skills.save": Verb(
        lambda w, by: skills.save(w.project, "greeting", skill_bundle(body="3"), base=w.digest, by=by), "skill.saved"
    ),
    "skills.disable": Verb(lambda w, by: skills.disable(w.project, "bundled-one", by=by), "skill.disabled"),
    "skills.enable": Verb(lambda w, by: skills.enable(w.project, "off", by=by), "skill.enabled"),
    "skills.delete": Verb(lambda w, by: skills.delete(w.project, "greeting", by=by), "skill.deleted"),
    "skills.undelete": Verb(lambda w, by: skills.undelete(w.project, "gone", by=by), "skill.undeleted"),
    "bulk_edit.switch": Verb(
        lambda w, by: bulk_edit.switch(w.project, ["greeting"], enabled=False, by=by), "skill.disabled"
    ),
    "bulk_edit.tag": Verb(lambda w, by: bulk_edit.tag(w.project, ["greeting"], "letters", by=by), "skill.saved"),
    "bulk_edit.untag": Verb(lambda w, by: bulk_edit.untag(w.project, ["greeting"], "old", by=by), "skill.saved"),
    "versions.restore": Verb(lambda w, by: versions.restore(w.project, "greeting", "1", by=by), "version.restored"),
    "versions.yank": Verb(
        lambda w, by: versions.yank(w.project, "greeting", "1", reason="Old.", by=by), "version.yanked"
    ),
    "quarantine.quarantine": Verb(
        lambda w, by: quarantine.quarantine(w.project, "greeting", "1", reason="Odd.", by=by),
        "version.quarantined",
        roles.REVIEW,
    ),
    "quarantine.release": Verb(
        lambda w, by: quarantine.release(w.project, "held", "1", by=by), "version.released", roles.REVIEW
    ),
    "customisation.customise": Verb(
        lambda w, by: customisation.customise(w.project, "bundled-one", by=by), "skill.customised"
    ),
    "customisation.rebase": Verb(
        lambda w, by: customisation.rebase(w.project, "copied", theirs=w.bundled, mine=w.copy, by=by), "skill.rebased"
    ),
    "customisation.keep": Verb(
        lambda w, by: customisation.keep(w.project, "copied", theirs=w.bundled, by=by), "upstream.kept"
    ),
    "bundles.import_bundle": Verb(
        lambda w, by: bundles.import_bundle(w.project, skill_bundle("brought"), by=by), "bundle.imported"
    ),
    "sources.add": Verb(lambda w, by: sources.add(w.project, "url", f"{SITE}/b.md", by=by), "source.added"),
    "sources.remove": Verb(lambda w, by: sources.remove(w.project, w.source, by=by), "source.removed"),
    "install.import_skill": Verb(
        lambda w, by: install.import_skill(w.project, w.source, ImportRequest("offered"), by=by), "source.imported"
    ),
    "uninstalling.uninstall": Verb(
        lambda w, by: uninstalling.uninstall(w.project, w.source, "brought-before", by=by), "source.uninstalled"
    ),
    "agents.ensure": Verb(lambda w, by: agents.ensure(w.project, "helper", by=by), "agent.created", roles.MANAGE),
    "agents.create": Verb(
        lambda w, by: agents.create(w.project, "helper", Definition(), by=by), "agent.created", roles.MANAGE
    ),
    "agents.update": Verb(
        lambda w, by: agents.update(w.project, "bot", Definition(prompt="New."), by=by), "agent.changed", roles.MANAGE
    ),
    "agents.amend": Verb(
        lambda w, by: agents.amend(w.project, "bot", {"prompt": "New."}, by=by), "agent.changed", roles.MANAGE
    ),
    "agents.remove": Verb(lambda w, by: agents.remove(w.project, "bot", by=by), "agent.removed", roles.MANAGE),
    "tokens.issue_token": Verb(
        lambda w, by: tokens.issue_token(w.project, agent=w.agent, by=by), "token.created", roles.MANAGE
    ),
    "tokens.create_token": Verb(
        lambda w, by: tokens.create_token(w.project, agent=w.agent, by=by), "token.created", roles.MANAGE
    ),
    "tokens.revoke_token": Verb(
        lambda w, by: tokens.revoke_token(w.project, w.token, by=by), "token.revoked", roles.MANAGE
    ),
    "members.set_role": Verb(
        lambda w, by: members.set_role(w.project, w.member, roles.REVIEWER, by=by), "member.set", roles.MANAGE
    ),
    "members.remove": Verb(lambda w, by: members.remove(w.project, w.member, by=by), "member.removed", roles.MANAGE),
    "invitations.make": Verb(
        lambda w, by: invitations.make(w.project, roles.AUTHOR, by=by), "invitation.made", roles.MANAGE
    ),
    "invitations.withdraw": Verb(
        lambda w, by: invitations.withdraw(w.project, w.invitation, by=by), "invitation.withdrawn", roles.MANAGE
    ),
    "projects.describe": Verb(
        lambda w, by: projects.describe(w.project, name="New name", description="", by=by),
        "project.described",
        roles.MANAGE,
    ),
    "projects.archive": Verb(lambda w, by: projects.archive(w.project, by=by), "project.archived", roles.MANAGE),
    "projects.restore": Verb(lambda w, by: projects.restore(w.project, by=by), "project.brought-back", roles.MANAGE),
    "projects.set_public": Verb(
        lambda w, by: projects.set_public(w.project, True, by=by), "project.published", roles.MANAGE
    ),
    "projects.set_protected": Verb(
        lambda w, by: projects.set_protected(w.project, True, by=by), "project.protected", roles.MANAGE
    ),
    "projects.set_reviewer_agents": Verb(
        lambda w, by: projects.set_reviewer_agents(w.project, True, by=by), "project.advice-allowed", roles.MANAGE
    ),
    "projects.set_makers_approve": Verb(
        lambda w, by: projects.set_makers_approve(w.project, True, by=by), "project.makers-approve", roles.MANAGE
    ),
    "projects.set_quarantines_alarms": Verb(
        lambda w, by: projects.set_quarantines_alarms(w.project, True, by=by),
        "project.quarantine-automatic",
        roles.MANAGE,
    ),
    "projects.set_blocking": Verb(
        lambda w, by: projects.set_blocking(w.project, "warning", by=by), "project.blocking-set", roles.MANAGE
    ),
    "suppressions.suppress": Verb(
        lambda w, by: suppressions.suppress(w.project, w.alarming, **PLACE, reason="Quoted.", by=by),
        "finding.suppressed",
        roles.REVIEW,
    ),
    "suppressions.end": Verb(
        lambda w, by: suppressions.end(w.project, w.suppression, by=by), "suppression.ended", roles.REVIEW
    ),
    "golden_set.add": Verb(lambda w, by: golden_set.add(w.project, [Case("Hello?")], by=by), "golden.added"),
    "golden_set.change": Verb(
        lambda w, by: golden_set.change(w.project, w.case, Case("Hello?"), by=by), "golden.changed"
    ),
    "golden_set.delete": Verb(lambda w, by: golden_set.delete(w.project, [w.case], by=by), "golden.deleted"),
    "route_log.delete": Verb(lambda w, by: route_log.delete(w.project, by=by), "questions.deleted"),
    "evaluations.run_in_full": Verb(lambda w, by: evaluations.run_in_full(w.project, by=by), "evaluation.run"),
    "evaluations.run": Verb(lambda w, by: evaluations.run(w.project, by=by), "evaluation.run"),
    "evaluations.set_baseline": Verb(
        lambda w, by: evaluations.set_baseline(w.project, w.evaluation, by=by), "baseline.set"
    ),
    "routing_settings.change": Verb(
        lambda w, by: routing_settings.change(w.project, fixed_threshold=0.5, by=by), "routing.changed", roles.MANAGE
    ),
    "project_capabilities.register": Verb(
        lambda w, by: project_capabilities.register(w.project, capability("our.new"), by=by),
        "capability.registered",
        roles.MANAGE,
    ),
    "project_capabilities.change": Verb(
        lambda w, by: project_capabilities.change(
            w.project, "our.echo", capability("our.echo", version="2"), seen=w.capability, by=by
        ),
        "capability.changed",
        roles.MANAGE,
    ),
    "project_capabilities.remove": Verb(
        lambda w, by: project_capabilities.remove(w.project, "our.echo", by=by), "capability.removed", roles.MANAGE
    ),
    "webhooks.create": Verb(
        lambda w, by: webhooks.create(w.project, HOOK, ["version.yanked"], by=by), "webhook.created", roles.MANAGE
    ),
    "webhooks.update": Verb(
        lambda w, by: webhooks.update(w.project, w.webhook, address=HOOK, events=["proposal.opened"], by=by),
        "webhook.changed",
        roles.MANAGE,
    ),
    "webhooks.set_enabled": Verb(
        lambda w, by: webhooks.set_enabled(w.project, w.webhook, False, by=by), "webhook.disabled", roles.MANAGE
    ),
    "webhooks.renew_secret": Verb(
        lambda w, by: webhooks.renew_secret(w.project, w.webhook, by=by), "webhook.secret-renewed", roles.MANAGE
    ),
    "webhooks.remove": Verb(
        lambda w, by: webhooks.remove(w.project, w.webhook, by=by), "webhook.removed", roles.MANAGE
    ),
    "webhooks.test": Verb(lambda w, by: webhooks.test(w.project, w.webhook, by=by), "webhook.tested", roles.MANAGE),
    "webhooks.replay": Verb(
        lambda w, by: webhooks.replay(w.project, w.webhook, by=by), "webhook.replayed", roles.MANAGE
    ),
    "projects.create": Verb(lambda w, by: projects.create(slug="third", name="Third", by=by), "project.created", None),
    "accounts.create_user": Verb(lambda w, by: accounts.create_user("newcomer", by=by), "user.created", None),
    "accounts.make_sign_in_link": Verb(
        lambda w, by: accounts.make_sign_in_link(w.member, by=by), "sign-in-link.made", None
    ),
    "accounts.deactivate": Verb(lambda w, by: accounts.deactivate(w.member, by=by), "user.deactivated", None),
    "accounts.reactivate": Verb(lambda w, by: _reactivate(w.member, by), "user.reactivated", None),
    "sealing.seal_again": Verb(lambda w, by: _seal_with_another_key(by), "audit.sealed", None),
}

NO_EVENT_OF_THEIR_OWN = {
    "audit.change": "records the event of its caller",
    "permissions.require": "checks permissions only",
    "permissions.reach": "checks permissions only",
    "permissions.require_operator": "checks permissions only",
    "bundles.require_publishable": "reads only, except that scans.check keeps the scan of a refused bundle",
    "publish_gate.check": "reads only",
    "scans.check": "keeps the scan of a refused bundle, which is no change of the project",
    "suppressions.listed": "reads only",
    "capability_list": "reads only",
    "project_capabilities.check": "reads only",
    "project_capabilities.find": "reads only",
    "suppressions.expire": "runs in the sweep, with one event for each row that expired",
    "scan_queries": "read only",
    "golden_set.require_person": "checks permissions only",
    "golden_set.cases": "reads only",
    "golden_set.find": "reads only",
    "golden_set.find_equal": "reads only",
    "route_log.entries": "reads only",
    "route_log.find": "reads only",
    "versions.add": "is part of the change of another function",
    "bundles.check": "reads only",
    "bundles.preview": "reads only",
    "import_preview.load": "stages a skill of a source, and does not change the project",
    "install.prepare": "reads only",
    "install.apply": "is part of install.import_skill",
    "provenance": "is part of the change of another function",
    "source_entries": "read only",
    "source_jobs": "queue jobs for the worker",
    "sources.look": "queues a check of the source for the worker",
    "sources.start": "queues imports for the worker",
    "sources.listed": "reads only",
    "sources.with_state": "reads only",
    "limits": "read only",
    "sources.find": "reads only",
    "sources.entries": "reads only",
    "sources.search": "does not change the project",
    "sources.jobs": "reads only",
    "sources.job": "reads only",
    "uninstalling.find": "reads only",
    # Drafts and uploads are visible to one person only until they publish or confirm them.
    "drafts": "publishing goes through skills.save and skills.create",
    "draft_files": "belong to a draft",
    "draft_checks": "belong to a draft",
    "conflicts": "resolve the conflicts of a draft",
    "uploads": "confirming goes through bundles.import_bundle, proposing through proposals.propose",
    "permissions.require_publish": "checks permissions only",
    "permissions.require_withdraw": "checks permissions only",
    "permissions.require_reach": "checks permissions only",
    "permissions.require_still": "checks permissions only",
    "versions.reactivate": "is part of the change of another function",
    "export_zip": "reads only",
    "export_directory": "reads only",
    "routing_transfer": "reads, or goes through golden_set.add and routing_settings.change",
    "import_project": "each skill goes through bundles.import_bundle",
    "audit.events": "reads only",
    # Permission also depends on the proposer, so proposals/test_verbs.py has its own table.
    "proposals": "see proposals/test_verbs.py",
    "reviews": "see proposals/test_verbs.py",
    "rebasing": "see proposals/test_verbs.py",
    "recommendations": "see proposals/test_verbs.py",
    "review_queue": "reads; rejecting goes through reviews.reject",
    "prepare": "are part of a proposal",
    "runs": "see workflows/test_verbs.py",
    "questions": "see workflows/test_verbs.py",
    "run_events": "announce the change of another function",
    "recipients": "read only",
    "run_details": "reads only",
    "run_list": "reads only",
    "run_progress": "reads only",
    "run_versions": "reads only",
    "run_watch": "reads only",
    "call_results": "reads only",
    "question_queue": "reads only",
    "answerers": "check permissions only",
    "notifications": "are part of the change of another function",
    "webhooks.list_endpoints": "reads only",
    "webhooks.find": "reads only",
    "approval_records": "are part of a review",
    "proposal_queries": "read only",
    "resolver": "caches the skills of a request, and does not change the project",
}
