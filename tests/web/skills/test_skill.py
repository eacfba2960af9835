"""The pages of a skill: content, built-in version, actions and permissions."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD
from registry.models import Event, Project, User
from registry.services.catalog import catalog, usage
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, ensure_agent, save_skill, yank_version
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in
from tests.web.skills.skill_pages import HERE, bundled, text

POSTS = [
    "disable/",
    "enable/",
    "delete/",
    "undelete/",
    "customise/",
    "upstream/",
    "upstream/keep/",
    "version/1/restore/",
]


def test_the_page_shows_rendered_instructions_and_facts(project: Project, author: Actor, viewing: Client) -> None:
    bundle = skill_bundle(
        body="# Greet\n\nRead [the list](references/a.md).", tags=["letters"], files={"references/a.md": b"# A\n"}
    )
    made = create_skill(project, bundle, note="First words", by=author).version
    html = text(viewing.get(HERE))
    assert '<h2 id="text-greet">Greet</h2>' in html
    assert 'href="/projects/demo/skills/greeting/files/references/a.md"' in html
    assert "This project" in html
    assert made.digest[7:19] in html
    assert "all 2 files scanned" in html
    assert "First words" in html
    assert "letters" in html
    assert "How an agent loads it" in html
    assert "read_skill(&quot;greeting&quot;)" in html
    assert "/api/v1/projects/demo/skills/greeting" in html


def test_required_skills_of_the_project_are_links(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle("known"), by=author)
    create_skill(project, skill_bundle(requires=["known", "unknown"]), by=author)
    project.refresh_from_db()
    html = text(viewing.get(HERE))
    assert '<a href="/projects/demo/skills/known/"><code>known</code></a>' in html
    assert "<code>unknown</code> <span" in html
    assert "/skills/unknown/" not in html


def test_the_page_lists_triggers_inputs_and_outputs(project: Project, author: Actor, viewing: Client) -> None:
    parts = {"triggers": "money back", "inputs": "order number, <b>date</b>", "outputs": "letter"}
    skills.create(project, skill_bundle(metadata=parts), by=author)
    page = text(viewing.get(HERE))
    assert "<dt>Triggers</dt><dd>money back</dd>" in page
    assert "<dt>Inputs</dt><dd>order number, &lt;b&gt;date&lt;/b&gt;</dd>" in page
    assert "<dt>Outputs</dt><dd>letter</dd>" in page


def test_missing_requirements_are_reported_per_project(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(requires=["knowm", "greeting"]), by=author)
    html = text(viewing.get(f"{HERE}source/"))
    assert "The skill requires “knowm”, which is not in this project." in html
    assert html.count("The skill requires itself.") == 1
    assert "2 warnings" in text(viewing.get(HERE))
    create_skill(project, skill_bundle("known"), by=author)
    assert "Change it to known, or remove it." in text(viewing.get(f"{HERE}source/"))
    create_skill(project, skill_bundle("knowm"), by=author)
    assert "knowm” does not exist" not in text(viewing.get(f"{HERE}source/")), "the same bytes are cached by digest"


HOSTILE = (
    "![x](https://evil.example/x.png)", "[x](javascript:alert(1))", '<img src=x onerror="alert(1)">',
    "# main", "<h1 id='main'>x</h1>", "<script>alert(1)</script>",
)  # fmt: skip


@pytest.mark.slow
def test_hostile_instructions_do_nothing_on_any_page(project: Project, author: Actor, viewing: Client) -> None:
    body = "\n\n".join(HOSTILE)
    bundle = skill_bundle(body=body, files={"a.md": body.encode(), "a.csv": body.encode(), "a.html": body.encode()})
    create_skill(project, bundle, note=" ".join(reversed(HOSTILE)), by=author)
    for page in ("", "source/", "files/", "files/a.md", "files/a.csv", "files/a.html", "versions/", "usage/"):
        response = viewing.get(HERE + page)
        html = text(response)
        assert "alert(1)</script>" not in html
        assert "<img src=x" not in html
        assert 'href="javascript:' not in html
        assert 'src="https://evil' not in html
        assert html.count('id="main"') == 1
        assert "default-src 'none'" in response["Content-Security-Policy"]


def test_invisible_characters_have_a_notice_beside_the_rendered_text(
    project: Project, author: Actor, viewing: Client
) -> None:
    create_skill(project, skill_bundle(body="Pay \u202e50\u200b now."), by=author)
    assert "This text contains 2 hidden characters." in text(viewing.get(HERE))


def test_a_name_is_found_in_any_spelling(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    assert "greeting" in text(viewing.get("/projects/demo/skills/ Greeting/"))


def test_an_unknown_skill_is_not_found(project: Project, viewing: Client) -> None:
    for page in ("", "source/", "files/", "files/SKILL.md", "raw/SKILL.md", "bundle.zip", "versions/", "usage/",
                 "versions/compare/", "bundled/", "upstream/", "version/1/", "version/1/raw/SKILL.md"):  # fmt: skip
        assert viewing.get(HERE + page).status_code == 404, page


def test_the_404_page_links_back_for_members_only(project: Project, viewing: Client, stranger: Client) -> None:
    way_back = 'href="/projects/demo/skills/"'
    assert way_back in viewing.get(HERE).content.decode()
    assert way_back not in stranger.get(HERE).content.decode()


def test_a_member_of_another_project_finds_nothing(project: Project, author: Actor, stranger: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    for page in ("", "source/", "files/", "files/SKILL.md", "raw/SKILL.md", "bundle.zip", "versions/", "usage/",
                 "versions/compare/", "version/1/", "version/1/bundle.zip", "version/1/yank/"):  # fmt: skip
        assert stranger.get(HERE + page).status_code == 404, page
    for page in POSTS:
        with nothing_left_behind():
            assert stranger.post(HERE + page).status_code == 404, page


def test_an_anonymous_visitor_is_sent_to_sign_in(project: Project, author: Actor) -> None:
    create_skill(project, skill_bundle(), by=author)
    for page in ("", "raw/SKILL.md", "bundle.zip", "version/1/"):
        response = Client().get(HERE + page)
        assert response.status_code == 302
        assert "/sign-in/" in response["Location"]


# -- Source ------------------------------------------------------------------------------------------------


def test_the_source_shows_invisible_characters(project: Project, author: Actor, viewing: Client) -> None:
    carried = "".join(chr(0xE0000 + ord(letter)) for letter in "send it")
    body = f"Pay \u202e50.\n\n<!-- a remark\nof two lines -->\nNow{carried}."
    create_skill(project, skill_bundle(body=body), by=author)
    html = text(viewing.get(f"{HERE}source/"))
    assert '<span class="unseen">U+202E right-to-left override</span>' in html
    assert "send it" in html
    assert '<span class="source-comment">&lt;!-- a remark</span>' in html
    assert '<span class="source-comment">of two lines --&gt;</span>' in html
    assert "8 hidden characters, 1 comment" in html
    assert "\u202e" not in html


def test_line_numbers_of_the_source_count_folded_blank_lines(project: Project, author: Actor, viewing: Client) -> None:
    content = skill_text(body="Above." + "\n" * 60 + "Below.")
    number = content.split("\n").index("Below.") + 1
    create_skill(project, skills.from_text(content), by=author)
    html = text(viewing.get(f"{HERE}source/"))
    assert f'<li data-n="{number}">Below.</li>' in html
    assert "59 blank lines" in html
    assert html.count("<li data-n=") < 20


# -- Built-in version --------------------------------------------------------------------------------------


def test_a_customised_skill_names_the_built_in_skill_it_replaces(
    project: Project, library: Path, author: Actor, viewing: Client
) -> None:
    bundled(library, files={"references/mileage.md": b"m"})
    create_skill(project, skill_bundle(body="Ours."), by=author)
    html = text(viewing.get(HERE))
    assert "Customised" in html
    assert "What it replaces" in html
    assert "takes precedence" in html
    assert "<code>references/mileage.md</code>, which this version doesn’t have." in " ".join(html.split())
    assert f'href="{HERE}bundled/"' in html


def test_a_built_in_skill_replaces_those_of_later_directories(
    project: Project, library: Path, viewing: Client, tmp_path: Path, settings: Any
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    settings.AGENT_SKILLS_DIRS = [library, second]
    on_disk(library)
    on_disk(second, body="Another.")
    html = text(viewing.get(HERE))
    assert "The skill in “library” was found first." in html
    assert "(read-only)" in html
    assert f'href="{HERE}bundled/"' not in html


def test_the_comparison_with_built_in_shows_the_difference(
    project: Project, library: Path, author: Actor, viewing: Client
) -> None:
    bundled(library, body="One line.")
    create_skill(project, skill_bundle(body="Our line."), by=author)
    html = text(viewing.get(f"{HERE}bundled/"))
    assert "<del>One</del> line." in html
    assert "<ins>Our</ins> line." in html


def test_a_skill_without_a_built_in_version_has_no_comparison(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    assert viewing.get(f"{HERE}bundled/").status_code == 404


# -- Actions -----------------------------------------------------------------------------------------------


def test_a_viewer_sees_no_button_that_changes_anything_but_may_propose(
    project: Project, library: Path, author: Actor, viewing: Client
) -> None:
    bundled(library, name="from-library")
    create_skill(project, skill_bundle(), by=author)
    for page in ("/projects/demo/skills/from-library/", HERE, f"{HERE}versions/", f"{HERE}version/1/"):
        html = text(viewing.get(page))
        posts = set(re.findall(r'method="post" action="(/projects/demo[^"]*)"', html))
        assert posts <= {f"{HERE}proposals/delete/"}, page
        assert ">Edit</a>" not in html
        assert "/yank/" not in html
        assert ("Propose a change</a>" in html) == ("/version/" not in page), page


def test_a_viewer_is_refused_and_nothing_changes(
    project: Project, library: Path, author: Actor, viewing: Client
) -> None:
    bundled(library, name="from-library")
    create_skill(project, skill_bundle(), by=author)
    for page in POSTS:
        with nothing_left_behind():
            assert viewing.post(HERE + page, {"reason": "x"}).status_code == 403, page
    with nothing_left_behind():
        assert viewing.post("/projects/demo/skills/from-library/customise/").status_code == 403


def test_every_change_needs_a_csrf_token(project: Project, author: Actor, browser_client: Browser) -> None:
    create_skill(project, skill_bundle(), by=author)
    strict = signed_in(browser_client(roles.OWNER, strict=True))
    for page in [*POSTS, "version/1/yank/"]:
        with nothing_left_behind():
            assert strict.post(HERE + page, {"reason": "x"}).status_code == 403, page


def test_no_change_is_made_by_get(project: Project, author: Actor, writing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    for page in POSTS:
        with nothing_left_behind():
            asks = page in ("disable/", "delete/")
            assert writing.get(HERE + page).status_code in ((200,) if asks else (404, 405)), page


def test_switching_off_hides_the_name_and_can_be_undone(project: Project, author: Actor, writing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    html = text(writing.post(f"{HERE}disable/", follow=True))
    assert "Agents can’t use greeting." in html
    assert f'action="{HERE}enable/"' in html
    assert not catalog.get(project.pk, "greeting").served
    html = text(writing.post(f"{HERE}enable/", follow=True))
    assert "Agents get it with their next request." in html
    assert catalog.get(project.pk, "greeting").served


def test_deleting_explains_its_effect_and_can_be_undone(project: Project, author: Actor, writing: Client) -> None:
    made = create_skill(project, skill_bundle(), by=author).version
    assert "Delete greeting?" in text(writing.get(HERE))
    response = writing.post(f"{HERE}delete/", {"base": made.digest}, follow=True)
    assert response.redirect_chain == [("/projects/demo/skills/", 302)]
    assert f'action="{HERE}undelete/"' in text(response)
    page = writing.get(HERE)
    assert page.status_code == 404
    assert "This skill was deleted" in page.content.decode()
    assert "Version 1" in text(writing.get(f"{HERE}versions/"))
    assert "greeting is restored with version 1." in text(writing.post(f"{HERE}undelete/", follow=True))
    assert catalog.load(project.pk, "greeting").candidate.version == "1"


def test_returning_to_built_in_names_what_is_lost(
    project: Project, library: Path, author: Actor, writing: Client
) -> None:
    bundled(library, body="Theirs.")
    create_skill(project, skill_bundle(body="Ours.", files={"ours.md": b"x"}), by=author)
    html = text(writing.get(HERE))
    assert "Return greeting to built-in?" in html
    assert "Agents no longer get your changes: 1 line" in html
    assert "1 file that the built-in skill doesn’t have" in html
    assert "ours.md" in html
    html = text(writing.post(f"{HERE}delete/", follow=True))
    assert "Agents get the built-in greeting again." in html
    assert "Theirs." in html


def test_deleting_a_skill_saved_in_the_meantime_is_refused(project: Project, author: Actor, writing: Client) -> None:
    first = create_skill(project, skill_bundle(), by=author).version
    save_skill(project, "greeting", skill_bundle(body="New."), base=first.digest, by=author)
    with nothing_left_behind():
        assert writing.post(f"{HERE}delete/", {"base": first.digest}).status_code == 409


def test_a_skill_whose_versions_are_all_withdrawn_says_so(project: Project, author: Actor, writing: Client) -> None:
    create_skill(project, skill_bundle(body="Secret words."), by=author)
    yank_version(project, "greeting", "1", reason="Wrong.", by=author)
    response = writing.get(HERE)
    assert response.status_code == 404
    html = response.content.decode()
    assert "All versions of greeting were withdrawn. Agents can’t use it." in html
    assert "Secret words" not in html
    for page in ("source/", "files/", "files/SKILL.md", "raw/SKILL.md", "bundle.zip"):
        assert writing.get(HERE + page).status_code == 404


# -- Usage -------------------------------------------------------------------------------------------------


def test_usage_has_a_chart_and_a_text(
    project: Project, author: Actor, operator: Actor, viewing: Client, person: Callable[[str], User]
) -> None:

    ensure_agent(project, "bot", by=operator)
    create_skill(project, skill_bundle(), by=author)
    for caller, version, times in (("bot", "1", 3), ("ines", "0", 1)):
        for _ in range(times):
            usage.count_load(project.pk, "greeting", version, caller=caller, now=timezone.now())
    usage.count_load(project.pk, "other", "1", caller="bot", now=timezone.now())
    usage.flush()
    html = text(viewing.get(f"{HERE}usage/"))
    assert "4 loads in the last 30 days" in html
    assert '<svg class="chart"' in html
    assert "Agent bot" in html
    assert "Version 0" in html
    assert "style=" not in html
    assert "4 loads</a> by 2 callers" in " ".join(text(viewing.get(HERE)).split())


def test_a_skill_without_loads_explains_how_agents_choose(project: Project, author: Actor, viewing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    assert "No loads in the last 30 days" in text(viewing.get(f"{HERE}usage/"))


# -- Queries and events ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow_with_versions(
    project: Project, author: Actor, viewing: Client, django_assert_max_num_queries: Any
) -> None:
    version = create_skill(project, skill_bundle(), by=author).version
    for number in range(6):
        version = save_skill(
            project, "greeting", skill_bundle(body=f"{number}"), base=version.digest, by=author
        ).version
    for page in ("", "versions/", "source/", "files/"):
        viewing.get(HERE + page)
        with django_assert_max_num_queries(24):
            text(viewing.get(HERE + page))


def test_actions_of_the_page_write_audit_events(project: Project, author: Actor, writing: Client) -> None:
    create_skill(project, skill_bundle(), by=author)
    for page in ("disable/", "enable/", "delete/", "undelete/"):
        writing.post(HERE + page)
    verbs = list(Event.objects.filter(target="greeting").order_by("pk").values_list("verb", flat=True))
    assert verbs == ["skill.created", "skill.disabled", "skill.enabled", "skill.deleted", "skill.undeleted"]
    assert SKILL_MD in catalog.load(project.pk, "greeting").bundle()
