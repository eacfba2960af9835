"""Runs that wait for people, with a question of each kind."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from registry.core.workflows.values import digest
from registry.models import Project, Run, RunQuestion, User
from registry.services import permissions
from registry.services.agents import agents
from registry.services.capabilities import capability_registry, project_capabilities
from registry.services.permissions import Actor
from registry.services.skills import skills
from registry.services.workflows import questions, runs
from tests.browser.run_states import carry
from tests.conftest import skill_bundle

_WORKFLOW = """\
id: refund.order
version: 1.0.0
description: Refunds an order after somebody has looked at it.
inputs: {order: {type: string, default: "88213"}}
steps:
  - id: ask-why
    uses: human.input
    input:
      question: What went wrong with this order?
      help: The customer does not see it. It decides about the amount.
      fields:
        reason: {type: string, required: true, description: In one sentence.}
        amount: {type: number, required: true, description: In euros.}
        parcels: {type: integer, default: 1}
        broken: {type: boolean, description: Whether the goods arrived broken.}
        photos: {type: array}
    config: {depends_on: []}
  - id: publish
    uses: human.approve
    input:
      question: Send this answer to Ms. Abe?
      details:
        to: abe@example.org
        order: inputs.order
        answer: "Dear Ms. Abe,\\n\\nyour parcel got lost in Leipzig. We are sorry, and send a new one today.\\n\\n\
It should arrive on Thursday.\\nYou need not do anything.\\n\\nThe team"
        attachments: []
    config: {depends_on: [], approvers: {count: 2}, on_deny: say-sorry}
  - {id: refund, uses: data.echo, input: {value: inputs.order}}
  - {id: say-sorry, uses: data.echo, input: {value: inputs.order}}
"""

_REFUND = """\
id: ledger.refund
version: 1.0.0
description: Pays money back to the card of a customer.
inputs:
  order: {type: string, required: true}
  card: {type: object, required: true}
  amount: {type: number, required: true}
  note: {type: string}
outputs:
  receipt: {type: string, required: true, description: The number that the ledger shows.}
  booked: {type: boolean}
properties: {side_effects: true, idempotent: false}
safety: {requires_confirmation: true, reversible: false}
binding: {kind: http, method: POST, url: "https://ledger.example.com/refunds", body: input}
"""
_CALL: dict[str, Any] = {
    "step": "refund",
    "reason": "The gate amount.limit says: 148.50 is over 100.00.",
    "capability": "ledger.refund",
    "description": "Pays money back to the card of a customer.",
    "target": "ledger.example.com",
    "input": {
        "order": "88213",
        "card": {"holder": "K.\u202fAbe\u200b", "last_digits": "0042"},
        "amount": 148.5,
        "note": None,
    },
    "output": None,
    "verdicts": [
        {"gate": "security.secrets.detect", "allowed": True, "reason": "", "on_fail": "block"},
        {"gate": "amount.limit", "allowed": False, "reason": "148.50 is over 100.00", "on_fail": "require_human"},
        {"gate": "customer.history", "allowed": False, "reason": "Two refunds this year", "on_fail": "warn"},
    ],
    "side_effects": True,
    "reversible": False,
    "classification": "personal",
    "trust_level": "elevated",
}


def fill(project: Project, owner: Actor, author: Actor) -> dict[str, tuple[int, int]]:
    """Return the run and the question of each kind."""
    bundle = skill_bundle("refund-order", {"workflow.yaml": _WORKFLOW.encode()})
    skills.create(project, bundle, by=author)
    project_capabilities.register(project, _REFUND, by=owner)
    by_agent = permissions.agent(agents.get(project, "support-desk"), frozenset({"run", "read"}))
    mine = runs.start(project, "refund-order", by=owner)
    waiting = runs.start(project, "refund-order", by=by_agent)
    carry(mine, waiting)
    publish = waiting.questions.get(path="publish")
    reviewer = permissions.person(User.objects.get(username="reviewer"), project)
    questions.approve(project, waiting.pk, publish.pk, digest=publish.digest, by=reviewer)
    found = {
        "approval": publish,
        "input": waiting.questions.get(path="ask-why"),
        "own": mine.questions.get(path="publish"),
        **_calls(waiting),
    }
    return {kind: (question.run_id, question.pk) for kind, question in found.items()}


def _calls(run: Run) -> dict[str, RunQuestion]:
    old = _ask(run, "approve", "refund", state="approved", answered_by="Tomás Ferreira", comment="He is right.")
    changed = {**_CALL, "input": {**_CALL["input"], "amount": 1_485.0}, "target": "ledger-2.example.com"}
    return {
        "closed": old,
        "again": _ask(run, "approve", "refund", **changed),
        "call": _ask(run, "approve", "refund[1]"),
        "release": _ask(run, "approve", "refund[2]", output={"receipt": "R-2041", "card": "4111 1111 1111 0042"}),
        "doubt": _ask(run, "doubt", "refund[3]", verdicts=[]),
    }


def _ask(run: Run, kind: str, path: str, *, state: str = "open", **given: Any) -> RunQuestion:
    """Store a question as the engine does. No capability of the demo calls another service."""
    row = {name: given.pop(name) for name in ("answered_by", "comment") if name in given}
    definition = capability_registry.of(run.project_id).get(_CALL["capability"]).digest
    shown, now = {**_CALL, "definition": definition, "step": path, **given}, timezone.now()
    return RunQuestion.objects.create(
        run=run, kind=kind, path=path, shown=shown, digest=digest(shown), state=state, taken=state != "open",
        asked_at=now - timedelta(minutes=21), expires_at=now + timedelta(hours=20),
        answered_at=None if state == "open" else now, **row,
    )  # fmt: skip
