"""Workflow files: what a valid one means, and that every problem has its line and its fix."""

import pytest

from registry.core.findings import Severity
from registry.core.workflows.control_flow import MOST_CASES
from registry.core.workflows.plan import Approvers, Foreach, Plan, Retry, Router, Scatter, Step, While
from registry.core.workflows.values import Field
from tests.core.workflows.files import FULL, HEADER, error, errors, parse, plan, step, steps


def test_a_full_file_becomes_a_plan() -> None:
    assert parse(FULL).findings == ()
    assert plan(FULL) == Plan(
        id="refund.check",
        version="1.10",
        description="Checks a refund.",
        inputs={
            "order": Field("order", "string", required=True, description="The number."),
            "limit": Field("limit", "number", default=100, has_default=True),
        },
        outputs={"verdict": Field("verdict", "string", required=True)},
        order=("read", "each", "ask", "all", "sorry"),
        steps=(
            Step(
                id="read",
                uses="orders.order.read",
                input={"id": "inputs.order", "nested": {"list": ["vars.x", 1.5, True, None]}},
                output={"order.total": "vars.total", "risks": "working.risks"},
                timeout_seconds=30,
                merge_strategy="append",
                condition="inputs.order != ''",
                retry=Retry(5, 0, 1.5),
                while_=While("vars.total < 3", 4),
                line=11,
            ),
            Step(id="each", uses="text.template", foreach=Foreach("vars.lines", "line", "number"), line=21),
            Step(
                id="ask",
                uses="",
                depends_on=("read", "each"),
                router=Router("vars.kind", {"a": "a.b", "2": "skill:refund-desk", "true": "c.d"}, "e.f"),
                approvers=Approvers(("ada", "007"), ("owner", "reviewer"), 2),
                expires_seconds=3600,
                on_deny="sorry",
                line=26,
            ),
            Step(id="all", uses="", scatter=Scatter(("a.b", "c.d"), "first_success"), depends_on=("ask",), line=33),
            Step(id="sorry", uses="text.template", depends_on=("ask",), line=35),
        ),
    )


def test_a_short_file_has_the_defaults() -> None:
    (only,) = plan(steps("id: a, uses: text.template")).steps
    assert only == Step("a", "text.template", line=4)
    assert plan(step(config="retry: {}, while: {condition: true}, foreach: {items: vars.x}")).steps[0] == Step(
        "a", "text.template", retry=Retry(), while_=While("true"), foreach=Foreach("vars.x"), line=4
    )


@pytest.mark.parametrize("key", ["inputs", "outputs", "description"])
def test_an_empty_value_is_the_same_as_no_key(key: str) -> None:
    assert plan(HEADER + f"{key}:\nsteps: [{{id: a, uses: x}}]\n") == plan(
        HEADER + "x: \nsteps: [{id: a, uses: x}]\n".removeprefix("x: ")
    )


def test_no_outputs_and_empty_outputs_are_different() -> None:
    assert plan(step()).steps[0].output is None
    assert plan(step("output: {}")).steps[0].output == {}


@pytest.mark.parametrize("key", ["name", "metadata", "triggers"])
def test_a_key_of_the_original_format_is_accepted_with_a_hint(key: str) -> None:
    parsed = parse(f"{key}: [x]\n{step()}")
    assert parsed.plan
    (hint,) = parsed.findings
    assert (hint.rule, hint.severity, hint.line) == ("workflow-key-ignored", Severity.HINT, 1)


def test_triggers_are_said_to_start_nothing() -> None:
    assert "Nothing starts this workflow" in parse(f"triggers: []\n{step()}").findings[0].message


@pytest.mark.parametrize("flow", ["scatter: {capabilities: [a.b, c.d]}", "router: {on: vars.x, cases: {a: b.c}}"])
def test_a_placeholder_is_not_needed_where_something_else_is_used(flow: str) -> None:
    parsed = parse(steps(f"id: a, uses: _scatter, config: {{{flow}}}"))
    assert parsed.plan and parsed.plan.steps[0].uses == ""
    assert [(each.severity, each.line) for each in parsed.findings] == [(Severity.HINT, 4)]


