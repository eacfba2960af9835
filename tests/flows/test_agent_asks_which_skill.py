"""An agent asks which skill fits a question and loads it, and people keep what it finds by test questions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project
from tests.conftest import Api, on_disk, skill_text
from tests.flows.conftest import visible_text, write

REFUNDS = "Answers refund requests. Use when a customer wants money back or returns a parcel."
DEPLOY = "Releases a service to production. Use when a deployment is due or has to be rolled back."
QUESTION = "a customer sent the shoes back and wants the money"


@pytest.fixture
def built_in(library: Path) -> None:
    on_disk(library, "refunds", description=REFUNDS)
    on_disk(library, "deploy", description=DEPLOY)


def test_a_skill_that_is_found_can_be_loaded_with_its_digest(built_in: None, agent: Api) -> None:
    answer = agent.send("POST", "/route", {"query": QUESTION}).json()
    first = answer["matches"][0]
    loaded = agent.get(f"/skills/{first['name']}", version=first["version"]).json()
    assert (first["name"], first["digest"]) == ("refunds", loaded["digest"])
    assert agent.send("POST", "/route", {"query": "the of and"}).json()["matches"] == []


def test_a_change_is_found_with_the_next_question(built_in: None, agent: Api, browser: Callable[[str], Client]) -> None:
    author = browser(roles.AUTHOR)
    write(author, skill_text("vouchers", description="Issues gift vouchers for birthdays."), "publish")
    voucher = {"query": "which gift voucher for a birthday?"}
    assert agent.send("POST", "/route", voucher).json()["matches"][0]["name"] == "vouchers"
    author.post("/projects/demo/skills/vouchers/disable/")
    names = [match["name"] for match in agent.send("POST", "/route", {**voucher, "threshold": 0}).json()["matches"]]
    assert "vouchers" not in names


def test_a_test_question_shows_what_a_worse_description_loses(
    built_in: None, project: Project, browser: Callable[[str], Client]
) -> None:
    author = browser(roles.AUTHOR)
    saved = author.post("/projects/demo/routing/questions/new/", {"query": QUESTION, "expected": "refunds"})
    assert saved.status_code in (302, 303), visible_text(saved)
    spoilt = skill_text("refunds", description="Files forms of the tax office.")
    write(author, spoilt, "save", name="refunds")
    page = visible_text(author.get("/projects/demo/skills/refunds/edit/?mode=raw"))
    assert f"Worse: {QUESTION} should find refunds" in page
