"""The worker that sends deliveries, and the sweep."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from registry.models import Delivery, Endpoint, Notification, NotificationEmail, Project, User
from registry.models.outgoing import FAILED, PENDING, SENT
from registry.services import housekeeping
from registry.services.notifications import webhooks, worker
from registry.services.permissions import Actor
from registry.services.skills import skills
from tests.conftest import skill_bundle
from tests.services.receivers import Receiver


@pytest.mark.django_db(transaction=True)
def test_a_committed_change_wakes_the_worker_which_sends(
    project: Project, endpoint: Endpoint, receiver: Receiver, author: Actor
) -> None:
    skills.create(project, skill_bundle(), by=author)
    call_command("db_worker", batch=True, interval=0, reload=False, verbosity=0, startup_delay=False)
    assert receiver.arrived.is_set()
    assert Delivery.objects.get().state == SENT


@pytest.mark.django_db(transaction=True)
def test_the_sweep_wakes_the_worker_only_for_overdue_deliveries(
    project: Project, endpoint: Endpoint, receiver: Receiver, owner: Actor
) -> None:
    from django_tasks_db.models import DBTaskResult

    webhooks.test(project, endpoint.pk, by=owner)
    DBTaskResult.objects.all().delete()
    worker.wake_overdue(now=timezone.now() - timedelta(hours=1))
    assert DBTaskResult.objects.count() == 0
    housekeeping.sweep(now=timezone.now())
    call_command("db_worker", batch=True, interval=0, reload=False, verbosity=0, startup_delay=False)
    assert len(receiver.got) == 1
    housekeeping.sweep(now=timezone.now())
    assert DBTaskResult.objects.exclude(finished_at=None).count() == DBTaskResult.objects.count() == 1


def test_sweep_deletes_old_rows_and_keeps_pending_ones(
    project: Project, endpoint: Endpoint, owner: Actor, person: Callable[[str], User]
) -> None:
    for state in (SENT, FAILED, PENDING):
        made = webhooks.test(project, endpoint.pk, by=owner)
        Delivery.objects.filter(pk=made.pk).update(state=state)
    notice = Notification.objects.create(
        user=person("owner"), project=project, event="x", title="x", skill="x", actor="x"
    )
    NotificationEmail.objects.create(notification=notice)
    assert housekeeping.sweep(now=timezone.now() + timedelta(days=29))["deliveries"] == 0
    assert housekeeping.sweep(now=timezone.now() + timedelta(days=31))["deliveries"] == 2
    assert Delivery.objects.get().state == PENDING
    housekeeping.sweep(now=timezone.now() + timedelta(days=181))
    assert (Notification.objects.count(), NotificationEmail.objects.count()) == (0, 0)
