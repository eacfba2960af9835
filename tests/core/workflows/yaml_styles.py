"""Workflow files in many styles: the same values with comments, quotes, blank lines, block and flow maps."""

from typing import Any

from hypothesis import strategies as st

from registry.core.format.edit_lines import quote

WORDS = st.sampled_from(
    ["a", "vars.x", "inputs.name", "text.template", "x y", "7", "true", "it's", 'a "b"', "é: ü", "#1", "- x"]
)
LEAVES = st.one_of(WORDS, st.integers(-5, 5), st.booleans(), st.none(), st.sampled_from([0.5, 1e-7]),
                   st.sampled_from(["two\nlines\n", "a\n\n  b"]))  # fmt: skip
VALUES = st.one_of(LEAVES, st.lists(WORDS, max_size=2), st.dictionaries(st.sampled_from("ab"), LEAVES, max_size=2))
MAPS = st.dictionaries(st.sampled_from(["one", "two", "three"]), VALUES, max_size=3)


@st.composite
def steps(draw: st.DrawFn, least: int = 1) -> list[dict[str, Any]]:
    ids = draw(st.lists(st.sampled_from(["s1", "s2", "s3", "s4", "s5"]), min_size=least, max_size=4, unique=True))
    found = []
    for id_ in ids:
        step: dict[str, Any] = {"id": id_, "uses": draw(st.sampled_from(["text.template", "data.echo"]))}
        if draw(st.booleans()):
            step["input"] = draw(MAPS)
        if draw(st.booleans()):
            step["config"] = draw(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "depends_on": st.lists(st.sampled_from(ids), max_size=2, unique=True),
                        "timeout_seconds": st.integers(1, 99),
                        "retry": st.just({"max_attempts": 2}),
                        "condition": st.just("vars.x > 3"),
                    },
                )
            )
        found.append(step)
    return found


@st.composite
def files(draw: st.DrawFn, least: int = 1) -> tuple[str, dict[str, Any]]:
    """Return a text and its value."""
    value = {"id": "a.b", "version": "1.0.0", "steps": draw(steps(least))}
    lines = ["# first", "id: a.b", 'version: "1.0.0"  # the version', "", "steps:"]
    indent = draw(st.sampled_from(["", "  "]))
    for step in value["steps"]:
        lines += draw(st.sampled_from([[], [""], [f"{indent}# about {step['id']}"], ["", f"{indent}# more", "# x"]]))
        written = _block(draw, step, indent + "  ")
        lines += [f"{indent}- {written[0].strip()}", *written[1:]]
    lines += draw(st.sampled_from([[], ["# last"], ["", "metadata: {x: 1}"]]))
    if lines[-1].startswith("metadata"):
        value["metadata"] = {"x": 1}
    text = "\n".join(lines) + draw(st.sampled_from(["\n", "", "\n\n"]))
    return (text.replace("\n", "\r\n") if draw(st.booleans()) else text), value


def _block(draw: st.DrawFn, value: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for key, item in value.items():
        comment = draw(st.sampled_from(["", "", "  # note"]))
        if isinstance(item, dict) and item and draw(st.booleans()):
            lines += [f"{indent}{key}:{comment}", *_block(draw, item, indent + "  ")]
        elif isinstance(item, list) and item and draw(st.booleans()):
            dash = draw(st.sampled_from([indent, indent + "  "]))
            lines += [f"{indent}{key}:{comment}", *(f"{dash}- {_flow(draw, each)}" for each in item)]
        elif item == "two\nlines\n" and draw(st.booleans()):
            lines += [f"{indent}{key}: |{comment}", f"{indent}  two", f"{indent}  lines"]
        else:
            lines.append(f"{indent}{key}: {_flow(draw, item)}{comment}")
    return lines


def _flow(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        space = draw(st.sampled_from(["", " "]))
        return "{" + space + ", ".join(f"{key}: {_flow(draw, item)}" for key, item in value.items()) + space + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(draw, item) for item in value) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if not isinstance(value, str):
        return f"{value:.8f}" if isinstance(value, float) else str(value)
    if value in ("a", "vars.x", "inputs.name", "text.template") or value.startswith("s") or value == "data.echo":
        return draw(st.sampled_from([value, quote(value), f"'{value}'"]))
    return quote(value)
