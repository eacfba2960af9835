"""The editor: no typed text is lost, and agents get nothing before it is published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from registry.core.bundle import SKILL_MD
from registry.models import Draft, Project, Proposal, Skill, User, Version
from registry.services.catalog import built_in, catalog
from registry.services.permissions import Actor
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, disable_skill, save_skill
from tests.web.editor.forms import CONFLICT, EDIT, FORM, HTMX, NEW, post, raw

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


# -- Access --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [NEW, EDIT])
def test_a_viewer_proposes_and_never_publishes(
    browser_client: Callable[..., Client], greeting: Version, url: str
) -> None:
    viewer = browser_client("viewer")
    page = viewer.get(url).content.decode()
    assert 'name="do" value="propose"' in page
    assert 'value="publish"' not in page
    name = "greeting" if url == EDIT else "tea-round"
    assert post(viewer, url, "publish", name=name).status_code == 403
    assert Version.objects.count() == 1
    assert not Proposal.objects.exists()
    refused = post(viewer, url, "propose", name=name, justification=" ")
    assert refused.status_code == 422
    assert "The justification is missing." in refused.content.decode()
    assert Draft.objects.count() == 1
    made = post(viewer, url, "propose", name=name, justification="It was asked for.", base=greeting.digest)
    proposal = Proposal.objects.get()
    assert made["Location"] == f"/projects/demo/proposals/{proposal.pk}/"
    assert (proposal.skill, proposal.proposer) == (name, "viewer")
    assert not Draft.objects.exists()
    assert Version.objects.count() == 1


def test_too_many_proposals_within_an_hour_keep_the_typed_text(
    browser_client: Callable[..., Client], greeting: Version, settings: Any
) -> None:
    settings.PROPOSALS_PER_HOUR = 1
    viewer = browser_client("viewer")
    post(viewer, EDIT, "propose", name="greeting", justification="It was asked for.", base=greeting.digest)
    refused = post(viewer, NEW, "propose", name="tea-round", justification="It was asked for.")
    assert refused.status_code == 429
    page = refused.content.decode()
    assert "viewer sent 1 proposals and revisions within an hour. 1 are allowed." in page
    assert "tea-round" in page
    assert (Proposal.objects.count(), Draft.objects.count()) == (1, 1)


def test_in_a_protected_project_everybody_proposes(
    browser_client: Callable[..., Client], project: Project, greeting: Version
) -> None:
    Project.objects.update(protected=True)
    owner = browser_client("owner")
    page = owner.get(EDIT).content.decode()
    assert 'name="do" value="propose"' in page
    assert 'value="publish"' not in page
    assert post(owner, EDIT, "publish", name="greeting").status_code == 403
    assert Version.objects.count() == 1


def test_an_outdated_draft_is_merged_before_it_is_proposed(
    browser_client: Callable[..., Client], project: Project, author: Actor, greeting: Version
) -> None:
    viewer = browser_client("viewer")
    post(viewer, EDIT, "save", name="greeting", base=greeting.digest)
    bundle = skill_bundle("greeting", body="Newer.")
    save_skill(project, "greeting", bundle, base=greeting.digest, by=author)
    sent = post(viewer, EDIT, "propose", name="greeting", justification="Better.", base=greeting.digest)
    assert sent["Location"] == CONFLICT
    page = viewer.get(CONFLICT).content.decode()
    assert 'value="save"' in page
    assert 'value="publish"' not in page
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("url", [NEW, EDIT, CONFLICT])
def test_a_member_of_another_project_finds_nothing(
    project: Project, greeting: Version, url: str, django_user_model: type[User]
) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create(username="stranger"))
    assert stranger.get(url).status_code == 404
    assert stranger.post(url, FORM).status_code == 404
    assert not Draft.objects.exists()


def test_the_editor_needs_a_session(project: Project) -> None:
    assert Client().get(NEW).status_code == 302
    assert Client().post(NEW, FORM).status_code == 302
    assert not Draft.objects.exists()


@pytest.mark.parametrize("url", [NEW, EDIT, CONFLICT, f"{EDIT}files/references/names.md"])
def test_a_change_needs_a_csrf_token(browser_client: Callable[..., Client], greeting: Version, url: str) -> None:
    assert browser_client("author", strict=True).post(url, FORM).status_code == 403
    assert not Draft.objects.exists()


def test_files_of_a_draft_are_visible_to_its_author_only(
    browser: Client, browser_client: Callable[..., Client]
) -> None:
    post(browser, NEW, "add", files=SimpleUploadedFile("secret.md", b"only mine"))
    assert browser.get(f"{NEW}raw/references/secret.md").content == b"only mine"
    other = browser_client("reviewer")
    assert other.get(f"{NEW}raw/references/secret.md").status_code == 404
    assert other.get(f"{NEW}files/references/secret.md").status_code == 404


def test_a_missing_skill_cannot_be_edited(browser: Client) -> None:
    assert browser.get("/projects/demo/skills/nothing/edit/").status_code == 404


# -- Saving --------------------------------------------------------------------------------------------------------


def test_opening_the_editor_saves_nothing(browser: Client, greeting: Version) -> None:
    for url in (NEW, EDIT, f"{EDIT}?mode=raw", f"{NEW}?from=greeting"):
        assert browser.get(url).status_code == 200
    assert not Draft.objects.exists()


def test_typed_text_is_restored_after_closing_the_tab(browser: Client) -> None:
    assert post(browser, NEW, "save").status_code == 302
    page = browser.get(NEW).content.decode()
    assert 'value="tea-round"' in page
    assert "Boil water." in page
    assert catalog.find(Draft.objects.get().project_id, "tea-round") is None


def test_saving_by_htmx_returns_the_changed_parts(browser: Client) -> None:
    answer = post(browser, NEW, "save", HTMX, name="Tea Round")
    body = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in body
    for part in ("checks", "seen", "draft-state", "preview", "name-note", "publish-stops"):
        assert f'id="{part}"' in body
    assert 'id="draft-state" role="status" hx-swap-oob="innerHTML"' in body, "what is read aloud stays, with new words"
    assert "Change it to tea-round" in body
    assert "HX-Request" in answer["Vary"]


def test_invisible_characters_are_listed_while_typing(browser: Client) -> None:
    named = 'line {} <span class="unseen">U+200B zero width space</span>'
    kept = post(browser, NEW, "save", HTMX, instructions="# Tea\n\nBoil\u200b water.").content.decode()
    assert 'id="unseen" hx-swap-oob="true"' in kept
    assert named.format(3) in kept, "the line in the field"
    raw(browser, NEW, "save", "---\nname: tea-round\n---\n\n" + "Boil\u200b\n" * 20)
    page = browser.get(NEW).content.decode()
    assert named.format(5) in page
    assert " and 8 others" in page
    file = post(browser, NEW, "create", new_path="references/rates.md").headers["Location"]
    browser.post(file, {"do": "save", "path": "references/rates.md", "text": "a\u202eb"})
    page = browser.get(file).content.decode()
    assert 'line 1 <span class="unseen">U+202E right-to-left override</span>' in page


def test_a_draft_saved_in_another_window_is_not_overwritten(browser: Client) -> None:
    post(browser, NEW, "save")
    late = browser.post(NEW, {**FORM, "do": "save", "description": "From the other window."})
    assert late.status_code == 409
    assert "From the other window." in late.content.decode()
    assert Draft.objects.get().content["fields"]["description"] == FORM["description"]
    by_script = browser.post(NEW, {**FORM, "do": "save"}, headers=HTMX)
    assert by_script.status_code == 422
    assert "another window" in by_script.content.decode()
    browser.post(NEW, {**FORM, "do": "overwrite", "description": "From the other window."})
    assert Draft.objects.get().content["fields"]["description"] == "From the other window."


def test_discarding_leaves_nothing(browser: Client, greeting: Version) -> None:
    post(browser, EDIT, "save", name="greeting", base=greeting.digest)
    assert Draft.objects.exists()
    assert browser.post(EDIT, {"do": "discard"}).status_code == 302
    assert not Draft.objects.exists()


def test_typed_html_cannot_run(browser: Client) -> None:
    values = dict.fromkeys(("name", "description", "tags", "requires", "triggers", "instructions", "note"), HOSTILE)
    post(browser, NEW, "save", **values)
    for page in (browser.get(NEW), browser.get(f"{NEW}?mode=raw"), post(browser, NEW, "save", HTMX, **values)):
        body = page.content.decode()
        assert "<script>alert" not in body
        assert "<img src=x" not in body


def test_a_leading_blank_line_is_kept_in_code_mode(browser: Client) -> None:
    raw(browser, NEW, "save", "\r\n\r\nno header")
    assert ">\n\n\nno header</textarea>" in browser.get(NEW).content.decode()


# -- Form and code -------------------------------------------------------------------------------------------------


def test_switching_loses_nothing(browser: Client, greeting: Version) -> None:
    odd = skill_text("greeting").replace("---\n", "---\n# ours\nx-team: ops\n", 1)
    answer = raw(browser, EDIT, "form", odd, base=greeting.digest)
    assert answer.headers["Location"] == f"{EDIT}?mode=form"
    assert "Follow the steps of greeting." in browser.get(answer.headers["Location"]).content.decode()
    assert "# ours\nx-team: ops" in browser.get(f"{EDIT}?mode=raw").content.decode()


def test_an_invalid_text_is_kept_with_the_line_of_the_error(browser: Client, greeting: Version) -> None:
    broken = "---\nname: greeting\nname: twice\ndescription: x\n---\n"
    answer = raw(browser, EDIT, "form", broken, base=greeting.digest)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "The form can’t show this text" in page
    assert "line 3" in page
    assert "name: twice" in page
    assert browser.get(f"{EDIT}?mode=form").status_code == 422


def test_a_form_without_a_name_can_switch_to_code_and_back(browser: Client) -> None:
    post(browser, NEW, "raw", name="", description="")
    text = browser.get(f"{NEW}?mode=raw").content.decode()
    assert "name: &quot;&quot;" in text
    assert "not-written-yet" not in text
    assert browser.get(f"{NEW}?mode=form").status_code == 200


def test_a_copy_to_a_new_name_includes_the_files(browser: Client, greeting: Version) -> None:
    url = f"{NEW}?from=greeting"
    assert "references/<wbr>names.md" in browser.get(url).content.decode()
    post(browser, url, "publish")
    stored = catalog.load(greeting.skill.project_id, "tea-round").bundle()
    assert stored["references/names.md"] == b"Ada\n"


def test_the_fix_button_fixes_a_finding(browser: Client) -> None:
    text = skill_text("tea-round").replace("---\n", "---\ntags: a, b\n", 1)
    page = raw(browser, NEW, "save", text)
    body = browser.get(NEW).content.decode()
    fix = body.split('value="fix:')[1].split('"')[0]
    page = raw(browser, NEW, f"fix:{fix}", text)
    assert page.status_code == 302
    assert 'tags: "a, b"' in Draft.objects.get().content["text"]
    assert raw(browser, NEW, "fix:no-such-rule:9", text).status_code == 302


def test_the_fix_button_turns_words_into_a_valid_name(browser: Client) -> None:
    post(browser, NEW, "save", name="Tea Round!")
    fix = browser.get(NEW).content.decode().split('value="fix:name-pattern:')[1].split('"')[0]
    assert post(browser, NEW, f"fix:name-pattern:{fix}", name="Tea Round!").status_code == 302
    assert 'value="tea-round"' in browser.get(NEW).content.decode()


@pytest.mark.parametrize("state", ["served", "switched off", "bundled"])
def test_no_fix_suggests_a_taken_name(
    browser: Client, project: Project, library: Path, author: Actor, state: str
) -> None:
    if state == "bundled":
        on_disk(library, "tea-round")
        built_in.index().refresh()
    else:
        create_skill(project, skill_bundle("tea-round"), by=author)
    if state == "switched off":
        disable_skill(project, "tea-round", by=author)
    post(browser, NEW, "save", name="Tea Round!")
    page = browser.get(NEW).content.decode()
    assert "Choose another name. tea-round is already taken." in page
    assert "fix:name-pattern" not in page


def test_missing_fields_do_not_prevent_fixes(browser: Client) -> None:
    post(browser, NEW, "save", name="Tea Round!", description="")
    fix = browser.get(NEW).content.decode().split('value="fix:name-pattern:')[1].split('"')[0]
    assert post(browser, NEW, f"fix:name-pattern:{fix}", name="Tea Round!", description="").status_code == 302
    page = browser.get(NEW).content.decode()
    assert 'value="tea-round"' in page
    assert "The skill has no description yet." in page
    assert "not-written-yet" not in page + str(Draft.objects.get().content)


def test_no_fix_changes_the_name_of_a_published_skill(browser: Client, greeting: Version) -> None:
    text = skill_text("greeting").replace("name: greeting", "name: Greeting")
    raw(browser, EDIT, "save", text)
    page = browser.get(EDIT).content.decode()
    assert "lowercase letters" in page
    assert "fix:name-pattern" not in page


# -- Publishing ----------------------------------------------------------------------------------------------------


def test_publishing_creates_the_version_and_confirms_it(browser: Client, project: Project) -> None:
    assert "Publish version 1" in browser.get(NEW).content.decode()
    answer = post(browser, NEW, "publish", note="First cups")
    assert answer.headers["Location"] == "/projects/demo/skills/tea-round/"
    assert not Draft.objects.exists()
    assert Version.objects.get().note == "First cups"
    assert b"Boil water." in catalog.load(project.pk, "tea-round").bundle()[SKILL_MD]
    assert "Publish version 2" in browser.get("/projects/demo/skills/tea-round/edit/").content.decode()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": ""}, "The skill has no name yet."),
        ({"name": "Tea Round"}, "Change it to tea-round."),
        ({"description": "x" * 1_025}, "1,025 characters. 1,024 are allowed."),
        ({"description": ""}, "The skill has no description yet."),
        ({"note": "x" * 301}, "The note has 301 characters. 300 are allowed."),
    ],
)
def test_an_invalid_draft_is_not_published_and_kept(browser: Client, wrong: dict[str, str], words: str) -> None:
    answer = post(browser, NEW, "publish", **wrong)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert Draft.objects.count() == 1
    assert not Skill.objects.exists()


def test_a_name_that_is_taken_is_refused(browser: Client, greeting: Version) -> None:
    answer = post(browser, NEW, "publish", name="greeting")
    assert answer.status_code == 409
    assert "The project already has a skill greeting" in answer.content.decode()
    assert Version.objects.count() == 1


def test_a_built_in_name_is_a_hint(browser: Client, library: Path) -> None:
    on_disk(library, "greeting")
    answer = post(browser, NEW, "save", HTMX, name="greeting")
    assert "A built-in skill has this name. Agents will get yours instead" in answer.content.decode()


def test_editing_a_built_in_skill_explains_customising(browser: Client, library: Path, project: Project) -> None:
    on_disk(library, "greeting", {"references/names.md": b"Ada\n"})
    page = browser.get(EDIT).content.decode()
    assert "This is a built-in skill." in page
    assert "Publish version 1" in page
    base = catalog.get(project.pk, "greeting").winner
    assert base is not None
    post(browser, EDIT, "publish", name="greeting", base=base.digest)
    assert catalog.load(project.pk, "greeting").candidate.source == "project"
    assert Skill.objects.get(name="greeting").upstream_digest == base.digest


def test_the_number_of_queries_does_not_grow_with_the_files(
    browser: Client, project: Project, author: Actor, django_assert_max_num_queries: Any
) -> None:
    create_skill(project, skill_bundle("greeting", {f"references/{n}.md": b"x" for n in range(30)}), by=author)
    with django_assert_max_num_queries(16):
        browser.get(EDIT)
