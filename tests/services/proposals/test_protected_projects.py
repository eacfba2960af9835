"""Projects where every change is reviewed."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.core.errors import Forbidden
from registry.core.limits import Limits
from registry.models import Approval, Chain, Event, Project
from registry.services import audit, permissions
from registry.services.audit_log import verification
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.proposals import approval_records, proposals, rebasing
from registry.services.skills import skills, versions
from tests.conftest import skill_bundle
from tests.prepared import (
    create_skill,
    customise_skill,
    delete_skill,
    disable_skill,
    ensure_agent,
    import_bundle,
    yank_version,
)
from tests.services.footprint import nothing_left_behind
from tests.services.proposals.suggesting import approve, propose, rewrite, save, served, suggest, text

DIRECT: dict[str, Callable[[Project, Actor], object]] = {
    "create": lambda p, by: create_skill(p, skill_bundle("fresh"), by=by),
    "an empty create": lambda p, by: create_skill(p, skill_bundle("Not a name"), by=by),
    "save": lambda p, by: save(p, by, One="Uno"),
    "import": lambda p, by: import_bundle(p, skill_bundle("fresh"), by=by),
    "import again": lambda p, by: import_bundle(p, skill_bundle("gone"), by=by),
    "restore": lambda p, by: versions.restore(p, "greeting", "1", by=by),
    "delete": lambda p, by: delete_skill(p, "greeting", by=by),
    "undelete": lambda p, by: skills.undelete(p, "gone", by=by),
    "customise": lambda p, by: customise_skill(p, "bundled-one", by=by),
}


@pytest.mark.parametrize("change", DIRECT)
def test_protected_project_refuses_direct_publishing(protected: Project, owner: Actor, change: str) -> None:
    before = served(protected)
    with pytest.raises(Forbidden, match="Propose the change instead") as refused:
        DIRECT[change](protected, owner)
    assert refused.value.data == {"protected": True}
    assert served(protected) == before
    assert [skill.name for skill in catalog.view(protected.pk, -1).served] == ["bundled-one", "greeting"]


@pytest.mark.parametrize("change", [name for name in DIRECT if name != "an empty create"])
def test_protection_turned_on_meanwhile_is_respected(
    protected: Project, owner: Actor, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The project becomes protected after the first check and before the lock."""
    Project.objects.update(protected=False)
    in_turn = audit._lock

    def meanwhile(project: Project | None) -> Chain:
        Project.objects.update(protected=True)
        return in_turn(project)

    before = served(protected)
    monkeypatch.setattr(audit, "_lock", meanwhile)
    with pytest.raises(Forbidden, match="Propose the change instead"):
        DIRECT[change](protected, owner)
    assert served(protected) == before


def test_agent_with_write_scope_cannot_publish_in_a_protected_project(protected: Project, operator: Actor) -> None:
    writer = permissions.agent(ensure_agent(protected, "writer", by=operator), frozenset({roles.READ, roles.WRITE}))
    for change in DIRECT.values():
        with pytest.raises(Forbidden):
            change(protected, writer)
    with nothing_left_behind(), pytest.raises(Forbidden):
        yank_version(protected, "greeting", "1", reason="No.", by=writer)


def test_only_reviewers_disable_or_withdraw_in_a_protected_project(
    protected: Project, author: Actor, reviewer: Actor
) -> None:
    for take in (
        lambda by: disable_skill(protected, "greeting", by=by),
        lambda by: skills.enable(protected, "greeting", by=by),
        lambda by: yank_version(protected, "greeting", "1", reason="It is wrong.", by=by),
    ):
        with nothing_left_behind(), pytest.raises(Forbidden):
            take(author)
        take(reviewer)


def test_protected_project_is_changed_by_proposals(protected: Project, author: Actor, reviewer: Actor) -> None:
    approve(protected, propose(protected, author), reviewer)
    assert catalog.load(protected.pk, "greeting").read_text(SKILL_MD, Limits()) == text(One="Uno")


# -- Edits by a reviewer --------------------------------------------------------------------------------------------


def test_an_edited_approval_is_a_revision_that_somebody_else_approves(
    protected: Project, bot: Actor, reviewer: Actor, owner: Actor
) -> None:
    before, made = served(protected), propose(protected, bot)
    handed = approve(protected, made, reviewer, edit=rewrite(One="Ein"), comment="Shorter.")
    assert (handed.state, handed.revision, served(protected)) == ("open", 2, before)
    assert [(each.how, each.by) for each in made.revisions.order_by("number")] == [
        ("proposed", "bot"), ("edited", "reviewer"),
    ]  # fmt: skip
    event = Event.objects.latest("pk")
    assert (event.verb, event.data["edited"], event.data["revision"]) == ("proposal.revised", True, 2)
    with nothing_left_behind(), pytest.raises(Forbidden, match="own proposal"):
        approve(protected, made, reviewer)
    approve(protected, made, owner)
    approval = Approval.objects.get()
    assert (approval.by.username, approval.edited, approval.proposed_digest) == ("owner", True, made.result_digest)
    assert approval.version is not None and approval.version.by == "reviewer"
    assert served(protected) == approval.digest == handed.result_digest
    assert verification.verify()[1] == []
    assert approval_records.verify()[1] == []


def test_an_edit_needs_a_review_if_the_project_becomes_protected_meanwhile(
    protected: Project, bot: Actor, reviewer: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    Project.objects.update(protected=False)
    before, made, in_turn = served(protected), propose(protected, bot), audit._lock

    def meanwhile(project: Project | None) -> Chain:
        Project.objects.update(protected=True)
        return in_turn(project)

    monkeypatch.setattr(audit, "_lock", meanwhile)
    assert approve(protected, made, reviewer, edit=rewrite(One="Ein")).state == "open"
    assert served(protected) == before


def test_an_edit_that_is_updated_to_another_version_still_counts_as_edited(
    protected: Project, bot: Actor, reviewer: Actor, owner: Actor
) -> None:
    made = propose(protected, bot)
    approve(protected, made, reviewer, edit=rewrite(One="Ein"))
    Project.objects.update(protected=False)
    save(protected, owner, Nine="Neun")
    Project.objects.update(protected=True)
    rebasing.rebase(protected, made.pk, by=owner)
    with nothing_left_behind(), pytest.raises(Forbidden, match="own proposal"):
        approve(protected, made, reviewer)
    approve(protected, made, owner)
    assert Approval.objects.get().edited
    assert catalog.load(protected.pk, "greeting").read_text(SKILL_MD, Limits()) == text(One="Ein", Nine="Neun")


def test_the_proposers_next_revision_is_not_an_edit(
    protected: Project, bot: Actor, reviewer: Actor, owner: Actor
) -> None:
    made = propose(protected, bot)
    approve(protected, made, reviewer, edit=rewrite(One="Ein"))
    proposals.revise(protected, made.pk, suggest(rewrite(One="Un")), by=bot)
    approve(protected, made, owner)
    approval = Approval.objects.get()
    assert not approval.edited
    assert approval.version is not None and approval.version.by == "bot"
