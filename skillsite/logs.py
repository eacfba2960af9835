"""Log formatting that masks secrets, in messages and in tracebacks."""

import copy
import logging
import re
from collections.abc import Iterable
from typing import Any

_SECRETS = re.compile(
    r"(?P<before>(?P<slash>/|%2F)(?:t|sign-in|invitation|account(?P=slash)mail)(?P=slash))[^/\s\"'?]+|\bsks_[\w-]+",
    re.IGNORECASE,
)


_LEAST_HIDDEN = 8  # characters. A shorter value could be a part of any text
_hidden: list[str] = []


def hide(values: Iterable[str]) -> None:
    """Mask these values, which operators configured as secrets, from now on."""
    _hidden[:] = sorted({*_hidden, *(value for value in values if len(value) >= _LEAST_HIDDEN)}, key=len, reverse=True)


def masked(text: str) -> str:
    for value in _hidden:
        text = text.replace(value, "***")
    return _SECRETS.sub(lambda match: f"{match['before'] or 'sks_'}***", text)


class Masked(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(_without_traceback(record) if _is_fault_of_client(record) else record))


def _is_fault_of_client(record: logging.LogRecord) -> bool:
    """Tell whether the request was refused, for example for its host name. Anybody can send many of these."""
    return record.name.startswith("django.") and 400 <= getattr(record, "status_code", 0) < 500


def _without_traceback(record: logging.LogRecord) -> logging.LogRecord:
    short = copy.copy(record)
    short.exc_info = short.exc_text = None
    return short


def configuration(level: str) -> dict[str, Any]:
    """Return the setting LOGGING: every message goes to the console once, with secrets masked."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"class": "skillsite.logs.Masked", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Remove Django's own handlers: they would log every message again, without masking secrets.
            "django": {"handlers": [], "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            # These log complete URLs at INFO, and a signed URL is a credential.
            "httpx": {"level": "WARNING"},
            "httpcore": {"level": "WARNING"},
            "botocore": {"level": "WARNING"},
            "boto3": {"level": "WARNING"},
            "urllib3": {"level": "WARNING"},
        },
    }
