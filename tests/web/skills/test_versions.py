"""The history in the browser: compare, restore and withdraw versions."""

from typing import Any

import pytest
from django.test import Client

from registry.core import roles
from registry.models import Project, Version
from registry.services import permissions
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill, delete_skill, ensure_agent, save_skill, yank_version
from tests.services.footprint import nothing_left_behind

HERE = "/projects/demo/skills/greeting/"


@pytest.fixture
def three(project: Project, author: Actor, operator: Actor) -> list[str]:
    """Create three versions, the second by an agent, and return their digests."""
    bot = permissions.agent(ensure_agent(project, "bot", by=operator), frozenset({roles.READ, roles.WRITE}))
    lines = "\n\n".join(f"Line {number}." for number in range(30))
    made = [
        create_skill(
            project, skill_bundle(body=f"One hotel is booked for each night.\n\n{lines}"), note="First", by=author
        ).version
    ]
    for by, body, files in (
        (bot, "Two hotels is booked for each night.", {"a.md": b"a\n"}),
        (author, "Three\u200b hotel is booked for each night.", {"b.bin": b"\0"}),
    ):
        bundle = skill_bundle(body=f"{body}\n\n{lines}", files=files)
        made.append(save_skill(project, "greeting", bundle, base=made[-1].digest, note=body, by=by).version)
    return [version.digest for version in made]


def text(response: Any) -> str:
    assert response.status_code == 200, response.status_code
    return str(response.content.decode())


def test_the_history_shows_author_time_and_change(three: list[str], viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}versions/"))
    assert html.index("Version 3") < html.index("Version 2") < html.index("Version 1")
    assert html.count("Agents get this") == 1
    assert "Agent bot" in html
    assert "avatar--agent" in html
    assert all(digest[7:19] in html for digest in three)
    assert f"{HERE}versions/compare/?from=2&amp;to=3" in html


def test_an_older_version_is_read_only_with_a_notice(three: list[str], writing: Client) -> None:
    html = text(writing.get(f"{HERE}version/1/"))
    assert "You are looking at version 1." in html
    assert "Agents get version 3." in html
    assert "One hotel is" in html
    assert "/edit/" not in html
    assert "Restore version 1" in html
    assert "One hotel is" in text(writing.get(f"{HERE}version/1/source/"))
    assert "a.md" in text(writing.get(f"{HERE}version/2/files/"))
    assert writing.get(f"{HERE}version/2/raw/a.md").content == b"a\n"
    assert writing.get(f"{HERE}version/3/raw/a.md").status_code == 404
    assert "greeting-2.zip" in writing.get(f"{HERE}version/2/bundle.zip")["Content-Disposition"]


def test_two_versions_are_compared_word_by_word_and_file_by_file(three: list[str], viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}versions/compare/?from=1&to=3"))
    assert "<del>One</del>" in html
    assert "<ins>Three<" in html
    assert '<span class="unseen">U+200B zero width space</span>' in html
    assert "1 hidden character" in html
    assert "\u200b" not in html
    assert "<code>b.bin</code>" in html
    assert "Binary file." in html
    assert "unchanged lines." in html
    assert "Line 20." not in html


def test_folded_lines_can_be_shown(three: list[str], viewing: Client) -> None:
    assert "Line 20." in text(viewing.get(f"{HERE}versions/compare/?from=1&to=3&all=1"))


def test_the_layout_is_in_the_address(three: list[str], viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}versions/compare/?from=1&to=3&layout=one"))
    assert '<table class="diff diff--one">' in html
    assert 'href="?from=1&amp;to=3"' in html


def test_the_newest_two_versions_are_compared_by_default(three: list[str], viewing: Client) -> None:
    assert "Version 2 and version 3" in text(viewing.get(f"{HERE}versions/compare/"))


def test_the_same_version_twice_is_not_a_comparison(three: list[str], viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}versions/compare/?from=2&to=2"))
    assert "Both sides are version 2. Choose two different versions." in html
    assert "Version 2 and version 2" not in html


@pytest.mark.parametrize("query", ["from=1&to=9", "from=x&to=1", "from=<script>&to=2", "from=1%2F..&to=2"])
def test_a_missing_version_is_not_compared(three: list[str], viewing: Client, query: str) -> None:
    response = viewing.get(f"{HERE}versions/compare/?{query}")
    assert response.status_code == 404
    assert b"<script>&" not in response.content


def test_different_line_endings_are_named(project: Project, author: Actor, viewing: Client) -> None:
    first = create_skill(project, skill_bundle(files={"a.txt": b"same\n"}), by=author).version
    save_skill(project, "greeting", skill_bundle(files={"a.txt": b"same\r\n"}), base=first.digest, by=author)
    assert "carriage return, line feed" in text(viewing.get(f"{HERE}versions/compare/"))


def test_a_very_large_file_is_not_compared_by_line(project: Project, author: Actor, viewing: Client) -> None:
    first = create_skill(project, skill_bundle(files={"a.txt": b"x\n" * 400_000}), by=author).version
    save_skill(project, "greeting", skill_bundle(files={"a.txt": b"y\n" * 400_000}), base=first.digest, by=author)
    assert "Too large to compare line by line." in text(viewing.get(f"{HERE}versions/compare/"))


