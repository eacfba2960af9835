"""The catalog of an agent that gets only the skills that fit its prompt best."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.models import Event, Project
from registry.services.agents import agents
from registry.services.audit_log import verification
from registry.services.permissions import Actor
from tests.conftest import Api, on_disk

TOPICS = ("invoice", "kubernetes", "parcel", "poetry", "tax")


@pytest.fixture
def bot(project: Project, library: Path, api: Callable[..., Api]) -> Api:
    for topic in TOPICS:
        on_disk(
            library, f"about-{topic}", description=f"Everything on {topic}", tags=["money"] if topic == "tax" else []
        )
    return api("read", agent="bot")


@pytest.fixture
def limited(project: Project, bot: Api, operator: Actor) -> Api:
    agents.amend(project, "bot", {"prompt": "You send a parcel and check tax.", "best_skills": 2}, by=operator)
    return bot


def listed(bot: Api, **query: str) -> tuple[list[str], list[str]]:
    body = bot.get("/catalog", **query).json()
    return [skill["name"] for skill in body["skills"]], body["omitted"]


def test_the_catalog_has_the_best_skills_and_names_the_others(limited: Api) -> None:
    names, omitted = listed(limited)
    assert sorted(names) == ["about-parcel", "about-tax"]
    assert sorted(names + omitted) == sorted(f"about-{topic}" for topic in TOPICS)


def test_the_instructions_have_the_same_list(limited: Api) -> None:
    text = limited.get("/instructions", format="text", catalog="text").content.decode()
    assert "`about-parcel`" in text
    assert "3 more skills are not listed: about-" in text
    assert "`about-poetry`" not in text


def test_a_search_and_a_load_reach_every_skill(limited: Api) -> None:
    assert listed(limited, q="poetry") == (["about-poetry"], [])
    assert limited.get("/skills/about-poetry").status_code == 200


def test_a_prompt_of_the_request_replaces_that_of_the_agent(limited: Api) -> None:
    names, omitted = listed(limited, **{"for": "kubernetes poetry"})
    assert sorted(names) == ["about-kubernetes", "about-poetry"]
    assert len(omitted) == 3


def test_filters_come_before_the_limit(limited: Api) -> None:
    assert listed(limited, tag="money") == (["about-tax"], [])


def test_two_agents_with_the_same_skills_get_their_own_list(
    limited: Api, project: Project, api: Callable[..., Api], operator: Actor
) -> None:
    other = api("read", agent="other")
    agents.amend(project, "other", {"prompt": "You write poetry", "best_skills": 2}, by=operator)
    assert listed(other)[0][0] == "about-poetry"
    assert "about-poetry" not in listed(limited)[0]
    assert other.get("/catalog")["ETag"] != limited.get("/catalog")["ETag"]


def test_a_new_prompt_changes_the_list_at_once(limited: Api, project: Project, operator: Actor) -> None:
    before = limited.get("/catalog")["ETag"]
    agents.amend(project, "bot", {"prompt": "You write poetry"}, by=operator)
    assert limited.get("/catalog")["ETag"] != before
    assert listed(limited)[0][0] == "about-poetry"


def test_own_instructions_are_compared_if_there_is_no_prompt(limited: Api, project: Project, operator: Actor) -> None:
    agents.amend(project, "bot", {"prompt": "", "instructions": "Write poetry"}, by=operator)
    assert listed(limited)[0][0] == "about-poetry"


def test_the_limit_is_in_the_audit_log_and_verified(limited: Api, project: Project) -> None:
    event: Any = Event.objects.filter(verb="agent.changed").latest("sequence")
    assert (event.data["best_skills"], "best_skills" in event.data["changed"]) == (2, True)
    agent = agents.get(project, "bot")
    agent.best_skills = 9
    agent.save()
    assert "best_skills" in str(verification.verify())
