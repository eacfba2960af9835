"""Proposal tools: agents propose changes, and nothing is served before a person approves it."""

from collections.abc import Callable
from typing import Any

import pytest

from registry.core import roles
from registry.core.bundle import Bundle
from registry.models import Project, Proposal, User
from registry.services import permissions
from registry.services.agents import agents
from registry.services.permissions import Actor
from registry.services.proposals import reviews
from tests.conftest import skill_text
from tests.protocols.mcp_client import Mcp

BETTER = skill_text("offers", body="# Offers\n\nA better text.")


@pytest.fixture
def proposer(mcp: Callable[..., Mcp], offers: Bundle) -> Mcp:
    return mcp("read", "propose")


def test_the_tools_need_the_scope_propose(proposer: Mcp, caller: Mcp) -> None:
    tools = {tool["name"]: tool for tool in proposer.ask("tools/list")["tools"]}
    assert tools["propose_skill_update"]["annotations"]["readOnlyHint"] is False
    assert tools["get_proposal"]["annotations"]["readOnlyHint"] is True
    assert "propose_skill_update" not in {tool["name"] for tool in caller.ask("tools/list")["tools"]}
    for tool in ("propose_skill_update", "get_proposal"):
        assert caller.refusal("tools/call", name=tool, arguments={})["code"] == -32602


def test_an_agent_proposes_a_change_and_reads_its_decision(
    proposer: Mcp, offers: Bundle, project: Project, person: Callable[[str], User]
) -> None:
    made = proposer.call(
        "propose_skill_update", skill_id="offers", skill_md=BETTER, justification="It was wrong.",
        base_digest=offers.digest, evidence=["https://example.org/ticket"],
    )["structuredContent"]  # fmt: skip
    assert (made["ok"], made["state"], made["base_digest"], made["joined"]) == (True, "open", offers.digest, False)
    assert "better" not in proposer.call("read_skill", skill_id="offers")["content"][0]["text"]
    reviewer = permissions.person(person(roles.REVIEWER), project)
    reviews.approve(project, made["id"], result_digest=made["result_digest"], comment="Thank you.", by=reviewer)
    seen = proposer.call("get_proposal", id=made["id"])["structuredContent"]
    assert (seen["state"], seen["decision_comment"]) == ("approved", "Thank you.")
    assert "better" in proposer.call("read_skill", skill_id="offers")["content"][0]["text"]
    (entry,) = proposer.ask("skills/list")["skills"]
    assert entry["_meta"]["app.skillsite/digest"] == made["result_digest"]


def test_an_equal_proposal_is_joined(proposer: Mcp, mcp: Callable[..., Mcp]) -> None:
    first = proposer.call("propose_skill_update", skill_id="offers", skill_md=BETTER, justification="One.")
    again = mcp("read", "propose", agent="other").call(
        "propose_skill_update", skill_id="offers", skill_md=BETTER, justification="Two."
    )
    assert again["structuredContent"]["joined"] is True
    assert again["structuredContent"]["id"] == first["structuredContent"]["id"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"skill_id": "offers", "justification": "Why."},
        {"skill_id": "offers", "skill_md": BETTER},
        {"skill_id": "offers", "justification": "", "skill_md": BETTER},
        {"skill_id": "offers", "justification": "Why.", "skill_md": BETTER, "diff": "x"},
        {"skill_id": "offers", "justification": "Why.", "skill_md": "no header"},
        {"skill_id": "offers", "justification": "Why.", "diff": "no diff"},
        {"skill_id": "offers", "justification": "Why.", "files": []},
        {"skill_id": "offers", "justification": "Why.", "files": {"../x": "y"}},
        {"skill_id": "offers", "justification": "Why.", "files": {"x": 3}},
        {"skill_id": "offers", "justification": "Why.", "skill_md": BETTER, "kind": "create"},
        {"skill_id": "offers", "justification": "Why.", "skill_md": BETTER, "kind": "destroy"},
        {"skill_id": "offers", "justification": "Why.", "skill_md": BETTER, "kind": "delete"},
        {"skill_id": "offers", "justification": "Why.", "skill_md": BETTER, "base_digest": "sha256:old"},
        {"skill_id": "offers", "justification": "Why.", "skill_md": BETTER, "evidence": "x"},
        {"skill_id": "offers", "justification": "Why.", "skill_md": BETTER, "evidence": [3]},
        {"skill_id": "../x", "justification": "Why.", "skill_md": BETTER},
    ],
)
def test_an_invalid_proposal_stores_nothing(proposer: Mcp, arguments: dict[str, Any]) -> None:
    result = proposer.call("propose_skill_update", **arguments)
    assert result["isError"] is True
    assert Proposal.objects.count() == 0


@pytest.mark.parametrize("number", [0, -1, 10**30, "1", True, None, 1.5])
def test_an_unknown_proposal_is_not_found(proposer: Mcp, number: Any) -> None:
    assert proposer.call("get_proposal", id=number)["isError"] is True


def test_an_agent_cannot_read_the_proposals_of_another(proposer: Mcp, mcp: Callable[..., Mcp]) -> None:
    made = proposer.call("propose_skill_update", skill_id="offers", skill_md=BETTER, justification="One.")
    number = made["structuredContent"]["id"]
    assert mcp("read", "propose", agent="nosy").call("get_proposal", id=number)["isError"] is True


def test_an_agent_cannot_propose_a_change_to_a_skill_it_may_not_see(
    proposer: Mcp, project: Project, operator: Actor
) -> None:
    agents.update(project, "bot", agents.Definition(allowed_skills=()), by=operator)
    result = proposer.call("propose_skill_update", skill_id="offers", skill_md=BETTER, justification="Why.")
    assert result["isError"] is True
    assert "sha256" not in result["content"][0]["text"]
    assert Proposal.objects.count() == 0


def test_proposals_use_the_rate_limit_for_writes(proposer: Mcp, settings: Any) -> None:
    settings.RATE_LIMIT_WRITE = 1
    proposer.call("propose_skill_update", skill_id="offers", skill_md=BETTER, justification="One.")
    again = proposer.call("propose_skill_update", skill_id="offers", skill_md=BETTER, justification="Two.")
    assert again["isError"] is True
    assert "requests a minute" in again["content"][0]["text"]
