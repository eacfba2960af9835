"""Every protocol serves the same names, versions and digests, before and after every change."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core import roles
from registry.core.text import edits
from registry.models import Project, User
from registry.services import permissions
from registry.services.catalog import built_in
from registry.services.permissions import Actor
from registry.services.proposals import reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import quarantine, skills
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, delete_skill, disable_skill, propose, save_skill, yank_version
from tests.protocols.readers import Digests


def approve(project: Project, name: str, text: str, person: Callable[[str], User]) -> str:
    """Propose a change as an author, approve it as a reviewer, and return the digest of the result."""
    author, reviewer = (permissions.person(person(role), project) for role in (roles.AUTHOR, roles.REVIEWER))
    suggestion = Suggestion(name, edits.parse(skill_md=text), "Better.")
    proposal = propose(project, suggestion, by=author).proposal
    reviews.approve(project, proposal.pk, result_digest=proposal.result_digest, by=reviewer)
    return proposal.result_digest


# The client calls the WSGI application, which closes its database connection after each request.
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_every_protocol_serves_the_same_skills(
    digests: Callable[[], list[Digests]],
    project: Project,
    library: Path,
    operator: Actor,
    person: Callable[[str], User],
) -> None:
    on_disk(library, "shared", {"references/a.md": b"a\n", "assets/b.bin": bytes(range(256))})
    on_disk(library, "plain")
    built_in.index().refresh()
    seen: list[Any] = []

    def expect(*names: str) -> None:
        served = digests()
        assert all(each == served[0] for each in served), served
        assert sorted(served[0]) == sorted(names)
        seen.append(served[0])

    expect("plain", "shared")
    first = save_skill(project, "shared", skill_bundle("shared", body="Ours."), base=seen[-1]["shared"], by=operator)
    expect("plain", "shared")
    assert seen[-1]["shared"] != seen[-2]["shared"]
    own = skill_bundle("own", {"x.txt": b"x"})
    create_skill(project, own, by=operator)
    expect("own", "plain", "shared")
    disable_skill(project, "plain", by=operator)
    expect("own", "shared")
    save_skill(project, "own", skill_bundle("own", body="Next."), base=own.digest, by=operator)
    expect("own", "shared")
    yank_version(project, "own", "2", reason="Wrong.", by=operator)
    expect("own", "shared")
    assert seen[-1]["own"] == own.digest
    approved = approve(project, "own", skill_text("own", body="Better."), person)
    expect("own", "shared")
    assert seen[-1]["own"] == approved
    quarantine.quarantine(project, "own", "3", reason="Odd.", by=operator)
    expect("own", "shared")
    assert seen[-1]["own"] == own.digest
    quarantine.quarantine(project, "own", "1", reason="Odd.", by=operator)
    expect("shared")
    quarantine.release(project, "own", "3", by=operator)
    expect("own", "shared")
    assert seen[-1]["own"] == approved
    yank_version(project, "shared", first.version.version, reason="Wrong.", by=operator)
    expect("own")
    delete_skill(project, "shared", by=operator)
    skills.enable(project, "plain", by=operator)
    expect("own", "plain", "shared")
    assert seen[-1]["shared"] == seen[0]["shared"]
