"""The Python client, to be installed with pip from the site itself: always the one that fits this site.

A wheel is a zip with three text files beside the code, so it is written here, from the files that are running, without
a build step. The same code gives the same bytes on every node.
"""

import tomllib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import etag, require_safe

import registry
from registry.core import content_types
from registry.core.archive import zip_bundle

_PACKAGES = ("client", "core")
_TAG = "py3-none-any"


@dataclass(frozen=True, slots=True)
class Wheel:
    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.content).hexdigest()


def _etag(request: HttpRequest, name: str) -> str:
    return f'"{wheel().sha256}"'


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """A page for people; pip reads it too, as it does any page with links to wheels."""
    made = wheel()
    address = f"{settings.PUBLIC_URL}/client/{made.name}"
    return render(request, "client/index.html", {"wheel": made, "address": address, "site": settings.PUBLIC_URL})


@require_safe
@etag(_etag)
def download(request: HttpRequest, name: str) -> HttpResponse:
    made = wheel()
    if name != made.name:
        raise Http404
    response = HttpResponse(made.content, content_type="application/zip", headers=content_types.HEADERS)
    response["Content-Disposition"] = f'attachment; filename="{made.name}"'
    # The name stays the same from one change of the code to the next release.
    response["Cache-Control"] = "no-cache"
    return response


@lru_cache(maxsize=1)
def wheel() -> Wheel:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stem = f"{project['name']}-{project['version']}"
    files = dict(_code()) | {f"{stem}.dist-info/{name}": text.encode() for name, text in _described(project).items()}
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},sha256={_record_digest(content)},{len(content)}\n" for path, content in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    return Wheel(f"{stem}-{_TAG}.whl", b"".join(zip_bundle.write_zip_stream(files.items())))


def _code() -> Iterator[tuple[str, bytes]]:
    root = Path(registry.__path__[0])
    chosen = [root / "__init__.py", *(path for name in _PACKAGES for path in sorted((root / name).rglob("*.py")))]
    for path in chosen:
        yield path.relative_to(root.parent).as_posix(), path.read_bytes()


def _described(project: dict[str, Any]) -> dict[str, str]:
    """What pip reads, all of it from pyproject.toml. The server is not in the wheel, and so not among its extras."""
    needs = "".join(f"Requires-Dist: {need}\n" for need in project["dependencies"])
    return {
        "METADATA": (
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
            f"Summary: The client of a Skillsite.\nRequires-Python: {project['requires-python']}\n{needs}"
        ),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: skillsite\nRoot-Is-Purelib: true\nTag: {_TAG}\n",
        "entry_points.txt": "[console_scripts]\nskillsite-client = registry.client.command:main\n",
        "top_level.txt": "registry\n",
    }


def _record_digest(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
