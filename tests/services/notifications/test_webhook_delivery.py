"""Deliveries to a real receiver: signed, sent once, retried after failures, and replayed."""

import base64
import json
import re
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from registry.core import roles
from registry.core.errors import Conflict, NotFound
from registry.core.notifications import events
from registry.core.text import edits
from registry.models import Delivery, Endpoint, Event, Project
from registry.models.outgoing import FAILED, PENDING, SENT
from registry.services import permissions
from registry.services.agents import agents
from registry.services.notifications import retries, webhook_delivery, webhooks
from registry.services.permissions import Actor
from registry.services.proposals import proposals, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import skills, versions
from tests.conftest import skill_bundle, skill_text
from tests.services.footprint import nothing_left_behind
from tests.services.notifications.deliveries import ALL, send
from tests.services.receivers import Receiver, answering, dripping, endless, hanging, receiving


def documented() -> Callable[[str, dict[str, str], bytes], bool]:
    """The function that receivers are told to check signatures with."""
    (code,) = re.findall(r"```python\n(.*?)```", (Path(settings.BASE_DIR) / "docs/webhooks.md").read_text(), re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)  # noqa: S102 - our own page
    return found["is_ours"]  # type: ignore[no-any-return]


def test_a_receiver_gets_the_event_and_can_check_that_it_is_ours(
    project: Project, owner: Actor, receiver: Receiver, author: Actor
) -> None:
    _, secret = webhooks.create(project, receiver.url(), [events.PUBLISHED], by=owner)
    version = skills.create(project, skill_bundle(), by=author).version
    assert receiver.got == []
    assert send() == 1
    (got,) = receiver.got
    assert (got.method, got.path, got.headers["content-type"]) == ("POST", "/hook", "application/json")
    is_ours = documented()
    assert is_ours(secret, got.headers, got.body)
    assert not is_ours(secret, got.headers, got.body + b" ")
    assert not is_ours(secret, got.headers | {"webhook-id": "evt_other"}, got.body)
    assert not is_ours(secret, got.headers | {"webhook-timestamp": "1"}, got.body)
    assert not is_ours("whsec_" + base64.b64encode(b"guess").decode(), got.headers, got.body)
    body = json.loads(got.body)
    assert body["type"] == "version.published"
    assert body["data"] == {
        "text": "author published version 1 of greeting",
        "url": "https://skills.example.org/projects/demo/skills/greeting/version/1/",
        "project": {"slug": "demo", "name": "Demo"},
        "actor": {"kind": "person", "name": "author"},
        "skill": "greeting",
        "version": {"version": "1", "digest": version.digest},
    }


@pytest.mark.slow
def test_every_event_of_a_proposal_is_delivered_without_its_text(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor, author: Actor, operator: Actor
) -> None:
    first = skills.create(project, skill_bundle(), by=author).version
    bot = permissions.agent(agents.ensure(project, "bot", by=operator), frozenset({roles.PROPOSE}))

    def suggestion(body: str) -> Suggestion:
        return Suggestion("greeting", edits.parse(skill_md=skill_text(body=f"SECRET {body}")), "SECRET reason")

    one, two = (proposals.propose(project, suggestion(body), by=bot).proposal for body in ("A", "B"))
    three = proposals.propose(project, suggestion("C"), by=bot).proposal
    proposals.comment(project, one.pk, "SECRET comment", by=owner)
    reviews.request_changes(project, one.pk, comment="SECRET", by=owner)
    revised = proposals.revise(project, one.pk, suggestion("D"), by=bot).proposal
    proposals.withdraw(project, two.pk, by=bot)
    reviews.reject(project, three.pk, comment="SECRET", by=owner)
    four = proposals.propose(project, suggestion("E"), by=bot).proposal
    reviews.approve(project, revised.pk, result_digest=revised.result_digest, by=owner)
    versions.yank(project, "greeting", first.version, reason="SECRET", by=owner)
    send()
    said = [json.loads(got.body) for got in receiver.got]
    assert [one["type"] for one in said] == [
        "version.published", "proposal.opened", "proposal.opened", "proposal.opened", "proposal.commented",
        "proposal.changes-requested", "proposal.revised", "proposal.withdrawn", "proposal.rejected",
        "proposal.opened", "proposal.overtaken", "version.published", "proposal.approved", "version.yanked",
    ]  # fmt: skip
    assert all(b"SECRET" not in got.body for got in receiver.got)
    assert said[10]["data"]["proposal"] | {"id": four.pk, "state": "stale"} == said[10]["data"]["proposal"]
    assert said[12]["data"]["proposal"]["state"] == "approved"
    assert len({got.headers["webhook-id"] for got in receiver.got}) == len(said)


