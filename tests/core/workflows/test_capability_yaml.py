"""Capability files: what a valid one means, and that every problem has its line and its fix."""

import pytest

from registry.core.findings import Severity, errors
from registry.core.workflows import capability_yaml
from registry.core.workflows.capability import Gate, Hints, Produced, Properties, Safety
from registry.core.workflows.plan import Approvers
from registry.core.workflows.values import Field
from tests.core.workflows.definitions import ECHO, LEDGER, good, refused, text, warned

HTTP = '{kind: http, url: "https://api.example.com/{key}"}'
KEY = "{key: {type: string}}"


def test_the_contract_of_operators_files_is_read() -> None:
    assert warned(LEDGER) == []
    ledger = good(LEDGER)
    assert (ledger.id, ledger.version, ledger.kind, ledger.target) == (
        "ledger.entry.write", "1.0.0", "http", "ledger.internal",
    )  # fmt: skip
    assert ledger.inputs == {"key": Field("key", "string", required=True)}
    assert ledger.outputs == {"ok": Field("ok", "boolean", required=True)}
    assert ledger.properties == Properties(side_effects=True)
    gate = Gate("security.secrets.detect", {"text": "input.key"})
    assert ledger.safety == Safety(requires_confirmation=True, pre_gates=(gate,))
    assert ledger.binding["headers"] == {"Authorization": "secret:LEDGER_TOKEN"}
    assert ledger.digest.startswith("sha256:")


def test_a_full_definition_is_read() -> None:
    found = good(text(
        inputs="{text: {type: string, required: true}}", outputs="{found: {type: array}, note: {type: string}}",
        properties="{side_effects: true, idempotent: true, deterministic: true}",
        safety="{trust_level: elevated, data_classification: pii, reversible: false, requires_confirmation: true,"
        " allowed_targets: [internal_only, same_tenant], scope_constraints: [no_credential_passthrough],"
        " mandatory_pre_gates: [security.pii.detect],"
        " mandatory_post_gates: [{capability: policy.length.gate, input: {text: output.note, maximum: 10},"
        " on_fail: degrade}], approvers: {people: [ada], roles: [owner], count: 2}}",
        cognitive_hints="{role: act, consumes: [Risk], produces: {found: Evidence, note: {type: Summary,"
        " target: vars.note}}}", aliases="[test.old]", deprecated="true", replacement="data.echo",
    ))  # fmt: skip
    assert found.safety == Safety(
        "elevated", True, (Gate("security.pii.detect"),),
        (Gate("policy.length.gate", {"text": "output.note", "maximum": 10}, "degrade"),),
        Approvers(("ada",), ("owner",), 2), "pii", False, ("internal_only", "same_tenant"),
        ("no_credential_passthrough",),
    )  # fmt: skip
    assert found.hints == Hints(
        ("act",), ("Risk",), {"found": Produced("Evidence"), "note": Produced("Summary", "vars.note")}
    )
    assert (found.aliases, found.deprecated, found.replacement) == (("test.old",), True, "data.echo")
    assert found.document["safety"]["mandatory_pre_gates"] == [
        {"capability": "security.pii.detect", "on_fail": "block"}
    ]


def test_defaults_are_the_careful_ones() -> None:
    found = good(text())
    assert found.properties == Properties(side_effects=True, idempotent=False, deterministic=False)
    assert found.safety == Safety(trust_level="standard")
    assert not found.has_safety
    assert good(text(safety="{}")).safety == Safety()


def test_a_gate_that_is_a_text_blocks() -> None:
    found = good(text(inputs="{text: {type: string}}", safety="{mandatory_pre_gates: [security.pii.detect]}"))
    assert found.safety.pre_gates == (Gate("security.pii.detect", None, "block"),)


def test_numbers_and_words_without_quotes_are_text_where_text_is_needed() -> None:
    binding = "{kind: http, url: https://api.example.com, headers: {X-Version: 1.10, X-Dry: true}}"
    assert good(text(binding=binding, version="1.0")).binding["headers"] == {"X-Version": "1.10", "X-Dry": "true"}
    assert good(text(version="1.0")).version == "1.0"


def test_the_digest_covers_everything_that_a_call_does() -> None:
    changes = (
        {}, {"version": "2"}, {"description": "Other."}, {"inputs": KEY}, {"outputs": KEY}, {"aliases": "[a.b]"},
        {"safety": "{requires_confirmation: true}"}, {"safety": "{trust_level: elevated}"},
        {"properties": "{idempotent: true}"}, {"binding": "{kind: builtin, function: date.now}"},
        {"safety": "{mandatory_pre_gates: [policy.words.gate]}"}, {"cognitive_hints": "{role: act}"},
        {"safety": "{approvers: {people: [ada]}}"}, {"safety": "{scope_constraints: [no_external_network]}"},
    )  # fmt: skip
    digests = {good(text(**change)).digest for change in changes}  # type: ignore[arg-type]
    assert len(digests) == len(changes)