@pytest.mark.parametrize(
    ("text", "rule", "line", "said", "fix"),
    [
        ("", "workflow-root", 1, "empty", "Start it with"),
        ("[]", "workflow-root", 1, "is a list", "Start it with"),
        ("x", "workflow-root", 1, "is “x”", "Start it with"),
        ("a: b: c", "workflow-yaml", 1, "colon", "quotes"),
        (HEADER, "workflow-key-missing", 1, "`steps` is missing", "Write `steps:`"),
        (HEADER + "steps:\n", "workflow-key-missing", 3, "`steps` is missing", "Write `steps:`"),
        (HEADER + "steps: {}\n", "workflow-value", 3, "`steps` cannot be a map", "Write `steps:`"),
        (HEADER + "steps: []\n", "workflow-steps-empty", 3, "has no steps", "Add at least one"),
        (HEADER + "steps:\n- a\n", "workflow-value", 4, "Step 1 is “a”", "- id:"),
        (step().replace("id: text.hello\n", ""), "workflow-key-missing", 1, "`id` is missing", "Add `id:`"),
        (step().replace("text.hello", "Text Hello"), "workflow-id", 1, "`id` cannot be “Text Hello”", "lowercase"),
        (step().replace("text.hello", "''"), "workflow-id", 1, "`id` cannot be empty", "lowercase"),
        (step().replace("text.hello", "{}"), "workflow-value", 1, "`id` cannot be a map", "Write text"),
        (step().replace("text.hello", "a..b"), "workflow-id", 1, "“a..b”", "lowercase"),
        (step().replace("text.hello", "a" * 129), "workflow-id", 1, "cannot be", "at most 128"),
        (step().replace("version: 1.0.0\n", ""), "workflow-key-missing", 1, "`version` is missing", "1.0.0"),
        (step().replace("1.0.0", "[1]"), "workflow-value", 2, "`version` cannot be a list", "Write text"),
        (step().replace("1.0.0", "' '"), "workflow-value", 2, "`version` is empty", "1.0.0"),
        ("stepz: 1\n" + step(), "workflow-key-unknown", 1, "`stepz` is not a known key", "Did you mean `steps`?"),
        ("qqqq: 1\n" + step(), "workflow-key-unknown", 1, "`qqqq`", "Remove it. Known keys are"),
    ],
)  # fmt: skip
def test_a_problem_of_the_file_names_its_line_and_fix(text: str, rule: str, line: int, said: str, fix: str) -> None:
    found = error(text)
    assert (found.rule, found.line, found.file) == (rule, line, "workflow.yaml")
    assert said in found.message
    assert fix in found.fix


FIELDS = [
    ("9a: {type: string}", "workflow-field-name", "`inputs.9a` is not a valid name", "letters, digits"),
    ("a.b: {type: string}", "workflow-field-name", "`inputs.a.b` is not a valid name", "letters, digits"),
    ("a: string", "workflow-value", "`inputs.a` cannot be “string”", "keys and values"),
    ("a:", "workflow-key-missing", "`inputs.a` has no type", "{type: string}"),
    ("a: {required: true}", "workflow-key-missing", "`inputs.a.type` is missing", "one of string, number"),
    ("a: {type: }", "workflow-key-missing", "`inputs.a.type` is missing", "one of string, number"),
    ("a: {type: ''}", "workflow-key-missing", "`inputs.a.type` is missing", "one of string, number"),
    ("a: {type: strng}", "workflow-value", "`inputs.a.type` cannot be “strng”", "Did you mean `string`?"),
    ("a: {type: float}", "workflow-value", "`inputs.a.type` cannot be “float”", "string, number, integer"),
    ("a: {type: [string]}", "workflow-value", "cannot be a list", "Write text"),
    ("a: {type: string, required: yes}", "workflow-value", "`inputs.a.required` cannot be “yes”", "`true` or `false`"),
    ("a: {type: string, requird: true}", "workflow-key-unknown", "`inputs.a.requird`", "Did you mean `required`?"),
    ("a: {type: string, default: 3}", "workflow-default", "is 3, which does not fit the type string", "in quotes"),
    ("a: {type: integer, default: 1.5}", "workflow-default", "does not fit the type integer", "type integer"),
    ("a: {type: integer, default: true}", "workflow-default", "is true", "type integer"),
    ("a: {type: boolean, default: 1}", "workflow-default", "does not fit the type boolean", "type boolean"),
    ("a: {type: array, default: {}}", "workflow-default", "is a map", "type array"),
    ("a: {type: object, default: []}", "workflow-default", "is a list", "type object"),
]


@pytest.mark.parametrize(("field", "rule", "said", "fix"), FIELDS)
def test_a_problem_of_an_input_names_its_line_and_fix(field: str, rule: str, said: str, fix: str) -> None:
    found = error(f"inputs:\n  {field}\n{step()}")
    assert (found.rule, found.line) == (rule, 2)
    assert said in found.message
    assert fix in found.fix


