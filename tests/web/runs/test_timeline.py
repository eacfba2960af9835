"""The timeline and the data of a run."""

from django.test import Client

from registry.models import Run
from registry.services.workflows import run_details
from tests.services.workflows.conftest import CHAIN
from tests.web.runs.conftest import Started
from tests.web.runs.workflows import APART, EACH, main


def here(run: Run) -> str:
    return f"/projects/demo/runs/{run.pk}/"


def test_the_timeline_shows_each_path_with_what_it_read_and_wrote(started: Started, viewing: Client) -> None:
    response = viewing.get(f"{here(started(CHAIN, inputs={'name': 'Ada'}))}timeline/")
    assert [line.path for line in response.context["lines"]] == ["render", "copy"]
    assert [(line.reads, line.writes) for line in response.context["lines"]] == [
        (("inputs.name",), ("vars.text",)),
        (("vars.text",), ("outputs.text",)),
    ]
    assert response.content.decode().count('class="waterfall-done"') == 2


def test_bars_lie_within_the_time_of_the_run(started: Started, viewing: Client) -> None:
    response = viewing.get(f"{here(started(EACH, inputs={'items': list(range(20))}))}timeline/")
    bars = [line.bar for line in response.context["lines"]]
    assert len(bars) == 21
    assert all(0 <= bar.x <= 996 and 4 <= bar.width <= 1_000 and bar.x + bar.width <= 1_000.1 for bar in bars)


def test_a_long_timeline_has_pages(started: Started, viewing: Client) -> None:
    run = started(EACH, inputs={"items": list(range(250))})
    response = viewing.get(f"{here(run)}timeline/?page=3")
    assert len(response.context["lines"]) == 51
    assert "201 to 251 of 251" in main(response)


def test_a_run_that_has_not_begun_has_an_empty_timeline(started: Started, viewing: Client) -> None:
    run = started(CHAIN, inputs={"name": "Ada"}, carried=False)
    assert "No step has begun yet." in main(viewing.get(f"{here(run)}timeline/"))
    assert "No step has written anything yet." in main(viewing.get(f"{here(run)}data/"))


def test_the_data_lists_what_steps_wrote(started: Started, viewing: Client) -> None:
    response = viewing.get(f"{here(started(CHAIN, inputs={'name': 'Ada'}))}data/")
    assert [(slot.target, slot.value) for slot in response.context["slots"]] == [
        ("outputs.text", "Hello Ada"),
        ("vars.text", "Hello Ada"),
    ]


def test_the_lineage_marks_the_steps_that_contributed(started: Started, viewing: Client) -> None:
    response = viewing.get(f"{here(started(APART))}data/?of=outputs.text")
    assert response.context["steps"] == ["first", "second"]
    page = response.content.decode()
    assert page.count("node--contributed") == 2
    assert page.count("node--todo") == 1
    assert "2 steps of 3 contributed: first, second." in main(response)


def test_the_lineage_of_an_unknown_value_is_empty(started: Started, viewing: Client) -> None:
    response = viewing.get(f"{here(started(APART))}data/?of=outputs.<b>nothing</b>")
    assert "No step of this run wrote outputs.<b>nothing</b>" in main(response)
    assert "<b>nothing" not in response.content.decode()


def test_a_run_with_too_many_steps_says_so(started: Started, viewing: Client, monkeypatch) -> None:
    run = started(CHAIN, inputs={"name": "Ada"})
    monkeypatch.setattr(run_details, "MOST_REBUILT", 1)
    monkeypatch.setattr(run_details, "MOST_TRACED", 1)
    assert "The run has more than 1 steps" in main(viewing.get(f"{here(run)}data/"))
    assert "The run has more than 1 steps" in main(viewing.get(f"{here(run)}data/?of=outputs.text"))
