"""Rows changed by SQL behind the audit log: each change of what agents get is found and named."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from registry.core import roles
from registry.models import Agent, Event, Project, Scan, Suppression, Token, Version
from registry.services.agents import agents, tokens
from registry.services.agents.agents import Definition
from registry.services.audit_log.verification import Broken, verify
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from registry.services.scans import suppressions
from registry.services.skills import quarantine, skills, versions
from tests.conftest import skill_bundle
from tests.prepared import create_skill, delete_skill, ensure_agent, save_skill
from tests.remembered import remembered
from tests.services.scans.alarming import LINE, RULE, alarming

SOON = "2099-01-01 00:00:00+00:00"


@pytest.fixture
@remembered
def site(project: Project, other_project: Project, operator: Actor) -> Project:
    """A project with versions in every state, two suppressions, options, an agent, and tokens 1 to 5.

    Versions of greeting: 1 is withdrawn, 2 is in quarantine, 3 and 4 are available. Version 1 of again was deleted.
    """
    base = ""
    for number in "1234":
        bundle = skill_bundle(body=number)
        base = save_skill(project, "greeting", bundle, base=base or None, by=operator).version.digest
    versions.yank(project, "greeting", "1", reason="Old.", by=operator)
    quarantine.quarantine(project, "greeting", "2", reason="Harmful.", by=operator)
    for text in ("one", "two"):
        create_skill(project, skill_bundle("again", body=text), by=operator)
        delete_skill(project, "again", by=operator)
    skills.undelete(project, "again", by=operator)
    for text in ("", "Really."):
        digest = create_skill(project, alarming(f"alarming{len(text)}", text), by=operator).version.digest
        place = {"rule": RULE, "file": "SKILL.md", "line": LINE}
        row = suppressions.suppress(project, digest, **place, reason="A quote.", by=operator)
    suppressions.end(project, row.pk, by=operator)
    skills.disable(project, "alarming7", by=operator)
    projects.set_protected(project, True, by=operator)
    _make_tokens(project, operator)
    return project


def _make_tokens(project: Project, operator: Actor) -> None:
    agents.create(project, "bot", Definition(allowed_skills=("greeting",)), by=operator)
    bot = Agent.objects.get(name="bot")
    tokens.issue_token(project, agent=bot, scopes=[roles.READ], lifetime=timedelta(days=1), by=operator)
    revoked = tokens.issue_token(project, agent=bot, by=operator).token
    tokens.revoke_token(project, revoked.pk, by=operator)
    removed = ensure_agent(project, "removed", by=operator)
    tokens.issue_token(project, agent=removed, by=operator)
    agents.remove(project, "removed", by=operator)
    for name in ("closed", "left"):
        user = accounts.create_user(name, by=operator)
        members.set_role(project, user, roles.AUTHOR, by=operator)
        tokens.issue_token(project, user=user, by=operator)
    accounts.deactivate(accounts.User.objects.get(username="closed"), by=operator)
    members.remove(project, accounts.User.objects.get(username="left"), by=operator)


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount > 0


def version(name: str, number: str) -> str:
    return f"(SELECT id FROM registry_version v WHERE v.version = '{number}' AND v.skill_id = {skill(name)})"  # noqa: S608


def skill(name: str) -> str:
    return f"(SELECT id FROM registry_skill s WHERE s.name = '{name}')"  # noqa: S608


def token(number: int) -> str:
    return f"(SELECT id FROM (SELECT id FROM registry_token ORDER BY id LIMIT 1 OFFSET {number - 1}) t)"  # noqa: S608


def set_version(name: str, number: str, column: str, value: str = "NULL") -> str:
    return f"UPDATE registry_version SET {column} = {value} WHERE id = {version(name, number)}"  # noqa: S608


def set_option(option: str, value: str) -> str:
    return f"UPDATE registry_project SET {option} = {value} WHERE slug = 'demo'"  # noqa: S608


def set_skill(name: str, column: str, value: str) -> str:
    return f"UPDATE registry_skill SET {column} = {value} WHERE name = '{name}'"  # noqa: S608


def set_token(number: int, column: str, value: str) -> str:
    return f"UPDATE registry_token SET {column} = {value} WHERE id = {token(number)}"  # noqa: S608


# The statement, and a part of the sentence.
WAYS: dict[str, tuple[str, str]] = {
    "current-older": (
        set_skill("greeting", "current_id", version("greeting", "3")),
        "the current version of greeting is 3, and its events say 4",
    ),
    "current-deleted": (
        set_skill("again", "current_id", version("again", "1")),
        "the current version of again is 1, and its events say 2",
    ),
    "current-none": (set_skill("again", "current_id", "NULL"), "the current version of again is None"),
    "enabled": (set_skill("alarming7", "enabled", "TRUE"), "alarming7 is enabled, and its events say disabled"),
    "deleted": (set_skill("greeting", "overrides", "FALSE"), "greeting is deleted, and its events say not deleted"),
    "yank-cleared": (set_version("greeting", "1", "yanked_at"), "version 1 of greeting is not withdrawn"),
    "yanked": (set_version("greeting", "3", "yanked_at", f"'{SOON}'"), "version 3 of greeting is withdrawn"),
    "deletion-cleared": (set_version("again", "1", "deleted_at"), "version 1 of again is not deleted"),
    "version-deleted": (set_version("greeting", "3", "deleted_at", f"'{SOON}'"), "version 3 of greeting is deleted"),
    "version-removed": (
        f"DELETE FROM registry_version WHERE id = {version('greeting', '3')}",  # noqa: S608
        "version 3 of greeting is missing, and no event says so",
    ),
    "version-renamed": (set_version("greeting", "3", "version", "'9'"), "version 9 of greeting has no event"),
    "quarantine-cleared": (set_version("greeting", "2", "quarantined_at"), "2 of greeting is not in quarantine"),
    "quarantined": (
        set_version("greeting", "3", "quarantined_at", f"'{SOON}'"), "version 3 of greeting is in quarantine"
    ),
    "suppression-prolonged": (
        f"UPDATE registry_suppression SET expires_at = '{SOON}' WHERE ended_at IS NULL",  # noqa: S608
        f"the suppression of {RULE} in SKILL.md of alarming0 expires at 2099-01-01T00:00:00+00:00, and its event says",
    ),
    "suppression-revived": (
        "UPDATE registry_suppression SET ended_at = NULL WHERE ended_at IS NOT NULL",
        f"the suppression of {RULE} in SKILL.md of alarming7 has no event",
    ),
    "suppression-removed": (
        "DELETE FROM registry_suppression WHERE ended_at IS NULL", "is missing, and no event says so"
    ),
    "unprotected": (set_option("protected", "FALSE"), "the option protected of the project is off"),
    "public": (set_option("public", "TRUE"), "the option public of the project is on, and its events say off"),
    "blocking": (set_option("blocking", "'none'"), "the option blocking of the project is none"),
    "advice": (set_option("reviewer_agents", "TRUE"), "the option reviewer_agents of the project is on"),
    "makers": (set_option("makers_approve", "TRUE"), "the option makers_approve of the project is on"),
    "automatic": (set_option("quarantines_alarms", "TRUE"), "the option quarantines_alarms of the project is on"),
    "archived": (set_option("archived_at", f"'{SOON}'"), "the option archived of the project is on"),
    "scopes": (set_token(1, "scopes", """'["manage", "read"]'"""), "of bot has the scopes ['manage', 'read']"),
    "prolonged": (set_token(1, "expires_at", "NULL"), "of bot expires at None, and its event says"),
    "unrevoked": (set_token(2, "revoked_at", "NULL"), "of bot is valid, and its events say that it was revoked"),
    "unrevoked-agent": (set_token(3, "revoked_at", "NULL"), "of removed is valid, and its events say"),
    "unrevoked-account": (set_token(4, "revoked_at", "NULL"), "of closed is valid, and its events say"),
    "unrevoked-member": (set_token(5, "revoked_at", "NULL"), "of left is valid, and its events say"),
    "moved-token": (
        set_token(1, "agent_id", "(SELECT id FROM registry_agent WHERE name = 'removed')"),
        "is of removed, and its event says bot",
    ),
    "member-removed": ("DELETE FROM registry_membership", "the member closed is missing, and no event says so"),
    "agent-list": (
        "UPDATE registry_agent SET allowed_skills = NULL WHERE name = 'bot'",
        "allowed_skills of the agent bot is None, and its events say ['greeting']",
    ),
    "agent-back": ("UPDATE registry_agent SET removed_at = NULL WHERE name = 'removed'", "agent removed was removed"),
}  # fmt: skip


def test_an_untouched_project_is_clean(site: Project) -> None:
    assert verify() == (Event.objects.count(), [])
    states = Version.objects.filter(skill__name="greeting").order_by("pk")
    assert [row.available for row in states] == [False, False, True, True]
    assert Token.objects.count() == 5


@pytest.mark.parametrize("way", WAYS)
def test_a_changed_row_is_found_and_named(site: Project, way: str) -> None:
    statement, sentence = WAYS[way]
    sql(statement)
    found = verify()[1]
    assert any(fault.chain == f"project-{site.pk}" and sentence in fault.reason for fault in found), found
    assert verify(site)[1] == found


def test_inserted_rows_are_found(site: Project) -> None:
    scan = Scan.objects.filter(skill="alarming7").get()
    Suppression.objects.create(
        project=site, digest=scan.digest, skill=scan.skill, rule="x", file="y", reason="z", expires_at=timezone.now()
    )
    agent = Agent.objects.create(project=site, name="mallory")
    made = Token.objects.create(project=site, agent=agent, digest="0" * 64, start="x", scopes=["read"])
    assert {fault.reason for fault in verify()[1]} == {
        "the suppression of x in y of alarming7 has no event",
        "the agent mallory has no event",
        f"token {made.pk} of mallory has no event",
    }


def test_a_project_without_events_is_compared_with_its_creation(other_project: Project) -> None:
    assert verify()[1] == []
    Project.objects.filter(pk=other_project.pk).update(public=True)
    reason = "the option public of the project is on, and its events say off"
    assert verify()[1] == verify(other_project)[1] == [Broken(f"project-{other_project.pk}", 0, reason)]


def test_a_release_and_a_withdrawal_of_the_current_version_are_explained(site: Project, operator: Actor) -> None:
    projects.set_protected(site, False, by=operator)
    versions.yank(site, "greeting", "4", reason="Old.", by=operator)
    assert verify()[1] == []
    quarantine.quarantine(site, "greeting", "3", reason="Harmful.", by=operator)
    assert verify()[1] == []
    quarantine.release(site, "greeting", "2", by=operator)
    assert verify()[1] == []
    sql(set_skill("greeting", "current_id", version("greeting", "4")))
    [fault] = verify()[1]
    assert fault.reason.startswith("the current version of greeting is 4, with the digest sha256:")