def test_an_empty_default_is_none_and_a_default_makes_required_pointless() -> None:
    parsed = parse(
        f"inputs:\n  a: {{type: string, default: null}}\n  b: {{type: string, default: x, required: true}}\n{step()}"
    )
    assert parsed.plan
    assert not parsed.plan.inputs["a"].has_default
    (warning,) = parsed.findings
    assert (warning.rule, warning.severity, warning.line) == ("workflow-default-required", Severity.WARNING, 3)


def test_outputs_have_no_defaults() -> None:
    (hint,) = parse(f"outputs:\n  a: {{type: string, default: 3}}\n{step()}").findings
    assert (hint.rule, hint.severity, hint.line) == ("workflow-key-ignored", Severity.HINT, 2)


STEPS = [
    ("uses: a.b", "workflow-key-missing", "`id` of step 1 is missing", "Add `id:`"),
    ("id: , uses: a.b", "workflow-key-missing", "`id` of step 1 is missing", "Add `id:`"),
    ("id: '', uses: a.b", "workflow-id", "`id` of step 1 cannot be empty", "letters, digits"),
    ("id: [a], uses: a.b", "workflow-value", "`id` of step 1 cannot be a list", "Write text"),
    ("id: a b, uses: a.b", "workflow-id", "`id` of step 1 cannot be “a b”", "letters, digits"),
    ("id: -a, uses: a.b", "workflow-id", "cannot be “-a”", "letters, digits"),
    (f"id: {'a' * 65}, uses: a.b", "workflow-id", "cannot be", "at most 64"),
    ("id: a", "workflow-key-missing", "`uses` of step 'a' is missing", "capability or `skill:NAME`"),
    ("id: a, uses: ''", "workflow-uses", "`uses` of step 'a' is empty", "capability"),
    ("id: a, uses: Text.Template", "workflow-uses", "“Text.Template” of step 'a' is not the id", "text.template"),
    ("id: a, uses: 'skill:'", "workflow-uses", "“skill:” of step 'a'", "skill:NAME"),
    ("id: a, uses: skill:a/b", "workflow-uses", "“skill:a/b”", "skill:NAME"),
    ("id: a, uses: _scatter", "workflow-uses", "“_scatter”", "capability"),
    (f"id: a, uses: {'a' * 129}", "workflow-uses", "is not the id", "capability"),
    ("id: a, uses: a.b, timeout_seconds: 3", "workflow-key-misplaced", "`timeout_seconds` of step 'a'",
     "Move it below `config`: `config.timeout_seconds`."),
    ("id: a, uses: a.b, input_mapping: {}", "workflow-key-misplaced", "`input_mapping`", "Rename it to `input`."),
    ("id: a, uses: a.b, output_mapping: {}", "workflow-key-misplaced", "`output_mapping`", "Rename it to `output`."),
    ("id: a, uses: a.b, depends_on: []", "workflow-key-misplaced", "`depends_on`", "`config.depends_on`"),
    ("id: a, uses: a.b, config: {input: {}}", "workflow-key-misplaced", "`config.input`", "out of `config`"),
    ("id: a, uses: a.b, inptu: {}", "workflow-key-unknown", "`inptu` of step 'a'", "Did you mean `input`?"),
    ("id: a, uses: a.b, input: [x]", "workflow-value", "`input` of step 'a' cannot be a list", "keys and values"),
    ("id: a, uses: a.b, config: x", "workflow-value", "`config` of step 'a' cannot be “x”", "keys and values"),
    ("id: a, uses: a.b, output: x", "workflow-value", "`output` of step 'a' cannot be “x”", "keys and values"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "rule", "said", "fix"), STEPS)
def test_a_problem_of_a_step_names_its_line_and_fix(written: str, rule: str, said: str, fix: str) -> None:
    found = error(steps(written))
    assert (found.rule, found.line) == (rule, 4)
    assert said in found.message
    assert fix in found.fix


TARGETS = [
    ("var.x", "does not start with", "Did you mean `vars.x`?"),
    ("result", "does not start with", "`vars.` or `outputs.`"),
    ("vars", "does not start with", "`vars.` or `outputs.`"),
    ("vars.", "does not start with", "vars"),
    ("vars.*", "empty or invalid part", "between the dots"),
    ("vars..x", "empty or invalid part", "between the dots"),
    ("vars.a b", "empty or invalid part", "between the dots"),
    ("inputs.x", "`inputs`, which steps can only read", "`vars` or `outputs`"),
    ("frame.goal", "`frame`, which steps can only read", "`vars` or `outputs`"),
    ("trace.x", "`trace`, which steps can only read", "`vars` or `outputs`"),
    ("working.risk", "names no slot of `working`", "Did you mean `working.risks`?"),
    ("output.text", "names no slot of `output`", "Use one of result, result_type, summary, status_reason."),
    ("vars" + ".a" * 20, "has 21 parts", "at most 20"),
    ("3", "does not start with", "`vars.` or `outputs.`"),
    ("''", "has no target", "vars.result"),
    ("", "has no target", "vars.result"),
]


