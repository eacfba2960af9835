"""The list of skills: content, search and permissions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.models import Draft, Project, User
from registry.services.catalog import built_in, skill_list, usage
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from registry.templatetags import ui
from tests.conftest import on_disk, skill_bundle
from tests.prepared import create_skill, disable_skill, yank_version
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser
from tests.web.skills.lists import LIST, names, text, tick, write


def test_every_effective_skill_is_a_row_with_its_source(
    project: Project, library: Path, operator: Actor, viewer_page: Client
) -> None:
    on_disk(library, "bundled-one", kind="knowledge", tags=["office"])
    on_disk(library, "both")
    built_in.index().refresh()
    write(project, "both", "own", by=operator)
    rows = {row.name: row for row in viewer_page.get(LIST).context["rows"]}
    assert list(rows) == ["both", "bundled-one", "own"]
    assert [rows[name].skill.source for name in rows] == ["project", "bundled", "project"]
    assert [rows[name].customised for name in rows] == [True, False, False]
    page = text(viewer_page)
    assert page.count("Customised</span>") == 1
    assert "office" in page
    assert "Reference" in page


def test_a_switched_off_skill_stays_in_the_list_with_a_badge(
    project: Project, operator: Actor, viewer_page: Client
) -> None:
    write(project, "quiet", by=operator)
    disable_skill(project, "quiet", by=operator)
    page = text(viewer_page)
    assert "Switched off</span>" in page
    assert "Your agents have 0 skills" in page


def test_loads_of_thirty_days_have_a_chart_and_a_number(project: Project, operator: Actor, viewer_page: Client) -> None:
    write(project, "busy", by=operator)
    for _ in range(3):
        usage.count_load(project.pk, "busy", "1", caller="bot", now=timezone.now())
    usage.flush()
    row = viewer_page.get(LIST).context["rows"][0]
    assert (row.total, len(row.loads), row.loads[-1]) == (3, 30, 3)
    assert "3 loads in the last 30 days" in text(viewer_page)


def test_only_my_own_draft_is_marked(
    project: Project, operator: Actor, browser_client: Browser, person: Callable[[str], User]
) -> None:
    write(project, "letter", by=operator)
    Draft.objects.create(project=project, user=person(roles.AUTHOR), name="letter")
    assert "Your draft</span>" in text(browser_client(roles.AUTHOR))
    assert "Your draft</span>" not in text(browser_client(roles.REVIEWER))


def test_the_author_of_the_last_change_is_named(project: Project, author: Actor, viewer_page: Client) -> None:
    write(project, "letter", by=author)
    assert '<span class="sub cut">author</span>' in text(viewer_page)


def test_a_change_at_the_command_line_is_named(project: Project, operator: Actor, viewer_page: Client) -> None:
    write(project, "letter", by=operator)
    assert '<span class="sub cut">Command line</span>' in text(viewer_page)


def test_a_broken_skill_is_reported_with_file_line_and_reason(
    library: Path, project: Project, viewer_page: Client
) -> None:
    directory = library / "handover"
    directory.mkdir()
    (directory / "SKILL.md").write_text("---\nname: handover\ndescription: a\ndescription: b\n---\n\nText\n")
    built_in.index().refresh()
    page = text(viewer_page)
    assert "<strong>handover</strong> is left out" in page
    assert "library/handover/SKILL.md</code>, line 4" in page
    assert "The key <code>description</code> appears twice" in page
    assert "1 left out" in page


def test_a_built_in_skill_with_a_problem_is_reported_although_agents_get_it(
    library: Path, project: Project, viewer_page: Client, operator: Actor
) -> None:
    on_disk(library, "handover", body="word " * 9_000)
    built_in.index().refresh()
    page = text(viewer_page)
    assert "Agents get this built-in skill,\n      but it has a problem." in page
    assert "library/handover/SKILL.md" in page and "left out" not in page
    write(project, "handover", by=operator)
    assert "has a problem" not in text(viewer_page)


def test_a_withdrawn_skill_links_to_its_page(project: Project, operator: Actor, viewer_page: Client) -> None:
    write(project, "gone", by=operator)
    yank_version(project, "gone", "1", reason="Wrong.", by=operator)
    assert 'href="/projects/demo/skills/gone/">Go to gone</a>' in text(viewer_page)


def test_the_meter_counts_exactly_what_an_agent_is_sent(
    project: Project, library: Path, operator: Actor, viewer_page: Client, api: Any
) -> None:
    on_disk(library, "bundled-one")
    built_in.index().refresh()
    write(project, "own", "off", by=operator)
    disable_skill(project, "off", by=operator)
    sent = api("read").get("/catalog", format="text").content.decode()
    cost = viewer_page.get(LIST).context["cost"]
    assert viewer_page.get("/projects/demo/catalog/").context["text"] == sent
    assert (cost.skills, cost.own + cost.bundled) == (2, cost.tokens)
    assert 0 < cost.bundled < cost.own
    assert f"{cost.tokens} tokens" in text(viewer_page)


def test_a_project_without_any_skill_suggests_the_first_step(project: Project, browser_client: Browser) -> None:
    page = text(browser_client(roles.VIEWER))
    assert "No skills yet" in page
    assert "Authors of this project can write one" in page


def test_a_hostile_description_is_text(project: Project, operator: Actor, viewer_page: Client) -> None:
    nasty = '<script>alert(1)</script> "><img src=x onerror=alert(1)> Use when somebody asks.'
    write(project, "nasty", description=nasty, by=operator)
    page = text(viewer_page)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in viewer_page.get("/projects/demo/catalog/").content.decode()


@pytest.mark.parametrize(
    ("message", "drawn"),
    [
        ("Keep `a` and `b`.", "Keep <code>a</code> and <code>b</code>."),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("one ` alone", "one ` alone"),
        ("", ""),
    ],
)
def test_code_in_a_message_is_formatted_and_escaped(message: str, drawn: str) -> None:
    assert ui.coded(message) == drawn


# -- Searching, filtering, sorting, paging -----------------------------------------------------------------


FILTERED = [
    ("", ["expense-report", "invoice", "retired", "sql-review"]),
    ("?q=RECEIPTS", ["expense-report"]),
    ("?q=money+receipts", ["expense-report", "invoice"]),
    ("?q=retired", ["retired"]),
    ("?q=money&sort=name&state=off", []),
    ("?q=zzz", []),
    ("?source=bundled", ["sql-review"]),
    ("?source=project", ["expense-report", "invoice", "retired"]),
    ("?kind=knowledge", ["sql-review"]),
    ("?tag=data", ["invoice", "sql-review"]),
    ("?tag=nowhere", []),
    ("?state=off", ["retired"]),
    ("?state=on&tag=money", ["expense-report", "invoice"]),
    ("?state=hides", []),
    ("?state=draft", []),
    ("?sort=tokens&source=project", ["invoice", "expense-report", "retired"]),
    ("?source=nonsense&kind=nonsense&state=nonsense&sort=nonsense&page=nonsense",
     ["expense-report", "invoice", "retired", "sql-review"]),
    ("?page=999", ["expense-report", "invoice", "retired", "sql-review"]),
]  # fmt: skip


@pytest.mark.slow
def test_filters_are_read_from_the_address(shelf: None, viewer_page: Client) -> None:
    assert {query: names(viewer_page, query) for query, _ in FILTERED} == dict(FILTERED)


def test_the_most_loaded_come_first(shelf: None, project: Project, viewer_page: Client) -> None:
    for name, loads in {"invoice": 2, "sql-review": 5}.items():
        for _ in range(loads):
            usage.count_load(project.pk, name, "1", caller="bot", now=timezone.now())
    usage.flush()
    assert names(viewer_page, "?sort=loads") == ["sql-review", "invoice", "expense-report", "retired"]


def test_skills_can_be_sorted_by_their_last_change(shelf: None, viewer_page: Client) -> None:
    assert names(viewer_page, "?sort=changed&source=project") == ["retired", "invoice", "expense-report"]


def test_the_counts_of_sources_follow_the_other_filters(shelf: None, viewer_page: Client) -> None:
    sources = viewer_page.get(f"{LIST}?tag=data&source=bundled").context["sources"]
    assert [(s["label"], s["count"], s["current"]) for s in sources] == [
        ("All", 2, False), ("Project", 1, False), ("Built-in", 1, True),
    ]  # fmt: skip
    assert sources[1]["url"] == "?source=project&tag=data"


def test_htmx_gets_the_rows_and_a_clean_address(shelf: None, viewer_page: Client) -> None:
    response = viewer_page.get(f"{LIST}?q=invoice&kind=&sort=best", headers={"HX-Request": "true"})
    page = response.content.decode()
    assert "<html" not in page
    assert 'id="results"' in page
    assert 'id="sources" hx-swap-oob="true"' in page
    assert response["HX-Push-Url"] == f"{LIST}?q=invoice"
    assert "HX-Request" in response["Vary"]
    assert '<p class="vh" id="match-count" role="status" hx-swap-oob="innerHTML">1 skill matches</p>' in page


def test_a_step_back_in_the_history_gets_the_whole_page(shelf: None, viewer_page: Client) -> None:
    back = {"HX-Request": "true", "HX-History-Restore-Request": "true"}
    assert "<html" in text(viewer_page, "?q=invoice", headers=back)


def test_hits_are_marked_in_the_name_and_the_description(
    project: Project, operator: Actor, viewer_page: Client
) -> None:
    text_of_it = "Write an <invoice> for parcels."
    create_skill(
        project, skill_bundle("parcel-letter", description=text_of_it, body="Mention the deposit."), by=operator
    )
    page = text(viewer_page, "?q=parcel")
    assert "<mark>parcel</mark>-letter</a>" in page
    assert "an &lt;invoice&gt; for <mark>parcels</mark>." in page
    assert "Found in its instructions" not in page
    assert "Found in its instructions" in text(viewer_page, "?q=deposits")


def test_a_search_without_results_suggests_the_nearest_name(shelf: None, viewer_page: Client) -> None:
    page = text(viewer_page, "?q=exzepnse")
    assert "No skills match “exzepnse”" in page
    assert '<a href="?q=expense">expense</a>' in page


def test_a_search_without_similar_names_links_to_all_skills(shelf: None, viewer_page: Client) -> None:
    page = text(viewer_page, "?q=%3Cb%3Exyzzy")
    assert "No skills match “&lt;b&gt;xyzzy”" in page
    assert "Did you mean" not in page
    assert "Show all skills" in page


def test_a_project_without_skills_says_how_many_built_in_skills_agents_have(library: Path, viewer_page: Client) -> None:
    on_disk(library, "bundled-one")
    built_in.index().refresh()
    page = text(viewer_page, "?source=project")
    assert "This project has no skills yet" in page
    assert "Your agents already have 1 built-in skill" in page


def test_a_new_project_suggests_to_write_a_skill(
    library: Path, project: Project, operator: Actor, browser_client: Browser
) -> None:
    on_disk(library, "bundled-one")
    built_in.index().refresh()
    author = browser_client("author")
    assert "Write down one thing your team does its own way." in text(author)
    create_skill(project, skill_bundle("own-one"), by=operator)
    assert "Write down one thing" not in text(author)


def test_the_list_has_pages_of_fifty_that_keep_the_filters(
    project: Project, library: Path, viewer_page: Client
) -> None:
    for number in range(60):
        on_disk(library, f"skill-{number:02d}")
    built_in.index().refresh()
    assert len(names(viewer_page)) == skill_list.PAGE
    page = text(viewer_page, "?q=skill&sort=name&page=2")
    assert "51 to 60 of 60" in page
    assert 'href="?q=skill&amp;sort=name&amp;page=1"' in page
    assert "skill-59" in page


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow_with_the_skills(
    project: Project, operator: Actor, viewer_page: Client, django_assert_max_num_queries: Any
) -> None:
    for first, last in ((0, 5), (5, 20)):
        write(project, *(f"skill-{number:02d}" for number in range(first, last)), by=operator)
        text(viewer_page)
        # session, user, membership with project, drafts, loads, proposals of the page, the switcher's projects, and
        # the counts of waiting proposals and unread notices
        with django_assert_max_num_queries(9):
            text(viewer_page)
        with django_assert_max_num_queries(10):
            text(viewer_page, "?sort=loads")


# -- Permissions -------------------------------------------------------------------------------------------


def test_a_member_of_another_project_cannot_see_the_list(
    shelf: None, other_project: Project, operator: Actor, browser_client: Browser
) -> None:
    stranger = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, stranger, roles.OWNER, by=operator)
    client = Client()
    client.force_login(stranger)
    client.get("/projects/")
    with nothing_left_behind():
        assert client.get(LIST).status_code == 404
        assert client.get("/projects/demo/catalog/").status_code == 404
        assert tick(client, "off", "invoice").status_code == 404


def test_an_htmx_request_without_session_gets_no_sign_in_page(shelf: None) -> None:
    response = Client().get(LIST, headers={"HX-Request": "true"})
    assert response.status_code == 403
    assert "You are signed out." in response.content.decode()
    assert Client().get(LIST, headers={"HX-Request": "true", "HX-Boosted": "true"}).status_code == 302


def test_an_anonymous_visitor_is_redirected_to_sign_in(shelf: None) -> None:
    response = Client().get(f"{LIST}?q=x")
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in/?next=")


def test_a_post_without_csrf_token_is_refused(shelf: None, browser_client: Browser) -> None:
    client = browser_client(roles.OWNER, strict=True)
    text(client)
    with nothing_left_behind():
        assert tick(client, "off", "invoice").status_code == 403
