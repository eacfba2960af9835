"""`load_demo`: create an example project with people, skills, proposals and usage."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.core.routing.golden import Case
from registry.core.text import edits
from registry.core.workflows.plan import FILE
from registry.models import Project, User
from registry.services import permissions
from registry.services.agents import agents
from registry.services.catalog import built_in, catalog, usage
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from registry.services.proposals import prepare, proposals, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.routing import evaluations, golden_set
from registry.services.skills import skills
from registry.services.workflows import runs

_PEOPLE = {
    roles.OWNER: "Ines Marchetti",
    roles.REVIEWER: "Tomás Ferreira",
    roles.AUTHOR: "Ada Okafor",
    roles.VIEWER: "Jun Watanabe",
}

_LATE_SHIPMENT = """\
# Answer a customer whose shipment is late

## Check first

1. Open the order and read the carrier's last scan. Write down the date and the place.
2. Look at the promised date in the order confirmation, not at the one on the website.
3. See [what we may promise](references/promises.md) before you offer anything.

## Write the answer

- Say in the first sentence where the parcel is and when it will arrive.
- Name the reason only if the carrier gave one. Do not guess.
- Offer what the table allows, nothing more.

## Hand over

Pass the case to the shift lead when the parcel has had no scan for five working days, when it holds medicine, or
when the customer has written three times.
"""

_PROMISES = """\
# What we may promise

| Late by | We may offer | Who decides |
|---|---|---|
| 1 to 2 working days | An apology and the new date | you |
| 3 to 5 working days | The shipping costs back | you |
| more than 5 working days | A second parcel or the price back | the shift lead |
"""

_WORKFLOW = """\
id: late-shipment-reply
version: 1.0.0
description: Checks an answer to a customer, and asks a person before anything is promised that needs a yes.
inputs:
  order: {type: string, required: true, description: The number of the order.}
  days_late: {type: integer, required: true, description: Working days after the promised date.}
  answer: {type: string, required: true, description: The text that the customer would get.}
outputs:
  answer: {type: string, required: true, description: "The text that may be sent."}
  approved_by: {type: string, description: "The person who approved it, if somebody had to."}
steps:
  - id: look-for-promises
    uses: text.contains
    input: {text: inputs.answer, words: [refund, money back, second parcel]}
    output: {any: vars.has_promise}
    config: {depends_on: []}
  - id: check-length
    uses: policy.length.gate
    input: {text: inputs.answer, minimum: 20, maximum: 2000}
    output: {allowed: vars.has_good_length}
    config: {depends_on: []}
  - id: stop-if-too-short-or-long
    uses: control.fail
    input: {message: "The answer needs between 20 and 2,000 characters."}
    config: {condition: not vars.has_good_length}
  - id: approve
    uses: human.approve
    input:
      question: Send this answer to the customer?
      details: {order: inputs.order, days_late: inputs.days_late, answer: inputs.answer}
    output: {by: outputs.approved_by}
    config:
      depends_on: [look-for-promises, stop-if-too-short-or-long]
      condition: inputs.days_late > 5 or vars.has_promise
  - id: hand-over
    uses: data.echo
    input: {value: inputs.answer}
    output: {value: outputs.answer}
"""

_ANSWER = """\
Hello Ms Brandt,

your parcel has been in the depot in Graz since 9 November, and it will reach you by 24 November. Because it is six \
working days late, we send you a second parcel today. You need not return the first one.
"""

_RETIRED = """\
# Quote a price in another currency by hand

