"""Proposals from a program, to a real site."""

from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors
from registry.models import Project
from registry.services.agents import agents, tokens
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.conftest import on_disk, skill_bundle, skill_text


@pytest.fixture(autouse=True)
def a_skill(library: Path) -> None:
    on_disk(library, "greeting", {"assets/logo.png": b"\x89PNG\0"})


def test_a_proposal_changes_nothing_until_a_person_decides(client: SkillsiteClient) -> None:
    before = client.read("greeting")
    made = client.propose(
        "greeting",
        skill_md=skill_text("greeting", body="Bow."),
        base_digest=before.digest,
        justification="People bow here.",
        evidence=["Seen on Monday."],
    )
    assert (made.state, made.base_digest) == ("open", before.digest)
    assert client.read("greeting").digest == before.digest
    assert client.get_proposal(made.id).result_digest == made.result_digest != before.digest


def test_the_same_proposal_twice_is_one(client: SkillsiteClient) -> None:
    given: dict[str, Any] = {"skill_md": skill_text("parting"), "justification": "People leave."}
    assert client.propose("parting", **given).id == client.propose("parting", **given).id


def test_an_answer_that_got_lost_does_not_make_a_second_one(client: SkillsiteClient, site: Between) -> None:
    lost: list[str] = []

    def lose_the_first(between: Between, path: str, forward: Any) -> Reply | None:
        if lost:
            return None
        lost.append(path)
        answer = forward()
        return Reply(answer.status, answer.body, answer.headers, cut=3)

    site.fault = lose_the_first
    made = client.propose("parting", skill_md=skill_text("parting"), justification="People leave.")
    assert len(site.requests) == 2
    assert client.get_proposal(made.id).id == made.id
    with pytest.raises(errors.NotFound):
        client.get_proposal(int(made.id) + 1)


def test_files_are_proposed_as_bytes_text_or_removed(client: SkillsiteClient) -> None:
    before = client.bundle("greeting")
    made = client.propose(
        "greeting",
        files={"assets/logo.png": None, "assets/new.bin": b"\xff\x00", "references/tone.md": "Kind. ☺\n"},
        justification="A new logo.",
    )
    expected = before.with_changes(
        {"assets/logo.png": None, "assets/new.bin": b"\xff\x00", "references/tone.md": "Kind. ☺\n".encode()}
    )
    assert made.result_digest == expected.digest


def test_a_proposal_to_delete_names_no_text(client: SkillsiteClient, project: Project, author: Actor) -> None:
    skills.create(project, skill_bundle("own"), note="", by=author)
    assert client.propose("own", kind="delete", justification="Nobody needs it.").state == "open"
    with pytest.raises(errors.NotFound):
        client.propose("greeting", kind="delete", justification="It is bundled.")


# -- Refusals ----------------------------------------------------------------------------------------------


def test_a_text_that_is_no_skill_is_refused_with_findings(client: SkillsiteClient) -> None:
    with pytest.raises(errors.Refused) as caught:
        client.propose("parting", skill_md="no frontmatter", justification="People leave.")
    assert caught.value.status == 422 and caught.value.findings


@pytest.mark.parametrize("given", [{}, {"skill_md": "x", "diff": "y"}, {"diff": "not a diff"}])
def test_a_proposal_that_says_nothing_or_too_much_is_refused(client: SkillsiteClient, given: Any) -> None:
    with pytest.raises(errors.Refused):
        client.propose("greeting", justification="Because.", **given)


def test_a_token_that_may_only_read_is_not_allowed(connect: Connect, project: Project, operator: Actor) -> None:
    reader = tokens.create_token(
        project, agent=agents.ensure(project, "reader", by=operator), scopes=("read",), by=operator
    )
    with pytest.raises(errors.NotAllowed):
        connect(token=reader).propose("x", skill_md=skill_text("x"), justification="Because.")


@pytest.mark.parametrize("number", ["0", "999", "x", "../skills/greeting", ""])
def test_a_proposal_that_is_not_there_is_not_found(client: SkillsiteClient, number: str) -> None:
    with pytest.raises(errors.Refused):
        client.get_proposal(number)
