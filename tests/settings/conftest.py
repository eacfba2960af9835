"""Each test gets its own blob storage and empty caches."""

from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]