def test_only_chosen_events_of_the_own_project_are_sent(
    project: Project, other_project: Project, receiver: Receiver, owner: Actor, operator: Actor
) -> None:
    webhooks.create(project, receiver.url(), [events.YANKED], by=owner)
    for where in (project, other_project):
        skills.create(where, skill_bundle(), by=operator)
    versions.yank(other_project, "greeting", "1", reason="Old.", by=operator)
    assert (send(), receiver.got) == (0, [])


def test_a_change_that_is_refused_or_undone_sends_nothing(project: Project, endpoint: Endpoint, author: Actor) -> None:
    saved = skills.create(project, skill_bundle(), by=author).version
    count = Delivery.objects.count()
    skills.save(project, "greeting", skill_bundle(), base=saved.digest, by=author)
    with pytest.raises(NotFound):
        versions.yank(project, "greeting", "9", reason="No.", by=author)
    assert Delivery.objects.count() == count


def test_the_secret_is_not_in_the_database(project: Project, receiver: Receiver, owner: Actor, settings: Any) -> None:
    made, secret = webhooks.create(project, receiver.url(), ALL, by=owner)
    row = Endpoint.objects.filter(pk=made.pk).values()[0]
    assert secret.removeprefix("whsec_") not in str(row)
    settings.SECRET_KEY = "another"
    assert webhook_delivery.secret_of(made) != secret


def test_a_new_secret_signs_and_the_old_one_does_not(project: Project, endpoint: Endpoint, owner: Actor) -> None:
    old = webhook_delivery.secret_of(endpoint)
    new = webhooks.renew_secret(project, endpoint.pk, by=owner)
    assert new != old
    assert webhook_delivery.secret_of(Endpoint.objects.get()) == new


# -- Failures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 410, 429, 500, 503])
def test_an_answer_that_is_no_success_is_tried_again_later(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor, status: int
) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    receiver.behave = answering(status, b"what went wrong")
    assert send() == 1
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.status, row.excerpt) == (PENDING, 1, status, "what went wrong")
    assert str(status) in row.error
    assert send() == 0
    receiver.behave = answering(200, b"fine")
    assert send(timedelta(minutes=2)) == 1
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.status, row.excerpt, row.error) == (SENT, 2, 200, "fine", "")
    first, second = receiver.got
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]


@pytest.mark.parametrize("behaviour", [hanging, dripping])
def test_a_receiver_that_hangs_or_drips_is_left(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor, quick: None, behaviour: Any
) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    receiver.behave = behaviour(receiver)
    assert send() == 1
    row = Delivery.objects.get()
    assert (row.state, row.status) == (PENDING, None)
    assert "No complete response within 0.1 seconds" in row.error


def test_only_the_beginning_of_a_huge_response_is_read(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor
) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    receiver.behave = endless(receiver)
    send()
    assert (Delivery.objects.get().state, Delivery.objects.get().excerpt) == (SENT, "x" * 1000)


def test_a_response_with_unprintable_bytes_is_stored_as_printable_text(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor
) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    receiver.behave = answering(200, b"\x00\xff\x1b[31m<b>ok</b>")
    send()
    assert Delivery.objects.get().excerpt == "\ufffd\ufffd\ufffd[31m<b>ok</b>"


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/", "https://169.254.169.254/latest/", "https://[::1]/"])
def test_a_redirect_is_not_followed(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor, target: str
) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    receiver.behave = answering(307, Location=target)
    send()
    row = Delivery.objects.get()
    assert (row.state, row.status, len(receiver.got)) == (PENDING, 307, 1)
    assert "not followed" in row.error


def test_an_address_that_became_private_is_not_sent_to(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor, settings: Any
) -> None:
    """The address is checked again before each delivery."""
    webhooks.test(project, endpoint.pk, by=owner)
    settings.SKILLS_FETCH_ALLOW_HOSTS = []
    Endpoint.objects.update(address=f"https://{receiver.host}/hook")
    send()
    assert receiver.got == []
    assert "private network" in Delivery.objects.get().error


