"""The Django app of the site."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "registry"

    def ready(self) -> None:
        # Importing the module registers the system checks.
        from registry import checks  # noqa: F401, PLC0415
