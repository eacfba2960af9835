"""Every test here works on storage of its own."""

from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]