@pytest.mark.parametrize(("target", "said", "fix"), TARGETS)
def test_a_target_that_cannot_be_written_is_refused(target: str, said: str, fix: str) -> None:
    found = error(step(f"output: {{text: {target}}}"))
    assert (found.rule, found.line) == ("workflow-target", 4)
    assert said in found.message
    assert fix in found.fix


@pytest.mark.parametrize(
    "target",
    ["vars.x", "outputs.a.b", "working.artifacts.text", "working.risks", "output.summary", "extensions.a-b.c_d",
     "\"vars.found['text.template']\""],
)  # fmt: skip
def test_a_target_that_can_be_written_is_accepted(target: str) -> None:
    assert plan(step(f"output: {{text: {target}}}"))


CONFIGS = [
    ("timeout_seconds: 0", "workflow-value", "`config.timeout_seconds` of step 'a' cannot be 0", "above 0, up to 86,4"),
    ("timeout_seconds: 86401", "workflow-value", "cannot be 86,401", "up to 86,400"),
    ("timeout_seconds: '30'", "workflow-value", "cannot be “30”", "without quotes"),
    ("timeout_seconds: true", "workflow-value", "cannot be true", "a number"),
    ("timeout_secs: 3", "workflow-key-unknown", "`config.timeout_secs`", "Did you mean `timeout_seconds`?"),
    ("merge_strategy: merge", "workflow-value", "cannot be “merge”", "Did you mean"),
    ("condition: vars.x = 1", "workflow-expression", "`config.condition` of step 'a'", "Column"),
    ("condition: vars.x >", "workflow-expression", "not a valid expression", "Column"),
    ("condition: ''", "workflow-value", "is empty", "an expression"),
    ("condition: [a]", "workflow-value", "cannot be a list", "text"),
    ("retry: 3", "workflow-value", "`config.retry` of step 'a' cannot be 3", "keys and values"),
    ("retry: {max_attempts: 0}", "workflow-value", "cannot be 0", "an integer from 1 to 20"),
    ("retry: {max_attempts: 21}", "workflow-value", "cannot be 21", "an integer from 1 to 20"),
    ("retry: {max_attempts: 1.5}", "workflow-value", "cannot be 1.5", "an integer"),
    ("retry: {backoff_seconds: -1}", "workflow-value", "cannot be -1", "from 0 to 3,600"),
    ("retry: {backoff_multiplier: 0.5}", "workflow-value", "cannot be 0.5", "from 1 to 10"),
    ("retry: {attempts: 3}", "workflow-key-unknown", "`config.retry.attempts`", "Did you mean `max_attempts`?"),
    ("foreach: {}", "workflow-key-missing", "`config.foreach.items` of step 'a' is missing", "Add an expression"),
    ("foreach: {items: 'a b'}", "workflow-expression", "`config.foreach.items`", "Column"),
    ("foreach: {items: vars.x, as: vars}", "workflow-local-name", "cannot be `vars`", "another name"),
    ("foreach: {items: vars.x, as: a.b}", "workflow-local-name", "cannot be “a.b”", "letters"),
    ("foreach: {items: vars.x, as: index}", "workflow-local-name", "the same name as `as`", "another name"),
    ("while: {max_iterations: 3}", "workflow-key-missing", "`config.while.condition`", "Add an expression"),
    ("while: {condition: true, max_iterations: 1001}", "workflow-value", "cannot be 1,001", "from 1 to 1,000"),
    ("router: {on: vars.x}", "workflow-value", "`config.router.cases` of step 'a' has no case", "VALUE: CAPABILITY"),
    ("router: {on: vars.x, cases: {}}", "workflow-value", "has no case", "VALUE: CAPABILITY"),
    ("router: {cases: {a: b.c}}", "workflow-key-missing", "`config.router.on`", "Add an expression"),
    ("router: {on: vars.x, cases: {a: B}}", "workflow-uses", "“B” of step 'a'", "capability"),
    ("router: {on: vars.x, cases: {a: }}", "workflow-uses", "empty of step 'a'", "capability"),
    ("router: {on: vars.x, cases: {a: b.c}, default: B}", "workflow-uses", "“B” of step 'a'", "capability"),
    ("scatter: {capabilities: [a.b]}", "workflow-value", "2 to 50 are allowed", "List capabilities"),
    ("scatter: {capabilities: a.b}", "workflow-value", "cannot be “a.b”", "capability"),
    ("scatter: {capabilities: [a.b, B]}", "workflow-uses", "“B” of step 'a'", "capability"),
    ("scatter: {capabilities: [a.b, a.b]}", "workflow-uses", "`a.b` is listed twice of step 'a'", "Remove one"),
    ("scatter: {capabilities: [a.b, c.d], merge: concat}", "workflow-value", "“concat”", "mean `concat_lists`?"),
    ("approvers: {count: 0}", "workflow-value", "cannot be 0", "an integer from 1 to 20"),
    ("approvers: {count: 21}", "workflow-value", "cannot be 21", "an integer from 1 to 20"),
    ("approvers: {people: [ada], count: 2}", "workflow-approvers", "only 1 may approve", "Name more people"),
    ("approvers: {roles: [boss]}", "workflow-approvers", "the unknown role “boss”", "viewer, author, reviewer, owner"),
    ("approvers: {people: ada}", "workflow-value", "cannot be “ada”", "username"),
    ("approvers: {people: ['']}", "workflow-value", "Item 1 of `config.approvers.people`", "username"),
    ("expires_seconds: 0", "workflow-value", "cannot be 0", "from 1 to 7,776,000"),
    ("expires_seconds: 7776001", "workflow-value", "cannot be 7,776,001", "from 1 to 7,776,000"),
    ("depends_on: ", "workflow-value", "`config.depends_on` of step 'a' is empty", "Write `[]`"),
    ("depends_on: b", "workflow-value", "cannot be “b”", "[first, second]"),
    ("depends_on: [[a]]", "workflow-value", "Item 1 of `config.depends_on` of step 'a' is a list", "step ids"),
    ("depends_on: [b]", "workflow-depends-unknown", "Step 'a' depends on unknown step 'b'.", "Use the id"),
    ("depends_on: [a]", "workflow-depends-self", "depends on itself", "Remove it"),
    ("on_deny: b", "workflow-on-deny", "names the unknown step 'b'", "Use the id"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "rule", "said", "fix"), CONFIGS)
