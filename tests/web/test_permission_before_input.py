"""Permission is checked before the input: a person without the role gets 403 for any form, also an empty one."""

from pathlib import Path

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill, ensure_agent
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in

FOR_OTHERS = {
    "members/invite/": roles.REVIEWER,
    "members/1/role/": roles.REVIEWER,
    "invitations/1/withdraw/": roles.REVIEWER,
    "agents/bot/tokens/": roles.REVIEWER,
    "agents/bot/change/": roles.REVIEWER,
    "new-agent/": roles.REVIEWER,
    "webhooks/": roles.REVIEWER,
    "settings/": roles.REVIEWER,
    "proposals/": roles.AUTHOR,
    "skills/": roles.VIEWER,
    "skills/greeting/version/1/yank/": roles.VIEWER,
    "sources/": roles.VIEWER,
    "runs/1/cancel/": roles.VIEWER,
    "runs/1/replay/": roles.VIEWER,
    "skills/greeting/run/": roles.VIEWER,
    "routing/questions/new/": roles.VIEWER,
    "routing/questions/import/": roles.VIEWER,
    "routing/questions/delete/": roles.VIEWER,
    "routing/results/baseline/": roles.VIEWER,
    "routing/settings/": roles.REVIEWER,
}


@pytest.fixture
def greeting(project: Project, library: Path, operator: Actor) -> None:
    create_skill(project, skill_bundle(), by=operator)
    ensure_agent(project, "bot", by=operator)


@pytest.mark.parametrize("path", FOR_OTHERS)
@pytest.mark.parametrize("form", [{}, {"role": "nonsense", "name": "?", "address": "?", "act": "?"}])
def test_a_form_without_the_role_is_forbidden(
    greeting: None, browser_client: Browser, path: str, form: dict[str, str]
) -> None:
    client: Client = signed_in(browser_client(FOR_OTHERS[path]))
    with nothing_left_behind():
        assert client.post(f"/projects/demo/{path}", form).status_code == 403
