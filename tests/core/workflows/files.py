"""Workflow files for tests."""

from registry.core.findings import Finding, Severity
from registry.core.workflows import workflow_yaml
from registry.core.workflows.plan import Plan
from registry.core.workflows.workflow_yaml import Parsed

HEADER = "id: text.hello\nversion: 1.0.0\n"

FULL = """\
---
id: refund.check
version: 1.10
description: Checks a refund.
inputs:
  order: {type: string, required: true, description: The number.}
  limit: {type: number, default: 100}
outputs:
  verdict: {type: string, required: true}
steps:
  - id: read
    uses: orders.order.read
    input: {id: inputs.order, nested: {list: [vars.x, 1.5, true, null]}}
    output: {order.total: vars.total, risks: "working.risks"}
    config:
      timeout_seconds: 30
      merge_strategy: append
      condition: inputs.order != ''
      retry: {max_attempts: 5, backoff_seconds: 0, backoff_multiplier: 1.5}
      while: {condition: vars.total < 3, max_iterations: 4}
  - id: each
    uses: text.template
    config:
      foreach: {items: vars.lines, as: line, index_as: number}
      depends_on: []
  - id: ask
    config:
      depends_on: [read, each]
      router: {on: vars.kind, cases: {a: a.b, 2: "skill:refund-desk", true: c.d}, default: e.f}
      approvers: {people: [ada, 007], roles: [owner, reviewer], count: 2}
      expires_seconds: 3600
      on_deny: sorry
  - id: all
    config: {scatter: {capabilities: [a.b, c.d], merge: first_success}}
  - id: sorry
    uses: text.template
"""

# The capabilities of capabilities.py fit this file.
GOOD = """\
id: text.hello
version: 1.0.0
inputs:
  name: {type: string, required: true}
  people: {type: array}
outputs:
  greeting: {type: string, required: true}
  count: {type: number}
steps:
  - id: render
    uses: text.template
    input: {template: "Hello {{name}}", variables: {name: inputs.name, all: inputs.*}}
    output: {text: vars.text}
  - id: again
    uses: text.template
    input: {template: vars.text}
    output: {text: outputs.greeting}
    config: {condition: vars.text != '' and inputs.name, while: {condition: outputs.greeting == '', max_iterations: 2}}
  - id: each
    uses: text.template
    input: {template: person.name, variables: {number: place}}
    output: {text: vars.texts}
    config: {foreach: {items: inputs.people, as: person, index_as: place}}
  - id: count
    uses: data.count
    input: {items: vars.texts}
    output: {count: outputs.count, facts.first: vars.fact.first}
  - id: route
    config: {router: {on: vars.fact, cases: {a: text.template}, default: text.named}}
    input: {template: vars.fact.first}
  - id: all
    config: {scatter: {capabilities: [text.template, text.named]}}
    input: {template: {$literal: vars.none}}
    output: {text.template.text: vars.both.first, text.named: vars.both.second}
"""


def parse(text: str) -> Parsed:
    return workflow_yaml.parse(text)


def steps(*lines: str, header: str = HEADER) -> str:
    """Return a file with these steps, one a line in flow style. The first one is on line 4."""
    return header + "steps:\n" + "".join(f"  - {{{line}}}\n" for line in lines)


def step(rest: str = "", *, config: str = "") -> str:
    """Return a file with one step that has these keys."""
    extra = f", {rest}" if rest else ""
    return steps(f"id: a, uses: text.template{extra}" + (f", config: {{{config}}}" if config else ""))


def plan(text: str) -> Plan:
    parsed = parse(text)
    assert parsed.plan is not None, parsed.findings
    return parsed.plan


def errors(text: str) -> list[Finding]:
    found = parse(text)
    bad = [finding for finding in found.findings if finding.severity is Severity.ERROR]
    assert (found.plan is None) == bool(bad)
    return bad


def error(text: str) -> Finding:
    (found,) = errors(text)
    return found
