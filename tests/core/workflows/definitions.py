"""Capability files for tests."""

from collections.abc import Mapping
from typing import Any

from registry.core.findings import Finding, errors
from registry.core.workflows import capability_linking, capability_yaml
from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_linking import OPERATOR, Linked
from registry.core.workflows.capability_scope import Site

BUILT_IN = {id_: builtin.capability for id_, builtin in BUILTINS.items()}
SITE = Site(frozenset({"LEDGER_TOKEN"}), frozenset({"ledger.internal", "10.0.0.7:8080"}), "small", "llm.example.com")

# The contract of operators' files.
LEDGER = """\
id: ledger.entry.write
version: 1.0.0
description: Writes one line to the ledger.
inputs: {key: {type: string, required: true}}
outputs: {ok: {type: boolean, required: true}}
properties: {side_effects: true, idempotent: false}
safety: {trust_level: standard, requires_confirmation: true, mandatory_pre_gates: [{capability: security.secrets.detect, input: {text: input.key}, on_fail: block}]}
binding: {kind: http, method: POST, url: "http://ledger.internal/entries", headers: {Authorization: "secret:LEDGER_TOKEN"}, body: input}
"""  # noqa: E501

LEAKED = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW3xY5"  # a credential that lint knows by its form

ECHO = "{kind: builtin, function: data.echo}"


def text(id_: str = "test.echo", *, binding: str = ECHO, **keys: str) -> str:
    """Return a capability file. A key without a value is left out."""
    usual = {"id": id_, "version": "1.0.0", "description": "For tests.", "binding": binding}
    return "".join(f"{key}: {value}\n" for key, value in {**usual, **keys}.items() if value)


def link(*texts: str, author: str = OPERATOR, site: Site = SITE, known: Mapping[str, Any] = BUILT_IN) -> list[Linked]:
    """Link files that have no errors of their own."""
    drafts = []
    for number, content in enumerate(texts, start=1):
        parsed = capability_yaml.parse(content, file=f"{number}.yaml")
        assert parsed.draft, parsed.findings
        drafts.append(parsed.draft)
    return list(capability_linking.link(drafts, known, site, author=author))


def good(*texts: str, **options: Any) -> Capability:
    """Return the last capability of files without errors."""
    found = link(*texts, **options)
    assert [errors(each.findings) for each in found] == [()] * len(texts)
    last = found[-1].capability
    assert last is not None
    return last


def refused(*texts: str, **options: Any) -> Finding:
    """Return the only error of the last file, from the parser or from the checks against others."""
    parsed = capability_yaml.parse(texts[-1], file=f"{len(texts)}.yaml")
    found = parsed.findings if parsed.draft is None else link(*texts, **options)[-1].findings
    (error,) = errors(found)
    assert error.line
    assert error.fix
    return error


def warned(content: str, **options: Any) -> list[str]:
    """Return the rules of the findings of a file without errors."""
    parsed = capability_yaml.parse(content)
    assert parsed.draft, parsed.findings
    (found,) = link(content, **options)
    assert found.capability, found.findings
    return [each.rule for each in (*parsed.findings, *found.findings)]
