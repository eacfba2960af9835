"""Capabilities: what the steps of a workflow may call. Operators register them, a bundle never does.

`capability_yaml.py` reads them from files. The built-in ones are in `core/workflows/builtins/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.core import roles
from registry.core.workflows.plan import Approvers
from registry.core.workflows.values import Fields, Json, digest

BUILTIN, HTTP, MCP, LLM, SKILL = "builtin", "http", "mcp", "llm", "skill"
BINDINGS = (BUILTIN, HTTP, MCP, LLM, SKILL)

# What happens if a gate does not allow a call or its output.
BLOCK, WARN, DEGRADE, REQUIRE_HUMAN = "block", "warn", "degrade", "require_human"
ON_FAIL = (BLOCK, WARN, DEGRADE, REQUIRE_HUMAN)


@dataclass(frozen=True, slots=True)
class Gate:
    """A capability that allows or denies a call. `input` maps its fields; None passes the input of the call on.

    References in `input` start with `input.`, for the input of the guarded call, or in a post-gate with `output.`.
    """

    capability: str
    input: Mapping[str, Json] | None = None
    on_fail: str = BLOCK


@dataclass(frozen=True, slots=True)
class Safety:
    trust_level: str = roles.STANDARD
    requires_confirmation: bool = False
    pre_gates: tuple[Gate, ...] = ()
    post_gates: tuple[Gate, ...] = ()
    approvers: Approvers | None = None
    data_classification: str = ""
    reversible: bool | None = None
    allowed_targets: tuple[str, ...] = ()
    scope_constraints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Properties:
    """The effects of a call. The defaults are the careful ones: it changes something, and must not happen twice."""

    side_effects: bool = True
    idempotent: bool = False
    deterministic: bool = False

    @property
    def may_repeat(self) -> bool:
        """True if a call that was cut off can be made again without asking a person."""
        return self.idempotent or not self.side_effects


@dataclass(frozen=True, slots=True)
class Produced:
    """The cognitive type of an output field. `target` overrides the slot of the type."""

    type: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class Hints:
    role: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    produces: Mapping[str, Produced] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Capability:
    """A definition. `binding` says how it is called: its `kind`, and the keys of that kind.

    `document` is the JSON form of the definition, with everything that it inherits. `target` names what a call reaches,
    for people: a host, an MCP server, a model, or empty for what runs in the worker itself. `project` is the one whose
    owners registered it, and 0 for one that all projects share.
    """

    id: str
    version: str
    description: str
    inputs: Fields
    outputs: Fields
    binding: Mapping[str, Any]
    safety: Safety = Safety()
    properties: Properties = Properties()
    hints: Hints = Hints()
    aliases: tuple[str, ...] = ()
    deprecated: bool = False
    replacement: str = ""
    has_safety: bool = False  # the definition says something about safety
    target: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""  # of `document`
    project: int = 0

    @property
    def kind(self) -> str:
        return str(self.binding["kind"])


def nested_skill(name: str) -> Capability:
    """Return the capability behind `skill:NAME`. Its own calls are what the policy decides about."""
    binding = {"kind": SKILL, "name": name}
    document = {"id": f"skill:{name}", "version": "1", "binding": binding}
    return Capability(
        id=f"skill:{name}", version="1", description=f"The workflow of the skill {name}.", inputs={}, outputs={},
        binding=binding, safety=Safety(roles.SANDBOX), properties=Properties(side_effects=False),
        target=f"skill {name}", document=document, digest=digest(document),
    )  # fmt: skip
