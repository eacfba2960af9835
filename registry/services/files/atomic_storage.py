"""File storage on local disk that writes atomically."""

from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from registry.lib import files


class AtomicFileStorage(FileSystemStorage):
    """Replace files atomically and flushes them to disk. A crash leaves a temporary file, never a broken blob."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name  # names are digests, so the same name means the same content

    def _save(self, name: str, content: File[bytes]) -> str:
        target = Path(self.path(name))
        files.make_directories(target.parent, mode=self.directory_permissions_mode or 0o777, durable=True)
        files.write_atomically(target, content.chunks(), mode=self.file_permissions_mode or 0o666)
        return name
