"""Pages of sources: who may see them, what hostile sources get to do there, and that nothing is lost unseen."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.sources.import_request import ImportRequest
from registry.models import Installation, Project, Proposal, Source, SourceEntry, SourceJob, User, Version
from registry.models.sources import DONE
from registry.services.catalog import catalog
from registry.services.people import members, projects
from registry.services.permissions import Actor
from registry.services.sources import install, source_jobs, sources
from registry.web.sources import source_words
from tests.conftest import on_disk, skill_bundle, skill_text
from tests.prepared import create_skill, save_skill
from tests.services.footprint import nothing_left_behind
from tests.services.other_site import Elsewhere, checked_source, elsewhere
from tests.web.conftest import signed_in

SOURCES = "/projects/demo/sources/"
Browser = Callable[..., Client]
HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture
def site(settings: Any) -> Iterator[Elsewhere]:
    with elsewhere() as made:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [made.receiver.host]
        made.skills["greeting"] = skill_bundle("greeting", body="# Greet\n\nBow twice.\n\nSmile.\n\nSay the name.")
        made.skills["parting"] = skill_bundle("parting")
        yield made


@pytest.fixture
def source(project: Project, site: Elsewhere, author: Actor) -> Source:
    return checked_source(project, site, author)


@pytest.fixture
def page(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.AUTHOR))


def at(source: Source, path: str = "") -> str:
    return f"{SOURCES}{source.pk}/{path}"


def text(answer: Any) -> str:
    said: str = answer.content.decode()
    return said


def shown(answer: Any) -> str:
    """The words of a page, without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", text(answer)).split())


def import_one(project: Project, source: Source, by: Actor, name: str = "greeting", **choices: Any) -> None:
    install.import_skill(project, source.pk, ImportRequest(name, **choices), by=by)


def edit(project: Project, by: Actor, before: str, after: str, name: str = "greeting") -> None:
    mine = catalog.load(project.pk, name)
    written = mine.bundle()[SKILL_MD].decode()
    assert before in written
    changed = mine.bundle().with_changes({SKILL_MD: written.replace(before, after).encode()})
    save_skill(project, name, changed, base=mine.candidate.digest, by=by)


def change(site: Elsewhere, before: str, after: str, name: str = "greeting") -> None:
    written = site.skills[name][SKILL_MD].decode()
    assert before in written
    site.skills[name] = site.skills[name].with_changes({SKILL_MD: written.replace(before, after).encode()})


def look(project: Project, source: Source, by: Actor) -> None:
    sources.look(project, source.pk, by=by)
    source_jobs.run_due()


def served(project: Project, name: str = "greeting") -> str:
    return catalog.load(project.pk, name).bundle()[SKILL_MD].decode()


def sent(answer: Any, **more: str) -> dict[str, str]:
    """Return the fields of the preview form: the digests and the choices."""
    hidden = dict(re.findall(r'<input type="hidden" name="(digest|seen)" value="([^"]*)">', text(answer)))
    return {**hidden, **more}


# -- Refusals -----------------------------------------------------------------------------------------------------


def paths(source: Source, job: SourceJob) -> list[str]:
    entry = "skills/greeting/"
    return [
        SOURCES,
        *(at(source, path) for path in ("", "import/?all=1", entry, f"{entry}uninstall/", f"jobs/{job.pk}/")),
    ]


def posts(source: Source, job: SourceJob) -> list[tuple[str, dict[str, str]]]:
    return [
        (SOURCES, {"address": "https://1.1.1.1/a.zip", "kind": "url"}),
        (at(source, "look/"), {}),
        (at(source, "remove/"), {}),
        (at(source, "import/"), {"skill": "parting"}),
        (at(source, "skills/parting/"), {"do": "import"}),
        (at(source, "skills/parting/"), {"do": "again"}),
        (at(source, "skills/greeting/uninstall/"), {}),
        (at(source, f"jobs/{job.pk}/retry/"), {}),
    ]


@pytest.fixture
def job(project: Project, source: Source, author: Actor) -> SourceJob:
    """An import that failed."""
    import_one(project, source, author)
    made = sources.start(project, source.pk, [ImportRequest("missing")], by=author)
    source_jobs.run_due()
    made.refresh_from_db()
    return made


