"""The addresses of the pages."""

from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from registry.web import schemas
from registry.web.account import accounts, inbox
from registry.web.agents import agents, tokens
from registry.web.capabilities import capabilities, capability_form
from registry.web.connect import client_wheel, connect
from registry.web.editor import conflicts, draft_files, editor, workflow_editor
from registry.web.project import audit, members, projects, security, settings, webhooks
from registry.web.proposals import proposal, proposal_conflict, proposal_edit, proposals
from registry.web.render import styleguide
from registry.web.routing import log as question_log
from registry.web.routing import question_form, question_import, questions, results, skill_health, try_it
from registry.web.routing import settings as routing_settings
from registry.web.runs import lineage, run, run_list, start, step, timeline, waiting
from registry.web.runs import questions as run_questions
from registry.web.skills import (
    catalog,
    customisation,
    export,
    name_options,
    quarantine,
    skill,
    skills,
    uploads,
    versions,
    workflow,
)
from registry.web.sources import source_entry, source_jobs, source_page, source_uninstall, sources

_VERSION = [
    path("", skill.instructions, name="version"),
    path("source/", skill.source, name="version-source"),
    path("workflow/", workflow.workflow, name="version-workflow"),
    path("files/", skill.files, name="version-files"),
    path("files/<path:path>", skill.file_page, name="version-file-page"),
    path("raw/<path:path>", skill.file, name="version-file"),
    path("bundle.zip", skill.download, name="version-download"),
    path("restore/", versions.restore, name="version-restore"),
    path("yank/", versions.yank, name="version-yank"),
    path("quarantine/", quarantine.hold, name="version-quarantine"),
    path("release/", quarantine.release, name="version-release"),
]

_SKILL: list[URLPattern | URLResolver] = [
    path("", skill.instructions, name="skill"),
    path("source/", skill.source, name="skill-source"),
    path("workflow/", workflow.workflow, name="skill-workflow"),
    path("files/", skill.files, name="skill-files"),
    path("files/<path:path>", skill.file_page, name="skill-file-page"),
    path("raw/<path:path>", skill.file, name="skill-file"),
    path("bundle.zip", skill.download, name="skill-download"),
    path("run/", start.start, name="skill-run"),
    path("usage/", skill.usage, name="skill-usage"),
    path("disable/", skill.disable, name="skill-disable"),
    path("enable/", skill.enable, name="skill-enable"),
    path("delete/", skill.delete, name="skill-delete"),
    path("undelete/", skill.undelete, name="skill-undelete"),
    path("customise/", customisation.customise, name="skill-customise"),
    path("bundled/", customisation.compare, name="skill-compare-bundled"),
    path("upstream/", customisation.changes, name="skill-upstream"),
    path("upstream/keep/", customisation.keep, name="skill-upstream-keep"),
    path("proposals/", proposals.of_skill, name="skill-proposals"),
    path("proposals/delete/", skill.propose_deletion, name="skill-propose-deletion"),
    path("versions/", versions.timeline, name="skill-versions"),
    path("versions/compare/", versions.compare, name="skill-compare"),
    path("version/<str:version>/", include(_VERSION)),
]

_PROPOSAL = [
    path("", proposal.show, name="proposal"),
    path("approve/", proposal.approve, name="proposal-approve"),
    path("edit/", proposal_edit.edit, name="proposal-edit"),
    path("revise/", proposal_edit.revise, name="proposal-revise"),
    path("request-changes/", proposal.request_changes, name="proposal-ask"),
    path("reject/", proposal.reject, name="proposal-reject"),
    path("withdraw/", proposal.withdraw, name="proposal-withdraw"),
    path("rebase/", proposal.rebase, name="proposal-rebase"),
    path("conflict/", proposal_conflict.conflict, name="proposal-conflict"),
    path("comment/", proposal.comment, name="proposal-comment"),
    path("compare/", proposal.compare, name="proposal-compare"),
]

_AGENT = [
    path("", agents.agent, name="agent"),
    path("change/", agents.change, name="agent-change"),
    path("tokens/", agents.tokens, name="agent-tokens"),
    path("tokens/<int:token>/revoke/", agents.revoke, name="agent-token-revoke"),
    path("remove/", agents.remove, name="agent-remove"),
]

_SOURCE = [
    path("", source_page.show, name="source"),
    path("look/", sources.look, name="source-look"),
    path("remove/", sources.remove, name="source-remove"),
    path("import/", source_jobs.choose, name="source-import"),
    path("jobs/<int:job_id>/", source_jobs.job, name="source-job"),
    path("jobs/<int:job_id>/retry/", source_jobs.retry, name="source-retry"),
    path("skills/<str:name>/", source_entry.entry, name="source-entry"),
    path("skills/<str:name>/uninstall/", source_uninstall.uninstall, name="source-uninstall"),
]