@pytest.mark.parametrize(
    "content", ["", "[]", "text", "- a: b", "id: &a [*a]", "a: b\na: c", "id: !!python/object:x y"]
)
def test_other_files_are_refused_with_a_line(content: str) -> None:
    parsed = capability_yaml.parse(content, file="x.yaml")
    assert parsed.draft is None
    assert all(each.file == "x.yaml" and each.fix for each in errors(parsed.findings))
    assert errors(parsed.findings)


@pytest.mark.parametrize(
    ("changes", "line", "said"),
    [
        ({"id": ""}, 1, "Add `id:`"),
        ({"id": "Ledger"}, 1, "lowercase"),
        ({"version": ""}, 1, "Add a version"),
        ({"binding": ""}, 1, "Add `binding:`"),
        ({"bindng": "{}"}, 5, "Did you mean `binding`?"),
        ({"safety": "{trust_lvel: standard}"}, 5, "Did you mean `trust_level`?"),
        ({"safety": "{trust_level: high}"}, 5, "sandbox, standard, elevated, privileged"),
        ({"safety": "{trust_level: privilegd}"}, 5, "Did you mean `privileged`?"),
        ({"safety": "{requires_confirmation: 'yes'}"}, 5, "`true` or `false`"),
        ({"safety": "{pre_gates: []}"}, 5, "Rename it to `mandatory_pre_gates`"),
        ({"safety": "{data_classification: secret}"}, 5, "public, internal, pii, confidential, restricted"),
        ({"safety": "{reversible: maybe}"}, 5, "`true` or `false`"),
        ({"safety": "{allowed_targets: [internl_only]}"}, 5, "Did you mean `internal_only`?"),
        ({"safety": "{scope_constraints: [readonly]}"}, 5, "Did you mean `read_only`?"),
        ({"safety": "{mandatory_pre_gates: security.pii.detect}"}, 5, "a list"),
        ({"safety": "{mandatory_pre_gates: [3]}"}, 5, "the id of a capability"),
        ({"safety": "{mandatory_pre_gates: [Not An Id]}"}, 5, "the id of a capability"),
        ({"safety": "{mandatory_pre_gates: [{on_fail: block}]}"}, 5, "Add `capability:`"),
        ({"safety": "{mandatory_pre_gates: [{capability: data.echo, on_fail: ignore}]}"}, 5, "block, warn"),
        ({"safety": "{mandatory_pre_gates: [{capability: data.echo, inputs: {}}]}"}, 5, "Did you mean `input`?"),
        ({"safety": "{mandatory_pre_gates: [{capability: data.echo, input: {value: vars.x}}]}"}, 5, "`input.NAME`"),
        ({"safety": "{mandatory_pre_gates: [{capability: data.echo, input: {value: output.x}}]}"}, 5, "`input.NAME`"),
        ({"safety": "{approvers: {roles: [boss]}}"}, 5, "viewer, author, reviewer, owner"),
        ({"safety": "{approvers: {people: [ada], count: 3}}"}, 5, "Name more people"),
        ({"properties": "{side_effect: true}"}, 5, "Did you mean `side_effects`?"),
        ({"properties": "{idempotent: 1}"}, 5, "`true` or `false`"),
        ({"inputs": "{key: {type: str}}"}, 5, "Did you mean `string`?"),
        ({"inputs": "{key: string}"}, 5, "keys and values"),
        ({"outputs": "{1a: {type: string}}"}, 5, "Use letters"),
        ({"cognitive_hints": "{role: acting}"}, 5, "Did you mean `act`?"),
        ({"cognitive_hints": "{consumes: [Risks]}"}, 5, "Did you mean `Risk`?"),
        ({"cognitive_hints": "{produces: {value: Risks}}"}, 5, "Did you mean `Risk`?"),
        ({"cognitive_hints": "{produces: {value: {type: Risk, target: inputs.x}}}"}, 5, "Write to `vars`"),
        ({"cognitive_hints": "{produces: {value: Risk}}"}, 5, "Add `value:` to `outputs`"),
        ({"aliases": "[Not An Id]"}, 5, "Write an id"),
        ({"aliases": "[data.echo]"}, 5, "Choose another alias"),
        ({"replacement": "Not An Id"}, 5, "Write the id"),
        ({"replacement": "test.echo"}, 5, "Name another one"),
        ({"deprecated": "'no'"}, 5, "`true` or `false`"),
        ({"extends": "data.ech"}, 5, "Did you mean `data.echo`?"),
        ({"extends": "human.approve"}, 5, "Extend another"),
    ],
)
def test_problems_have_a_line_and_a_fix(changes: dict[str, str], line: int, said: str) -> None:
    found = refused(text(**changes))  # type: ignore[arg-type]
    assert said in found.fix
    assert found.line == line or (line == 5 and found.line in (4, 5))


