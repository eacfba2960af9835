"""Runs in every state that a page can show, carried by a real worker."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.core.workflows.plan import FILE
from registry.models import Project, Run, User
from registry.services import permissions
from registry.services.people import members, projects
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import runs
from registry.services.workflows.run_worker import RunWorker

ONBOARDING = """\
id: supplier.onboarding
version: 1.0.0
description: Checks a supplier, and has a person approve the record.
inputs:
  name: {type: string, required: true, description: The supplier as it is in the register.}
  country: {type: string, default: DE, description: Two letters.}
  limit: {type: number, default: 0.5, description: Highest risk without a visit.}
  employees: {type: integer}
  urgent: {type: boolean, default: false}
  address: {type: object, description: Street and town.}
  contacts: {type: array, description: People at the supplier.}
  person_who_signs_the_agreement_with_this_supplier_from_abroad: {type: string}
outputs:
  record: {type: string, required: true, description: The line for the ledger.}
steps:
  - id: read-application
    uses: text.template
    input:
      template: "Application of {{name}} from {{country}}"
      variables: {name: inputs.name, country: inputs.country}
    output: {text: vars.application}
  - id: check-register
    uses: data.echo
    input: {value: inputs.name}
    output: {value: vars.registered}
    config: {depends_on: [read-application]}
  - id: check-sanctions
    uses: data.echo
    input: {value: vars.application}
    output: {value: vars.sanctions}
    config: {depends_on: [read-application]}
  - id: ask-contacts
    uses: data.echo
    input: {value: item}
    config: {depends_on: [read-application], foreach: {items: inputs.contacts}}
  - id: visit-site
    uses: data.echo
    input: {value: visited}
    config: {depends_on: [check-register], condition: inputs.limit > 0.8}
  - id: open-record
    uses: human.approve
    input: {question: "Open a supplier record for Brennholz & Söhne?"}
    config:
      depends_on: [check-register, check-sanctions, ask-contacts, visit-site]
      approvers: {roles: [reviewer, owner]}
  - id: write-record
    uses: text.template
    input: {template: "{{name}}, checked", variables: {name: vars.registered}}
    output: {text: outputs.record}
    config: {depends_on: [open-record]}
"""
PLAIN = """\
id: text.greeting
version: 1.0.0
inputs: {name: {type: string, required: true}}
outputs: {text: {type: string, required: true}}
steps:
  - id: render
    uses: text.template
    input: {template: "Hello {{name}}", variables: {name: inputs.name}}
    output: {text: vars.text}
  - id: shout
    uses: data.echo
    input: {value: vars.text}
    output: {value: outputs.text}
"""
FAILING = """\
id: tests.failing
version: 1.0.0
steps:
  - {id: begin, uses: data.echo, input: {value: ok}}
  - {id: call-ledger, uses: control.fail, input: {message: The ledger does not answer.}}
  - {id: tell-buyer, uses: data.echo, input: {value: done}}
"""
RETRYING = """\
id: tests.retrying
version: 1.0.0
steps:
  - {id: begin, uses: data.echo, input: {value: ok}}
  - id: call-ledger
    uses: control.fail
    input: {message: The ledger does not answer.}
    config: {retry: {max_attempts: 3, backoff_seconds: 3000}}
  - {id: tell-buyer, uses: data.echo, input: {value: done}}
"""
TWICE = """\
id: tests.twice
version: 1.0.0
steps:
  - {id: text, uses: human.approve, input: {question: "Is the text right?"}, config: {depends_on: []}}
  - {id: price, uses: human.approve, input: {question: "Is the price right?"}, config: {depends_on: []}}
"""
HUGE = """\
id: tests.huge
version: 1.0.0
inputs: {items: {type: array, required: true}}
outputs: {all: {type: array}}
steps:
  - id: each
    uses: data.echo
    input: {value: item}
    output: {value: outputs.all}
    config: {foreach: {items: inputs.items}, merge_strategy: replace}
"""
_SKILLS = {
    "supplier-onboarding": (ONBOARDING, "Check a new supplier and open its record. Use when a supplier applies."),
    "greeting-card": (PLAIN, "Write a greeting. Use when somebody has a birthday."),
    "ledger-entry": (FAILING, "Write a line to the ledger. Use when a bill is paid."),
    "ledger-retry": (RETRYING, "Write a line to the ledger, and try again. Use when the ledger is slow."),
    "price-list": (TWICE, "Check a price list. Use when prices change."),
    "mail-merge": (HUGE, "Write a letter to each customer. Use when prices change."),
}


@dataclass(frozen=True)
class Runs:
    """The ids of runs by their state, in a project of their own. The project `quiet` has none."""

    base: str
    quiet: str
    running: int
    waiting: int
    failed: int
    completed: int
    huge: int
    queued: int


def publish(project: Project, name: str, *, by: Actor) -> None:
    workflow, description = _SKILLS[name]
    text = skill_md.compose(
        name=name, description=description, instructions=f"# {name}\n\nRun the workflow.\n", tags=["runs"]
    )
    skills.create(project, Bundle({SKILL_MD: text.encode(), FILE: workflow.encode()}), note="First version", by=by)


def build(people: dict[str, User]) -> Runs:
    """Create a project with skills that have workflows, run them, and return the runs."""
    project, quiet = _project("purchasing", "Purchasing", people), _project("quiet", "Quiet", people)
    by = permissions.person(people[roles.AUTHOR], project)
    for name in _SKILLS:
        publish(project, name, by=by)
    contacts = ["Ada Okafor", "Jun Watanabe", "Noor Haddad"]
    onboarding = {
        "name": "Brennholz & Söhne GmbH",
        "contacts": contacts,
        "address": {"town": "Ulm", "street": "Am Tor 2"},
    }
    completed = runs.start(project, "greeting-card", inputs={"name": "Ada"}, by=by)
    failed = runs.start(project, "ledger-entry", by=by)
    running = runs.start(project, "ledger-retry", by=by)
    huge = runs.start(project, "mail-merge", inputs={"items": list(range(1_000))}, by=by)
    waiting = runs.start(project, "supplier-onboarding", inputs=onboarding, by=by)
    carry(completed, failed, running, huge, waiting)
    queued = runs.start(project, "greeting-card", inputs={"name": "Jun"}, by=by)
    Run.objects.filter(pk=queued.pk).update(wake_at=timezone.now() + timedelta(days=1))  # no worker of a test takes it
    bases = (f"/projects/{each.slug}" for each in (project, quiet))
    return Runs(*bases, running.pk, waiting.pk, failed.pk, completed.pk, huge.pk, queued.pk)


def _project(slug: str, name: str, people: dict[str, User]) -> Project:
    operator = permissions.operator()
    project = projects.create(slug=slug, name=name, by=operator)
    for role, user in people.items():
        members.set_role(project, user, role, by=operator)
    return project


def carry(*started: Run) -> None:
    """Let a worker carry these runs until each has ended or is parked."""
    worker = RunWorker(poll_seconds=0)
    ids = [run.pk for run in started]
    while worker.work(timeout=10) or worker.held or Run.objects.filter(pk__in=ids, state="queued").exists():
        pass
