"""The paths under /api."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from registry.api import agents, audit, bundles, catalog, proposals, skills, versions

_IN_PROJECT = "v1/projects/<str:project>"
_PROPOSAL = f"{_IN_PROJECT}/proposals/<str:proposal>"

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path(f"{_IN_PROJECT}/catalog", catalog.Catalog.as_view(), name="api-catalog"),
    path(f"{_IN_PROJECT}/effective", catalog.EffectiveSkills.as_view(), name="api-effective"),
    path(f"{_IN_PROJECT}/diagnostics", catalog.Diagnostics.as_view(), name="api-diagnostics"),
    path(f"{_IN_PROJECT}/agents", agents.Agents.as_view(), name="api-agents"),
    path(f"{_IN_PROJECT}/agents/<str:agent>", agents.OneAgent.as_view(), name="api-agent"),
    path(f"{_IN_PROJECT}/agents/<str:agent>/instructions", agents.AgentInstructions.as_view(), name="api-instructions"),
    path(f"{_IN_PROJECT}/agents/<str:agent>/tokens", agents.AgentTokens.as_view(), name="api-tokens"),
    path(f"{_IN_PROJECT}/agents/<str:agent>/tokens/<int:token>", agents.AgentToken.as_view(), name="api-token"),
    path(f"{_IN_PROJECT}/bundles", bundles.Bundles.as_view(), name="api-bundles"),
    path(f"{_IN_PROJECT}/skills", skills.Skills.as_view(), name="api-skills"),
    path(f"{_IN_PROJECT}/skills/<str:name>", skills.Skill.as_view(), name="api-skill"),
    path(f"{_IN_PROJECT}/skills/<str:name>/bundle.zip", skills.SkillBundle.as_view(), name="api-bundle"),
    path(f"{_IN_PROJECT}/skills/<str:name>/files/<path:path>", skills.SkillFile.as_view(), name="api-file"),
    path(f"{_IN_PROJECT}/skills/<str:name>/versions", versions.Versions.as_view(), name="api-versions"),
    path(
        f"{_IN_PROJECT}/skills/<str:name>/versions/<str:version>/restore",
        versions.Restore.as_view(),
        name="api-restore",
    ),
    path(
        f"{_IN_PROJECT}/skills/<str:name>/versions/<str:version>/yank",
        versions.Yank.as_view(),
        name="api-yank",
    ),
    path(f"{_IN_PROJECT}/proposals", proposals.Proposals.as_view(), name="api-proposals"),
    path(_PROPOSAL, proposals.Proposal.as_view(), name="api-proposal"),
    path(f"{_PROPOSAL}/withdraw", proposals.Withdraw.as_view(), name="api-withdraw"),
    path(f"{_PROPOSAL}/approve", proposals.Approve.as_view(), name="api-approve"),
    path(f"{_PROPOSAL}/reject", proposals.Reject.as_view(), name="api-reject"),
    path(f"{_PROPOSAL}/request-changes", proposals.RequestChanges.as_view(), name="api-request-changes"),
    path(f"{_PROPOSAL}/rebase", proposals.Rebase.as_view(), name="api-rebase"),
    path(f"{_PROPOSAL}/comments", proposals.Comments.as_view(), name="api-comments"),
    path(f"{_PROPOSAL}/recommend", proposals.Recommend.as_view(), name="api-recommend"),
    path(f"{_IN_PROJECT}/audit", audit.Audit.as_view(), name="api-audit"),
    path(f"{_IN_PROJECT}/audit/verify", audit.Verify.as_view(), name="api-audit-verify"),
]
