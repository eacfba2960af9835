"""The tools with which an agent suggests a change and learns what became of it. People decide."""

from typing import Any

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.core.text import edits
from registry.models import Project, Proposal
from registry.protocols.mcp.context import Context, Outcome
from registry.protocols.mcp.tool import TEXT, Arguments, Tool, structured
from registry.services import throttle
from registry.services.proposals import prepare, proposal_queries, proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills.stale_proposals import DELETE

_EDITS = ("diff", "skill_md", "files")


def _propose(context: Context, arguments: Arguments) -> Outcome:
    throttle.take(context.caller.token_id, writing=True)
    change = {name: arguments[name] for name in _EDITS if name in arguments}
    kind = arguments.get("kind")
    if kind == DELETE and change:
        raise InvalidRequest("A proposal to delete a skill carries no change of it. Nothing was stored.")
    suggestion = Suggestion(
        skill=arguments["skill_id"],
        edit=None if kind == DELETE else edits.parse(**change),
        justification=arguments["justification"],
        evidence=prepare.evidence(arguments.get("evidence", [])),
        kind=kind,
        base_digest=arguments.get("base_digest"),
    )
    project = Project.objects.get(pk=context.caller.project_id)
    made = proposals.propose(project, suggestion, by=context.caller.actor)
    findings = [finding.as_json() for finding in made.findings]
    return Outcome(structured({"ok": True, **_summary(made.proposal), "joined": made.joined, "findings": findings}))


def _get(context: Context, arguments: Arguments) -> Outcome:
    project = Project.objects.get(pk=context.caller.project_id)
    found = proposal_queries.look(project, min(arguments["id"], 2**62), by=context.caller.actor)
    comments = [{"by": _name(said), "comment": said.text} for said in found.comments]
    return Outcome(structured({"ok": True, **_summary(found.proposal), "comments": comments}))


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


def _name(said: Any) -> str:
    return str(said.agent.name if said.agent_id is not None else said.user.display_name)


TOOLS = (
    Tool(
        "propose_skill_update",
        "Suggest a change of a skill",
        "Suggest a better text for a skill, a new skill, or that one goes. Nothing changes until a person has approved "
        "it. Send one of diff, skill_md and files.",
        _propose,
        {
            "skill_id": {**TEXT, "description": "The name of the skill."},
            "justification": {**TEXT, "description": "Why. A reviewer reads it first."},
            "diff": {**TEXT, "description": "A unified diff of SKILL.md, or of several files."},
            "skill_md": {**TEXT, "description": "The whole new SKILL.md."},
            "files": {"type": "object", "description": "Paths to their new text; null removes a file."},
            "base_digest": {**TEXT, "description": "The digest that read_skill gave; the current one if left out."},
            "kind": {**TEXT, "enum": list(prepare.KINDS), "description": "What fits, if left out."},
            "evidence": {"type": "array", "description": "Texts, links or excerpts of logs that show the need."},
        },
        ("skill_id", "justification"),
        scope=roles.PROPOSE,
        reads=False,
    ),
    Tool(
        "get_proposal",
        "Look at a proposal",
        "What became of a suggestion: its state, the decision and what was said about it.",
        _get,
        {"id": {"type": "integer", "description": "As propose_skill_update gave it."}},
        ("id",),
        scope=roles.PROPOSE,
    ),
)
