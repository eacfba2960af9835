"""Isolation for the matrix of routes and identities."""

from tests.services.isolation import blob_directory, empty_caches

__all__ = ["blob_directory", "empty_caches"]
