"""Permissions of the review pages, and requests that they refuse."""

from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Proposal
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in
from tests.web.proposals.pages import QUEUE, SKILL, now, text, url

PAGES = ("", "edit/", "compare/", "reject/", "request-changes/", "conflict/")
POSTS = ("approve/", "edit/", "revise/", "request-changes/", "reject/", "withdraw/", "rebase/", "conflict/", "comment/")


def test_a_person_of_another_project_gets_404(
    made: Proposal, other_project: Project, browser_client: Browser, django_user_model: Any
) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create(username="stranger"))
    for part in PAGES:
        assert stranger.get(url(made, part)).status_code == 404
    for part in POSTS:
        assert stranger.post(url(made, part), {"comment": "x"}).status_code == 404
    assert stranger.get(QUEUE).status_code == 404
    assert now(made).state == "open"


def test_review_pages_redirect_anonymous_visitors(made: Proposal) -> None:
    for part in PAGES:
        assert Client().get(url(made, part)).status_code == 302
    assert Client().get(QUEUE).status_code == 302


@pytest.mark.slow
@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR])
def test_viewers_and_authors_cannot_see_or_change_proposals_of_others(
    made: Proposal, browser_client: Browser, role: str
) -> None:
    client = signed_in(browser_client(role))
    assert client.get(url(made)).status_code == 404
    assert "The old text is wrong" not in text(client.get(QUEUE))
    assert "The old text is wrong" not in text(client.get(f"{SKILL}proposals/"))
    for part in POSTS:
        with nothing_left_behind():
            assert client.post(url(made, part), {"comment": "x", "result_digest": made.result_digest}).status_code in (
                403,
                404,
            ), part
    with nothing_left_behind():
        assert client.post(QUEUE, {"proposal": [made.pk], "comment": "No."}).status_code == 403


def test_every_review_action_needs_a_csrf_token(made: Proposal, browser_client: Browser) -> None:
    strict = browser_client(roles.REVIEWER, strict=True)
    for part in POSTS:
        assert strict.post(url(made, part), {"comment": "x"}).status_code == 403, part
    assert strict.post(QUEUE, {"proposal": [made.pk], "comment": "No."}).status_code == 403
    assert now(made).state == "open"


def test_an_unknown_number_is_not_found(made: Proposal, reviewer: Client) -> None:
    for number in (made.pk + 1, 0, 10**30):
        assert reviewer.get(f"{QUEUE}{number}/").status_code == 404


def test_get_requests_decide_nothing(made: Proposal, reviewer: Client) -> None:
    for part in ("approve/", "withdraw/", "rebase/", "comment/"):
        assert reviewer.get(url(made, part)).status_code == 405
    for part in ("reject/", "request-changes/", "edit/"):
        assert reviewer.get(url(made, part)).status_code == 200
    assert now(made).state == "open"
