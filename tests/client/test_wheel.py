"""The client that the site hands out: a wheel that pip accepts and that runs without Django."""

import ast
import base64
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from packaging.requirements import Requirement

from registry.web.connect import client_wheel
from tests.client.between import Between
from tests.conftest import on_disk, skill_text
from tests.remote.web import Web, zipped
from tests.services.receivers import receiving

pytestmark = pytest.mark.processes

# Prints the modules that were imported, and what those that were not are missing.
IMPORT_ALL = """
import importlib, json, pkgutil, skillsite_client
imported, missing = ["skillsite_client"], {}
for module in pkgutil.walk_packages(skillsite_client.__path__, "skillsite_client."):
    if module.name == "skillsite_client.__main__":
        importlib.util.find_spec(module.name).loader.get_code(module.name)
        imported.append(module.name)
        continue
    try:
        importlib.import_module(module.name)
        imported.append(module.name)
    except ModuleNotFoundError as error:
        missing[module.name] = error.name
from skillsite_client import SkillsiteClient
print(json.dumps([imported, missing]))
"""


def dist_info() -> str:
    return client_wheel.wheel().name.removesuffix("-py3-none-any.whl") + ".dist-info"


def contents() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(client_wheel.wheel().content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def distributions(*names: str) -> Iterator[Distribution]:
    """Yield the named distributions and those that they require, without extras."""
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        found = distribution(name)
        yield found
        wanted = [Requirement(line) for line in found.requires or ()]
        waiting += [each.name for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]


def install(environment: Path, wheel: str) -> subprocess.CompletedProcess[str]:
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", "--quiet"]
    quiet = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    options = ["--no-index", "--no-cache-dir"]
    return subprocess.run([*pip, *options, wheel], capture_output=True, text=True, env=quiet)


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment with the client's dependencies, from this one, and nothing else."""
    root = tmp_path / "environment"
    venv.create(root, symlinks=True)
    (packages,) = root.glob("lib/python*/site-packages")
    for each in distributions("httpx", "pyyaml"):
        for top in {file.parts[0] for file in each.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (packages / top).symlink_to(Path(str(each.locate_file(top))))
    return root


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
    files = contents()
    record = next(name for name in files if name.endswith("/RECORD"))
    listed = dict(line.split(",", 1) for line in files[record].decode().splitlines())
    assert set(listed) == set(files)
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert listed[name] == ("," if name == record else f"sha256={digest},{len(content)}")


def test_it_installs_one_package_and_nothing_of_the_site() -> None:
    files = contents()
    assert {name.partition("/")[0] for name in files} == {"skillsite_client", dist_info()}
    assert files[f"{dist_info()}/top_level.txt"] == b"skillsite_client\n"
    assert "skillsite_client/loaders/agno.py" in files
    assert "skillsite_client/_core/bundle.py" in files
    assert "skillsite_client/_remote/resolver.py" in files
    assert not [name for name in files if name.startswith("skillsite_client/_remote/sources")]
    assert not [name for name, content in files.items() if re.search(rb"\bregistry\.\w", content)]


def test_it_requires_what_it_imports() -> None:
    files = contents()
    wanted = re.findall(r"^Requires-Dist: ([\w-]+)", files[f"{dist_info()}/METADATA"].decode(), re.MULTILINE)
    modules = {name: ast.parse(content) for name, content in files.items() if name.endswith(".py")}
    imported = {
        module.partition(".")[0]
        for name, tree in modules.items()
        if "/loaders/" not in name
        for node in ast.walk(tree)
        for module in imports(node)
    }
    optional = {"boto3", "botocore"}
    assert imported - {"skillsite_client"} - sys.stdlib_module_names == {"httpcore", "httpx", "yaml"} | optional
    assert wanted == ["httpcore", "httpx", "pyyaml", "boto3"]


def test_an_unchanged_response_is_not_downloaded_again() -> None:
    first = Client().get(f"/client/{client_wheel.wheel().name}")
    assert first.status_code == 200 and first["Content-Type"] == "application/zip"
    assert (
        Client().get(f"/client/{client_wheel.wheel().name}", headers={"If-None-Match": first["ETag"]}).status_code
        == 304
    )


@pytest.mark.parametrize("name", ["skillsite_client-9.9.9-py3-none-any.whl", "..%2fsettings.py", "x"])
def test_other_names_are_not_there(name: str) -> None:
    assert Client().get(f"/client/{name}").status_code == 404


def test_neither_page_nor_wheel_takes_a_post() -> None:
    assert Client().post("/client/").status_code == 405
    assert Client().post(f"/client/{client_wheel.wheel().name}").status_code == 405


def test_pip_installs_it_from_the_site_and_the_command_runs_without_django(
    wheel: str, site: Between, token: str, tmp_path: Path, library: Path, environment: Path
) -> None:
    on_disk(library, "greeting")
    assert install(environment, f"{wheel[:-4]}0000").returncode != 0
    installed = install(environment, wheel)
    assert installed.returncode == 0, installed.stderr
    settings = {
        "SKILLSITE_URL": site.url,
        "SKILLSITE_PROJECT": "demo",
        "SKILLSITE_TOKEN": token,
        "SKILLSITE_CACHE": str(tmp_path / "cache"),
    }
    for command in (["skillsite-client"], ["python", "-m", "skillsite_client"]):
        target = tmp_path / command[-1]
        line = [str(environment / "bin" / command[0]), *command[1:], "pull", str(target)]
        ran = subprocess.run(line, cwd=tmp_path, env=settings, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        assert (target / "greeting/SKILL.md").is_file()


RESOLVE = """
import json, sys
from skillsite_client import resolve, resolved
found = resolve(json.loads(sys.argv[1]), cache_dir=sys.argv[2], allow_hosts=[sys.argv[3]])
print(json.dumps([[e.name, e.status, e.reason] for e in found.entries]))
print(found.catalog_text().text.splitlines()[1])
print(found.file("packed", "notes.md").text, [e.name for e in resolved(cache_dir=sys.argv[2]).entries])
"""


def test_the_installed_wheel_resolves_definitions_without_a_site(environment: Path, tmp_path: Path) -> None:
    file = tmp_path / client_wheel.wheel().name
    file.write_bytes(client_wheel.wheel().content)
    assert install(environment, str(file)).returncode == 0
    with receiving() as receiver:
        web = Web(receiver)
        url = web.put("/packed.zip", zipped({"SKILL.md": skill_text("packed"), "notes.md": b"noted"}))
        definitions = [
            {"name": "packed", "version": "1", "url": url},
            {"name": "text", "version": "1", "content": skill_text("text")},
            {"name": "bucket", "version": "1", "s3_path": "s3://bucket-1/skills/a"},
        ]
        python = [str(environment / "bin" / "python"), "-I", "-c", RESOLVE]
        arguments = [json.dumps(definitions), str(tmp_path / "cache"), receiver.host]
        ran = subprocess.run([*python, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        entries, line, content = ran.stdout.splitlines()
        packed, text, bucket = json.loads(entries)
        assert (packed, text) == (["packed", "loaded", ""], ["text", "loaded", ""])
        assert bucket[:2] == ["bucket", "skipped"] and "pip install boto3" in bucket[2]
        assert line.startswith("• `packed` — ") and content == "noted ['packed', 'text']"
    (tmp_path / "definitions.json").write_text(json.dumps(definitions[:2]))
    command = [str(environment / "bin" / "skillsite-client"), "--offline", "resolve", "definitions.json"]
    volume = {"PERSISTENT_VOLUME_STORAGE": str(tmp_path / "cache")}
    ran = subprocess.run(command, cwd=tmp_path, env=volume, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [one.split()[:2] for one in ran.stdout.splitlines()] == [["cached", "packed"], ["loaded", "text"]]


def test_every_module_can_be_imported_where_only_the_wheel_is_installed(environment: Path, tmp_path: Path) -> None:
    file = tmp_path / client_wheel.wheel().name
    file.write_bytes(client_wheel.wheel().content)
    installed = install(environment, str(file))
    assert installed.returncode == 0, installed.stderr
    ran = subprocess.run(
        [environment / "bin" / "python", "-I", "-c", IMPORT_ALL], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    imported, missing = json.loads(ran.stdout)
    frameworks = {"agno": "agno", "deepagents": "deepagents", "haystack": "haystack"}
    assert missing == {f"skillsite_client.loaders.{name}": framework for name, framework in frameworks.items()}
    modules = {name for name in contents() if name.endswith(".py")}
    assert len(imported) + len(missing) == len(modules)
