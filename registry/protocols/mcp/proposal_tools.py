"""MCP tools for agents that propose a change and read its state. People approve it."""

from typing import Any

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.text import edits
from registry.models import Project, Proposal
from registry.protocols.mcp.context import Context, MethodResult
from registry.protocols.mcp.tool import TEXT, Arguments, Tool, structured
from registry.services import throttle
from registry.services.proposals import prepare, proposal_queries, proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills.stale_proposals import DELETE

_EDITS = ("diff", "skill_md", "files")


def _propose(context: Context, arguments: Arguments) -> MethodResult:
    throttle.take(context.caller.token_id, writing=True)
    change = {name: arguments[name] for name in _EDITS if name in arguments}
    kind = arguments.get("kind")
    if kind == DELETE and change:
        raise InvalidRequest("A proposal to delete a skill can’t contain a change. Nothing was saved.")
    suggestion = Suggestion(
        skill=arguments["skill_id"],
        edit=None if kind == DELETE else edits.parse(**change),
        justification=arguments["justification"],
        evidence=prepare.evidence(arguments.get("evidence", [])),
        kind=kind,
        base_digest=arguments.get("base_digest"),
    )
    project = Project.objects.get(pk=context.caller.project_id)
    proposed = proposals.propose(project, suggestion, by=context.caller.actor)
    findings = [finding.as_json() for finding in proposed.findings]
    body = {"ok": True, **_summary(proposed.proposal), "joined": proposed.joined, "findings": findings}
    return MethodResult(structured(body))


def _get(context: Context, arguments: Arguments) -> MethodResult:
    project = Project.objects.get(pk=context.caller.project_id)
    found = proposal_queries.details(project, min(arguments["id"], 2**62), by=context.caller.actor)
    comments = [{"by": _author(comment), "comment": comment.text} for comment in found.comments]
    return MethodResult(structured({"ok": True, **_summary(found.proposal), "comments": comments}))


def _summary(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.pk,
        "skill": proposal.skill,
        "kind": proposal.kind,
        "state": proposal.state,
        "reason": proposal.state_reason,
        "base_digest": proposal.base_digest or None,
        "result_digest": proposal.result_digest or None,
        "decision": proposal.decision or None,
        "decision_comment": proposal.decision_comment,
    }


def _author(comment: Any) -> str:
    return str(comment.agent.name if comment.agent_id is not None else comment.user.display_name)


TOOLS = (
    Tool(
        "propose_skill_update",
        "Propose a change to a skill",
        "Propose a change to a skill, a new skill, or the deletion of a skill. Nothing changes until a person approves "
        "it. Send one of diff, skill_md and files.",
        _propose,
        {
            "skill_id": {**TEXT, "description": "The name of the skill."},
            "justification": {**TEXT, "description": "Why the change is needed. Reviewers read it first."},
            "diff": {**TEXT, "description": "A unified diff of SKILL.md, or of several files."},
            "skill_md": {**TEXT, "description": "The whole new SKILL.md."},
            "files": {"type": "object", "description": "New text by path; null removes a file."},
            "base_digest": {**TEXT, "description": "The digest from read_skill. Default: the current one."},
            "kind": {**TEXT, "enum": list(prepare.KINDS), "description": "Default: what fits the skill."},
            "evidence": {"type": "array", "description": "Texts, links or log excerpts that show the need."},
        },
        ("skill_id", "justification"),
        scope=roles.PROPOSE,
        reads=False,
    ),
    Tool(
        "get_proposal",
        "Get a proposal",
        "The state of a proposal, its decision and its comments.",
        _get,
        {"id": {"type": "integer", "description": "The id from propose_skill_update."}},
        ("id",),
        scope=roles.PROPOSE,
    ),
)
