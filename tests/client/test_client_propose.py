"""Proposals from a program to a real site."""

from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors
from registry.models import Project
from registry.services.agents import tokens
from registry.services.permissions import Actor
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, ensure_agent


@pytest.fixture(autouse=True)
def a_skill(library: Path) -> None:
    on_disk(library, "greeting", {"assets/logo.png": b"\x89PNG\0"})


def test_a_proposal_changes_nothing_until_it_is_approved(client: SkillsiteClient) -> None:
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


def test_an_identical_proposal_returns_the_first(client: SkillsiteClient) -> None:
    given: dict[str, Any] = {"skill_md": skill_text("parting"), "justification": "People leave."}
    assert client.propose("parting", **given).id == client.propose("parting", **given).id


def test_a_retry_after_a_lost_response_creates_no_second_proposal(client: SkillsiteClient, site: Between) -> None:
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


def test_files_can_be_proposed_as_bytes_as_text_or_removed(client: SkillsiteClient) -> None:
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
    create_skill(project, skill_bundle("own"), note="", by=author)
    assert client.propose("own", kind="delete", justification="Nobody needs it.").state == "open"
    with pytest.raises(errors.NotFound):
        client.propose("greeting", kind="delete", justification="It is bundled.")


# -- Refusals ----------------------------------------------------------------------------------------------


def test_an_invalid_skill_md_is_refused_with_findings(client: SkillsiteClient) -> None:
    with pytest.raises(errors.Refused) as caught:
        client.propose("parting", skill_md="no frontmatter", justification="People leave.")
    assert caught.value.status == 422 and caught.value.findings


@pytest.mark.parametrize("given", [{}, {"skill_md": "x", "diff": "y"}, {"diff": "not a diff"}])
def test_a_proposal_needs_exactly_one_change(client: SkillsiteClient, given: Any) -> None:
    with pytest.raises(errors.Refused):
        client.propose("greeting", justification="Because.", **given)


def test_a_read_only_token_cannot_propose(connect: Connect, project: Project, operator: Actor) -> None:
    reader = tokens.create_token(
        project, agent=ensure_agent(project, "reader", by=operator), scopes=("read",), by=operator
    )
    with pytest.raises(errors.NotAllowed):
        connect(token=reader).propose("x", skill_md=skill_text("x"), justification="Because.")


@pytest.mark.parametrize("number", ["0", "999", "x", "../skills/greeting", ""])
def test_an_unknown_proposal_is_not_found(client: SkillsiteClient, number: str) -> None:
    with pytest.raises(errors.Refused):
        client.get_proposal(number)
