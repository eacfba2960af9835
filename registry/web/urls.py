"""The addresses of the pages."""

from django.urls import path
from django.views.generic import RedirectView

from registry.web import accounts, health, projects, skills, styleguide

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="projects")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-in/<str:secret>/", accounts.sign_in_link, name="sign-in-link"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("account/", accounts.account, name="account"),
    path("theme/", accounts.theme, name="theme"),
    path("styleguide/", styleguide.styleguide, name="styleguide"),
    path("projects/", projects.projects, name="projects"),
    path("projects/<slug:slug>/skills/", skills.skills, name="skills"),
    path("projects/<slug:slug>/skills/<str:name>/", skills.skill, name="skill"),
    path("projects/<slug:slug>/skills/<str:name>/bundle.zip", skills.download, name="skill-download"),
    path("projects/<slug:slug>/skills/<str:name>/files/<path:path>", skills.file, name="skill-file"),
]
