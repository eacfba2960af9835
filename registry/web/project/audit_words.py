"""Plain words for the verbs of the audit log."""

# For each verb: the words of an entry, followed by its target, and the label of the filter.
_WORDS: dict[str, dict[str, tuple[str, str]]] = {
    "Skills": {
        "skill.created": ("created the skill", "Skill created"),
        "skill.saved": ("published a version of", "Version published"),
        "skill.customised": ("customised", "Built-in skill customised"),
        "skill.rebased": ("merged changes of the built-in skill into", "Built-in changes merged"),
        "skill.deleted": ("deleted", "Skill deleted"),
        "skill.undeleted": ("restored the skill", "Skill restored"),
        "skill.enabled": ("switched on", "Skill switched on"),
        "skill.disabled": ("switched off", "Skill switched off"),
        "bundle.imported": ("uploaded", "Bundle uploaded"),
        "upstream.kept": ("kept the project’s text of", "Built-in changes declined"),
        "source.imported": ("imported from a source:", "Skill imported from a source"),
        "source.updated": ("updated from its source:", "Skill updated from its source"),
        "source.merged": ("merged with its source:", "Skill merged with its source"),
        "source.kept": ("kept the project’s text of", "Changes of the source declined"),
        "source.uninstalled": ("uninstalled", "Skill uninstalled"),
        "version.restored": ("restored a version of", "Version restored"),
        "version.yanked": ("withdrew a version of", "Version withdrawn"),
        "version.quarantined": ("quarantined a version of", "Version quarantined"),
        "bundle.scanned": ("finished the deep security scan of", "Security scan finished"),
        "finding.suppressed": ("suppressed a security finding in", "Finding suppressed"),
        "suppression.ended": ("ended the suppression of a finding in", "Suppression ended"),
        "version.released": ("lifted the quarantine of a version of", "Quarantine lifted"),
    },
    "Proposals": {
        "proposal.opened": ("proposed a change to", "Change proposed"),
        "proposal.joined": ("proposed the same change to", "Same change proposed again"),
        "proposal.revised": ("revised a proposal for", "Proposal revised"),
        "proposal.rebased": ("updated a proposal for", "Proposal updated"),
        "proposal.commented": ("commented on a proposal for", "Comment on a proposal"),
        "proposal.recommended": ("recommended a decision on a proposal for", "Decision recommended"),
        "proposal.approved": ("approved a proposal for", "Proposal approved"),
        "proposal.rejected": ("rejected a proposal for", "Proposal rejected"),
        "proposal.changes-requested": ("requested changes to a proposal for", "Changes requested"),
        "proposal.withdrawn": ("withdrew a proposal for", "Proposal withdrawn"),
        "proposal.overtaken": ("changed the built-in skill, which made proposals outdated:", "Proposals outdated"),
    },
    "Routing": {
        "golden.added": ("added test questions to", "Test questions added"),
        "golden.changed": ("changed a test question of", "Test question changed"),
        "golden.deleted": ("deleted test questions of", "Test questions deleted"),
        "evaluation.run": ("ran the test questions of", "Test questions run"),
        "baseline.set": ("changed the baseline of", "Baseline changed"),
        "questions.deleted": ("deleted questions from the log of", "Logged questions deleted"),
        "routing.changed": ("changed the routing settings of", "Routing settings changed"),
    },
    "Agents and tokens": {
        "agent.created": ("created the agent", "Agent created"),
        "agent.changed": ("changed the agent", "Agent changed"),
        "agent.removed": ("removed the agent", "Agent removed"),
        "token.created": ("created a token for", "Token created"),
        "token.revoked": ("revoked a token of", "Token revoked"),
    },
    "People": {
        "member.set": ("set the role of", "Role set"),
        "member.joined": ("joined as", "Member joined"),
        "member.removed": ("removed the member", "Member removed"),
        "invitation.made": ("created an invitation", "Invitation created"),
        "invitation.withdrawn": ("withdrew an invitation", "Invitation withdrawn"),
    },
    "Project": {
        "project.described": ("changed the name or description of", "Name or description changed"),
        "project.published": ("made the project public:", "Project made public"),
        "project.unpublished": ("made the project private:", "Project made private"),
        "project.protected": ("turned on reviews for", "Reviews turned on"),
        "project.unprotected": ("turned off reviews for", "Reviews turned off"),
        "project.advice-allowed": ("allowed recommendations by agents in", "Agent recommendations allowed"),
        "project.advice-ended": ("ended recommendations by agents in", "Agent recommendations ended"),
        "project.blocking-set": ("changed which findings block publishing in", "Blocking findings changed"),
        "project.quarantine-automatic": ("turned on automatic quarantine for", "Automatic quarantine turned on"),
        "project.quarantine-manual": ("turned off automatic quarantine for", "Automatic quarantine turned off"),
        "webhook.created": ("added", "Webhook added"),
        "webhook.changed": ("changed", "Webhook changed"),
        "webhook.enabled": ("switched on", "Webhook switched on"),
        "webhook.disabled": ("switched off", "Webhook switched off"),
        "webhook.secret-renewed": ("renewed the secret of", "Webhook secret renewed"),
        "webhook.tested": ("tested", "Webhook tested"),
        "webhook.replayed": ("sent failed deliveries again for", "Webhook deliveries sent again"),
        "webhook.removed": ("removed", "Webhook removed"),
        "source.added": ("added the source", "Source added"),
        "source.removed": ("removed the source", "Source removed"),
        "project.archived": ("archived the project", "Project archived"),
        "project.brought-back": ("restored the project", "Project restored"),
    },
}
_BY_VERB = {verb: words for group in _WORDS.values() for verb, (words, _) in group.items()}

# The options of the filter: the label of a group, then (verb, label) pairs.
FILTER_GROUPS = [(label, [(verb, words[1]) for verb, words in group.items()]) for label, group in _WORDS.items()]


def in_words(verb: str) -> str:
    """Return the words for a verb, or the verb itself if it has none."""
    return _BY_VERB.get(verb, verb)
