"""Each test gets its own blob storage and empty caches."""

from io import StringIO

from django.core.management import call_command

from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]


def command_output(command: str, *arguments: str) -> str:
    """Run a management command and return its output."""
    output = StringIO()
    call_command(command, *arguments, stdout=output)
    return output.getvalue()
