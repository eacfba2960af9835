"""Customising a built-in skill in the browser, and merging its later changes."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from registry.core.bundle import SKILL_MD
from registry.models import Project
from registry.services.catalog import built_in, catalog
from registry.services.permissions import Actor
from registry.services.skills import customisation, versions
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, customise_skill, save_skill
from tests.services.footprint import nothing_left_behind

HERE = "/projects/demo/skills/greeting/"
BODY = "# greeting\n\nFirst.\n\nSecond.\n\nThird.\n\nFourth."


def text(response: Any) -> str:
    assert response.status_code == 200, response.status_code
    return str(response.content.decode())


def bundled(library: Path, body: str = BODY) -> str:
    on_disk(library, body=body, files={"references/a.md": b"a"})
    return built_in.index().refresh().skills["greeting"][0].candidate.digest


def ours(project: Project, by: Actor, body: str) -> str:
    base = versions.history(project, "greeting")[0].digest
    bundle = skill_bundle(body=body, files={"references/a.md": b"a"})
    return save_skill(project, "greeting", bundle, base=base, by=by).version.digest


@pytest.fixture
def clean(project: Project, library: Path, author: Actor) -> dict[str, str]:
    """Both sides changed different lines; return the form that merges them."""
    bundled(library)
    customise_skill(project, "greeting", by=author)
    mine = ours(project, author, BODY.replace("Fourth", "Our fourth"))
    return {"theirs": bundled(library, BODY.replace("First", "Their first")), "mine": mine}


@pytest.fixture
def clash(project: Project, library: Path, author: Actor) -> dict[str, str]:
    """Both sides changed the same line."""
    bundled(library)
    customise_skill(project, "greeting", by=author)
    mine = ours(project, author, BODY.replace("First", "Our <first>"))
    return {"theirs": bundled(library, BODY.replace("First", "Their <first>")), "mine": mine}


def key(project: Project) -> str:
    origin = customisation.find(project, "greeting")
    assert origin is not None
    return origin.merge.keys[0]


def test_customising_copies_the_skill_and_can_be_undone(project: Project, library: Path, writing: Client) -> None:
    bundled(library)
    assert "Customise" in text(writing.get(HERE))
    html = text(writing.post(f"{HERE}customise/", follow=True))
    assert "You customised greeting." in html
    assert "Both are identical." in html
    assert f'action="{HERE}delete/"' in html
    assert catalog.load(project.pk, "greeting").bundle()["references/a.md"] == b"a"
    writing.post(f"{HERE}delete/")
    outcome = catalog.get(project.pk, "greeting")
    assert outcome.winner and outcome.winner.source == "bundled"


def test_customising_twice_is_refused(project: Project, library: Path, writing: Client) -> None:
    bundled(library)
    writing.post(f"{HERE}customise/")
    with nothing_left_behind():
        assert writing.post(f"{HERE}customise/").status_code == 409


def test_the_page_has_no_notice_while_the_built_in_skill_is_unchanged(
    project: Project, library: Path, writing: Client
) -> None:
    bundled(library)
    writing.post(f"{HERE}customise/")
    assert "changed since you customised it" not in text(writing.get(HERE))
    assert "Your version is up to date" in text(writing.get(f"{HERE}upstream/"))


def test_the_page_has_a_notice_when_the_built_in_skill_changed(clean: dict[str, str], viewing: Client) -> None:
    html = text(viewing.get(HERE))
    assert "The built-in greeting changed since you customised it." in html
    assert f'href="{HERE}upstream/"' in html


def test_changes_without_conflicts_merge_with_one_click(
    project: Project, clean: dict[str, str], writing: Client
) -> None:
    html = text(writing.get(f"{HERE}upstream/"))
    assert "Your changes are kept." in html
    assert "<ins>Their</ins>" in html or "<ins>Their first</ins>" in html
    html = text(writing.post(f"{HERE}upstream/", clean, follow=True))
    assert "Version 3 is live" in html
    content = catalog.load(project.pk, "greeting").bundle()[SKILL_MD].decode()
    assert "Their first" in content
    assert "Our fourth" in content
    assert "changed since you customised it" not in text(writing.get(HERE))


def test_conflicts_are_resolved_one_by_one(project: Project, clash: dict[str, str], writing: Client) -> None:
    html = text(writing.get(f"{HERE}upstream/"))
    assert "Both sides changed this line. Everything else merges automatically." in html
    assert f'<input type="radio" name="{key(project)}" value="theirs">' in html
    assert "Our &lt;first&gt;" in html or "&lt;first&gt;" in html
    assert "<first>" not in html
    writing.post(f"{HERE}upstream/", {**clash, key(project): "theirs"})
    assert b"Their <first>" in catalog.load(project.pk, "greeting").bundle()[SKILL_MD]


def test_a_missing_choice_shows_the_page_again(project: Project, clash: dict[str, str], writing: Client) -> None:
    with nothing_left_behind():
        response = writing.post(f"{HERE}upstream/", clash)
    assert response.status_code == 422
    html = response.content.decode()
    assert "Choose a side for 1 conflict" in html
    assert "Choose one of the two." in html


def test_keeping_your_version_marks_the_built_in_skill_as_seen(
    project: Project, clash: dict[str, str], writing: Client
) -> None:
    html = text(writing.post(f"{HERE}upstream/keep/", clash, follow=True))
    assert "Your version is unchanged." in html
    assert "changed since you customised it" not in html
    assert catalog.load(project.pk, "greeting").candidate.digest == clash["mine"]


def test_a_merge_of_outdated_versions_is_refused(
    project: Project, library: Path, clean: dict[str, str], writing: Client
) -> None:
    bundled(library, "Another text.")
    with nothing_left_behind():
        assert writing.post(f"{HERE}upstream/", clean).status_code == 409
        assert writing.post(f"{HERE}upstream/keep/", clean).status_code == 409
        assert writing.post(f"{HERE}upstream/", {}).status_code == 409


def test_a_viewer_sees_the_changes_but_cannot_merge(clean: dict[str, str], viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}upstream/"))
    assert "Bring yours up to date" not in html
    with nothing_left_behind():
        assert viewing.post(f"{HERE}upstream/", clean).status_code == 403
        assert viewing.post(f"{HERE}upstream/keep/", clean).status_code == 403


def test_a_skill_that_is_not_customised_has_no_merge_page(project: Project, author: Actor, writing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    assert writing.get(f"{HERE}upstream/").status_code == 404
    with nothing_left_behind():
        assert writing.post(f"{HERE}upstream/", {"theirs": "x", "mine": "x"}).status_code == 404


def test_invisible_characters_are_shown_in_conflicts(
    project: Project, library: Path, author: Actor, writing: Client
) -> None:
    bundled(library)
    customise_skill(project, "greeting", by=author)
    ours(project, author, BODY.replace("First", "Ours"))
    bundled(library, BODY.replace("First", "Th\u202eirs"))
    html = text(writing.get(f"{HERE}upstream/"))
    assert "U+202E right-to-left override" in html
    assert "\u202e" not in html
