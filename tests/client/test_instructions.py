"""The instructions of an agent through the client and the command."""

import json
from collections.abc import Callable

import pytest

from registry.client import SkillsiteClient, errors, exit_codes
from registry.client.command import main
from registry.core import roles
from registry.core.catalog.visibility import Definition
from registry.models import Project, User
from registry.services.agents import agents, tokens
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.client.between import Between, Reply, times
from tests.client.conftest import Connect
from tests.client.pulls import Save


@pytest.fixture(autouse=True)
def bot(project: Project, operator: Actor, save: Save, token: str) -> None:
    """Let the agent of the token have every part."""
    save("greeting", "Say hello.")
    save("offers", "Make offers.")
    agents.update(project, "bot", Definition("You help.", "Be brief.", ("greeting",)), by=operator)


@pytest.fixture
def persons_token(project: Project, operator: Actor, person: Callable[[str], User]) -> str:
    return tokens.create_token(project, user=person(roles.VIEWER), by=operator)


def test_the_parts_are_in_order_and_the_catalog_is_last(client: SkillsiteClient) -> None:
    found = client.instructions()
    assert (found.agent, found.from_cache) == ("bot", False)
    assert [part.kind for part in found.parts] == ["prompt", "skill", "instructions", "catalog"]
    assert found.text == "\n\n".join(part.text for part in found.parts) == str(found)
    assert found.parts[-1].text == client.catalog_text().text
    assert found.tokens == sum(part.tokens for part in found.parts)
    skill = client.read("greeting")
    assert (found.parts[1].name, found.parts[1].version, found.parts[1].digest) == (
        skill.name,
        skill.version,
        skill.digest,
    )


def test_the_catalog_is_optional_and_has_a_form_and_a_budget(client: SkillsiteClient) -> None:
    assert client.instructions(catalog="none").text == "You help.\n\nSay hello.\n\nBe brief."
    assert "<available_skills>" in client.instructions(catalog="xml").text
    assert "more skill" in client.instructions(budget="90c").parts[-1].text


def test_a_token_of_a_person_has_to_name_an_agent(connect: Connect, persons_token: str) -> None:
    client = connect(token=persons_token)
    with pytest.raises(errors.NotFound, match="belongs to a person, not to an agent"):
        client.instructions()
    assert client.instructions("bot").agent == "bot"
    with pytest.raises(errors.NotFound, match="no agent 'absent'"):
        client.instructions("absent")


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_that_changes_the_url_is_refused(client: SkillsiteClient, name: str) -> None:
    with pytest.raises(errors.Misconfigured, match="not the name of an agent"):
        client.instructions(name)


def test_a_missing_skill_is_named(client: SkillsiteClient, project: Project, operator: Actor) -> None:
    skills.disable(project, "greeting", by=operator)
    with pytest.raises(errors.Conflict, match="greeting is switched off"):
        client.instructions()


def test_instructions_are_available_offline(connect: Connect, site: Between) -> None:
    online = connect().instructions()
    assert connect(offline=True).instructions().text == online.text
    site.fault = times(99, Reply(503))
    assert connect(attempts=1).instructions().from_cache


@pytest.mark.parametrize("part", [{}, {"kind": 1}, {"kind": "skill", "text": "", "tokens": 1, "name": 5}, []])
def test_an_invalid_part_is_refused(client: SkillsiteClient, site: Between, part: object) -> None:
    site.fault = times(9, Reply(200, json.dumps({"agent": "b", "text": "", "tokens": 1, "parts": [part]}).encode()))
    with pytest.raises(errors.Untrustworthy):
        client.instructions()


def test_the_command_prints_the_instructions(
    site: Between,
    token: str,
    persons_token: str,
    cache: object,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name, value in {"URL": site.url, "PROJECT": "demo", "TOKEN": token, "CACHE": str(cache)}.items():
        monkeypatch.setenv(f"SKILLSITE_{name}", value)
    assert main(["instructions"]) == exit_codes.DONE
    out, err = capfd.readouterr()
    assert out.startswith("You help.\n\nSay hello.\n\nBe brief.\n\n[Available Skills]\n")
    assert "Instructions of bot (approx. " in err
    assert main(["instructions", "--catalog", "none", "--format", "json"]) == exit_codes.DONE
    assert [part["kind"] for part in json.loads(capfd.readouterr()[0])["parts"]] == ["prompt", "skill", "instructions"]
    monkeypatch.setenv("SKILLSITE_TOKEN", persons_token)
    assert main(["instructions"]) == exit_codes.REFUSED
    assert "belongs to a person" in capfd.readouterr()[1]
    assert main(["instructions", "--agent", "bot"]) == exit_codes.DONE
