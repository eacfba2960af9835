"""Template tags of the design system, forms, and pages of the shell."""

import re
from types import SimpleNamespace

import pytest
from django import forms
from django.http import Http404
from django.template.loader import render_to_string

from registry.web.render.styleguide import styleguide
from tests.web.drawing import ask, draw


def test_people_are_round_and_agents_are_square():
    person = SimpleNamespace(display_name="Ada Okafor", initials="AO")
    agent = SimpleNamespace(name="travel-desk")
    assert draw("{% avatar who %}", who=person) == '<span class="avatar" aria-hidden="true">AO</span>'
    assert "avatar--agent" in draw("{% avatar who %}", who=agent)
    assert "AO" in draw("{% avatar 'Ada Okafor' small=True %}")
    assert draw("{% who agent %}", agent=agent).endswith("Agent travel-desk</span>")
    assert draw("{% who person %}", person=person).endswith("</span>Ada Okafor</span>")


@pytest.mark.parametrize(
    "source",
    [
        "{% badge evil %}",
        "{% icon 'x' evil %}",
        "{% avatar evil %}",
        "{% who evil %}",
        "{% copy_button evil %}",
        "{% notice label=evil %}{{ evil }}{% endnotice %}",
        "{% notice 'warn' url=evil action=evil %}{% endnotice %}",
        "{% sparkline values label=evil %}",
    ],
)
def test_user_text_is_escaped_everywhere(source):
    html = draw(source, evil="<script>\"'", values=[1])
    assert "<script" not in html
    assert "\"'" not in html


@pytest.mark.parametrize(
    "source",
    ["{% source_badge 'elsewhere' %}", "{% proposal_badge 'maybe' %}", "{% notice 'pink' %}{% endnotice %}"],
)
def test_an_unknown_state_raises_an_error(source):
    with pytest.raises(KeyError):
        draw(source)


def test_findings_show_severity_place_and_fix():
    row = SimpleNamespace(severity="warning", message="Long.", fix="Split it.", file="SKILL.md", line=42)
    html = draw("{% findings rows %}", rows=[row])
    assert "<b>Warning.</b> Long." in html
    assert "SKILL.md, line 42" in html
    assert "Split it." in html
    assert "No findings, all 5 files read" in draw("{% findings rows empty='No findings, all 5 files read' %}", rows=[])


# -- Forms -------------------------------------------------------------------------------------------------


class SampleForm(forms.Form):
    name = forms.CharField(help_text="Small letters.")
    kind = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect)
    about = forms.CharField(widget=forms.Textarea)
    where = forms.ChoiceField(choices=[("a", "A")])
    tell = forms.BooleanField(required=False)
    key = forms.CharField(widget=forms.HiddenInput)


def test_a_field_with_an_error_names_it_and_the_summary_links_to_it():
    form = SampleForm({})
    html = draw("{% error_summary form %}{% for bound in form %}{% field bound %}{% endfor %}", form=form)
    for described in re.findall(r'aria-describedby="([^"]+)"', html):
        assert all(f'id="{part}"' in html for part in described.split())
    assert 'href="#id_name"' in html
    assert 'aria-invalid="true"' in html
    assert html.count('<a href="#') == 5


def test_a_form_without_errors_has_no_summary():
    assert draw("{% error_summary form %}", form=SampleForm()).strip() == ""


# -- Pages -------------------------------------------------------------------------------------------------


def test_the_style_guide_is_for_staff_only():
    with pytest.raises(Http404):
        styleguide(ask())


def test_the_style_guide_shows_every_component_and_obeys_the_content_policy():
    request = ask()
    request.user.is_staff = True
    html = styleguide(request).content.decode()
    assert html.count("<h1>") == 1
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|<script(?![^>]*\ssrc=)|https?://(?!www\.w3\.org)", html)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert all(target in ids for target in re.findall(r'href="#([^"]+)"', html))


@pytest.mark.parametrize("status", [400, 403, 404, 413, 500])
def test_an_error_page_renders_without_context(status):
    html = render_to_string(f"errors/{status}.html")
    assert f"Status {status}" in html
    assert html.count("<h1>") == 1


def test_an_error_page_shows_the_error_message():
    assert "1,204 files. 1,000 are allowed." in render_to_string(
        "errors/413.html", {"message": "This zip contains 1,204 files. 1,000 are allowed."}
    )


def test_the_sidebar_shows_the_current_page_the_count_and_the_role():
    item = {
        "label": "Proposals",
        "url": "/p/",
        "icon": "proposals",
        "current": True,
        "count": 3,
        "count_label": "waiting for you",
        "yours": True,
    }
    person = SimpleNamespace(display_name="Ada Okafor", initials="AO")
    shell = {"user": person, "nav": [item], "more": [], "role": "reviewer", "theme": "dark", "projects": []}
    html = render_to_string("shell/sidebar.html", {"shell": shell})
    assert 'aria-current="page"' in html
    assert re.search(r'nav-count--yours">3<span class="vh"> waiting for you', html)
    assert "Reviewer" in html
    assert re.search(r'value="dark" aria-pressed="true"', html)
