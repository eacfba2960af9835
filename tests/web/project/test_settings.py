"""Settings of a project that switch review on and off."""

import pytest

from registry.core import roles
from registry.models import Event, Project
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in

SWITCHES = [
    ("protected", "protected", "project.protected"),
    ("advice", "reviewer_agents", "project.advice-allowed"),
    ("makers", "makers_approve", "project.makers-approve"),
]


@pytest.mark.parametrize(("part", "column", "verb"), SWITCHES)
def test_an_owner_switches_review_on_and_off(
    project: Project, browser_client: Browser, part: str, column: str, verb: str
) -> None:
    owner = signed_in(browser_client(roles.OWNER))
    for value, expected in (("yes", True), ("no", False)):
        assert owner.post(f"/projects/demo/{part}/", {part: value})["Location"] == "/projects/demo/settings/#review"
        assert getattr(Project.objects.get(pk=project.pk), column) is expected
    assert Event.objects.filter(verb=verb).count() == 1


@pytest.mark.slow
@pytest.mark.parametrize(("part", "column", "verb"), SWITCHES)
def test_only_an_owner_switches_review_on_and_off(
    project: Project, browser_client: Browser, part: str, column: str, verb: str
) -> None:
    for role in (roles.VIEWER, roles.AUTHOR, roles.REVIEWER):
        client = signed_in(browser_client(role))
        with nothing_left_behind():
            assert client.post(f"/projects/demo/{part}/", {part: "yes"}).status_code == 403
    strict = browser_client(roles.OWNER, strict=True)
    assert strict.post(f"/projects/demo/{part}/", {part: "yes"}).status_code == 403
