"""Every test here works on storage of its own."""

from tests.services.isolation import blob_directory, nothing_remembered

__all__ = ["blob_directory", "nothing_remembered"]
