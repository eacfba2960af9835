"""How much a browser may send at once, said with the numbers."""

from django.conf import settings
from django.http import HttpRequest

from registry.core.errors import TooLarge

_AROUND = 64 * 1024  # what a form puts around the files it sends


def check(request: HttpRequest) -> None:
    """Files that do not fit are not read at all, so the length that was announced is what there is to go by."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    allowed = settings.LIMITS.archive_bytes
    if length.isdecimal() and int(length) > allowed + _AROUND:
        raise TooLarge(f"{int(length):,} bytes were sent. {allowed:,} are allowed. Nothing was stored.")
