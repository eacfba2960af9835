"""The Celery applications: one sends the numbers of tasks, the other performs them.

A message is the number of a row and nothing else, so the broker sees no arguments and no secrets.
"""

from typing import Any

from celery import Celery
from django.conf import settings

TASK = "skillsite.call"
_CONNECT_SECONDS = 2
_OPTIONS = {
    "task_default_queue": "skillsite-calls",
    "task_serializer": "json",
    "accept_content": ["json"],
    "task_ignore_result": True,
    "worker_send_task_events": False,
    "broker_connection_timeout": _CONNECT_SECONDS,
}


def sender() -> Any:
    """Return an application that sends messages. It fails soon if the broker cannot be reached."""
    app = Celery("skillsite", broker=settings.CELERY_BROKER_URL, set_as_current=False, fixups=[])
    app.conf.update(
        _OPTIONS,
        task_publish_retry=False,
        broker_transport_options={
            "max_retries": 1, "interval_start": 0, "socket_connect_timeout": _CONNECT_SECONDS,
            "socket_timeout": _CONNECT_SECONDS,
        },
    )  # fmt: skip
    return app


def worker() -> Any:
    """Return an application that performs tasks in threads.

    A message is acknowledged when its task has ended, and delivered again if the worker ends before. Commands through
    the broker are off: nobody who can reach it can stop a worker.
    """
    app = Celery("skillsite", broker=settings.CELERY_BROKER_URL, fixups=[])
    app.conf.update(
        _OPTIONS,
        worker_pool="threads",
        worker_concurrency=settings.WORKFLOW_THREADS,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
    )
    return app
