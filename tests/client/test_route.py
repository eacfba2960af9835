"""Questions from a program to a real site."""

import json
from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors
from registry.client.command import main
from registry.client.loaders.loading import Prompt, load_all
from registry.client.resolved_skills import ResolvedSkills
from tests.client.between import Between, Reply
from tests.client.conftest import Connect
from tests.conftest import on_disk

ANSWER: dict[str, Any] = {
    "matches": [],
    "links": [],
    "threshold": 0.5,
    "threshold_from": "default",
    "answered_by": "",
    "none_of_these": True,
}


@pytest.fixture(autouse=True)
def two(library: Path) -> None:
    on_disk(library, "pod-crash-triage", description="Find out why a pod keeps restarting")
    on_disk(library, "pod-names", kind="knowledge", description="Names of each pod")


@pytest.fixture
def environment(site: Between, token: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"URL": site.url, "PROJECT": "demo", "TOKEN": token, "CACHE": str(cache)}.items():
        monkeypatch.setenv(f"SKILLSITE_{name}", value)


def test_a_match_has_the_version_and_digest_that_can_be_loaded(client: SkillsiteClient) -> None:
    routed = client.route("pod-crash-triage", threshold=0)
    best = routed.matches[0]
    skill = client.read(best.name, best.version)
    assert (skill.name, skill.digest) == ("pod-crash-triage", best.digest)
    assert 0 <= best.confidence <= 1
    assert (routed.threshold, routed.threshold_from) == (0, "request")


def test_limit_and_kind_are_sent(client: SkillsiteClient) -> None:
    assert len(client.route("pod", threshold=0).matches) == 2
    assert len(client.route("pod", threshold=0, limit=1).matches) == 1
    assert [match.name for match in client.route("pod", threshold=0, kind="knowledge").matches] == ["pod-names"]


def test_a_question_without_a_skill_has_no_matches(client: SkillsiteClient) -> None:
    assert client.route("zzz").matches == ()
    assert client.route("").matches == ()


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": 1_001}, {"kind": "tools"}, {"threshold": 2.0}])
def test_a_refusal_of_the_site_names_the_field(client: SkillsiteClient, wrong: dict[str, Any]) -> None:
    with pytest.raises(errors.Refused) as refused:
        client.route("pod", **wrong)
    assert (refused.value.status, refused.value.data["field"]) == (400, next(iter(wrong)))


def test_offline_says_why_there_is_no_answer(connect: Connect, site: Between) -> None:
    connect().route("pod")
    site.requests.clear()
    with pytest.raises(errors.NotCached, match="only the site can find the skill"):
        connect(offline=True).route("pod")
    assert site.requests == []


def test_a_site_without_routing_says_that_it_is_too_old(client: SkillsiteClient, site: Between) -> None:
    site.fault = lambda *_: Reply(404, b"<h1>Not found</h1>")
    with pytest.raises(errors.NotFound, match="too old to answer questions"):
        client.route("pod")


@pytest.mark.parametrize(
    "wrong",
    [
        {"matches": None},
        {"matches": [{}]},
        {"threshold": "high"},
        {"threshold": True},
        {"links": {}},
        {"answered_by": 1},
    ],
)
def test_a_damaged_answer_is_not_used(client: SkillsiteClient, site: Between, wrong: dict[str, Any]) -> None:
    site.fault = lambda *_: Reply(200, json.dumps({**ANSWER, **wrong}).encode())
    with pytest.raises(errors.Untrustworthy):
        client.route("pod")


def test_the_catalog_is_ordered_by_a_prompt(client: SkillsiteClient) -> None:
    assert client.catalog(for_prompt="names of a pod").skills[0].name == "pod-names"
    assert client.catalog_text(for_prompt="names").text.startswith("[Available Skills]\n• `pod-names`")


# -- The command -------------------------------------------------------------------------------------------


def test_the_command_prints_a_line_for_each_skill(environment: None, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["route", "pod-crash-triage", "--limit", "1", "--threshold", "0"]) == 0
    out, err = capfd.readouterr()
    (line,) = out.splitlines()
    assert line.startswith("100%  pod-crash-triage  ") and err == ""


def test_the_command_prints_json(environment: None, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["route", "pod names", "--json", "--kind", "host-knowledge", "--threshold", "0"]) == 0
    assert [match["name"] for match in json.loads(capfd.readouterr().out)["matches"]] == ["pod-names"]


def test_the_command_says_that_no_skill_fits(environment: None, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["route", "zzz"]) == 0
    assert capfd.readouterr() == ("", "None of these skills fits.\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--offline", "route", "pod"], 3), (["route", "pod", "--limit", "0"], 4), (["route", "pod", "--kind", "x"], 4)],
)
def test_the_command_explains_its_failure(
    environment: None, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert main(arguments) == code
    assert capfd.readouterr().err.strip().endswith(".")


# -- Loaders -----------------------------------------------------------------------------------------------


def test_only_the_best_skills_for_a_prompt_are_loaded(client: SkillsiteClient, site: Between) -> None:
    loading = load_all(client, Prompt("Tell me the names of a pod", best=1))
    assert [loaded.name for loaded in loading.skills] == ["pod-names"]
    assert site.transferred() == [path for path in site.requests if "pod-names/bundle.zip" in path]


def test_resolved_skills_cannot_be_chosen_by_a_prompt() -> None:
    with pytest.raises(errors.Misconfigured, match="only a site"):
        load_all(ResolvedSkills([]), Prompt("pod"))
