"""Size limit for files sent by a browser."""

from django.conf import settings
from django.http import HttpRequest

from registry.core.errors import TooLarge

_FORM_OVERHEAD = 64 * 1024  # form fields and multipart boundaries around the files


def check(request: HttpRequest) -> None:
    """Raise TooLarge by the announced length, before any file is read."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    allowed = settings.LIMITS.archive_bytes
    if length.isdecimal() and int(length) > allowed + _FORM_OVERHEAD:
        raise TooLarge(f"{int(length):,} bytes were sent. {allowed:,} are allowed. Nothing was saved.")
