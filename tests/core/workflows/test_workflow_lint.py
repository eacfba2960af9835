"""Lint of workflows: capabilities, sources, types and outputs."""

from collections.abc import Collection, Mapping

import pytest

from registry.core.findings import Finding, Severity
from registry.core.workflows import workflow_lint
from registry.core.workflows.capability import Capability
from tests.core.workflows.capabilities import ALL, capability
from tests.core.workflows.files import GOOD, HEADER, parse, steps

ERROR, WARNING, HINT = Severity.ERROR, Severity.WARNING, Severity.HINT
GIVEN = "input: {template: x}"


def lint(
    text: str, *, capabilities: Mapping[str, Capability] | None = ALL, skills: Collection[str] | None = ("refund-desk",)
) -> tuple[Finding, ...]:
    parsed = parse(text)
    assert parsed.plan, parsed.findings
    return workflow_lint.lint(parsed, capabilities=capabilities, skills=skills)


def one(text: str, *, capabilities: Mapping[str, Capability] | None = ALL) -> Finding:
    (found,) = lint(text, capabilities=capabilities)
    return found


def test_a_file_that_is_no_plan_has_no_further_findings() -> None:
    assert workflow_lint.lint(parse("steps: []"), capabilities=ALL, skills=()) == ()


def test_a_good_workflow_has_no_findings() -> None:
    assert lint(GOOD) == ()


def test_a_workflow_is_linted_without_knowing_capabilities() -> None:
    assert lint(GOOD, capabilities=None, skills=None) == ()
    assert lint(steps("id: a, uses: no.such", "id: b, uses: skill:none"), capabilities=None, skills=None) == ()


CAPABILITIES = [
    ("uses: text.templat", ERROR, "workflow-capability-unknown", "the unknown capability `text.templat`",
     "Did you mean `text.template`?"),
    ("uses: qqqq", ERROR, "workflow-capability-unknown", "`qqqq`", "registered on this site"),
    ("uses: skill:refund-dsk", ERROR, "workflow-skill-unknown", "the skill “refund-dsk”",
     "Did you mean `skill:refund-desk`?"),
    ("uses: skill:qqqq", ERROR, "workflow-skill-unknown", "not in this project", "a skill of this project"),
    ("uses: text.old", HINT, "workflow-capability-deprecated", "is deprecated", "Use `text.template`."),
    ("uses: text.alias", HINT, "workflow-capability-deprecated", "another name of `text.named`", "Use `text.named`."),
    ("uses: ledger.write", WARNING, "workflow-safety-missing", "`ledger.write` has side effects", "`safety` block"),
    ("uses: risk.decide", HINT, "workflow-consumes", "consumes Risk, which no step before it produces", "Risk"),
    ("uses: text.template", ERROR, "workflow-input-missing", "does not give `template`", "Add `template:`"),
    ("uses: text.template, input: {template: null}", ERROR, "workflow-input-missing", "`template`", "Add"),
    ("uses: text.template, input: {template: 1}", ERROR, "workflow-input-type", "type integer, but `text.template`",
     "of that type"),
    ("uses: text.template, input: {template: {$literal: [1]}}", ERROR, "workflow-input-type", "type array", "type"),
    ("uses: data.count, input: {items: text}", ERROR, "workflow-input-type", "type string", "of that type"),
    ("uses: data.count, input: {items: working.artifacts}", ERROR, "workflow-input-type", "type object", "type"),
    ("uses: text.template, input: {template: x, varables: {}}", WARNING, "workflow-input-unknown", "`varables`",
     "Did you mean `variables`?"),
    ("uses: text.template, input: {template: x}, output: {txt: vars.x}", ERROR, "workflow-output-unknown",
     "`txt`, which `text.template` does not return", "Did you mean `text`?"),
    ("uses: text.template, input: {template: x}, output: {q.text: vars.x}", ERROR, "workflow-output-unknown",
     "`q.text`", "text"),
]  # fmt: skip


@pytest.mark.parametrize(("rest", "severity", "rule", "said", "fix"), CAPABILITIES)
def test_a_problem_with_a_capability_has_its_line_and_fix(
    rest: str, severity: Severity, rule: str, said: str, fix: str
) -> None:
    found = one(steps(f"id: a, {rest}"))
    assert (found.severity, found.rule, found.line) == (severity, rule, 4)
    assert said in found.message
    assert fix in found.fix


@pytest.mark.parametrize("value", ["1", "text", "[1]", "{a: 1}", "inputs.name"])
def test_an_input_that_takes_every_value_takes_every_type(value: str) -> None:
    anything = capability("data.anything", {"value": "!"})
    text = steps(
        f"id: a, uses: data.anything, input: {{value: {value}}}", header=f"{HEADER}inputs: {{name: {{type: string}}}}\n"
    )
    assert lint(text, capabilities={anything.id: anything}) == ()


