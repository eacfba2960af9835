"""The pages of webhooks: for owners of the project, with the secret shown once."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.core import roles
from registry.core.notifications import events
from registry.models import Delivery, Endpoint, Project
from registry.services.notifications import webhook_delivery, webhooks
from registry.services.people import accounts, members
from registry.services.permissions import Actor
from tests.services.footprint import nothing_left_behind
from tests.web.conftest import Browser, signed_in

LIST = "/projects/demo/webhooks/"
HOOK = "https://1.1.1.1/services/T0/path-secret"


@pytest.fixture
def owner(browser_client: Browser) -> Client:
    return signed_in(browser_client(roles.OWNER))


@pytest.fixture
def endpoint(project: Project, operator: Actor) -> Endpoint:
    return webhooks.create(project, HOOK, [events.PUBLISHED], by=operator)[0]


@pytest.fixture
def dead(endpoint: Endpoint) -> Delivery:
    return Delivery.objects.create(
        endpoint=endpoint, event=events.PUBLISHED, key="evt_1", body='{"type":"version.published"}', state="failed",
        attempts=6, status=500, milliseconds=12, error="The answer was 500.", excerpt="<b>broken</b>",
    )  # fmt: skip


def addresses(endpoint: Endpoint) -> list[str]:
    page = f"{LIST}{endpoint.pk}/"
    return [LIST, page, *(f"{page}{what}/" for what in ("switch", "secret", "test", "replay", "remove"))]


def test_an_owner_adds_a_webhook_and_sees_its_secret_this_once(owner: Client) -> None:
    answer = owner.post(LIST, {"address": HOOK, "events": ["proposal.opened", "version.published"]})
    made = Endpoint.objects.get()
    secret = webhook_delivery.secret_of(made)
    assert answer.status_code == 201
    assert secret in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    for page in (LIST, f"{LIST}{made.pk}/"):
        assert secret not in owner.get(page).content.decode()
    assert (made.address, made.events) == (HOOK, ["proposal.opened", "version.published"])


@pytest.mark.parametrize(
    ("address", "events", "said"),
    [
        ("", ["version.published"], "Enter the address"),
        ("https://127.0.0.1/", ["version.published"], "private network"),
        ("http://1.1.1.1/", ["version.published"], "Use https"),
        ("javascript:alert(1)", ["version.published"], "whole address"),
        ("https://1.1.1.1/", [], "Choose at least one event"),
        ("https://1.1.1.1/", ["webhook.test"], "Select a valid choice"),
    ],
)
def test_invalid_webhook_is_refused_and_the_form_keeps_the_input(
    owner: Client, endpoint: Endpoint, address: str, events: list[str], said: str
) -> None:
    for path in (LIST, f"{LIST}{endpoint.pk}/"):
        with nothing_left_behind():
            answer = owner.post(path, {"address": address, "events": events})
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert f'value="{address}"' in answer.content.decode() or not address


@pytest.mark.parametrize("role", [roles.VIEWER, roles.AUTHOR, roles.REVIEWER])
def test_only_owners_see_and_change_webhooks(
    browser_client: Browser, endpoint: Endpoint, dead: Delivery, role: str
) -> None:
    client = signed_in(browser_client(role))
    with nothing_left_behind():
        for path in addresses(endpoint)[:2]:
            assert client.get(path).status_code == 403
        for path in addresses(endpoint):
            answer = client.post(path, {"address": HOOK, "events": ["version.yanked"]})
            assert answer.status_code == 403, path
            assert "path-secret" not in answer.content.decode()
    assert "/webhooks/" not in client.get("/projects/demo/skills/").content.decode()


def test_an_owner_of_another_project_finds_nothing(
    other_project: Project, endpoint: Endpoint, operator: Actor, owner: Client
) -> None:
    stranger = accounts.create_user("stranger", by=operator)
    members.set_role(other_project, stranger, roles.OWNER, by=operator)
    client = Client()
    client.force_login(stranger)
    signed_in(client)
    with nothing_left_behind():
        for path in addresses(endpoint):
            assert client.post(path).status_code == 404, path
            elsewhere = path.replace("/demo/", "/other/")
            if path != LIST:
                assert client.post(elsewhere, {"address": HOOK, "events": ["version.yanked"]}).status_code == 404


def test_changing_takes_a_form_of_ours(browser_client: Browser, endpoint: Endpoint, dead: Delivery) -> None:
    client = signed_in(browser_client(roles.OWNER, strict=True))
    with nothing_left_behind():
        for path in addresses(endpoint):
            assert client.post(path).status_code == 403, path
        for path in addresses(endpoint)[2:]:
            assert client.get(path).status_code == 405, path


def test_a_webhook_is_changed_switched_tested_given_a_new_secret_and_removed(owner: Client, endpoint: Endpoint) -> None:
    page = f"{LIST}{endpoint.pk}/"
    owner.post(page, {"address": "https://1.1.1.1/new", "events": ["version.yanked"]})
    assert Endpoint.objects.get().address == "https://1.1.1.1/new"
    owner.post(f"{page}switch/", {"enabled": "no"})
    assert owner.post(f"{page}test/").status_code == 409
    owner.post(f"{page}switch/", {"enabled": "yes"})
    assert "Test event queued" in owner.post(f"{page}test/", follow=True).content.decode()
    assert Delivery.objects.get().event == events.TEST
    answer = owner.post(f"{page}secret/")
    assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (201, True)
    assert webhook_delivery.secret_of(Endpoint.objects.get()) in answer.content.decode()
    assert owner.post(f"{page}remove/")["Location"] == LIST
    assert (Endpoint.objects.count(), Delivery.objects.count()) == (0, 0)


def test_log_shows_each_delivery_and_escapes_the_response(owner: Client, endpoint: Endpoint, dead: Delivery) -> None:
    page = owner.get(f"{LIST}{endpoint.pk}/").content.decode()
    for said in ("Failed", "6 attempts", "status 500", "12 ms", "The answer was 500.", "&lt;b&gt;broken"):
        assert said in page
    assert "<b>broken" not in page
    assert "1 failed" in owner.get(LIST).content.decode()


def test_failed_delivery_is_sent_again(owner: Client, endpoint: Endpoint, dead: Delivery) -> None:
    page = f"{LIST}{endpoint.pk}/"
    assert "Send all again" in owner.get(f"{page}?show=given-up").content.decode()
    with nothing_left_behind():
        assert owner.post(f"{page}replay/", {"delivery": "x"}).status_code == 422
        assert owner.post(f"{page}replay/", {"delivery": str(dead.pk + 1)}).status_code == 409
    assert (
        "1 delivery queued to be sent again."
        in owner.post(f"{page}replay/", {"delivery": dead.pk}, follow=True).content.decode()
    )
    assert Delivery.objects.get().state == "pending"
    assert owner.post(f"{page}replay/").status_code == 409


def test_list_and_log_take_no_more_queries_with_more_rows(
    owner: Client, project: Project, operator: Actor, endpoint: Endpoint, dead: Delivery
) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert owner.get(path).status_code == 200
        return len(captured)

    pages = (LIST, f"{LIST}{endpoint.pk}/")
    few = [queries(path) for path in pages]
    for number in range(5):
        webhooks.create(project, f"https://1.1.1.1/{number}", [events.YANKED], by=operator)
        webhooks.test(project, endpoint.pk, by=operator)
    assert [queries(path) for path in pages] == few