_RUN_QUESTION = [
    path("", run_questions.show, name="run-question"),
    path("everything.json", run_questions.as_json, name="run-question-data"),
    path("approve/", run_questions.approve, name="run-approve"),
    path("deny/", run_questions.deny, name="run-deny"),
    path("answer/", run_questions.answer, name="run-answer"),
]

_WEBHOOK = [
    path("", webhooks.show, name="webhook"),
    path("switch/", webhooks.switch, name="webhook-switch"),
    path("secret/", webhooks.secret, name="webhook-secret"),
    path("test/", webhooks.test, name="webhook-test"),
    path("replay/", webhooks.replay, name="webhook-replay"),
    path("remove/", webhooks.remove, name="webhook-remove"),
]

_RUN = [
    path("", run.show, name="run"),
    path("live/", run.live, name="run-live"),
    path("cancel/", run.cancel, name="run-cancel"),
    path("replay/", run.replay, name="run-replay"),
    path("timeline/", timeline.show, name="run-timeline"),
    path("data/", lineage.show, name="run-lineage"),
    path("values/<str:which>.json", run.values, name="run-values"),
    path("steps/<path:path>/", step.show, name="run-step"),
]

_CAPABILITY = [
    path("", capabilities.show, name="capability"),
    path("change/", capability_form.change, name="capability-change"),
    path("remove/", capability_form.remove, name="capability-remove"),
]