@pytest.mark.parametrize(
    ("binding", "said"),
    [
        ("{}", "Add `kind:`"),
        ("{kind: xyz}", "Use one of builtin, http, mcp, llm, skill"),
        ("{kind: builtin}", "Add `function:`"),
        ("{kind: builtin, function: text.templat}", "Did you mean `text.template`?"),
        ("{kind: builtin, function: human.approve}", "Use the id of a built-in"),
        ("{kind: builtin, function: text.trim}", "Add `text:` to `inputs`"),
        ("{kind: skill}", "Add `name:`"),
        ("{kind: http}", "Add `url:`"),
        ("{kind: http, url: ledger.internal}", "Start it with https://"),
        ('{kind: http, url: "https://{host}/a"}', "Start it with https://"),
        ("{kind: http, url: https://user:pw@host/}", "Start it with https://"),
        ('{kind: http, url: "https://a.example/{key"}', "Close each"),
        ("{kind: http, url: https://a.example, method: BREW}", "GET, POST"),
        ("{kind: http, url: https://a.example, header: {}}", "Did you mean `headers`?"),
        ("{kind: http, url: https://a.example, headers: {Host: x}}", "Use letters"),
        ("{kind: http, url: https://a.example, headers: {a b: x}}", "Use letters"),
        ("{kind: http, url: https://a.example, timeout_seconds: 0}", "a number above 0"),
        ("{kind: http, url: https://a.example, outputs: {ok: }}", "a path"),
        ("{kind: http, url: https://a.example, body: {token: secret:TOKEN}}", "Secrets may only be in headers"),
        ("{kind: http, url: https://a.example, query: {token: secret:TOKEN}}", "Secrets may only be in headers"),
        ("{kind: http, url: https://a.example, body: {key: input.kye}}", "Did you mean `key`?"),
        ('{kind: http, url: "https://a.example/{other}"}', "Add `other:` to `inputs`"),
        ("{kind: mcp, url: https://a.example}", "Add `tool:`"),
        ("{kind: mcp, tool: a}", "Write `url:`"),
        ("{kind: mcp, tool: a, url: https://a.example, command: a}", "Write `url:`"),
        ("{kind: mcp, tool: a, command: a, args: [secret:TOKEN]}", "Secrets may only be in env"),
        ("{kind: mcp, tool: a, command: a, env: {A-B: c}}", "Use letters"),
        ("{kind: mcp, tool: a, command: a, args: b}", "a list"),
        ("{kind: llm}", "Add `prompt:`"),
        ('{kind: llm, prompt: "{{kye}}"}', "Did you mean `key`?"),
        ("{kind: llm, prompt: a, temperature: 3}", "a number from 0 to 2"),
        ("{kind: llm, prompt: a, max_tokens: 1.5}", "an integer"),
        ("{kind: llm, prompt: a, key: secret:TOKEN}", "Remove it"),
    ],
)
def test_a_binding_that_cannot_be_called_is_refused(binding: str, said: str) -> None:
    assert said in refused(text(binding=binding, inputs=KEY)).fix


@pytest.mark.parametrize(
    ("binding", "target"),
    [
        (ECHO, ""),
        (HTTP, "api.example.com"),
        ("{kind: http, url: HTTPS://Ledger.Internal:8443/a}", "ledger.internal:8443"),
        ("{kind: mcp, tool: read, url: https://mcp.example.com/}", "the tool read of mcp.example.com"),
        ("{kind: mcp, tool: read, command: files, args: [--root, /srv]}", "the tool read of files"),
        ('{kind: llm, prompt: "{{ key }}"}', "the model small"),
        ("{kind: llm, prompt: a, model: large}", "the model large"),
        ("{kind: skill, name: refund-desk}", "skill refund-desk"),
    ],
)
def test_people_see_what_a_call_reaches(binding: str, target: str) -> None:
    assert good(text(binding=binding, inputs=KEY)).target == target


def test_secrets_that_no_operator_listed_are_a_warning() -> None:
    binding = "{kind: http, url: https://a.example, headers: {Authorization: Bearer secret:LEDGER_TOKE}}"
    assert "capability-secret" in warned(text(binding=binding))


def test_keys_of_other_formats_are_hints() -> None:
    content = text(metadata="{a: b}", requires="[a.b]", properties="{audit_level: strict}", safety="{}")
    found = capability_yaml.parse(content).findings
    assert {each.severity for each in found} == {Severity.HINT}
    assert len(found) == 3


def test_a_description_is_asked_for() -> None:
    assert "capability-description" in warned(text(description="", safety="{}"))


@pytest.mark.parametrize("size", [60_000, 70_000, 1_000_000])
def test_files_are_bounded(size: int) -> None:
    parsed = capability_yaml.parse(f"id: {'a' * size}\nversion: 1\nbinding: {ECHO}\n")
    assert parsed.draft is None


@pytest.mark.parametrize("key", ["mandatory_pre_gates", "aliases"])
def test_lists_are_bounded(key: str) -> None:
    many = "[" + ",".join(f"a.b{number}" for number in range(21)) + "]"
    content = text(safety=f"{{{key}: {many}}}") if key != "aliases" else text(aliases=many)
    assert "20 are allowed" in refused(content).message
