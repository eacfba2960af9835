"""Capabilities of an operator and of owners, with and without errors."""

from pathlib import Path

from registry.core import roles
from registry.models import Project
from registry.services.capabilities import project_capabilities
from registry.services.permissions import Actor
from registry.web.capabilities.starting_points import STARTING_POINTS

_GUARD = """\
id: ticket.text.check
version: 1.0.0
description: Allows a text without words that we never send.
inputs: {text: {type: string, required: true}, forbidden_words: {type: array, default: [asap, obviously]}}
outputs: {allowed: {type: boolean, required: true}}
properties: {side_effects: false, idempotent: true, deterministic: true}
binding: {kind: builtin, function: policy.words.gate}
"""
_GUARDED = """\
id: ticket.comment.translate
version: 1.0.0
description: Translates a comment with a service outside.
inputs: {text: {type: string, required: true}}
outputs: {text: {type: string, required: true}}
properties: {side_effects: false}
safety: {mandatory_pre_gates: [ticket.text.check]}
binding: {kind: http, method: POST, url: "https://translate.example.com/v1", body: input}
"""


def fill(project: Project, owner: Actor) -> None:
    """Register capabilities of owners. One of them loses its gate afterwards."""
    assert roles.MANAGE in owner.scopes
    for text in (STARTING_POINTS["write"].text, _GUARD, _GUARDED):
        project_capabilities.register(project, text, by=owner)
    project_capabilities.remove(project, "ticket.text.check", by=owner)


def write_files(directory: Path) -> None:
    """Write the files of an operator: one that works, and one with errors."""
    directory.mkdir(exist_ok=True)
    (directory / "ledger-write.yaml").write_text(_LEDGER)
    (directory / "ledger-delete.yaml").write_text(_LEDGER.replace(".write", ".delete").replace("on_fail", "on_fial"))


_LEDGER = """\
id: ledger.entry.write
version: 1.0.0
description: Writes one line to the ledger.
inputs: {key: {type: string, required: true, description: The text of the line.}}
outputs: {ok: {type: boolean, required: true}}
properties: {side_effects: true, idempotent: false}
safety:
  trust_level: elevated
  requires_confirmation: true
  data_classification: pii
  reversible: false
  approvers: {roles: [owner], count: 2}
  mandatory_pre_gates: [{capability: security.secrets.detect, input: {text: input.key}, on_fail: block}]
binding: {kind: mcp, command: ledger, tool: write, env: {TOKEN: "secret:LEDGER_TOKEN"}}
"""
