"""Isolated storage and empty caches for every test of the API."""

from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]
