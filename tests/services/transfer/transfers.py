"""Exports and imports of a project."""

import io
import zipfile
from pathlib import Path
from typing import Any

from registry.models import Project
from registry.services.permissions import Actor
from registry.services.transfer import export_zip, import_project


def zipped(project: Project, by: Actor, **options: Any) -> bytes:
    return b"".join(export_zip.export_zip(project, by=by, **options).chunks)


def names(data: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(data)).namelist()


def imported(project: Project, path: Path, by: Actor, **options: Any) -> list[tuple[str, str, str]]:
    return [
        (one.action, one.name, one.version) for one in import_project.import_skills(project, path, by=by, **options)
    ]