def test_a_viewer_can_neither_see_nor_change_sources(source: Source, job: SourceJob, browser_client: Browser) -> None:
    viewer = signed_in(browser_client(roles.VIEWER))
    with nothing_left_behind():
        assert [viewer.get(path).status_code for path in paths(source, job)] == [403] * 6
        assert [viewer.post(path, form).status_code for path, form in posts(source, job)] == [403] * 8
    assert 'href="/projects/demo/sources/"' not in text(viewer.get("/projects/demo/skills/"))
    assert 'href="/projects/demo/sources/"' not in text(viewer.get("/projects/demo/upload/"))


def test_a_person_of_another_project_gets_404(source: Source, job: SourceJob, django_user_model: Any) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create(username="stranger"))
    signed_in(stranger)
    with nothing_left_behind():
        assert [stranger.get(path).status_code for path in paths(source, job)] == [404] * 6
        assert [stranger.post(path, form).status_code for path, form in posts(source, job)] == [404] * 8


def test_sources_and_jobs_of_another_project_are_not_found(
    source: Source, job: SourceJob, other_project: Project, person: Callable[[str], User], operator: Actor
) -> None:
    """The person is an author in both projects."""
    both = person(roles.AUTHOR)
    members.set_role(other_project, both, roles.AUTHOR, by=operator)
    client = Client()
    client.force_login(both)
    signed_in(client)
    with nothing_left_behind():
        for path in paths(source, job)[1:]:
            assert client.get(path.replace("/demo/", "/other/")).status_code == 404, path
        for path, form in posts(source, job)[1:]:
            assert client.post(path.replace("/demo/", "/other/"), form).status_code == 404, path


def test_a_job_of_another_source_is_not_found(
    project: Project, job: SourceJob, site: Elsewhere, author: Actor, page: Client
) -> None:
    other = sources.add(project, "well-known", f"{site.address}/other", by=author)
    with nothing_left_behind():
        assert page.get(at(other, f"jobs/{job.pk}/")).status_code == 404
        assert page.post(at(other, f"jobs/{job.pk}/retry/")).status_code == 404


def test_every_change_needs_a_csrf_token(source: Source, job: SourceJob, browser_client: Browser) -> None:
    strict = signed_in(browser_client(roles.AUTHOR, strict=True))
    with nothing_left_behind():
        assert [strict.post(path, form).status_code for path, form in posts(source, job)] == [403] * 8


def test_get_requests_change_nothing(source: Source, job: SourceJob, page: Client) -> None:
    page.get(at(source, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        for path in paths(source, job):
            assert page.get(path).status_code == 200, path
        for path, _ in posts(source, job)[1:3]:
            assert page.get(path).status_code == 405, path


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, "Enter the address"),
        ({"address": "example.org"}, "whole address"),
        ({"address": "javascript:alert(1)"}, "address"),
        ({"address": "https://user:secret@example.org/x.git"}, "password"),
        ({"address": "https://1.1.1.1/a.zip?X-Amz-Signature=abc"}, "Upload the file instead"),
        ({"address": "https://169.254.169.254/latest"}, "private network"),
        ({"address": "https://1.1.1.1/a.git", "ref": "--upload-pack=x"}, "cannot be the name"),
        ({"address": "https://1.1.1.1/a.zip", "kind": "ftp"}, "Choose a kind from the list"),
        ({"address": "https://1.1.1.1/a.zip", "label": "a" * 101}, "100 characters"),
    ],
)
def test_an_unusable_source_is_refused_and_the_form_keeps_its_values(
    page: Client, form: dict[str, str], said: str
) -> None:
    with nothing_left_behind():
        answer = page.post(SOURCES, {"kind": "guess", **form})
    assert answer.status_code == 422
    assert said in shown(answer)
    assert 'aria-invalid="true"' in text(answer)
    if "secret" not in form.get("address", ""):
        assert form.get("address", "") in text(answer)


def test_an_error_is_shown_at_its_field(page: Client) -> None:
    answer = page.post(SOURCES, {"kind": "git", "address": "https://1.1.1.1/a.git", "ref": "--upload-pack=x"})
    assert list(answer.context["form"].errors) == ["ref"]
    answer = page.post(SOURCES, {"kind": "git", "address": "https://10.0.0.1/branch, tag or commit"})
    assert list(answer.context["form"].errors) == ["address"]


