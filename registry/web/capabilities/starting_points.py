"""Definitions that owners start from."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StartingPoint:
    label: str
    note: str
    text: str


STARTING_POINTS: Mapping[str, StartingPoint] = {
    "http": StartingPoint("HTTP call", "Calls an address and returns fields of its JSON answer.", """\
id: weather.report.read
version: 1.0.0
description: Reads the weather of a city.
inputs:
  city: {type: string, required: true, description: The name of the city.}
outputs:
  degrees: {type: number, required: true}
properties: {side_effects: false, idempotent: true}
binding:
  kind: http
  url: "https://weather.example.com/v1/{city}"
  outputs: {degrees: now.temperature}
"""),
    "write": StartingPoint("Call with effects", "Asks a person first, and keeps secrets out of the call.", """\
id: ticket.comment.write
version: 1.0.0
description: Adds a comment to a ticket.
inputs:
  ticket: {type: integer, required: true}
  text: {type: string, required: true}
outputs:
  id: {type: integer, required: true}
properties: {side_effects: true, idempotent: false}
safety:
  trust_level: standard
  requires_confirmation: true
  mandatory_pre_gates:
    - {capability: security.secrets.detect, input: {text: input.text}, on_fail: block}
binding:
  kind: http
  method: POST
  url: "https://tickets.example.com/api/tickets/{ticket}/comments"
  body: {text: input.text}
"""),
    "function": StartingPoint("Built-in function", "Gives a built-in function a name and safety of its own.", """\
id: address.text.render
version: 1.0.0
description: Fills the template of an address.
inputs:
  template: {type: string, required: true}
  variables: {type: object, required: true}
outputs:
  text: {type: string, required: true}
properties: {side_effects: false, idempotent: true, deterministic: true}
binding: {kind: builtin, function: text.template}
"""),
    "skill": StartingPoint("Skill", "Runs the workflow of a skill as one step.", """\
id: review.summary.make
version: 1.0.0
description: Runs the workflow of a skill.
inputs:
  text: {type: string, required: true}
properties: {side_effects: false}
binding: {kind: skill, name: my-skill}
"""),
    "stricter": StartingPoint("Stricter version", "Inherits everything of another capability, and adds safety.", """\
id: echo.value.confirm
version: 1.0.0
description: Returns its input after a person approved it.
extends: data.echo
safety: {requires_confirmation: true}
properties: {side_effects: true}
"""),
}  # fmt: skip


def stricter(capability_id: str) -> str:
    """Return the start of a capability that extends another one."""
    return (
        f"id: {capability_id[:110]}.strict\nversion: 1.0.0\nextends: {capability_id}\n"
        "safety: {requires_confirmation: true}\n"
    )
