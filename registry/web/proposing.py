"""What is said to somebody who just proposed a change."""

from registry.services.proposals.proposals import Proposed


def proposed_in_words(made: Proposed) -> str:
    if made.joined:
        return f"The very same is waiting already as proposal {made.proposal.pk}. Your voice was added to it."
    return f"Proposal {made.proposal.pk} is waiting for review. Agents get nothing of it before somebody approves it."