def test_a_problem_of_a_config_names_its_line_and_fix(config: str, rule: str, said: str, fix: str) -> None:
    found = error(step(config=config))
    assert (found.rule, found.line) == (rule, 4)
    assert said in found.message
    assert fix in found.fix


def test_a_scatter_has_at_most_fifty_members_and_a_router_a_hundred_cases() -> None:
    many = ", ".join(f"a.b{at}" for at in range(51))
    assert "51 entries" in error(step(config=f"scatter: {{capabilities: [{many}]}}")).message
    cases = ", ".join(f"c{at}: a.b" for at in range(MOST_CASES + 1))
    assert "101 cases" in error(step(config=f"router: {{on: vars.x, cases: {{{cases}}}}}")).message


def test_the_line_of_a_problem_is_that_of_the_key() -> None:
    text = FULL.replace("max_iterations: 4", "max_iterations: 0").replace("expires_seconds: 3600", "expires_seconds: 0")
    assert [found.line for found in errors(text)] == [20, 31]


def test_a_circle_is_found_with_the_line_of_its_first_step() -> None:
    found = error(steps("id: a, uses: x, config: {depends_on: [b]}", "id: b, uses: x", "id: c, uses: x"))
    assert (found.rule, found.line) == ("workflow-depends-cycle", 4)
    assert found.message == "Circular dependency detected among steps: a, b"


def test_all_problems_are_found_at_once() -> None:
    text = steps("id: a, use: x", "id: a, uses: B, config: {timeout_seconds: 0}", header="id: a\nversion: 1\nfoo: 1\n")
    assert {found.rule for found in errors(text)} == {
        "workflow-key-unknown", "workflow-key-missing", "workflow-uses", "workflow-value", "workflow-step-duplicate",
    }  # fmt: skip


def test_at_most_fifty_problems_are_listed_with_the_worst_first() -> None:
    found = parse("name: x\n" + "".join(f"key{at}: 1\n" for at in range(80)) + step()).findings
    assert len(found) == 50
    assert all(each.severity is Severity.ERROR for each in found)
    assert (found[-1].more, "31 more problems are not shown" in found[-1].message) == (31, True)


def test_a_number_behind_an_alias_is_not_taken_for_a_text() -> None:
    found = error(
        "x-limits: &x {version: 1.10}\n<<: *x\nid: a\nsteps: [{id: a, uses: b}]\n".replace("x-limits", "metadata")
    )
    assert (found.rule, found.fix) == ("workflow-value", "Write it in quotes.")
