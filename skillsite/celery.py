"""Celery workers for the calls of workflows: `celery -A skillsite.celery worker`, or `manage.py worker --calls`."""

import os
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "skillsite.settings")
django.setup()

from django.conf import settings  # noqa: E402

from registry.services.workflows import call_worker, celery_app, idle_transactions  # noqa: E402

idle_transactions.end_after(timedelta(seconds=settings.WORKFLOW_LEASE_SECONDS))
app = celery_app.worker()
app.task(name=celery_app.TASK)(call_worker.perform)
