"""No protocol serves any part of a proposal before it is approved, nor after it is rejected or withdrawn."""

from collections.abc import Callable

import pytest

from registry.core import roles
from registry.core.text import edits
from registry.models import Project, User
from registry.services import permissions
from registry.services.permissions import Actor
from registry.services.proposals import proposals, reviews
from registry.services.proposals.prepare import Suggestion
from tests.conftest import Api, skill_bundle, skill_text
from tests.prepared import create_skill, ensure_agent, propose
from tests.protocols.mcp_client import Mcp
from tests.protocols.readers import Digests

SECRET = "xylophone-quartz"


def suggest(project: Project, name: str, by: Actor) -> int:
    text = skill_text(name, body=f"Say {SECRET}.", description=f"{SECRET}. Use when somebody asks for it.")
    change = Suggestion(name, edits.parse(files={"SKILL.md": text, "references/a.md": SECRET}), SECRET)
    return propose(project, change, by=by).proposal.pk


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_protocol_serves_an_unapproved_proposal(
    digests: Callable[[], list[Digests]],
    project: Project,
    operator: Actor,
    person: Callable[[str], User],
    api: Callable[..., Api],
    secret: Callable[..., str],
) -> None:
    current = create_skill(project, skill_bundle("own"), by=operator).version.digest
    bot = permissions.agent(ensure_agent(project, "writer", by=operator), frozenset({roles.PROPOSE}))
    reviewer = permissions.person(person(roles.REVIEWER), project)
    scopes = (roles.READ, roles.PROPOSE, roles.WRITE)
    rest, mcp = api(*scopes, agent="other"), Mcp(secret(*scopes, agent="other"))

    def nothing_shows() -> None:
        assert all(served == {"own": current} for served in digests())
        for path in ("/catalog", "/skills", "/effective", "/proposals", "/diagnostics", "/skills/own/versions"):
            assert SECRET.encode() not in rest.get(path).content, path
        for method in ("tools/list", "resources/list", "skills/list"):
            assert SECRET.encode() not in mcp.request(method).content, method
        assert SECRET.encode() not in mcp.request("tools/call", {"name": "list_skills", "arguments": {}}).content

    change, creation = suggest(project, "own", bot), suggest(project, "fresh", bot)
    nothing_shows()
    reviews.request_changes(project, change, comment="Why?", by=reviewer)
    nothing_shows()
    reviews.reject(project, change, comment="No.", by=reviewer)
    proposals.withdraw(project, creation, by=bot)
    nothing_shows()
    again = suggest(project, "own", bot)
    found = proposals.find(project, again, by=reviewer)
    reviews.approve(project, again, result_digest=found.result_digest, by=reviewer)
    assert all(served == {"own": found.result_digest} for served in digests())
