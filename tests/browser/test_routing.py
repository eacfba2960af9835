"""Routing pages: a question is tried and saved, a miss of the log becomes a test question, and runs are plotted."""

from django.utils import timezone
from playwright.sync_api import expect

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.models import GoldenCase
from registry.services.permissions import Actor
from registry.services.routing import route_log, routing, routing_settings
from registry.services.skills import skills
from tests.browser.accessibility import overflowing
from tests.browser.conftest import WIDE, Windows
from tests.browser.site import Team
from tests.browser.steps import toast

_MISS = "The lift on the third floor is stuck again"


def _with_a_miss(team: Team, owner: Actor) -> None:
    """Publish a skill, and log a question for which nothing is found."""
    text = skill_md.compose(
        name="night-porter",
        description="Open doors for guests who lost their key. Use when somebody is locked out at night.",
        instructions="Ask for the name and the room.",
    )
    skills.create(team.project, Bundle({SKILL_MD: text.encode()}), by=owner)
    routing_settings.change(team.project, by=owner, log_days=7, fixed_threshold=1.0)
    team.project.refresh_from_db()
    answer = routing.route(team.project.pk, team.project.revision, _MISS)
    route_log.record(team.project.pk, team.project.revision, _MISS, answer, caller=owner, now=timezone.now())


def test_a_miss_of_the_log_becomes_a_test_question_without_javascript(team: Team, windows: Windows) -> None:
    team.site.do(_with_a_miss, team, team.actor(roles.OWNER))
    page = windows.open(team.session(roles.AUTHOR), script=False, narrow=True)
    page.goto(f"{team.base}/routing/log/?show=nothing")
    page.get_by_role("link", name="Make a test question").click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(_MISS)
    page.get_by_label("Skill that should be found").fill("night-porter")
    page.get_by_role("button", name="Save question").click()
    expect(toast(page, "Test question saved.")).to_be_visible()
    page.get_by_role("link", name="Test question", exact=True).click()
    expect(page.get_by_label("Skill that should be found")).to_have_value("night-porter")
    assert overflowing(page) == []


def test_a_question_that_is_a_whole_document_leaves_room_for_the_answer(team: Team, windows: Windows) -> None:
    page = windows.open(team.session(roles.VIEWER))
    page.goto(f"{team.base}/routing/")
    question = page.get_by_label("What would somebody ask?")
    question.fill("A paragraph about the weather.\n\n" * 500)
    box = question.bounding_box()
    assert box is not None
    assert box["height"] <= WIDE["height"] / 2


def test_the_plot_shows_both_runs(team: Team, windows: Windows) -> None:
    team.site.do(_with_a_miss, team, team.actor(roles.OWNER))
    page = windows.open(team.session(roles.OWNER))
    page.goto(f"{team.base}/routing/")
    page.get_by_label("What would somebody ask?").fill("night porter")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Yes, night-porter").click()
    expect(page.get_by_text("Saved as a test question.")).to_be_visible()
    assert team.site.do(GoldenCase.objects.filter(project=team.project).count) == 1
    page.get_by_role("link", name="Results").click()
    for runs in (1, 2):
        page.get_by_role("button", name="Run 1 test question").click()
        expect(toast(page, "The evaluation of 1 test question is finished.")).to_be_visible()
        plot = page.get_by_role("img", name=f"P@1 and MRR of {runs} evaluation")
        expect(plot).to_be_visible()
        marks = plot.locator(".plot-marks").first
        assert (marks.get_attribute("d") or "").count("z") == runs, "one mark for each run"
    page.get_by_role("listitem").filter(has_text="P@1 100").last.get_by_role("link").click()
    page.get_by_role("button", name="Make this the baseline").click()
    expect(toast(page, "This evaluation is the baseline now.")).to_be_visible()