_ROUTING = [
    path("", try_it.try_it, name="routing"),
    path("questions/", questions.index, name="routing-questions"),
    path("questions/new/", question_form.new, name="routing-question-new"),
    path("questions/import/", question_import.import_questions, name="routing-import"),
    path("questions/delete/", questions.delete, name="routing-delete"),
    path("questions/export.json", questions.export, name="routing-export"),
    path("questions/<int:case>/", question_form.change, name="routing-question"),
    path("health/", skill_health.index, name="routing-health"),
    path("log/", question_log.index, name="routing-log"),
    path("log/delete/", question_log.delete, name="routing-log-delete"),
    path("settings/", routing_settings.settings, name="routing-settings"),
    path("results/", results.index, name="routing-results"),
    path("results/run/", results.run, name="routing-run"),
    path("results/baseline/", results.baseline, name="routing-baseline"),
    path("results/<int:evaluation>/", results.evaluation, name="routing-result"),
]

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="projects")),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-in/<str:secret>/", accounts.sign_in_link, name="sign-in-link"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("account/", accounts.account, name="account"),
    path("account/name/", accounts.rename, name="account-name"),
    path("account/mail/", accounts.choose_mail, name="account-mail"),
    path("account/mail/<str:secret>/", accounts.confirm_mail, name="account-mail-confirm"),
    path("account/password/", accounts.password, name="account-password"),
    path("account/sessions/<int:session>/end/", accounts.end_session, name="session-end"),
    path("account/sessions/end-others/", accounts.end_other_sessions, name="sessions-end"),
    path("theme/", accounts.theme, name="theme"),
    path("inbox/", inbox.index, name="inbox"),
    path("inbox/read/", inbox.read_all, name="inbox-read-all"),
    path("inbox/<int:notification>/", inbox.follow, name="inbox-entry"),
    path("inbox/<int:notification>/read/", inbox.read, name="inbox-read"),
    path("invitation/<str:secret>/", members.invitation, name="invitation"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("client/", client_wheel.index, name="client"),
    path("client/<str:name>", client_wheel.download, name="client-wheel"),
    path("schemas/", schemas.index, name="schemas"),
    path("schemas/<str:name>", schemas.schema, name="schema"),
    path("projects/", projects.index, name="projects"),
    path("projects/<slug:slug>/bring-back/", projects.restore, name="project-bring-back"),
    path("projects/<slug:slug>/members/", members.index, name="members"),
    path("projects/<slug:slug>/members/invite/", members.invite, name="invite"),
    path("projects/<slug:slug>/members/<int:member>/role/", members.change_role, name="member-role"),
    path("projects/<slug:slug>/members/<int:member>/remove/", members.remove, name="member-remove"),
    path("projects/<slug:slug>/invitations/<int:invitation>/withdraw/", members.withdraw, name="invitation-withdraw"),
    path("projects/<slug:slug>/agents/", agents.index, name="agents"),
    path("projects/<slug:slug>/agents/<str:name>/", include(_AGENT)),
    path("projects/<slug:slug>/new-agent/", agents.new, name="agent-new"),
    path("projects/<slug:slug>/tokens/", tokens.index, name="tokens"),
    path("projects/<slug:slug>/tokens/<int:token>/revoke/", tokens.revoke, name="token-revoke"),
    path("projects/<slug:slug>/connect/", connect.connect, name="connect"),
    path("projects/<slug:slug>/connect/<slug:client>/", connect.connect, name="connect-client"),
    path("projects/<slug:slug>/webhooks/", webhooks.index, name="webhooks"),
    path("projects/<slug:slug>/webhooks/<int:webhook>/", include(_WEBHOOK)),
    path("projects/<slug:slug>/sources/", sources.index, name="sources"),
    path("projects/<slug:slug>/sources/<int:source_id>/", include(_SOURCE)),
    path("projects/<slug:slug>/waiting/", waiting.index, name="waiting"),
    path("projects/<slug:slug>/runs/<int:run>/questions/", run_questions.of_run, name="run-questions"),
    path("projects/<slug:slug>/runs/<int:run>/questions/<int:question>/", include(_RUN_QUESTION)),
    path("projects/<slug:slug>/settings/", settings.settings, name="settings"),
    path("projects/<slug:slug>/public/", settings.publish, name="project-public"),
    path("projects/<slug:slug>/protected/", settings.protect, name="project-protected"),
    path("projects/<slug:slug>/advice/", settings.advice, name="project-advice"),
    path("projects/<slug:slug>/makers/", settings.makers_approve, name="project-makers"),
    path("projects/<slug:slug>/archive/", settings.archive, name="project-archive"),
    path("projects/<slug:slug>/blocking/", settings.blocking, name="project-blocking"),
    path("projects/<slug:slug>/automatic-quarantine/", settings.automatic_quarantine, name="project-quarantine"),
    path("projects/<slug:slug>/security/", security.index, name="security"),
    path("projects/<slug:slug>/security/suppressions/<int:suppression>/end/", security.end, name="suppression-end"),
    path("projects/<slug:slug>/security/<str:digest>/", security.scan, name="scan"),
    path("projects/<slug:slug>/security/<str:digest>/suppress/", security.suppress, name="scan-suppress"),
    path("projects/<slug:slug>/routing/", include(_ROUTING)),
    path("projects/<slug:slug>/proposals/", proposals.index, name="proposals"),
    path("projects/<slug:slug>/proposals/<int:number>/", include(_PROPOSAL)),
    path("projects/<slug:slug>/runs/", run_list.index, name="runs"),
    path("projects/<slug:slug>/runs/<int:run>/", include(_RUN)),
    path("projects/<slug:slug>/capabilities/", capabilities.index, name="capabilities"),
    path("projects/<slug:slug>/capabilities/<str:name>/", include(_CAPABILITY)),
    path("projects/<slug:slug>/new-capability/", capability_form.new, name="capability-new"),
    path("projects/<slug:slug>/audit/", audit.index, name="audit"),
    path("projects/<slug:slug>/audit/export.jsonl", audit.export, name="audit-export"),
    path("projects/<slug:slug>/export.zip", export.download, name="export"),
    path("projects/<slug:slug>/catalog/", catalog.catalog, name="catalog"),
    path("projects/<slug:slug>/names", name_options.names, name="skill-names"),
    path("projects/<slug:slug>/new/", editor.new, name="skill-new"),
    path("projects/<slug:slug>/new/workflow/", workflow_editor.edit, name="skill-new-workflow"),
    path("projects/<slug:slug>/new/files/<path:path>", draft_files.file, name="skill-new-file"),
    path("projects/<slug:slug>/new/raw/<path:path>", draft_files.raw, name="skill-new-raw"),
    path("projects/<slug:slug>/upload/", uploads.upload, name="upload"),
    path("projects/<slug:slug>/upload/<slug:key>/", uploads.preview, name="upload-preview"),
    path("projects/<slug:slug>/skills/<str:name>/edit/", editor.edit, name="skill-edit"),
    path("projects/<slug:slug>/skills/<str:name>/edit/workflow/", workflow_editor.edit, name="skill-edit-workflow"),
    path("projects/<slug:slug>/skills/<str:name>/edit/conflict/", conflicts.conflict, name="skill-conflict"),
    path("projects/<slug:slug>/skills/<str:name>/edit/files/<path:path>", draft_files.file, name="skill-edit-file"),
    path("projects/<slug:slug>/skills/<str:name>/edit/raw/<path:path>", draft_files.raw, name="skill-edit-raw"),
    path("projects/<slug:slug>/skills/", skills.skills, name="skills"),
    path("projects/<slug:slug>/skills/<str:name>/", include(_SKILL)),
]
