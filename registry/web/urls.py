"""The addresses of the pages."""

from django.urls import path
from django.views.generic import RedirectView

from registry.web import accounts, catalog, health, members, projects, settings, skills, styleguide

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="projects")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-in/<str:secret>/", accounts.sign_in_link, name="sign-in-link"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("account/", accounts.account, name="account"),
    path("account/name/", accounts.rename, name="account-name"),
    path("account/password/", accounts.password, name="account-password"),
    path("account/sessions/<int:session>/end/", accounts.end_session, name="session-end"),
    path("account/sessions/end-others/", accounts.end_other_sessions, name="sessions-end"),
    path("theme/", accounts.theme, name="theme"),
    path("invitation/<str:secret>/", members.invitation, name="invitation"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("projects/", projects.index, name="projects"),
    path("projects/<slug:slug>/bring-back/", projects.bring_back, name="project-bring-back"),
    path("projects/<slug:slug>/members/", members.index, name="members"),
    path("projects/<slug:slug>/members/invite/", members.invite, name="invite"),
    path("projects/<slug:slug>/members/<int:member>/role/", members.change_role, name="member-role"),
    path("projects/<slug:slug>/members/<int:member>/remove/", members.remove, name="member-remove"),
    path("projects/<slug:slug>/invitations/<int:invitation>/withdraw/", members.withdraw, name="invitation-withdraw"),
    path("projects/<slug:slug>/settings/", settings.settings, name="settings"),
    path("projects/<slug:slug>/archive/", settings.archive, name="project-archive"),
    path("projects/<slug:slug>/catalog/", catalog.catalog, name="catalog"),
    path("projects/<slug:slug>/skills/", skills.skills, name="skills"),
    path("projects/<slug:slug>/skills/<str:name>/", skills.skill, name="skill"),
    path("projects/<slug:slug>/skills/<str:name>/bundle.zip", skills.download, name="skill-download"),
    path("projects/<slug:slug>/skills/<str:name>/files/<path:path>", skills.file, name="skill-file"),
]