def test_a_full_project_is_an_error_of_the_whole_form(project: Project, page: Client) -> None:
    Source.objects.bulk_create(
        Source(project=project, kind="url", address=f"https://1.1.1.1/{number}") for number in range(sources.MOST)
    )
    answer = page.post(SOURCES, {"kind": "url", "address": "https://1.1.1.1/a.zip"})
    assert list(answer.context["form"].errors) == ["__all__"]
    assert "50 are allowed" in shown(answer)


def test_the_same_source_twice_is_refused(source: Source, page: Client) -> None:
    with nothing_left_behind():
        answer = page.post(SOURCES, {"kind": "well-known", "address": source.address})
    assert answer.status_code == 422
    assert "already" in shown(answer)


@pytest.mark.slow
def test_hostile_names_descriptions_and_addresses_are_escaped(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    name = f"a{HOSTILE}"
    Source.objects.filter(pk=source.pk).update(
        label=HOSTILE, address=f"https://example.org/{HOSTILE}?token=secret", problems=[HOSTILE], problem=HOSTILE
    )
    entry = SourceEntry.objects.create(source=source, name=name, description=f"{HOSTILE}\u202e", version=HOSTILE)
    made = sources.start(project, source.pk, [ImportRequest(name)], by=author)
    source_jobs.run_due()
    for state in ("ready", "unreachable", "unusable", "empty", "new"):
        Source.objects.filter(pk=source.pk).update(state=state)
        answers = [page.get(path) for path in (SOURCES, at(source), at(source, "import/?all=1"))]
        answers.append(page.get(reverse("source-entry", args=["demo", source.pk, entry.name])))
        answers.append(page.get(at(source, f"jobs/{made.pk}/")))
        for answer in answers:
            assert answer.status_code == 200
            assert "<img" not in text(answer)
            assert "\u202e" not in text(answer)
            assert "token=secret" not in text(answer)


def test_the_content_of_a_hostile_skill_is_escaped(site: Elsewhere, source: Source, page: Client) -> None:
    site.skills["greeting"] = Bundle(
        {
            SKILL_MD: skill_text("greeting", body=f"{HOSTILE}\n\n<script>alert(1)</script>\u200b").encode(),
            "references/b&amp.md": b"<script>alert(2)</script>",
            "assets/x.svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(3)'/>",
        }
    )
    page.post(at(source, "look/"))
    source_jobs.run_due()
    said = text(page.get(at(source, "skills/greeting/?inside=1")))
    assert "<script>alert" not in said
    assert "<img" not in said
    assert "onload=&#x27;" in said
    assert "U+200B" in said


def test_an_invalid_skill_is_refused_with_its_findings(site: Elsewhere, source: Source, page: Client) -> None:
    site.skills["greeting"] = Bundle({SKILL_MD: b"---\nname: greeting\nname: other\ndescription: x\n---\n"})
    page.post(at(source, "look/"))
    source_jobs.run_due()
    answer = page.post(at(source, "skills/greeting/"), {"do": "again"})
    assert answer.status_code == 422
    assert "appears twice" in shown(answer)
    assert not Version.objects.exists()


def test_an_unreachable_source_shows_an_error_with_a_retry(site: Elsewhere, source: Source, page: Client) -> None:
    site.status = 503
    inside = page.get(at(source, "skills/greeting/?inside=1"), headers={"HX-Request": "true"})
    assert inside.status_code == 200, "htmx shows only answers that went well"
    assert "couldn’t fetch greeting" in shown(inside)
    assert "Try again" in shown(inside)
    with nothing_left_behind():
        answer = page.post(at(source, "skills/greeting/"), {"do": "import"})
    assert answer.status_code == 502
    assert "couldn’t fetch greeting" in shown(answer)


def test_a_name_that_the_source_does_not_have_is_not_found(source: Source, page: Client) -> None:
    for name in ("nothing", "a%00b", "%2e%2e"):
        assert page.get(at(source, f"skills/{name}/")).status_code in (400, 404), name
    assert page.get(at(source, "skills/parting/uninstall/")).status_code == 404


def test_an_import_without_a_selection_redirects_back(source: Source, page: Client) -> None:
    for form in ({}, {"skill": "nothing-of-the-kind"}):
        with nothing_left_behind():
            answer = page.post(at(source, "import/"), form)
        assert answer.headers["Location"] == at(source)


def test_import_under_another_name_needs_the_name(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    create_skill(project, skill_bundle("greeting"), by=author)
    with nothing_left_behind():
        many = page.post(at(source, "import/"), {"skill": "greeting", "conflict-0": "rename", "name-0": " "})
        wrong = page.post(at(source, "import/"), {"skill": "greeting", "conflict-0": "rename", "name-0": "../x"})
    one = page.post(at(source, "skills/greeting/"), {"conflict": "rename", "name": ""})
    assert [answer.status_code for answer in (many, wrong, one)] == [422] * 3
    assert "Enter a new name for greeting" in shown(many)
    assert "Enter a new name" in shown(one)
    assert Version.objects.count() == 1


# -- Adding and looking -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://github.com/acme/skills", "git"),
        ("https://example.org/a/b.git", "git"),
        ("https://github.com/acme", "well-known"),
        ("https://example.org/skill.ZIP?x=1", "url"),
        ("https://example.org/SKILL.md", "url"),
        ("https://clawhub.example/", "clawhub"),
        ("https://example.org", "well-known"),
        ("example.org", ""),
        ("ftp://example.org/a.git", ""),
        ("https://[", ""),
        ("", ""),
    ],
)
def test_the_kind_is_guessed_from_the_address(address: str, kind: str) -> None:
    assert source_words.guess_kind(address) == kind