Use the daily sheet in the finance folder. Since the ledger converts by itself, nobody needs this any more.
"""


_CARRIER_WHY = """\
Look the parcel up when the order has no scan.
In 9 of 31 cases last week the order had no scan at all, and I answered that I do not know. The carrier knew each time.
"""

_CARRIER_EVIDENCE = (
    {"kind": "log", "text": "14:02 order 88213: scans=[]\n14:02 answer: we do not know where your parcel is"},
    {"kind": "link", "text": "https://track.parcels.example/docs/v1#lookup"},
    {"kind": "text", "text": "Two customers wrote again the same day and sent us the tracking page themselves."},
)


# Questions as people ask them, with the skills that should be found. The last ones should find none.
_MOST_USED = 40  # skills with usage charts; a site can have thousands of built-in skills
_QUESTIONS = {
    "My order was promised for Tuesday and the tracking has not moved since Friday": ("late-shipment-reply",),
    "where is my parcel": ("late-shipment-reply",),
    "No scan from the courier for a week, who takes over?": ("late-shipment-reply",),
    "A shipment is two days late, what may we promise?": ("late-shipment-reply",),
    "How do we greet people in a newsletter?": ("brand-voice",),
    "Does this paragraph sound like our company?": ("brand-voice",),
    "I was in Lyon for two nights and have a pile of receipts": ("expense-report",),
    "Turn my scribbles from the team call into decisions and owners": ("meeting-minutes",),
    "The checkout was down for an hour, I need one page about it for the board": ("incident-summary",),
    "What are 1,250 Danish kroner in euros at the rate of last Friday?": ("currency-conversion",),
    "Our container starts, dies and starts again every two minutes": ("pod-crash-triage",),
    "Is it safe to run this UPDATE on the orders table?": ("sql-review",),
    "Summarise the commits since 4.1 for people who use the app": ("release-notes",),
    "Which records of the closed branch may be deleted now?": ("data-retention",),
    "Add up a column in Excel, but only the paid orders": ("spreadsheet-formulas",),
    "This export has doubled rows and dates in three formats": ("csv-cleanup",),
    "Please look through my pull request": ("code-review",),
    "My on-call week ends tonight and Lena takes over": ("on-call-handover",),
    "Nobody understands this letter, make it simpler": ("plain-language",),
    "A complaint about a broken lamp, please draft an answer": ("support-reply",),
    "Book me a table for four tonight": (),
    "Who won the cup final?": (),
    "Compose a lullaby for my nephew": (),
}


class Command(BaseCommand):
    help = "Create the project “demo” with a member for each role, skills, proposals and an agent."

    def handle(self, *args: Any, **options: Any) -> None:
        operator = permissions.operator("demo")
        project = projects.create(
            slug="demo", name="Customer operations", description="An example project.", by=operator
        )
        people = {role: _person(project, role, name, operator) for role, name in _PEOPLE.items()}
        author = permissions.as_member(people[roles.AUTHOR], project, roles.AUTHOR)
        _write_late_shipment(project, author)
        _disable_skill(project, author)
        _customise_skill(project, author)
        _add_proposals(project, people[roles.REVIEWER], operator)
        _start_run(project, operator)
        _add_usage(project)
        _add_questions(project, author)
        self.stdout.write("  Created the project “demo” with one member for each role.")


def _person(project: Project, role: str, name: str, operator: Actor) -> User:
    """Return a member whose username is the role. An existing user of that name becomes a member."""
    user = User.objects.filter(username=role).first() or accounts.create_user(
        role, full_name=name, staff=role == roles.OWNER, by=operator
    )
    members.set_role(project, user, role, by=operator)
    return user


def _write_late_shipment(project: Project, author: Actor) -> None:
    text = skill_md.compose(
        name="late-shipment-reply",
        description="Answer a customer whose shipment is late: what to check first, what we may promise, when to hand "
        "over. Use when somebody asks where their parcel is.",
        instructions=_LATE_SHIPMENT,
        tags=["customers", "shipping"],
        triggers=["where is my parcel", "shipment is late"],
    )
    files = {SKILL_MD: text.encode(), "references/promises.md": _PROMISES.encode(), FILE: _WORKFLOW.encode()}
    first = skills.create(project, Bundle(files), note="First version", by=author).version
    better = text.replace("five working days", "four working days").encode()
    skills.save(
        project, first.skill.name, Bundle({**files, SKILL_MD: better}), base=first.digest,
        note="Hand over a day earlier, as agreed with the carrier", by=author,
    )  # fmt: skip


def _disable_skill(project: Project, author: Actor) -> None:
    text = skill_md.compose(
        name="manual-price-quote",
        description="Quote a price in another currency from the daily sheet. Use only while the ledger is down.",
        instructions=_RETIRED,
        tags=["finance"],
    )
    skills.create(project, skills.from_text(text), note="First version", by=author)
    skills.disable(project, "manual-price-quote", by=author)


def _customise_skill(project: Project, author: Actor) -> None:
    """Customise one built-in skill, if there is any."""
    built_in_skills = built_in.snapshot().skills
    name = "brand-voice" if "brand-voice" in built_in_skills else next(iter(sorted(built_in_skills)), None)
    loaded = catalog.built_in_skill(name) if name else None
    if name is None or loaded is None:
        return
    current = loaded.skill_md()
    text = skill_md.revise(
        current,
        instructions=f"{current.instructions}\n\n## In this team\n\nSign every letter with first name and team.\n",
    )
    bundle = loaded.bundle().with_changes({SKILL_MD: text.encode()})
    skills.save(project, name, bundle, base=loaded.candidate.digest, note="How this team signs its letters", by=author)


def _add_proposals(project: Project, reviewer: User, operator: Actor) -> None:
    """Add three proposals of an agent: one open, one with requested changes, and one rejected."""
    desk = agents.ensure(project, "support-desk", by=operator)
    agent = permissions.agent(desk, frozenset(roles.DEFAULT_AGENT_SCOPES))
    reviewing = permissions.as_member(reviewer, project, roles.REVIEWER)
    table = catalog.load(project.pk, "late-shipment-reply").bundle()["references/promises.md"].decode()
    refund = _propose(
        project, agent, "references/promises.md", table.replace("The shipping costs back", "Half of the price back"),
        "Customers who wait five days are angry about the shipping costs alone.",
    )  # fmt: skip
    reviews.reject(
        project, refund, comment="We never promise money that the shift lead has not agreed to.", by=reviewing
    )
    weekend = _propose(
        project, agent, "references/promises.md", f"{table}| over a weekend | A call back on Monday | you |\n",
        "Nobody says what we may promise on a Friday.\nI offered a call back 14 times and was right each time.",
    )  # fmt: skip
    comment = "Good, but name the hours in which we call. Monday alone is a long day."
    reviews.request_changes(project, weekend, comment=comment, by=reviewing)
    text = catalog.load(project.pk, "late-shipment-reply").skill_md().document.text
    _propose(project, agent, SKILL_MD, _with_carrier(text), _CARRIER_WHY, _CARRIER_EVIDENCE)


def _start_run(project: Project, operator: Actor) -> None:
    """Start a run of the agent, which the worker carries until it waits for a person."""
    desk = agents.ensure(project, "support-desk", by=operator)
    agent = permissions.agent(desk, frozenset({*roles.DEFAULT_AGENT_SCOPES, roles.RUN}))
    inputs = {"order": "88213", "days_late": 6, "answer": _ANSWER}
    runs.start(project, "late-shipment-reply", inputs=inputs, by=agent)


def _with_carrier(text: str) -> str:
    return text.replace(
        "Write down the date and the place.",
        "Write down the date and the place.\n   Where there is none, ask the carrier: "
        "`curl https://track.parcels.example/v1/$TRACKING_NUMBER`.",
    ).replace("Do not guess.", "Do not guess, and do not blame the weather.")


def _propose(
    project: Project, agent: Actor, path: str, text: str, why: str, evidence: tuple[dict[str, str], ...] = ()
) -> int:
    edit = edits.parse(files={path: text})
    suggestion = Suggestion("late-shipment-reply", edit, why, prepare.evidence(evidence), run="desk-2207")
    return proposals.propose(project, suggestion, by=agent).proposal.pk


def _add_questions(project: Project, author: Actor) -> None:
    """Add test questions for the skills that agents get, and run them once."""
    project.refresh_from_db()
    served = {candidate.name for candidate in catalog.view(project.pk, project.revision).served}
    cases = [
        Case(query, tuple(name for name in expected if name in served))
        for query, expected in _QUESTIONS.items()
        if not expected or expected[0] in served
    ]
    golden_set.add(project, cases, by=author)
    evaluations.run(project, by=author)


def _add_usage(project: Project) -> None:
    """Add thirty days of loads, so that the usage charts have data."""
    now = timezone.now()
    names = sorted(candidate.name for candidate in catalog.view(project.pk, 0).served)[:_MOST_USED]
    for place, name in enumerate(names):
        version = catalog.load(project.pk, name).candidate.version
        for days in range(30):
            loads = (place * 7 + days * days * (place + 3)) % (11 + place) if (days + place) % 5 else 0
            for _ in range(loads):
                usage.count_load(project.pk, name, version, caller="support-desk", now=now - timedelta(days=days))
    usage.flush()
