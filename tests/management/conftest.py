"""Each test gets its own blob storage and empty caches. A test of the cache commands also gets a volume."""

from io import StringIO

from django.core.management import call_command

from tests.services.isolation import blob_directory, empty_caches
from tests.services.resolving import volume, web

__all__ = ["blob_directory", "empty_caches", "volume", "web"]


def command_output(command: str, *arguments: str) -> str:
    """Run a management command and return its output."""
    output = StringIO()
    call_command(command, *arguments, stdout=output)
    return output.getvalue()
