"""The verbs of the audit log as a person says them."""

_WORDS: dict[str, dict[str, str]] = {
    "Skills": {
        "skill.created": "created the skill",
        "skill.saved": "published a version of",
        "skill.customised": "customised",
        "skill.rebased": "brought bundled changes into",
        "skill.deleted": "deleted",
        "skill.undeleted": "brought back",
        "skill.enabled": "switched on",
        "skill.disabled": "switched off",
        "bundle.imported": "imported",
        "upstream.kept": "kept their own text of",
        "source.imported": "imported from a source",
        "source.updated": "updated from its source",
        "source.merged": "merged with its source",
        "source.kept": "kept their own text of",
        "source.uninstalled": "uninstalled",
        "version.restored": "restored a version of",
        "version.yanked": "withdrew a version of",
    },
    "Proposals": {
        "proposal.opened": "proposed a change of",
        "proposal.joined": "proposed the same change of",
        "proposal.revised": "revised a proposal for",
        "proposal.rebased": "brought over a proposal for",
        "proposal.commented": "commented on a proposal for",
        "proposal.recommended": "advised on a proposal for",
        "proposal.approved": "approved a proposal for",
        "proposal.rejected": "rejected a proposal for",
        "proposal.changes-requested": "asked for changes of a proposal for",
        "proposal.withdrawn": "withdrew a proposal for",
        "proposal.overtaken": "saw proposals overtaken",
    },
    "Agents and tokens": {
        "agent.created": "added the agent",
        "agent.changed": "changed the agent",
        "agent.removed": "removed the agent",
        "token.created": "made a token for",
        "token.revoked": "revoked a token of",
    },
    "People": {
        "member.set": "set the role of",
        "member.joined": "joined as",
        "member.removed": "removed the member",
        "invitation.made": "invited",
        "invitation.withdrawn": "withdrew the invitation of",
    },
    "Project": {
        "project.described": "described the project",
        "project.published": "made public the project",
        "project.unpublished": "made private the project",
        "project.protected": "asked for review of every change of",
        "project.unprotected": "ended review of every change of",
        "project.advice-allowed": "let agents recommend in",
        "project.advice-ended": "ended recommendations of agents in",
        "webhook.created": "added the",
        "webhook.changed": "changed the",
        "webhook.enabled": "switched on the",
        "webhook.disabled": "switched off the",
        "webhook.secret-renewed": "made a new secret for the",
        "webhook.tested": "tested the",
        "webhook.replayed": "sent again what was given up for the",
        "webhook.removed": "removed the",
        "source.added": "added the source",
        "source.removed": "removed the source",
        "project.archived": "archived the project",
        "project.brought-back": "brought back the project",
    },
}
GROUPS = [(label, tuple(verbs)) for label, verbs in _WORDS.items()]
_ALL = {verb: words for verbs in _WORDS.values() for verb, words in verbs.items()}


def in_words(verb: str) -> str:
    """A verb nobody put into words stands as it is recorded."""
    return _ALL.get(verb, verb)
