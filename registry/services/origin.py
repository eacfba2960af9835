"""Where a request comes from, as far as it can be believed."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings


def address(meta: Mapping[str, Any]) -> str:
    """The peer; behind a proxy the operator vouches for, the last address that proxy wrote down."""
    if settings.BEHIND_PROXY:
        forwarded = str(meta.get("HTTP_X_FORWARDED_FOR", "")).rsplit(",", 1)[-1].strip()
        return (forwarded or str(meta.get("REMOTE_ADDR", "")))[:45]
    return str(meta.get("REMOTE_ADDR", ""))[:45]
