"""The one Django app."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"

    def ready(self) -> None:
        # Registers the system checks.
        from registry import checks  # noqa: F401, PLC0415