def test_the_form_shows_the_detected_kind(page: Client) -> None:
    ask = {"headers": {"HX-Request": "true"}}
    assert "a git repository" in text(page.get(SOURCES, {"address": "https://github.com/a/b"}, **ask))
    assert "Looks like" not in text(page.get(SOURCES, {"address": HOSTILE}, **ask))


def test_a_source_is_added_with_the_detected_kind(page: Client, site: Elsewhere) -> None:
    answer = page.post(SOURCES, {"kind": "guess", "address": site.address, "label": "  Their   site "})
    made = Source.objects.get()
    assert (made.kind, made.label) == ("well-known", "Their site")
    assert answer.headers["Location"] == at(made)
    waiting = page.get(at(made))
    assert "Checking" in shown(waiting)
    assert 'hx-trigger="every 1s"' in text(waiting)
    source_jobs.run_due()
    assert "What greeting does." in text(page.get(at(made)))
    assert "every 1s" not in text(page.get(at(made)))


def test_the_empty_page_lists_the_kinds_of_sources(page: Client) -> None:
    said = shown(page.get(SOURCES))
    assert "No sources yet" in said
    for kind in source_words.KINDS.values():
        assert kind.label in said


def test_unreachable_empty_and_unusable_sources_look_different(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    site.status = 503
    look(project, source, author)
    there = shown(page.get(at(source)))
    assert "status 503" in there and "The list below is from" in there
    assert "greeting" in there
    assert "Unreachable" in shown(page.get(SOURCES))
    site.status = 200
    site.skills.clear()
    look(project, source, author)
    there = shown(page.get(at(source)))
    assert "No skills found" in there and "503" not in there
    site.status = 404
    look(project, source, author)
    there = shown(page.get(at(source)))
    assert "This address is not a website with a skill index." in there and "No skills found" not in there


def test_a_running_job_is_polled_until_it_ends(project: Project, source: Source, author: Actor, page: Client) -> None:
    made = sources.look(project, source.pk, by=author)
    part = {"headers": {"HX-Request": "true"}}
    address = at(source, "?part=working")
    first = page.get(address, **part)
    assert "Checking the source…" in shown(first)
    assert page.get(f"{address}&was={made.pk}-queued", **part).status_code == 204
    source_jobs.run_due()
    over = page.get(f"{address}&was={made.pk}-queued", **part)
    assert "?part=page" in text(over) and "every 1s" not in text(over)
    assert "<h1>" in text(page.get(at(source, "?part=page"), **part))
    ticking = page.get(f"{address}&was={made.pk}-queued&list=1", **part)
    assert "?part=page" not in text(ticking) and "Reload to see what changed" in shown(ticking)


def test_search_ignores_a_single_letter(source: Source, page: Client) -> None:
    part = {"headers": {"HX-Request": "true"}}

    def found(q: str) -> list[str]:
        return re.findall(r'name="skill" value="([^"]+)"', text(page.get(at(source), {"q": q}, **part)))

    assert found("part") == ["parting"]
    one = text(page.get(at(source), {"q": "part"}, **part))
    assert '<p class="vh" id="match-count" role="status" hx-swap-oob="innerHTML">1 skill matches</p>' in one
    assert found("WHAT does greet") == ["greeting"]
    assert found("z") == ["greeting", "parting"]
    assert found("zz") == []
    nothing = page.get(at(source), {"q": HOSTILE}, **part)
    assert "No skills match" in shown(nothing) and "<img" not in text(nothing)
    assert nothing.headers["HX-Push-Url"].startswith(f"{at(source)}?q=")
    assert 'hx-sync="this:replace"' in text(page.get(at(source)))


def test_states_are_by_source_and_name(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    twin = sources.add(project, "well-known", f"{site.address}/", label="Twin", by=author)
    source_jobs.run_due()
    create_skill(project, skill_bundle("parting"), by=author)
    import_one(project, source, author)
    here, there = shown(page.get(at(source))), shown(page.get(at(twin)))
    assert "Installed" in here.split("greeting", 2)[2].split("parting")[0]
    assert "Conflicts with your parting" in here
    assert "Conflicts with your greeting" in there
    assert "Conflicts with your parting" in there


def test_the_list_counts_skills_installed_skills_and_updates(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    said = shown(page.get(SOURCES))
    assert "2 skills 1 installed" in said and "update" not in said
    change(site, "Smile", "Grin")
    look(project, source, author)
    assert "1 update" in shown(page.get(SOURCES))
    assert "Update available" in shown(page.get(at(source, "?show=update")))
    assert "parting" not in shown(page.get(at(source, "?show=update")))


def test_skills_that_left_the_source_can_be_uninstalled(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    del site.skills["greeting"]
    look(project, source, author)
    answer = page.get(at(source))
    assert "No longer in this source" in shown(answer)
    assert at(source, "skills/greeting/uninstall/") in text(answer)


def test_removing_a_source_keeps_its_skills(project: Project, source: Source, author: Actor, page: Client) -> None:
    import_one(project, source, author)
    assert "1 imported skill stays in the project" in shown(page.get(at(source)))
    page.post(at(source, "remove/"))
    assert page.get(at(source)).status_code == 404
    assert "Bow twice" in served(project)
    skill = page.get("/projects/demo/skills/greeting/versions/")
    assert "Elsewhere, imported" in shown(skill)
    assert at(source) not in text(skill)


# -- Importing ----------------------------------------------------------------------------------------------------


def test_a_skill_is_fetched_only_for_its_preview(source: Source, site: Elsewhere, page: Client) -> None:
    answer = page.get(at(source, "skills/greeting/"))
    assert site.asked == []
    assert "Fetching greeting from Elsewhere…" in shown(answer) and "?inside=1" in text(answer)
    inside = page.get(at(source, "skills/greeting/?inside=1"))
    assert site.asked == ["greeting"]
    assert "Bow twice" in shown(inside)
    assert "This creates the new skill greeting." in shown(inside)
    assert "Bow twice" in shown(page.get(at(source, "skills/greeting/"))), "what was put aside is shown at once"
    assert not Version.objects.exists()


def test_the_previewed_content_is_imported(project: Project, source: Source, site: Elsewhere, page: Client) -> None:
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    change(site, "Bow", "Curtsey")
    answer = page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert answer.headers["Location"] == "/projects/demo/skills/greeting/"
    assert "Bow twice" in served(project)
    skill = shown(page.get("/projects/demo/skills/greeting/"))
    assert "From Elsewhere , imported just now by author" in skill
    assert "Imported" in skill


def test_a_change_since_the_preview_needs_a_new_preview(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    change(site, "Bow", "Curtsey")
    look(project, source, author)
    page.post(at(source, "skills/greeting/"), {"do": "again"})
    answer = page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert answer.headers["Location"] == at(source, "skills/greeting/")
    assert not Version.objects.exists()


@pytest.mark.parametrize(("choice", "live"), [("skip", "Mine"), ("version", "Bow twice"), ("rename", "Mine")])
def test_a_taken_name_offers_three_choices(
    project: Project, source: Source, author: Actor, page: Client, choice: str, live: str
) -> None:
    create_skill(project, skill_bundle("greeting", body="Mine"), by=author)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    assert "already has a skill called greeting" in shown(looked)
    assert "Difference" in shown(looked)
    answer = page.post(at(source, "skills/greeting/"), sent(looked, conflict=choice, name="their-greeting"))
    assert answer.status_code == 302
    assert live in served(project)
    assert ("Bow twice" in served(project, "their-greeting")) if choice == "rename" else Version.objects.count() < 3


def test_a_taken_name_needs_a_choice(project: Project, source: Source, author: Actor, page: Client) -> None:
    create_skill(project, skill_bundle("greeting", body="Mine"), by=author)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        answer = page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert answer.status_code == 422
    assert "Choose" in shown(answer)


def test_a_new_name_that_is_taken_is_refused(project: Project, source: Source, author: Actor, page: Client) -> None:
    create_skill(project, skill_bundle("greeting"), by=author)
    create_skill(project, skill_bundle("hello"), by=author)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        answer = page.post(at(source, "skills/greeting/"), sent(looked, conflict="rename", name="hello"))
    assert answer.status_code == 422
    assert "The project already has its own skill hello." in shown(answer)
    assert 'value="hello"' in text(answer)


def test_a_built_in_skill_is_replaced_only_by_choice(
    project: Project, source: Source, library: Any, page: Client
) -> None:
    on_disk(library, "greeting", body="Bundled")
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    assert "This replaces the built-in skill greeting" in shown(looked)
    page.post(at(source, "skills/greeting/"), sent(looked, conflict="version"))
    assert "Bow twice" in served(project)


@pytest.mark.slow
def test_several_skills_are_imported_with_a_result_for_each(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    create_skill(project, skill_bundle("parting", body="Mine"), by=author)
    site.skills["broken"] = Bundle({SKILL_MD: b"---\nname: broken\n---\n"})
    look(project, source, author)
    chosen = page.get(at(source, "import/"), {"skill": ["broken", "greeting", "parting"]})
    assert "Import 3 skills" in shown(chosen) and "1 name is taken" in shown(chosen)
    answer = page.post(at(source, "import/"), {"skill": ["broken", "greeting", "parting"], "conflict-2": "skip"})
    progress = answer.headers["Location"]
    waiting = page.get(progress)
    assert "Importing 3 skills" in shown(waiting)
    assert "every 1s" in text(waiting) and "Refresh" in text(waiting)
    source_jobs.run_due()
    part = {"headers": {"HX-Request": "true"}}
    over = page.get(f"{progress}?was=queued-0", **part)
    assert "every 1s" not in text(over)
    assert '<span id="progress-said" hx-swap-oob="innerHTML">3 of 3 skills done</span>' in text(over)
    assert 'id="progress-said" role="status">Waiting to start</span>' in text(waiting)
    assert "3 of 3 skills done 1 imported, 1 skipped, 1 failed" in shown(over)
    assert "<code>description</code> is missing" in text(over), "the reason of the failure"
    assert "Retry 1 skill" in shown(over)
    assert page.get(f"{progress}?was=done-3", **part).status_code == 204
    assert "Bow twice" in served(project) and "Mine" in served(project, "parting")
    site.skills["broken"] = skill_bundle("broken")
    look(project, source, author)
    again = page.post(f"{progress}retry/").headers["Location"]
    source_jobs.run_due()
    assert "1 of 1 skill done 1 imported" in shown(page.get(again))


def test_all_skills_without_conflicts_can_be_selected_at_once(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    chosen = page.get(at(source, "import/?all=1"))
    assert "Import 1 skill" in shown(chosen) and 'value="parting"' in text(chosen)
    assert page.get(at(source, "import/?all=1&q=greet")).status_code == 302


def test_a_failed_check_can_be_retried(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    site.status = 503
    made = sources.look(project, source.pk, by=author)
    source_jobs.run_due()
    answer = page.get(at(source, f"jobs/{made.pk}/"))
    assert "503" in shown(answer) and "Check again" in shown(answer)
    page.post(at(source, f"jobs/{made.pk}/retry/"))
    assert SourceJob.objects.unfinished().count() == 1


# -- Updating -----------------------------------------------------------------------------------------------------


@pytest.fixture
def edited(project: Project, source: Source, site: Elsewhere, author: Actor) -> Source:
    """Both sides changed the same line, and each another one."""
    import_one(project, source, author)
    edit(project, author, "Smile.", "Smile softly.")
    edit(project, author, "Say the name.", "Say the name twice.")
    change(site, "Smile.", "Smile broadly.")
    change(site, "Bow twice.", "Bow once.")
    look(project, source, author)
    return source


def test_an_unedited_skill_is_updated_in_one_step(
    project: Project, source: Source, site: Elsewhere, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    change(site, "Bow twice", "Bow once")
    look(project, source, author)
    skill = page.get("/projects/demo/skills/greeting/")
    assert "Update available." in shown(skill) and at(source, "skills/greeting/") in text(skill)
    looked = page.get(at(source, "skills/greeting/?inside=1"))
    assert "Nobody edited your copy" in shown(looked)
    page.post(at(source, "skills/greeting/"), sent(looked, do="import"))
    assert "Bow once" in served(project)
    assert "Update available." not in shown(page.get("/projects/demo/skills/greeting/"))


def test_the_preview_shows_edits_before_they_can_be_lost(edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    said = shown(looked)
    for words in ("Your changes", "Changes in the source", "resolve 1 conflict", "Keep yours", "Replace yours"):
        assert words in said
    for words in ("Smile softly", "Smile broadly", "Say the name twice", "Bow once"):
        assert words in re.sub(r"<(/?(ins|del|mark|span)[^>]*)>", "", text(looked)).replace("\n", " ") or words in said


def test_a_merge_with_unresolved_conflicts_is_refused(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    with nothing_left_behind():
        answer = page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="merge"))
    assert answer.status_code == 422
    assert "Resolve 1 conflict" in shown(answer) and "Choose one of the two." in shown(answer)


def test_a_merge_keeps_the_changes_of_both_sides(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    (key,) = set(re.findall(r'name="(take-[\d-]+)"', text(looked)))
    page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="merge", **{key: "theirs"}))
    told = served(project)
    assert "Smile broadly" in told and "Say the name twice" in told and "Bow once" in told
    assert "Update available" not in shown(page.get(at(edited)))
    assert "merged" in shown(page.get("/projects/demo/skills/greeting/versions/"))


def test_keeping_the_own_version_dismisses_the_update(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="keep"))
    assert "Smile softly" in served(project) and "Bow twice" in served(project)
    assert "Update available" not in shown(page.get(at(edited)))


def test_replacing_takes_the_source_and_keeps_the_history(project: Project, edited: Source, page: Client) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    page.post(at(edited, "skills/greeting/"), sent(looked, if_edited="replace"))
    assert "Smile broadly" in served(project) and "twice" not in served(project)
    assert Version.objects.filter(skill__name="greeting").count() == 4


@pytest.mark.parametrize("choice", ["replace", "keep", "merge", ""])
def test_an_unseen_edit_is_never_lost(
    project: Project, edited: Source, author: Actor, page: Client, choice: str
) -> None:
    looked = page.get(at(edited, "skills/greeting/?inside=1"))
    edit(project, author, "Say the name twice.", "Say the name three times.")
    answer = page.post(at(edited, "skills/greeting/"), sent(looked, if_edited=choice))
    assert answer.headers["Location"] == at(edited, "skills/greeting/")
    assert "three times" in served(project)


# -- Uninstalling -------------------------------------------------------------------------------------------------


def test_uninstalling_shows_and_removes_one_skill(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    import_one(project, source, author, "parting")
    edit(project, author, "Smile.", "Smile softly.")
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    assert "You edited greeting after you imported it" in shown(asked) and "Your edits to remove" in shown(asked)
    assert "Agents no longer get greeting." in shown(asked)
    answer = page.post(at(source, "skills/greeting/uninstall/"), sent(asked))
    assert answer.headers["Location"] == at(source)
    assert [each.name for each in Installation.objects.all()] == ["parting"]
    assert catalog.find(project.pk, "greeting") is None
    assert Version.objects.filter(skill__name="greeting").count() == 2


def test_an_edit_since_the_page_was_opened_stops_uninstalling(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    import_one(project, source, author)
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    edit(project, author, "Smile.", "Smile softly.")
    for form in (sent(asked), {}):
        with nothing_left_behind():
            answer = page.post(at(source, "skills/greeting/uninstall/"), form)
        assert answer.headers["Location"] == at(source, "skills/greeting/uninstall/")


def test_uninstalling_restores_the_earlier_version(
    project: Project, source: Source, author: Actor, page: Client
) -> None:
    create_skill(project, skill_bundle("greeting", body="Mine"), by=author)
    import_one(project, source, author, on_conflict="version")
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    assert "Agents get version 1 again" in shown(asked)
    page.post(at(source, "skills/greeting/uninstall/"), sent(asked))
    assert "Mine" in served(project)


# -- Where changes are reviewed -----------------------------------------------------------------------------------


@pytest.fixture
def protected(project: Project, source: Source, operator: Actor) -> Source:
    projects.set_protected(project, True, by=operator)
    return source


def test_in_a_protected_project_an_import_is_a_proposal(project: Project, protected: Source, page: Client) -> None:
    assert 'href="/projects/demo/sources/"' in text(page.get("/projects/demo/skills/"))
    assert "Propose…" in shown(page.get(at(protected)))
    assert "Propose 1 skill" in shown(page.get(at(protected, "import/?skill=parting")))
    looked = page.get(at(protected, "skills/greeting/?inside=1"))
    assert "Propose greeting" in shown(looked) and "Import greeting" not in shown(looked)
    answer = page.post(at(protected, "skills/greeting/"), sent(looked, do="import"))
    proposal = Proposal.objects.get()
    assert answer.headers["Location"] == f"/projects/demo/proposals/{proposal.pk}/"
    assert catalog.find(project.pk, "greeting") is None
    assert f"In review, proposal {proposal.pk}" in shown(page.get(at(protected)))
    assert "for this skill is waiting for review" in shown(page.get(at(protected, "skills/greeting/")))


def test_in_a_protected_project_uninstalling_is_a_proposal(
    project: Project, source: Source, author: Actor, operator: Actor, page: Client
) -> None:
    import_one(project, source, author)
    projects.set_protected(project, True, by=operator)
    asked = page.get(at(source, "skills/greeting/uninstall/"))
    assert "Propose to uninstall" in shown(asked)
    answer = page.post(at(source, "skills/greeting/uninstall/"), sent(asked))
    assert "/proposals/" in answer.headers["Location"]
    assert "Bow twice" in served(project)


# -- Many ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pages_need_a_fixed_number_of_queries(
    project: Project, source: Source, author: Actor, page: Client, django_assert_max_num_queries: Any
) -> None:
    import_one(project, source, author)
    for number in range(30):
        Source.objects.create(
            project=project, kind="url", address=f"https://example.org/{number}", state="ready", seen_at=timezone.now()
        )
    SourceEntry.objects.bulk_create(
        SourceEntry(source=source, name=f"skill-{number:03}", digest=f"sha256:{number}") for number in range(300)
    )
    made = sources.start(project, source.pk, [ImportRequest(f"skill-{number:03}") for number in range(200)], by=author)
    SourceJob.objects.filter(pk=made.pk).update(state=DONE)
    for path, most in (
        (SOURCES, 11),
        (at(source), 17),
        (at(source, "import/?all=1"), 14),
        (at(source, f"jobs/{made.pk}/"), 12),
        ("/projects/demo/skills/greeting/versions/", 20),
    ):
        with django_assert_max_num_queries(most):
            assert page.get(path).status_code == 200


def test_a_long_list_is_paginated(source: Source, page: Client) -> None:
    SourceEntry.objects.bulk_create(SourceEntry(source=source, name=f"skill-{number:03}") for number in range(120))
    assert text(page.get(at(source))).count('name="skill"') == 50
    assert "101 to 122 of 122" in shown(page.get(at(source, "?page=3")))
