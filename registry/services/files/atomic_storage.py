"""Blob storage on local disk that never shows half a file."""

import os
import secrets
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

TEMPORARY = ".new-"


class AtomicFileStorage(FileSystemStorage):
    """Writes beside the target, syncs, then renames: a crash leaves a `.new-` file, never a broken blob."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name  # names are digests of the content: the same name is the same content

    def _save(self, name: str, content: File[bytes]) -> str:
        target = Path(self.path(name))
        if not target.parent.is_dir():
            self._make(target.parent)
        temporary = target.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, self.file_permissions_mode or 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_directory(target.parent)
        return name

    def _make(self, directory: Path) -> None:
        """Every directory on the way gets the mode, where `parents=True` would give it to the last one alone."""
        if not directory.parent.is_dir():
            self._make(directory.parent)
        directory.mkdir(mode=self.directory_permissions_mode or 0o777, exist_ok=True)
        _sync_directory(directory.parent)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