def test_after_the_last_try_it_is_given_up_and_can_be_replayed(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor
) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    receiver.behave = answering(500)
    now, waits = timezone.now(), []
    for _ in range(retries.MAX_ATTEMPTS):
        assert webhook_delivery.send_due(clock=lambda moment=now: moment) == 1
        row = Delivery.objects.get()
        waits.append((row.due_at - now).total_seconds() / 60)
        now = row.due_at
    assert row.state == FAILED
    assert all(least <= wait <= least * 1.2 for least, wait in zip((1, 5, 30, 120, 720), waits, strict=False))
    assert webhook_delivery.send_due(clock=lambda: now + timedelta(days=9)) == 0
    assert list(webhooks.delivery_log(endpoint, failed=True)) == [row]

    receiver.behave = answering(204)
    assert webhooks.replay(project, endpoint.pk, row.pk, by=owner) == 1
    assert send() == 1
    assert Delivery.objects.get().state == SENT
    assert {got.body for got in receiver.got} == {row.body.encode()}
    with nothing_left_behind(), pytest.raises(Conflict, match="no failed delivery"):
        webhooks.replay(project, endpoint.pk, row.pk, by=owner)


def test_all_that_was_given_up_is_replayed_at_once(project: Project, endpoint: Endpoint, owner: Actor) -> None:
    for _ in range(3):
        webhooks.test(project, endpoint.pk, by=owner)
    Delivery.objects.update(state=FAILED, attempts=6)
    assert webhooks.replay(project, endpoint.pk, by=owner) == 3
    assert send() == 3
    assert Event.objects.filter(verb="webhook.replayed").get().data["deliveries"] == 3


def test_a_receiver_that_hangs_does_not_delay_other_webhooks(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor, settings: Any
) -> None:
    """The other's events arrive while the first still waits; the test would never end were it the other way."""
    receiver.behave = hanging(receiver)
    webhooks.test(project, endpoint.pk, by=owner)
    with receiving() as other:
        settings.SKILLS_FETCH_ALLOW_HOSTS = [receiver.host, other.host]
        quick, _ = webhooks.create(project, other.url(), ALL, by=owner)
        for _ in range(3):
            webhooks.test(project, quick.pk, by=owner)

        def last(handler: Any) -> None:
            answering(204)(handler)
            if len(other.got) == 3:
                receiver.released.set()

        other.behave = last
        assert send() == 4
        assert len(other.got) == 3
    assert Delivery.objects.filter(endpoint=quick, state=SENT).count() == 3


def test_threads_touch_no_row(project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor) -> None:
    """Requests run in threads; what they would open there is a connection to the database that nobody closes."""
    webhooks.test(project, endpoint.pk, by=owner)
    delivery = Delivery.objects.select_related("endpoint").get()
    outcome: list[webhook_delivery.Outcome] = []
    thread = threading.Thread(target=lambda: outcome.append(webhook_delivery.post(delivery, now=timezone.now())))
    thread.start()
    thread.join()
    assert outcome[0].status == 204


# -- Leases ------------------------------------------------------------------------------------------------


def test_leased_delivery_is_not_taken_by_another_worker(project: Project, endpoint: Endpoint, owner: Actor) -> None:
    now = timezone.now() + timedelta(seconds=1)
    mine = webhooks.test(project, endpoint.pk, by=owner)
    theirs = Delivery.objects.get()
    assert retries.take(mine, now=now)
    assert not retries.take(theirs, now=now)
    assert send() == 0


def test_delivery_with_an_expired_lease_is_sent_and_the_late_result_is_ignored(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor
) -> None:
    mine = webhooks.test(project, endpoint.pk, by=owner)
    assert retries.take(mine, now=timezone.now())
    assert send(retries.LEASE + timedelta(seconds=1)) == 1
    retries.retry_later(mine, now=timezone.now(), error="late")
    row = Delivery.objects.get()
    assert (row.state, row.error, row.attempts) == (SENT, "", 2)


def test_delivery_that_kills_every_worker_fails(project: Project, endpoint: Endpoint, owner: Actor) -> None:
    webhooks.test(project, endpoint.pk, by=owner)
    now = timezone.now()
    for number in range(retries.MAX_ATTEMPTS):
        assert retries.take(Delivery.objects.get(), now=now + number * timedelta(hours=1))
    assert send(timedelta(days=1)) == 0
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.leased_until) == (FAILED, retries.MAX_ATTEMPTS, None)