def test_each_name_of_a_router_and_a_scatter_is_looked_up() -> None:
    text = steps(
        f"id: a, {GIVEN}, config: {{router: {{on: inputs.*, cases: {{a: no.one, b: text.named}}, default: no.two}}}}",
        f"id: b, {GIVEN}, config: {{scatter: {{capabilities: [no.three, text.template]}}}}",
    )
    assert [(found.line, found.rule) for found in lint(text)] == [
        (4, "workflow-capability-unknown"), (4, "workflow-capability-unknown"), (5, "workflow-capability-unknown"),
    ]  # fmt: skip


def test_a_capability_without_safety_is_reported_once_and_one_with_it_never() -> None:
    text = steps("id: a, uses: ledger.write", "id: b, uses: ledger.write", "id: c, uses: ledger.guarded")
    assert [found.line for found in lint(text)] == [4]


def test_a_type_that_an_earlier_step_produces_may_be_consumed() -> None:
    assert lint(steps("id: a, uses: risk.find", "id: b, uses: risk.decide")) == ()
    beside = steps("id: a, uses: risk.find", "id: b, uses: risk.decide, config: {depends_on: []}")
    assert one(beside).rule == "workflow-consumes"


def test_a_nested_skill_may_produce_any_type() -> None:
    assert lint(steps("id: a, uses: skill:refund-desk", "id: b, uses: risk.decide")) == ()


FIELDS = HEADER + "inputs: {name: {type: string}, limit: {type: number}}\noutputs: {greeting: {type: string}}\n"
WRITES = f"id: a, uses: text.template, {GIVEN}, output: {{text: outputs.greeting}}"
READS = "id: b, uses: text.template, input: {template: %s}"


@pytest.mark.parametrize(
    ("first", "read", "severity", "rule", "said", "fix"),
    [
        (WRITES, "inputs.nme", ERROR, "workflow-input-undeclared", "`inputs.nme`, which is not an input",
         "Did you mean `inputs.name`?"),
        (WRITES, "inputs.qqqq.x", ERROR, "workflow-input-undeclared", "`inputs.qqqq.x`", "Declare `qqqq`"),
        (WRITES, "inputs.limit", ERROR, "workflow-input-type", "type number", "type"),
        (WRITES, "vars.text", ERROR, "workflow-source-unwritten", "`vars.text`, which no step writes",
         "Write it in a step before."),
        (WRITES, "outputs.greting", ERROR, "workflow-source-unwritten", "`outputs.greting`",
         "Did you mean `outputs.greeting`?"),
        (WRITES, "working.risk", ERROR, "workflow-slot-unknown", "names no slot", "Did you mean `working.risks`?"),
        (WRITES, "frame.gaol", ERROR, "workflow-slot-unknown", "names no slot", "Did you mean `frame.goal`?"),
        (WRITES, "vars..x", WARNING, "workflow-reference-text", "looks like a reference", "$literal"),
        (WRITES + ", config: {foreach: {items: working.risks}}", "outputs.greeting", ERROR, "workflow-output-type",
         "of the type array", "Change the type"),
    ],
)  # fmt: skip
def test_a_problem_with_a_source_has_its_line_and_fix(
    first: str, read: str, severity: Severity, rule: str, said: str, fix: str
) -> None:
    found = {each.rule: each for each in lint(steps(first, READS % read, header=FIELDS))}[rule]
    assert found.severity is severity
    assert said in found.message
    assert fix in found.fix
    assert found.line in (6, 7)


def test_a_value_that_only_a_step_beside_it_writes_is_reported() -> None:
    found = one(steps(WRITES, READS % "outputs.greeting" + ", config: {depends_on: []}", header=FIELDS))
    assert (found.rule, found.line) == ("workflow-source-unordered", 7)
    assert "does not wait for step 'a', which writes it" in found.message
    assert "Add 'a' to `config.depends_on`" in found.fix


def test_a_value_of_a_step_further_up_the_graph_can_be_read() -> None:
    between = "id: m, uses: text.named"
    assert lint(steps(WRITES, between, READS % "outputs.greeting", header=FIELDS)) == ()


def test_a_step_reads_its_own_output_only_in_the_condition_of_its_loop() -> None:
    loop = f"id: a, uses: text.template, {GIVEN}, output: {{text: vars.x}}, config: {{%s: %s}}"
    assert lint(steps(loop % ("while", "{condition: vars.x}"))) == ()
    found = one(steps(loop % ("condition", "vars.x")))
    assert (found.rule, found.severity) == ("workflow-source-unordered", WARNING)


