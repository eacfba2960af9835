"""Log formatting that masks secrets, in messages and in tracebacks."""

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
        return masked(super().format(record))
