"""Every verb: one event for what it did, one step of the project's revision, and nothing at all for whoever may not.

A verb is a public function of a service that takes `by`. Each stands in one of the two tables below; a new one that
stands in neither fails here.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.core.errors import Forbidden, NotFound, SkillsiteError
from registry.core.sources.import_request import ImportRequest
from registry.lib import lru
from registry.models import Delivery, Event, Project, SourceEntry, Token, User
from registry.remote.sources import FetchedBundle
from registry.services import audit, permissions
from registry.services.agents import agents, tokens
from registry.services.catalog import built_in, catalog
from registry.services.notifications import webhooks
from registry.services.people import accounts, invitations, members, projects
from registry.services.permissions import Actor
from registry.services.skills import bulk_edit, bundles, customisation, skills, versions
from registry.services.sources import install, source_entries, sources, uninstalling
from tests.conftest import on_disk, skill_bundle
from tests.services.footprint import nothing_left_behind
from tests.services.verbs import public_verbs


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

    @property
    def digest(self) -> str:
        return versions.history(self.project, "greeting")[0].digest

    @property
    def copy(self) -> str:
        return versions.history(self.project, "copied")[0].digest

    @property
    def bundled(self) -> str:
        return built_in.snapshot().skills["copied"][0].candidate.digest


@dataclass(frozen=True)
class Verb:
    """`scope` is None for what belongs to the site and needs no role in a project."""

    call: Callable[[World, Actor], object]
    event: str
    scope: str | None = roles.WRITE


SITE = "https://1.1.1.1"
HOOK = f"{SITE}/hook"

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
}

NO_EVENT_OF_THEIR_OWN = {
    "audit.change": "writes the event of whoever calls it",
    "permissions.require": "asks, and changes nothing",
    "permissions.reach": "asks, and changes nothing",
    "permissions.require_operator": "asks, and changes nothing",
    "versions.add": "works inside the change of a verb",
    "bundles.check": "looks, and changes nothing",
    "bundles.preview": "looks, and changes nothing",
    "import_preview.load": "puts aside what a source has, and changes nothing of the project",
    "install.prepare": "looks, and changes nothing",
    "install.apply": "is the second half of install.import_skill",
    "provenance": "is written inside the change of a verb",
    "source_entries": "look, and change nothing",
    "source_jobs": "do what was asked for through importing",
    "sources.look": "is done by the worker, and changes nothing of the project",
    "sources.start": "asks the worker for install.import_skill",
    "sources.listed": "looks, and changes nothing",
    "sources.find": "looks, and changes nothing",
    "sources.entries": "looks, and changes nothing",
    "sources.search": "looks, and changes nothing of the project",
    "sources.jobs": "looks, and changes nothing",
    "sources.job": "looks, and changes nothing",
    "uninstalling.find": "looks, and changes nothing",
    # What one person has not published or confirmed yet is noticed by nobody else.
    "drafts": "publishing goes through skills.save and skills.create",
    "draft_files": "belong to a draft",
    "draft_checks": "belong to a draft",
    "conflicts": "settle a draft",
    "uploads": "confirming goes through bundles.import_bundle, proposing through proposals.propose",
    "permissions.require_publish": "asks, and changes nothing",
    "permissions.require_withdraw": "asks, and changes nothing",
    "permissions.require_reach": "asks, and changes nothing",
    "permissions.require_still": "asks, and changes nothing",
    "versions.reactivate": "works inside the change of a verb",
    "export_zip": "looks, and changes nothing",
    "export_directory": "looks, and changes nothing here",
    "import_project": "each skill goes through bundles.import_bundle",
    "audit.events": "looks, and changes nothing",
    # Whose proposal it is counts as well as a scope: test_proposal_verbs holds them to the same.
    "proposals": "see test_proposal_verbs",
    "reviews": "see test_proposal_verbs",
    "rebasing": "see test_proposal_verbs",
    "review_queue": "looks; rejecting goes through reviews.reject",
    "prepare": "are part of a proposal",
    "notifications": "are written inside the change of a verb",
    "webhooks.list_endpoints": "looks, and changes nothing",
    "webhooks.find": "looks, and changes nothing",
    "approval_records": "are part of a review",
    "proposal_queries": "look, and change nothing",
    "resolver": "keeps copies of what a request names; nothing of the project changes",
}


@pytest.fixture
def world(project: Project, library: Path, operator: Actor) -> World:
    on_disk(library, "bundled-one")
    member = accounts.create_user("member", by=operator)
    members.set_role(project, member, roles.AUTHOR, by=operator)
    first = skills.create(project, skill_bundle(tags=["old"]), by=operator).version
    skills.save(project, "greeting", skill_bundle(tags=["old"], body="2"), base=first.digest, by=operator)
    skills.create(project, skill_bundle("gone"), by=operator)
    skills.delete(project, "gone", by=operator)
    skills.create(project, skill_bundle("off"), by=operator)
    skills.disable(project, "off", by=operator)
    on_disk(library, "copied")
    built_in.index().refresh()
    customisation.customise(project, "copied", by=operator)
    on_disk(library, "copied", body="Another text.")
    built_in.index().refresh()
    agent = agents.ensure(project, "bot", by=operator)
    tokens.create_token(project, agent=agent, lifetime=timedelta(days=1), by=operator)
    invitations.make(project, roles.VIEWER, by=operator)
    invitation = project.invitations.get().pk
    webhook, _ = webhooks.create(project, HOOK, ["version.published"], by=operator)
    Delivery.objects.create(endpoint=webhook, event="version.published", key="evt_1", body="{}", state="failed")
    return World(project, member, agent, invitation, Token.objects.get().pk, webhook.pk, source(project, operator))


def source(project: Project, operator: Actor) -> int:
    """One that offers a skill, and that another one came from; both are put aside, so nobody is asked."""
    made = sources.add(project, "url", f"{SITE}/a.zip", by=operator)
    for name in ("offered", "brought-before"):
        entry = SourceEntry.objects.create(source=made, name=name, digest="1")
        source_entries.stage(entry, FetchedBundle(skill_bundle(name), "", "1"))
    install.import_skill(project, made.pk, ImportRequest("brought-before"), by=operator)
    return made.pk


Each = Callable[[Iterable[str]], Iterator[str]]


@pytest.fixture
def each(world: World) -> Each:
    """One verb after the other, each in the world as it was made: what the one before it did is undone."""

    def names(wanted: Iterable[str]) -> Iterator[str]:
        for name in wanted:
            with transaction.atomic():
                yield name
                transaction.set_rollback(True)
            lru.clear_all()
            for row in (world.project, world.member, world.agent):
                row.refresh_from_db()

    return names


@pytest.fixture
def owner(project: Project, person: Callable[[str], User]) -> Actor:
    return permissions.person(person(roles.OWNER), project)


@pytest.fixture
def stranger(other_project: Project, operator: Actor) -> Actor:
    """Owns another project, and nothing here."""
    user = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, user, roles.OWNER, by=operator)
    return permissions.person(user, other_project)


def state(project: Project) -> tuple[int, int]:
    return Project.objects.get(pk=project.pk).revision, Event.objects.count()


IN_A_PROJECT = [name for name, verb in VERBS.items() if verb.scope]
ON_THE_SITE = [name for name, verb in VERBS.items() if not verb.scope]


def test_no_verb_was_forgotten() -> None:
    found = {name for name, _ in public_verbs() if name.partition(".")[0] not in NO_EVENT_OF_THEIR_OWN}
    assert found - NO_EVENT_OF_THEIR_OWN.keys() == VERBS.keys()


def test_the_actor_is_always_named() -> None:
    """`by` is never taken for something else: it is a keyword everywhere but where it is the subject itself."""
    functions = dict(public_verbs())
    for name in VERBS:
        parameters = inspect.signature(functions[name])
        assert parameters.parameters["by"].kind is inspect.Parameter.KEYWORD_ONLY, name


@pytest.mark.slow
def test_a_verb_leaves_one_event_and_moves_the_revision_by_one(world: World, owner: Actor, each: Each) -> None:
    for name in each(IN_A_PROJECT):
        if name == "projects.restore":
            projects.archive(world.project, by=owner)
        revision, events = state(world.project)
        VERBS[name].call(world, owner)
        assert state(world.project) == (revision + 1, events + 1), name
        event = Event.objects.order_by("-pk").first()
        assert event is not None
        assert (event.verb, event.actor_name, event.user_id) == (VERBS[name].event, "owner", owner.user_id)
        assert event.chain.project == world.project


def test_a_verb_of_the_site_leaves_one_event_in_the_sites_chain(world: World, operator: Actor, each: Each) -> None:
    for name in each(ON_THE_SITE):
        revision, events = state(world.project)
        VERBS[name].call(world, operator)
        assert state(world.project) == (revision, events + 1), name
        event = Event.objects.order_by("-pk").first()
        assert event is not None
        assert (event.verb, event.chain.name) == (VERBS[name].event, audit.SITE)


def test_without_the_scope_every_verb_is_refused_and_changes_nothing(
    world: World, person: Callable[[str], User]
) -> None:
    for name in IN_A_PROJECT:
        enough = VERBS[name].scope
        by = permissions.person(person(roles.REVIEWER if enough == roles.MANAGE else roles.VIEWER), world.project)
        with nothing_left_behind(), pytest.raises(Forbidden) as refused:
            VERBS[name].call(world, by)
        assert refused.value.data == {"scope": enough}, name


def test_a_person_of_another_project_can_neither_see_nor_change_anything(world: World, stranger: Actor) -> None:
    for name in IN_A_PROJECT:
        with nothing_left_behind(), pytest.raises(NotFound, match="There is no such project"):
            VERBS[name].call(world, stranger)
            pytest.fail(name)


def test_a_visitor_without_any_project_finds_nothing(world: World) -> None:
    for name in IN_A_PROJECT:
        with nothing_left_behind(), pytest.raises(NotFound, match="There is no such project"):
            VERBS[name].call(world, permissions.visitor(world.member))
            pytest.fail(name)


@pytest.mark.parametrize("kind", ["person", "agent"])
def test_a_link_that_signs_somebody_in_is_made_at_the_command_line_only(world: World, owner: Actor, kind: str) -> None:
    by = owner if kind == "person" else permissions.agent(world.agent, frozenset(roles.SCOPES))
    with nothing_left_behind(), pytest.raises(Forbidden):
        accounts.make_sign_in_link(world.member, by=by)


# -- Projects where every change is reviewed -----------------------------------------------------------------------

PUBLISHING = [
    "skills.create", "skills.save", "skills.delete", "skills.undelete", "bulk_edit.tag", "bulk_edit.untag",
    "versions.restore",
    "customisation.customise", "customisation.rebase", "bundles.import_bundle",
]  # fmt: skip
FOR_REVIEWERS = ["skills.disable", "skills.enable", "bulk_edit.switch", "versions.yank"]


def served(project: Project) -> dict[str, str]:
    revision, _ = state(project)
    return {skill.name: skill.digest for skill in catalog.view(project.pk, revision).served}


@pytest.fixture
def protected(world: World, owner: Actor) -> World:
    projects.set_protected(world.project, True, by=owner)
    return world


def test_in_a_protected_project_nobody_publishes_directly(protected: World, owner: Actor, operator: Actor) -> None:
    agent = permissions.agent(protected.agent, frozenset(roles.SCOPES))
    for name in PUBLISHING:
        for by in (owner, operator, agent):
            with nothing_left_behind(), pytest.raises(Forbidden, match="Propose the change instead") as refused:
                VERBS[name].call(protected, by)
            assert refused.value.data == {"protected": True}, name


def test_in_a_protected_project_reviewers_alone_take_away_at_once(
    protected: World, person: Callable[[str], User], each: Each
) -> None:
    author = permissions.person(person(roles.AUTHOR), protected.project)
    reviewer = permissions.person(person(roles.REVIEWER), protected.project)
    agent = permissions.agent(protected.agent, frozenset(roles.SCOPES))
    for name in each(FOR_REVIEWERS):
        for by in (author, agent):
            with nothing_left_behind(), pytest.raises(Forbidden, match="review proposals"):
                VERBS[name].call(protected, by)
        VERBS[name].call(protected, reviewer)


def test_in_a_protected_project_no_other_verb_changes_what_agents_get(
    protected: World, owner: Actor, each: Each
) -> None:
    before = served(protected.project)
    for name in each(sorted(VERBS.keys() - {*FOR_REVIEWERS})):
        with suppress(SkillsiteError):
            VERBS[name].call(protected, owner)
        assert served(protected.project) == before, name
