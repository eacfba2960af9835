"""The client that the site hands out: a wheel that pip accepts and that runs without Django."""

import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from registry.web.connect import client_wheel
from tests.client.between import Between
from tests.conftest import on_disk


@pytest.fixture
def wheel(live_server: Any) -> str:
    """The address of the wheel, as the page names it."""
    page = Client().get("/client/").content.decode()
    link = re.search(r'href="([^"#]+\.whl)#sha256=([0-9a-f]{64})"', page)
    assert link, page
    return f"{live_server.url}/client/{link[1]}#sha256={link[2]}"


def test_the_wheel_is_the_same_bytes_each_time() -> None:
    first = client_wheel.wheel()
    client_wheel.wheel.cache_clear()
    assert client_wheel.wheel() == first


def test_its_record_lists_every_file_with_its_digest() -> None:
    made = client_wheel.wheel()
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    record = next(name for name in files if name.endswith("/RECORD"))
    listed = dict(line.split(",", 1) for line in files[record].decode().splitlines())
    assert set(listed) == set(files)
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert listed[name] == ("," if name == record else f"sha256={digest},{len(content)}")


def test_it_holds_the_client_and_core_and_nothing_of_the_site() -> None:
    with zipfile.ZipFile(io.BytesIO(client_wheel.wheel().content)) as archive:
        names = archive.namelist()
    tops = {"/".join(name.split("/")[:2]) for name in names if ".dist-info/" not in name}
    assert tops == {"registry/__init__.py", "registry/client", "registry/core"}
    assert "registry/client/loaders/agno.py" in names


def test_what_did_not_change_is_not_sent_again() -> None:
    first = Client().get(f"/client/{client_wheel.wheel().name}")
    assert first.status_code == 200 and first["Content-Type"] == "application/zip"
    assert (
        Client().get(f"/client/{client_wheel.wheel().name}", headers={"If-None-Match": first["ETag"]}).status_code
        == 304
    )


@pytest.mark.parametrize("name", ["skillsite-9.9.9-py3-none-any.whl", "..%2fsettings.py", "x"])
def test_other_names_are_not_there(name: str) -> None:
    assert Client().get(f"/client/{name}").status_code == 404


def test_neither_page_nor_wheel_takes_a_post() -> None:
    assert Client().post("/client/").status_code == 405
    assert Client().post(f"/client/{client_wheel.wheel().name}").status_code == 405


def test_pip_installs_it_from_the_site_and_the_command_runs_without_django(
    wheel: str, site: Between, token: str, tmp_path: Path, library: Path
) -> None:
    on_disk(library, "greeting")
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-cache-dir"]
    quiet = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    installed = subprocess.run([*pip, "--target", str(target), wheel], capture_output=True, text=True, env=quiet)
    assert installed.returncode == 0, installed.stderr
    wrong = subprocess.run(
        [*pip, "--target", str(tmp_path / "no"), f"{wheel[:-4]}0000"], capture_output=True, env=quiet
    )
    assert wrong.returncode != 0
    program = (
        "import sys, registry.client.command as command\n"
        f"assert command.__file__.startswith({str(target)!r}), command.__file__\n"
        "code = command.main(['pull', 'skills'])\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('django', 'rest_framework')]\n"
        "sys.exit(code)\n"
    )
    settings = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(target),
        "SKILLSITE_URL": site.url,
        "SKILLSITE_PROJECT": "demo",
        "SKILLSITE_TOKEN": token,
        "SKILLSITE_CACHE": str(tmp_path / "cache"),
    }
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=settings, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "skills/greeting/SKILL.md").is_file()
    assert (target / "bin/skillsite-client").is_file()