@pytest.mark.parametrize(
    "config", ["condition: vars.x > 1", "router: {on: vars.x, cases: {a: text.named}}", "foreach: {items: vars.x}",
               "while: {condition: not vars.x}"]
)  # fmt: skip
def test_an_expression_may_read_a_missing_value_so_that_is_a_warning(config: str) -> None:
    found = one(steps(f"id: a, uses: text.named, config: {{{config}}}"))
    assert (found.rule, found.severity, found.line) == ("workflow-source-unwritten", WARNING, 4)


@pytest.mark.parametrize(("written", "read", "works"), [
    ("vars.a", "vars.a.b", True), ("vars.a.b", "vars.a", True), ("vars.a.b", "vars.a.c", False),
    ("vars.a", "vars.*", True), ("vars.a.b.c", "vars.a.b", True), ("vars.a", "vars.ab", False),
])  # fmt: skip
def test_a_value_above_or_below_a_target_can_be_read(written: str, read: str, works: bool) -> None:
    text = steps(
        f"id: a, uses: text.named, output: {{text: {written}}}", f"id: b, uses: skill:refund-desk, input: {{x: {read}}}"
    )
    assert [found.rule for found in lint(text)] == ([] if works else ["workflow-source-unwritten"])


def test_a_hint_of_a_capability_writes_its_target() -> None:
    text = steps("id: a, uses: risk.find", "id: b, uses: text.template, input: {template: vars.note}")
    assert lint(text) == ()
    assert lint(text, capabilities=None) == ()


def test_a_literal_with_dots_is_no_reference() -> None:
    assert lint(steps("id: a, uses: text.template, input: {template: e.g. vars.x}")) == ()


def test_a_local_name_hides_a_text() -> None:
    loop = "config: {foreach: {items: inputs.*, index_as: at}}"
    found = one(steps(f"id: a, uses: text.template, input: {{template: at}}, {loop}"))
    assert (found.rule, "of the type integer" in found.message) == ("workflow-input-type", True)


OUTPUT = "id: a\nversion: 1\noutputs:\n  greeting: {type: %s}\n"


@pytest.mark.parametrize(("more", "severity"), [("string, required: true", ERROR), ("string", WARNING)])
def test_an_output_that_nobody_writes_is_reported_at_its_line(more: str, severity: Severity) -> None:
    found = one(steps("id: a, uses: text.named", header=OUTPUT % more))
    assert (found.rule, found.severity, found.line) == ("workflow-output-unwritten", severity, 4)
    assert "`outputs.greeting`" in found.fix


def test_an_output_of_another_type_is_an_error_and_one_that_is_not_declared_a_warning() -> None:
    text = steps("id: a, uses: text.named, output: {text: outputs.greeting}", header=OUTPUT % "array")
    assert "a value of the type string to `outputs.greeting`, which is of the type array" in one(text).message
    text = steps("id: a, uses: text.named, output: {text: outputs.greting}", header=OUTPUT % "string")
    undeclared, unwritten = lint(text)
    assert (undeclared.rule, undeclared.fix) == (
        "workflow-output-unwritten",
        "Write `outputs.greeting` in the `output` of a step.",
    )
    assert (unwritten.rule, unwritten.fix) == ("workflow-output-undeclared", "Did you mean `outputs.greeting`?")


@pytest.mark.parametrize(
    ("config", "ignored"),
    [
        ("scatter: {capabilities: [text.named, text.old]}, foreach: {items: inputs.*}", "`foreach`"),
        ("scatter: {capabilities: [text.named, text.old]}, while: {condition: true}", "`while`"),
        ("scatter: {capabilities: [text.named, text.old]}, router: {on: inputs.*, cases: {a: a.b}}", "`router`"),
        ("foreach: {items: inputs.*}, while: {condition: true}", "`while`"),
    ],
)
def test_control_flow_that_is_ignored_is_reported(config: str, ignored: str) -> None:
    uses = "" if "scatter" in config else "uses: text.named, "
    found = {each.rule: each for each in lint(steps(f"id: a, {uses}config: {{{config}}}"))}["workflow-flow-ignored"]
    assert (found.severity, found.line) == (WARNING, 4)
    assert f"{ignored} of step 'a' is ignored" in found.message


def test_uses_is_ignored_beside_a_scatter() -> None:
    found = one(steps("id: a, uses: text.none, config: {scatter: {capabilities: [text.named, risk.find]}}"))
    assert found.rule == "workflow-flow-ignored"


def test_every_rule_is_described_and_starts_with_workflow() -> None:
    described = {**workflow_lint.STRUCTURE, **workflow_lint.WIRING}
    assert all(rule.startswith("workflow-") and text.endswith(".") for rule, text in described.items())
    assert {rule for _, _, rule, _, _ in CAPABILITIES} <= workflow_lint.WIRING.keys()
