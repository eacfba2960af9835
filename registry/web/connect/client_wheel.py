"""Pages that hand out the Python client as a wheel, so that pip installs the client that fits this site.

A wheel is a zip of the code and four text files. It is built here from the running code, without a build step. The same
code gives the same bytes on every node.
"""

import tomllib
from base64 import urlsafe_b64encode
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
from registry.web.connect import client_package

_DISTRIBUTION = "skillsite-client"
_TAG = "py3-none-any"
_EXTRA = 'Provides-Extra: s3\nRequires-Dist: boto3; extra == "s3"\n'  # to resolve skills in S3


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
    stem = f"{_DISTRIBUTION.replace('-', '_')}-{project['version']}"
    files = client_package.files(Path(registry.__path__[0]))
    files |= {f"{stem}.dist-info/{name}": text.encode() for name, text in _metadata(project).items()}
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},sha256={_record_digest(content)},{len(content)}\n" for path, content in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    return Wheel(f"{stem}-{_TAG}.whl", b"".join(zip_bundle.write_zip_stream(files.items())))


def _metadata(project: dict[str, Any]) -> dict[str, str]:
    """Return the files that pip reads. The dependencies in pyproject.toml, without its extras, are the client's."""
    needs = "".join(f"Requires-Dist: {need}\n" for need in project["dependencies"])
    return {
        "METADATA": (
            f"Metadata-Version: 2.1\nName: {_DISTRIBUTION}\nVersion: {project['version']}\n"
            f"Summary: The client of a Skillsite.\nRequires-Python: {project['requires-python']}\n{needs}{_EXTRA}"
        ),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: skillsite\nRoot-Is-Purelib: true\nTag: {_TAG}\n",
        "entry_points.txt": f"[console_scripts]\n{_DISTRIBUTION} = {client_package.PACKAGE}.command:main\n",
        "top_level.txt": f"{client_package.PACKAGE}\n",
    }


def _record_digest(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
