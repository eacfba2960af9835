"""The catalog in three formats, the effective skills, and the diagnostics."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.models import Project
from registry.services.permissions import Actor
from tests.api.contract import problem
from tests.conftest import Api, on_disk, skill_bundle
from tests.prepared import create_skill, disable_skill, yank_version


@pytest.fixture
def two(project: Project, library: Path, operator: Actor) -> None:
    on_disk(library, "pod-crash-triage", description="Find out why a Kubernetes pod keeps restarting", tags=["k8s"])
    text = "Fill in and check a travel expense report"
    create_skill(project, skill_bundle("expense-report", description=text, kind="knowledge"), by=operator)


@pytest.fixture
def bot(project: Project, api: Callable[..., Api]) -> Api:
    return api("read")


def names(response: object) -> list[str]:
    return [skill["name"] for skill in response.json()["skills"]]  # type: ignore[attr-defined]


# -- Formats -----------------------------------------------------------------------------------------------

TEXT = """\
[Available Skills]
• `expense-report` — Fill in and check a travel expense report
• `pod-crash-triage` — Find out why a Kubernetes pod keeps restarting

Use read_skill(skill_id) to load full instructions."""


def test_the_catalog_as_json(two: None, project: Project, bot: Api) -> None:
    response = bot.get("/catalog")
    assert response["Content-Type"] == "application/json"
    body = response.json()
    assert set(body) == {"skills", "included", "omitted", "tokens", "revision"}
    assert body["skills"] == [
        {"name": "expense-report", "description": "Fill in and check a travel expense report"},
        {"name": "pod-crash-triage", "description": "Find out why a Kubernetes pod keeps restarting"},
    ]
    assert (body["included"], body["omitted"]) == (2, [])
    assert body["tokens"] > 0
    assert body["revision"] == str(Project.objects.get(pk=project.pk).revision)


@pytest.mark.parametrize(("accept", "form"), [("text/plain", ""), ("", "text"), ("application/json", "text")])
def test_the_catalog_as_text(two: None, bot: Api, accept: str, form: str) -> None:
    response = bot.get("/catalog", headers={"Accept": accept}, **({"format": form} if form else {}))
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode() == TEXT


@pytest.mark.parametrize(("accept", "form"), [("application/xml", ""), ("text/xml", ""), ("", "xml")])
def test_the_catalog_as_xml(two: None, bot: Api, accept: str, form: str) -> None:
    response = bot.get("/catalog", headers={"Accept": accept}, **({"format": form} if form else {}))
    assert response["Content-Type"] == "application/xml; charset=utf-8"
    tree = ElementTree.fromstring(response.content)  # noqa: S314 - our own
    assert tree.tag == "available_skills"
    assert [[child.tag for child in skill] for skill in tree] == [["name", "description", "location"]] * 2
    assert tree[0][0].text == "expense-report"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "application/json"),
        ("", "application/json"),
        ("text/html", "application/json"),
        ("text/plain;q=0.5, application/json", "application/json"),
        ("text/plain, application/json;q=0.5", "text/plain"),
        ("application/xml;q=0.9, text/plain;q=0.1", "application/xml"),
        ("nonsense", "application/json"),
    ],
)
def test_accept_selects_the_format_unless_the_query_does(two: None, bot: Api, accept: str, kind: str) -> None:
    assert bot.get("/catalog", headers={"Accept": accept})["Content-Type"].partition(";")[0] == kind


def test_without_skills_the_text_is_empty(bot: Api) -> None:
    assert bot.get("/catalog", format="text").content == b""
    assert bot.get("/catalog", format="xml").content == b""
    assert bot.get("/catalog").json()["skills"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"format": "yaml"}, {"format": "JSON"}, {"kind": "tools"}, {"source": "disk"}, {"budget": "much"},
        {"budget": "0"}, {"budget": "-5"}, {"budget": "9" * 20}, {"budget": "1.5"}, {"q": "x" * 20_001},
        {"for": "x" * 20_001},
    ],
)  # fmt: skip
def test_an_invalid_query_is_refused(two: None, bot: Api, query: dict[str, str]) -> None:
    problem(bot.get("/catalog", **query), 400, "invalid-request")


# -- Filters -----------------------------------------------------------------------------------------------


def test_a_search_matches_triggers(library: Path, bot: Api) -> None:
    on_disk(library, "pod-crash-triage", triggers=["CrashLoopBackOff"])
    assert names(bot.get("/catalog", q="crashloopbackoff")) == ["pod-crash-triage"]
    assert names(bot.get("/catalog", q="crashloopbackoff expense")) == ["pod-crash-triage"]
    assert names(bot.get("/catalog", q="expense")) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "POD restarting"}, ["pod-crash-triage"]),
        ({"q": "report pod crash"}, ["pod-crash-triage", "expense-report"]),
        ({"q": "zzz"}, []),
        ({"for": "Why does my pod keep restarting?"}, ["pod-crash-triage", "expense-report"]),
        ({"for": "zzz"}, ["expense-report", "pod-crash-triage"]),
        ({"for": "pod", "kind": "knowledge"}, ["expense-report"]),
        ({"for": "travel expense report", "q": "pod report"}, ["expense-report", "pod-crash-triage"]),
        ({"q": "k8s"}, ["pod-crash-triage"]),
        ({"q": "   "}, ["expense-report", "pod-crash-triage"]),
        ({"tag": "k8s"}, ["pod-crash-triage"]),
        ({"tag": "K8S"}, []),
        ({"kind": "knowledge"}, ["expense-report"]),
        ({"kind": "host-knowledge"}, ["expense-report"]),
        ({"kind": "tool"}, ["pod-crash-triage"]),
        ({"source": "project"}, ["expense-report"]),
        ({"source": "bundled"}, ["pod-crash-triage"]),
        ({"source": "bundled", "q": "expense"}, []),
        ({"unknown": "parameter"}, ["expense-report", "pod-crash-triage"]),
    ],
)
def test_filters_narrow_the_catalog(two: None, bot: Api, query: dict[str, str], found: list[str]) -> None:
    assert names(bot.get("/catalog", **query)) == found


# -- Budget ------------------------------------------------------------------------------------------------


@pytest.fixture
def many(library: Path) -> None:
    for number in range(60):
        on_disk(library, f"skill-{number:02}", description=f"Number {number}. " + "Long explanation of it. " * 20)


def test_a_prompt_decides_which_skills_a_budget_keeps(many: None, bot: Api) -> None:
    body = bot.get("/catalog", budget="800", **{"for": "Tell me about skill-42"}).json()
    assert body["skills"][0]["name"] == "skill-42"
    assert 1 < len(body["skills"]) == 60 - len(body["omitted"]) < 60


def test_without_a_budget_the_catalog_is_complete(many: None, project: Project, bot: Api) -> None:
    body = bot.get("/catalog").json()
    assert (body["included"], body["omitted"]) == (60, [])
    assert all(len(skill["description"]) <= 200 for skill in body["skills"])
    assert body["skills"][0]["description"].endswith("…")


@pytest.mark.parametrize("budget", ["500", "500tokens", "4000chars", "50000"])
def test_skills_over_the_budget_are_named(many: None, project: Project, bot: Api, budget: str) -> None:
    body = bot.get("/catalog", budget=budget).json()
    listed = [skill["name"] for skill in body["skills"]]
    assert listed + body["omitted"] == [f"skill-{number:02}" for number in range(60)]
    assert body["included"] == len(listed)


def test_a_budget_limits_the_text_that_is_sent(many: None, project: Project, bot: Api) -> None:
    text = bot.get("/catalog", budget="2000chars", format="text").content.decode()
    assert len(text) <= 2_000
    assert "more skills are not listed" in text


def test_a_budget_shortens_descriptions_before_it_omits_skills(many: None, project: Project, bot: Api) -> None:
    whole = len(bot.get("/catalog", format="text").content.decode())
    text = bot.get("/catalog", budget=f"{whole - 2_000}chars", format="text").content.decode()
    assert "not listed" not in text
    assert text.count("•") == 60


def test_a_search_lists_the_best_match_first_and_a_budget_omits_the_last(
    api: Callable[..., Api], project: Project, operator: Actor
) -> None:
    for name, description in (
        ("alpha", "Mentions refunds in passing, among many other words that make this line long."),
        ("refund", "The one."),
        ("zebra", "Nothing of the kind."),
    ):
        create_skill(project, skill_bundle(name, description=description), by=operator)
    caller = api()
    assert [skill["name"] for skill in caller.get("/catalog", q="Refund").json()["skills"]] == ["refund", "alpha"]
    tight = caller.get("/catalog", q="refund", budget="68", format="json").json()
    assert [skill["name"] for skill in tight["skills"]] == ["refund"]
    assert tight["omitted"] == ["alpha"]


def test_a_budget_can_be_the_name_of_a_known_agent(api: Callable[..., Api], project: Project, operator: Actor) -> None:
    create_skill(project, skill_bundle(), by=operator)
    caller = api()
    for agent in ("codex", "claude-code", "Claude-Code"):
        assert caller.get("/catalog", budget=agent).json() == caller.get("/catalog", budget="8000c").json()
    assert "codex" in problem(caller.get("/catalog", budget="no-such-agent"), 400, "invalid-request")["detail"]


# -- Effective ---------------------------------------------------------------------------------------------


def test_effective_lists_the_winner_and_the_skills_it_hides(
    project: Project, library: Path, operator: Actor, bot: Api
) -> None:
    on_disk(library, body="Bundled.")
    ours = create_skill(project, skill_bundle(body="Ours."), by=operator).version
    bundled = skill_bundle(body="Bundled.")
    assert bot.get("/effective").json() == {
        "results": [
            {
                "name": "greeting",
                "source": "project",
                "version": "1",
                "digest": ours.digest,
                "enabled": True,
                "hides": [
                    {
                        "source": "bundled",
                        "root": "library",
                        "version": f"sha-{bundled.digest.removeprefix('sha256:')[:12]}",
                        "digest": bundled.digest,
                        "reason": "The project’s own skill of this name takes precedence.",
                    }
                ],
            }
        ],
        "next": None,
    }


def test_effective_lists_disabled_skills(project: Project, library: Path, operator: Actor, bot: Api) -> None:
    on_disk(library)
    disable_skill(project, "greeting", by=operator)
    (row,) = bot.get("/effective").json()["results"]
    assert (row["enabled"], row["source"]) == (False, "bundled")


def test_effective_lists_a_skill_without_any_version_left(project: Project, operator: Actor, bot: Api) -> None:
    create_skill(project, skill_bundle(), by=operator)
    yank_version(project, "greeting", "1", reason="Wrong.", by=operator)
    (row,) = bot.get("/effective").json()["results"]
    assert (row["source"], row["version"], row["digest"]) == ("project", None, None)


# -- Diagnostics -------------------------------------------------------------------------------------------


def test_diagnostics_name_file_line_and_reason(project: Project, library: Path, bot: Api) -> None:
    (on_disk(library, "broken") / "SKILL.md").write_text("---\nname: broken\nname: again\ndescription: x\n---\n")
    (row,) = bot.get("/diagnostics").json()["results"]
    assert row == {
        "name": "broken",
        "directory": "library/broken",
        "file": "SKILL.md",
        "line": 3,
        "code": "yaml-duplicate-key",
        "message": row["message"],
        "served": False,
    }
    assert "appears twice, on lines 2 and 3" in row["message"]


def test_diagnostics_name_a_missing_directory(project: Project, settings: object, tmp_path: Path, bot: Api) -> None:
    settings.AGENT_SKILLS_DIRS = [tmp_path / "gone"]  # type: ignore[attr-defined]
    (row,) = bot.get("/diagnostics").json()["results"]
    assert (row["code"], row["directory"], row["name"], row["line"]) == ("directory-unreachable", "gone", "", None)
    assert str(tmp_path) not in row["message"]


def test_without_problems_diagnostics_are_empty(two: None, bot: Api) -> None:
    assert bot.get("/diagnostics").json() == {"results": [], "next": None}
