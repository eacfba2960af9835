"""URL paths below /api."""

from django.urls import include, path

from registry.api import (
    agents,
    audit,
    bundles,
    capabilities,
    catalog,
    documentation,
    evals,
    export,
    instructions,
    proposals,
    resolve,
    route,
    run_decisions,
    run_events,
    run_values,
    runs,
    scans,
    skills,
    sources,
    versions,
)

_SKILL = "skills/<str:name>"
_AGENT = "agents/<str:agent>"
_PROPOSAL = "proposals/<str:proposal>"
_CAPABILITY = "capabilities/<str:capability>"
_RUN = "runs/<str:run>"
_SOURCE = "sources/<str:source>"

# Django tries the paths in this order, so those that agents request most are first.
_in_project = [
    path("catalog", catalog.Catalog.as_view(), name="api-catalog"),
    path(_SKILL, skills.Skill.as_view(), name="api-skill"),
    path(f"{_SKILL}/files/<path:path>", skills.SkillFile.as_view(), name="api-file"),
    path(f"{_SKILL}/bundle.zip", skills.SkillBundle.as_view(), name="api-bundle"),
    path(f"{_SKILL}/versions", versions.Versions.as_view(), name="api-versions"),
    path(f"{_SKILL}/versions/<str:version>/restore", versions.Restore.as_view(), name="api-restore"),
    path(f"{_SKILL}/versions/<str:version>/yank", versions.Yank.as_view(), name="api-yank"),
    path(f"{_SKILL}/disable", skills.Disable.as_view(), name="api-disable"),
    path(f"{_SKILL}/enable", skills.Enable.as_view(), name="api-enable"),
    path(f"{_SKILL}/scan", scans.SkillScan.as_view(), name="api-scan"),
    path(f"{_SKILL}/versions/<str:version>/quarantine", versions.Quarantine.as_view(), name="api-quarantine"),
    path(f"{_SKILL}/versions/<str:version>/release", versions.Release.as_view(), name="api-release"),
    path("skills", skills.Skills.as_view(), name="api-skills"),
    path("route", route.Route.as_view(), name="api-route"),
    path("resolve", resolve.Resolve.as_view(), name="api-resolve"),
    path(
        "resolved/<str:name>/<str:version>/files/<path:path>", resolve.ResolvedFile.as_view(), name="api-resolved-file"
    ),
    path("bundles", bundles.Bundles.as_view(), name="api-bundles"),
    path("export.zip", export.Export.as_view(), name="api-export"),
    path("effective", catalog.EffectiveSkills.as_view(), name="api-effective"),
    path("diagnostics", catalog.Diagnostics.as_view(), name="api-diagnostics"),
    path("agents", agents.Agents.as_view(), name="api-agents"),
    path(_AGENT, agents.OneAgent.as_view(), name="api-agent"),
    path(f"{_AGENT}/instructions", instructions.AgentInstructions.as_view(), name="api-instructions"),
    path("instructions", instructions.OwnInstructions.as_view(), name="api-own-instructions"),
    path(f"{_AGENT}/tokens", agents.AgentTokens.as_view(), name="api-tokens"),
    path(f"{_AGENT}/tokens/<int:token>", agents.AgentToken.as_view(), name="api-token"),
    path("proposals", proposals.Proposals.as_view(), name="api-proposals"),
    path(_PROPOSAL, proposals.Proposal.as_view(), name="api-proposal"),
    path(f"{_PROPOSAL}/withdraw", proposals.Withdraw.as_view(), name="api-withdraw"),
    path(f"{_PROPOSAL}/approve", proposals.Approve.as_view(), name="api-approve"),
    path(f"{_PROPOSAL}/reject", proposals.Reject.as_view(), name="api-reject"),
    path(f"{_PROPOSAL}/request-changes", proposals.RequestChanges.as_view(), name="api-request-changes"),
    path(f"{_PROPOSAL}/rebase", proposals.Rebase.as_view(), name="api-rebase"),
    path(f"{_PROPOSAL}/comments", proposals.Comments.as_view(), name="api-comments"),
    path(f"{_PROPOSAL}/recommend", proposals.Recommend.as_view(), name="api-recommend"),
    path("sources", sources.Sources.as_view(), name="api-sources"),
    path(_SOURCE, sources.Source.as_view(), name="api-source"),
    path(f"{_SOURCE}/look", sources.Look.as_view(), name="api-source-look"),
    path(f"{_SOURCE}/entries", sources.Entries.as_view(), name="api-source-entries"),
    path(f"{_SOURCE}/search", sources.Search.as_view(), name="api-source-search"),
    path(f"{_SOURCE}/preview", sources.Preview.as_view(), name="api-source-preview"),
    path(f"{_SOURCE}/import", sources.Import.as_view(), name="api-source-import"),
    path(f"{_SOURCE}/update", sources.Update.as_view(), name="api-source-update"),
    path(f"{_SOURCE}/jobs/<str:job>", sources.Job.as_view(), name="api-source-job"),
    path(f"{_SOURCE}/installed/<str:name>", sources.Installed.as_view(), name="api-source-installed"),
    path("runs", runs.Runs.as_view(), name="api-runs"),
    path(_RUN, runs.Run.as_view(), name="api-run"),
    path(f"{_RUN}/events", run_events.Events.as_view(), name="api-run-events"),
    path(f"{_RUN}/values", run_values.Values.as_view(), name="api-run-values"),
    path(f"{_RUN}/steps/<path:path>", run_values.StepValues.as_view(), name="api-run-step"),
    path(f"{_RUN}/questions/<str:question>", run_values.Question.as_view(), name="api-run-question"),
    path(f"{_RUN}/state", run_values.State.as_view(), name="api-run-state"),
    path(f"{_RUN}/lineage", run_values.Lineage.as_view(), name="api-run-lineage"),
    path(f"{_RUN}/approve", run_decisions.ApproveQuestion.as_view(), name="api-run-approve"),
    path(f"{_RUN}/deny", run_decisions.DenyQuestion.as_view(), name="api-run-deny"),
    path(f"{_RUN}/answer", run_decisions.AnswerQuestion.as_view(), name="api-run-answer"),
    path(f"{_RUN}/cancel", run_decisions.Cancel.as_view(), name="api-run-cancel"),
    path(f"{_RUN}/replay", run_decisions.Replay.as_view(), name="api-run-replay"),
    path("capabilities", capabilities.Capabilities.as_view(), name="api-capabilities"),
    path(_CAPABILITY, capabilities.OneCapability.as_view(), name="api-capability"),
    path(f"{_CAPABILITY}/call", capabilities.Call.as_view(), name="api-call"),
    path("suppressions", scans.Suppressions.as_view(), name="api-suppressions"),
    path("suppressions/<str:suppression>", scans.OneSuppression.as_view(), name="api-suppression"),
    path("evals/cases", evals.Cases.as_view(), name="api-eval-cases"),
    path("evals/cases/<str:case>", evals.OneCase.as_view(), name="api-eval-case"),
    path("evals/run", evals.Run.as_view(), name="api-eval-run"),
    path("evals/runs", evals.Runs.as_view(), name="api-eval-runs"),
    path("audit", audit.Audit.as_view(), name="api-audit"),
    path("audit/verify", audit.Verify.as_view(), name="api-audit-verify"),
]

urlpatterns = [
    path("v1/projects/<str:project>/", include(_in_project)),
    path("schema/", documentation.document, name="api-schema"),
    path("docs/", documentation.page, name="api-docs"),
]
