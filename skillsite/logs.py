"""Log formatting that masks secrets, in messages and in tracebacks."""

import copy
import logging
import re

_SECRETS = re.compile(
    r"(?P<before>(?P<slash>/|%2F)(?:t|sign-in|invitation|account(?P=slash)mail)(?P=slash))[^/\s\"'?]+|\bsks_[\w-]+",
    re.IGNORECASE,
)


def masked(text: str) -> str:
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
