"""Limits of capabilities on their reach: targets, the class of the data, and constraints.

A definition that its binding could break is refused, so that no such line is only decoration.
"""

from dataclasses import dataclass

from registry.core.workflows import capability_safety as words
from registry.core.workflows.binding_templates import authority
from registry.core.workflows.capability import BUILTIN, HTTP, LLM, MCP, SKILL, Capability
from registry.core.workflows.capability_bindings import secrets
from registry.core.workflows.problems import Problems

SCOPE = "capability-scope"
OPERATOR, OWNER = "operator", "owner"

_TARGETS, _CONSTRAINTS = ("safety", "allowed_targets"), ("safety", "scope_constraints")
_CLASSIFICATION, _REVERSIBLE = ("safety", "data_classification"), ("safety", "reversible")
_HOSTS = "List the host in SKILLS_FETCH_ALLOW_HOSTS if it is your own"


@dataclass(frozen=True, slots=True)
class Site:
    """The settings that the checks need. `hosts` are those of the operator, with or without a port, in lower case."""

    secrets: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    model: str = ""
    model_host: str = ""

    def owns(self, host: str) -> bool:
        """Return whether the operator listed a host as one of their own network."""
        return host in self.hosts or host.rpartition(":")[0] in self.hosts


def check(capability: Capability, problems: Problems, site: Site, author: str) -> None:
    _check_targets(capability, problems, site, author)
    _check_class(capability, problems, site)
    _check_constraints(capability, problems)
    _check_reversible(capability, problems)


def _host(capability: Capability, site: Site) -> str | None:
    """Return the host that a call reaches, empty for a program that may reach any, None for no network at all."""
    match capability.kind:
        case "http" | "mcp":
            return authority(str(capability.binding.get("url", "")))
        case "llm":
            return site.model_host
    return None


def _stays_inside(capability: Capability, site: Site) -> bool:
    host = _host(capability, site)
    return host is None or (host != "" and site.owns(host))


def _check_targets(capability: Capability, problems: Problems, site: Site, author: str) -> None:
    allowed = capability.safety.allowed_targets
    if not allowed:
        return
    fits = {
        words.SAME_TENANT: capability.kind in (BUILTIN, SKILL),
        words.INTERNAL_ONLY: _stays_inside(capability, site),
        words.APPROVED_CONNECTORS: author == OPERATOR or _stays_inside(capability, site),
    }
    if not any(fits[name] for name in allowed):
        reached = capability.target or "a program"
        message = f"The binding reaches {reached}, which is outside of {' and '.join(allowed)}."
        problems.add(SCOPE, _TARGETS, message, f"{_HOSTS}, or change the targets.")


def _check_class(capability: Capability, problems: Problems, site: Site) -> None:
    class_ = capability.safety.data_classification
    inside = _stays_inside(capability, site)
    if class_ == "restricted" and capability.kind not in (BUILTIN, SKILL):
        message = "Restricted data never leaves the worker, but the binding sends it to another program."
        problems.add(SCOPE, _CLASSIFICATION, message, "Use a binding of the kind builtin or skill.")
    elif class_ == "confidential" and not inside:
        message = f"Confidential data stays in your own network, but the binding reaches {capability.target}."
        problems.add(SCOPE, _CLASSIFICATION, message, f"{_HOSTS}.")
    elif class_ == "pii" and not inside and not _is_guarded(capability):
        message = f"Personal data may leave your own network only behind a confirmation or a gate: {capability.target}."
        fix = "Add `requires_confirmation: true` or a gate such as `security.pii.detect`."
        problems.add(SCOPE, _CLASSIFICATION, message, fix)


def _is_guarded(capability: Capability) -> bool:
    strict = any(gate.on_fail != "warn" for gate in capability.safety.pre_gates)
    return strict or capability.safety.requires_confirmation


def _check_constraints(capability: Capability, problems: Problems) -> None:
    kind, binding = capability.kind, capability.binding
    method = str(binding.get("method") or ("POST" if "body" in binding else "GET")).upper()
    broken = {
        words.READ_ONLY: (
            "the capability has side effects" if capability.properties.side_effects
            else f"the method {method} changes things" if kind == HTTP and method != "GET" else ""
        ),
        words.NO_EXTERNAL_NETWORK: f"a binding of the kind {kind} can reach others" if kind in (HTTP, MCP, LLM) else "",
        words.SANDBOXED: f"a binding of the kind {kind} runs outside of the worker" if kind in (HTTP, MCP, LLM) else "",
        words.NO_CREDENTIALS: (
            "the binding sends a secret" if kind == LLM or next(secrets(binding), None) else ""
        ),
        words.EPHEMERAL: "the site stores what each step got and gave",
    }  # fmt: skip
    for name in capability.safety.scope_constraints:
        if reason := broken[name]:
            message = f"`{name}` cannot be kept, because {reason}."
            problems.add(SCOPE, _CONSTRAINTS, message, "Remove the constraint, or change what breaks it.")


def _check_reversible(capability: Capability, problems: Problems) -> None:
    if capability.safety.reversible is False and capability.properties.side_effects and not _is_guarded(capability):
        message = "The call cannot be undone, but nobody has to confirm it and no gate can stop it."
        problems.add(SCOPE, _REVERSIBLE, message, "Add `requires_confirmation: true` or a gate.")
