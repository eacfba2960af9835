"""Suggestions of names that look like a misspelt one."""

from registry.core.text.nearest import nearest_of


def test_the_closest_name_is_suggested() -> None:
    assert nearest_of(["refund-desk", "refund-check"])("refund-chek") == "refund-check"


def test_a_name_that_looks_like_no_other_has_no_suggestion() -> None:
    assert nearest_of(["refund-desk"])("invoice") == nearest_of([])("invoice") == ""


def test_a_lower_cutoff_suggests_more() -> None:
    assert nearest_of(["steps"])("stop") == ""
    assert nearest_of(["steps"], cutoff=0.5)("stop") == "steps"


def test_there_are_no_suggestions_when_the_budget_is_used_up() -> None:
    nearest = nearest_of(["refund-desk" + "x" * 10_000])
    found = [nearest("refund-desk" + "x" * 100) for _ in range(5)]
    assert found[-1] == ""


def test_the_budget_is_used_up_by_comparisons_and_not_by_names() -> None:
    nearest = nearest_of(["name"])
    assert {nearest("nam") for _ in range(1_000)} == {"name"}
