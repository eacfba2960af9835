"""The graph of a workflow as HTML: escaping, states in words, links and the list of steps."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from registry.core.workflows.plan import Approvers, Foreach, Plan, Router, Scatter, Step, While
from registry.web.render.workflow_graph import STATES, draw
from tests.core.workflows.graphs import chain, fan, plan_of, two_sides, window

HOSTILE = '"><script>alert(1)</script><a href="javascript:x" onload=\'y\'>&\u202e'


def one(step: Step) -> Plan:
    return plan_of({step.id: step.depends_on}, **{step.id: step})


def drawings(html: str) -> list[ElementTree.Element]:
    """Return the SVGs. XML is stricter than HTML, so escaping errors do not parse."""
    found = re.findall(r'<svg class="graph-svg".*?</svg>(?=\s*</div>)', html, re.S)
    return [ElementTree.fromstring(each) for each in found]  # noqa: S314 - our own text


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def listed(html: str) -> list[str]:
    """Return the rows of the list as a screen reader says them."""
    rows = re.findall(r'<li id="[^"]*-step-.*?</li>', html, re.S)
    return [re.sub(r" ([,;:])", r"\1", words(row)) for row in rows]


def test_the_list_says_what_a_step_uses_what_it_waits_for_and_its_state() -> None:
    plan = plan_of(
        {"fetch": [], "summarise": ["fetch"]}, summarise=Step("summarise", "text.template", depends_on=("fetch",))
    )
    html = draw(plan, states={"fetch": "completed", "summarise": "running"}, details={"fetch": "2.1 s"})
    assert listed(html) == [
        "fetch, uses data.echo, at the start: Completed, 2.1 s",
        "summarise, uses text.template, after fetch: Running",
    ]


def test_the_list_says_everything_that_changes_how_a_step_runs() -> None:
    step = Step(
        "send", "mail.send", condition="vars.ready", foreach=Foreach("inputs.people", as_="person"),
        while_=While("vars.more", 7), approvers=Approvers(), on_deny="apologise",
    )  # fmt: skip
    (row,) = listed(draw(one(step)))
    assert row == (
        "send, uses mail.send, at the start; if vars.ready; for each person of inputs.people;"
        " again, at most 7 times, while vars.more; asks a person; if denied apologise"
    )


def test_the_list_names_all_that_a_router_and_a_scatter_may_call() -> None:
    router = Step("pick", "", router=Router("inputs.kind", {"short": "text.a", "long": "text.b"}, default="text.c"))
    assert listed(draw(one(router))) == [
        "pick, at the start; chooses by inputs.kind; for short: text.a; for long: text.b; else uses text.c"
    ]
    scatter = Step("all", "", scatter=Scatter(("text.a", "text.b")))
    assert listed(draw(one(scatter))) == ["all, at the start; uses at once text.a, text.b"]


@pytest.mark.parametrize("state", STATES)
def test_a_state_is_a_word_and_not_only_a_colour(state: str) -> None:
    html = draw(chain(1), states={"s0": state})
    label = STATES[state][0]
    (svg,) = drawings(html)
    assert label in ["".join(text.itertext()) for text in svg.iter("text")]
    assert listed(html) == [f"s0, uses data.echo, at the start: {label}"]


def test_states_are_words_in_the_narrow_drawing_too() -> None:
    html = draw(fan(4), states={"m0": "failed"})
    wide, narrow = drawings(html)
    for svg in (wide, narrow):
        found = ["".join(text.itertext()) for text in svg.iter("text")]
        assert found.count("Failed") == 1
        assert found.count("Not started") == 5


def test_an_unknown_state_is_shown_as_it_is() -> None:
    assert listed(draw(chain(1), states={"s0": "dreaming"})) == ["s0, uses data.echo, at the start: Dreaming"]


def test_a_plan_without_a_run_shows_no_states_and_a_run_that_has_not_started_does() -> None:
    assert "Not started" not in draw(chain(2))
    assert draw(chain(2), states={}).count("state--todo") == 2


def test_arrows_that_a_run_has_not_passed_are_dashed() -> None:
    html = draw(chain(3), states={"s0": "skipped", "s1": "running"})
    assert re.findall(r'class="(graph-edge[^"]*)"', html) == ["graph-edge", "graph-edge graph-edge--todo"]


@pytest.mark.parametrize(
    "step",
    [
        Step(HOSTILE, "data.echo"),
        Step("s", HOSTILE),
        Step("s", "data.echo", condition=HOSTILE),
        Step("s", "data.echo", foreach=Foreach(HOSTILE, as_=HOSTILE)),
        Step("s", "data.echo", while_=While(HOSTILE)),
        Step("s", "", router=Router(HOSTILE, {HOSTILE: HOSTILE}, default=HOSTILE)),
        Step("s", "", scatter=Scatter((HOSTILE, HOSTILE))),
        Step("s", "data.echo", on_deny=HOSTILE),
    ],
    ids=["id", "uses", "condition", "foreach", "while", "router", "scatter", "on_deny"],
)
def test_hostile_text_of_a_step_is_escaped(step: Step) -> None:
    html = draw(one(step), states={step.id: HOSTILE}, details={step.id: HOSTILE}, links={step.id: HOSTILE})
    assert drawings(html)
    assert "<script" not in html
    assert not re.search(r"<[^>]+\son[a-z]+=", re.sub(r'"[^"]*"', '""', html))


def test_characters_that_turn_text_around_are_made_visible() -> None:
    assert "\u202e" not in draw(one(Step("s", "data.echo", condition="inputs.a\u202e")))


def test_the_hostile_name_of_a_plan_is_escaped() -> None:
    html = draw(Plan(HOSTILE, "1", {}, {}, (Step("s", "data.echo"),), ("s",)))
    assert drawings(html)
    assert "<script" not in html


def test_the_drawing_has_a_title_a_description_and_no_styles() -> None:
    html = draw(fan(2))
    for svg in drawings(html):
        assert svg.get("role") == "img"
        named = {each.get("id"): each.text for each in svg if each.tag in ("title", "desc")}
        assert named[svg.get("aria-labelledby")] == "Graph of the workflow text.example"
        assert "4 steps in 3 layers" in " ".join((named[svg.get("aria-describedby")] or "").split())
    assert " style=" not in html


def test_no_id_is_used_twice_even_with_two_graphs_on_a_page() -> None:
    ids = re.findall(r'\sid="([^"]*)"', draw(fan(4)) + draw(fan(4), name="other"))
    assert len(ids) == len(set(ids))


def test_a_link_leads_from_the_box_and_from_the_list() -> None:
    html = draw(chain(2), links={"s1": "/runs/7/?a=1&b=2#s1"})
    (svg,) = drawings(html)
    assert svg.get("role") == "group"  # the children of an image cannot be links
    assert [link.get("href") for link in svg.iter("a")] == ["/runs/7/?a=1&b=2#s1"]
    assert html.count('href="/runs/7/?a=1&amp;b=2#s1"') == 2


def test_there_is_a_drawing_for_narrow_windows_where_it_saves_scrolling() -> None:
    kinds = {width: re.findall(r"graph-scroll--(\w+)", draw(fan(width))) for width in (1, 2, 4, 6, 20)}
    assert kinds[1] == kinds[20] == ["only"]
    assert kinds[2] == kinds[4] == kinds[6] == ["wide", "narrow"]


def test_the_page_says_how_many_arrows_are_left_out() -> None:
    assert "not drawn" not in draw(fan(3))
    assert "Each of them follows from the arrows that are drawn." in draw(window(30, 12))
    html = draw(two_sides(141, 141))
    assert "19,740 arrows are not drawn" in html
    assert "Each of them follows" not in html


def test_a_step_that_waits_for_very_many_names_the_first_ones() -> None:
    *_, last = listed(draw(fan(30)))
    assert last.endswith("m18, m19 and 10 more")


def test_the_largest_graph_is_a_page_of_reasonable_size() -> None:
    assert len(draw(window(500, 41), states={})) < 1_000_000
