"""Celery workers for the calls of workflows: `celery -A skillsite.celery worker`, or `manage.py worker --calls`."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "skillsite.settings")
django.setup()

from registry.services.workflows import call_worker, celery_app  # noqa: E402

app = celery_app.worker()
app.task(name=celery_app.TASK)(call_worker.perform)