def test_a_page_with_too_many_lines_links_to_the_files_that_it_cuts(
    project: Project, author: Actor, viewing: Client
) -> None:
    lines = b"".join(b"%d\n" % number for number in range(5_000))
    first = create_skill(project, skill_bundle(), by=author).version
    more = skill_bundle(files={f"{name} &.txt": lines for name in "abc"})
    save_skill(project, "greeting", more, base=first.digest, by=author)
    page = f"{HERE}versions/compare/?from=1&to=2"
    html = text(viewing.get(page))
    assert "A page shows at most 8,000 lines" in html
    link = "?from=1&amp;to=2&amp;file=c%20%26.txt"
    assert f'<a href="{link}">Show this file</a>' in html
    assert link not in text(viewing.get(f"{page}&file=c%20%26.txt"))


def test_restoring_makes_a_new_version(project: Project, three: list[str], writing: Client) -> None:
    html = text(writing.post(f"{HERE}version/1/restore/", follow=True))
    assert "Version 4 is live, with the content of version 1." in html
    assert catalog.load(project.pk, "greeting").candidate.digest == three[0]


def test_a_deleted_skill_is_restored_from_its_history(
    project: Project, three: list[str], author: Actor, writing: Client
) -> None:
    delete_skill(project, "greeting", by=author)
    assert "Restore" in text(writing.get(f"{HERE}versions/"))
    writing.post(f"{HERE}version/2/restore/")
    assert catalog.load(project.pk, "greeting").candidate.digest == three[1]


def test_withdrawing_asks_for_a_reason_and_explains_the_effect(
    project: Project, three: list[str], writing: Client
) -> None:
    assert "Agents get version 2 instead." in text(writing.get(f"{HERE}version/3/yank/"))
    assert "Agents are not affected" in text(writing.get(f"{HERE}version/1/yank/"))
    html = text(writing.post(f"{HERE}version/3/yank/", {"reason": "Wrong <b>limit</b>."}, follow=True))
    assert "Version 3 is withdrawn." in html
    assert "Wrong &lt;b&gt;limit&lt;/b&gt;." in html
    assert catalog.load(project.pk, "greeting").candidate.version == "2"


@pytest.mark.parametrize("reason", ["", "   ", "x" * 301])
def test_without_a_reason_nothing_is_withdrawn(three: list[str], writing: Client, reason: str) -> None:
    with nothing_left_behind():
        response = writing.post(f"{HERE}version/3/yank/", {"reason": reason})
    assert response.status_code == 422
    assert reason.strip() in response.content.decode()


def test_nothing_of_a_withdrawn_version_can_be_opened(
    project: Project, three: list[str], author: Actor, writing: Client
) -> None:
    yank_version(project, "greeting", "2", reason="It promised too much.", by=author)
    html = text(writing.get(f"{HERE}versions/"))
    assert "It promised too much." in html
    assert f"{HERE}version/2/" not in html
    assert f"{HERE}versions/compare/?from=1&amp;to=3" in html
    for page in ("version/2/", "version/2/source/", "version/2/files/", "version/2/files/a.md", "version/2/raw/a.md",
                 "version/2/bundle.zip", "version/2/yank/", "versions/compare/?from=2&to=3",
                 "versions/compare/?from=1&to=2"):  # fmt: skip
        response = writing.get(HERE + page)
        assert response.status_code == 404, page
        assert "It promised too much." in response.content.decode()
        assert "Two hotels" not in response.content.decode()
    with nothing_left_behind():
        assert writing.post(f"{HERE}version/2/restore/").status_code == 404


def test_a_viewer_cannot_restore_or_withdraw(three: list[str], viewing: Client) -> None:
    with nothing_left_behind():
        assert viewing.post(f"{HERE}version/1/restore/").status_code == 403
        assert viewing.get(f"{HERE}version/1/yank/").status_code == 403
        assert viewing.post(f"{HERE}version/1/yank/", {"reason": "x"}).status_code == 403


def test_a_version_made_at_the_command_line_says_so(project: Project, operator: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(), by=operator)
    assert "<span>Command line, <time" in text(viewing.get(f"{HERE}versions/"))


def test_a_version_with_an_odd_name_has_a_page(project: Project, author: Actor, viewing: Client) -> None:
    version = create_skill(project, skill_bundle(), by=author).version
    Version.objects.filter(pk=version.pk).update(version="1.0 beta+x")
    html = text(viewing.get(f"{HERE}versions/"))
    assert f"{HERE}version/1.0%20beta+x/" in html
    assert "You are looking" not in text(viewing.get(f"{HERE}version/1.0%20beta+x/"))


def test_a_long_history_has_pages(project: Project, author: Actor, viewing: Client) -> None:
    version = create_skill(project, skill_bundle(), by=author).version
    rows = [
        Version(
            skill=version.skill, version=str(n), digest=version.digest, manifest=version.manifest, size=1,
            description="", kind="tool", tokens=1,
        )
        for n in range(2, 60)
    ]  # fmt: skip
    Version.objects.bulk_create(rows)
    assert 'href="?page=2"' in text(viewing.get(f"{HERE}versions/"))
    assert "Version 1<" in text(viewing.get(f"{HERE}versions/?page=2"))
