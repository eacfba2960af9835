"""Settings of routing: owners change them, others read them."""

import pytest
from django.test import Client

from registry.core.routing import confidence
from registry.models import Project, RoutingSettings
from registry.services.permissions import Actor
from registry.services.routing import routing_settings
from tests.services.footprint import nothing_left_behind
from tests.web.routing.pages import SETTINGS, text

FORM = {
    "mode": "fixed", "fixed_threshold": "12.5", "least_p_at_1": "70", "least_mrr": "0.75", "most_false_triggers": "10",
    "least_cases": "12", "blocking": "on", "log_days": "14", "log_share": "25",
}  # fmt: skip


def test_an_owner_changes_everything_and_returns_to_the_learned_limit(project: Project, owning: Client) -> None:
    assert "Until then 35\xa0% is used." in text(owning.get(SETTINGS))
    html = text(owning.post(SETTINGS, FORM, follow=True))
    assert "Settings saved." in html
    assert 'value="12.5"' in html
    assert "set by an owner of this project" in html
    row = RoutingSettings.objects.get()
    assert (row.fixed_threshold, row.least_p_at_1, row.least_mrr, row.most_false_triggers) == (0.125, 0.7, 0.75, 0.1)
    assert (row.least_cases, row.blocking, row.log_days, row.log_share) == (12, True, 14, 0.25)
    owning.post(SETTINGS, {**FORM, "mode": "learned", "blocking": ""})
    row.refresh_from_db()
    assert (row.fixed_threshold, row.blocking) == (None, False)


def test_the_learned_threshold_is_named_once(project: Project, operator: Actor, owning: Client) -> None:
    learned = "The threshold learned from your test questions is 40\xa0%."
    routing_settings.store_learned(project.pk, confidence.Learned(confidence.DEFAULT, 0.4))
    routing_settings.change(project, log_days=1, by=operator)
    html = text(owning.get(SETTINGS))
    assert "Now 40\xa0%, learned" in html
    assert learned not in html
    assert learned in text(owning.post(SETTINGS, FORM, follow=True))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", ""), ("mode", "odd"), ("fixed_threshold", ""), ("fixed_threshold", "101"), ("fixed_threshold", "nan"),
        ("least_p_at_1", "-1"), ("least_p_at_1", "inf"), ("least_mrr", "80"), ("most_false_triggers", ""),
        ("least_cases", "0"), ("least_cases", "1.5"), ("log_days", "366"), ("log_days", "-1"), ("log_share", "x"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_refused_at_its_field(project: Project, owning: Client, name: str, value: str) -> None:
    with nothing_left_behind():
        html = text(owning.post(SETTINGS, {**FORM, name: value}), 422)
    assert "Nothing was saved." in html
    assert f'id="id_{name}' in html


def test_others_read_the_settings(project: Project, viewing: Client, writing: Client) -> None:
    for client in (viewing, writing):
        html = text(client.get(SETTINGS))
        assert "Owners of this project change these settings." in html
        assert "at least 80\xa0%" in html
        assert 'name="least_p_at_1"' not in html
        assert client.post(SETTINGS, FORM).status_code == 403
