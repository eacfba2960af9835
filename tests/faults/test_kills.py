"""The server is killed during uploads: accepted skills are complete, no others are stored, and it starts again."""

import hashlib
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import Bundle, FileEntry, bundle_digest
from tests.faults.process_pool import ProcessPool
from tests.faults.sites import Site, serving
from tests.faults.uploads import Uploads, request

pytestmark = pytest.mark.races

OPTIONS = ("--no-prepare", "--no-worker")


def _blob(site: Site, digest: str) -> Path:
    return site.blobs / digest[:2] / digest


def _damage(site: Site, versions: list[dict[str, Any]]) -> list[str]:
    """Return every version with a missing or damaged file."""
    bad = []
    for version in versions:
        entries = [FileEntry(*entry) for entry in version["files"]]
        whole = bundle_digest(entries) == version["digest"]
        for entry in entries:
            content = _blob(site, entry.digest).read_bytes() if _blob(site, entry.digest).is_file() else b""
            whole &= len(content) == entry.size and hashlib.sha256(content).hexdigest() == entry.digest
        if not whole:
            bad.append(f"{version['name']} {version['version']}")
    return bad


def _unaccounted(site: Site, state: dict[str, Any], reported: str) -> list[str]:
    """Return stored files that no version refers to and that clean_blobs does not report."""
    named = {digest for version in state["versions"] for _, _, digest in version["files"]}
    found = [path for path in site.blobs.rglob("*") if path.is_file()]
    return [
        str(path) for path in found
        if path.name not in named and path.relative_to(site.blobs).as_posix() not in reported
    ]  # fmt: skip


def _stored(state: dict[str, Any]) -> dict[str, str]:
    return {version["name"]: version["digest"] for version in state["versions"]}


def test_a_kill_during_uploads_leaves_no_incomplete_skill(site: Site, helper: ProcessPool, restarts: int) -> None:
    helper.do("make_project", "demo")
    token = helper.do("make_token", "demo", "read", "write")
    accepted: dict[str, str] = {}
    begun: dict[str, Bundle] = {}
    seen = 0
    for turn in range(restarts):
        with serving(site, *OPTIONS) as server:
            uploads = Uploads(site, token, "demo", random.Random(turn).randrange(1, 400_000), server.kill_all)
            uploads.run(clients=4, prefix=f"skill-{turn}", seed=turn)
        assert uploads.unexpected == []
        accepted |= uploads.accepted
        begun |= uploads.begun
        state = helper.do("state", "demo")
        stored = _stored(state)
        assert stored.items() >= accepted.items(), "an accepted upload is missing"
        assert all(begun[name].digest == digest for name, digest in stored.items())
        assert (state["broken"], state["empty"], _damage(site, state["versions"][seen:])) == ([], [], [])
        seen = len(state["versions"])
    assert _damage(site, state["versions"]) == []
    assert accepted, "no upload was accepted, so the test proves nothing"
    assert len(begun) > len(accepted), "no upload was interrupted, so the test proves nothing"
    assert "all chains are intact" in helper.do("manage", "verify_audit")
    assert _unaccounted(site, state, helper.do("manage", "clean_blobs")) == []
    assert not list((site.directory / "tmp").iterdir())
    left = {path.name.partition(".")[0] for path in site.data.iterdir()}
    assert left <= {"blobs", "skillsite", "secret_key", "audit_key", "audit_heads", "volume", "routing", "built_in"}
    begun |= _upload_again(site, token, begun)
    state = helper.do("state", "demo")
    assert (_stored(state), state["broken"]) == ({name: content.digest for name, content in begun.items()}, [])
    assert helper.do("counted", "demo")["loads"] == dict.fromkeys(begun, 1)


def _upload_again(site: Site, token: str, begun: dict[str, Bundle]) -> dict[str, Bundle]:
    """Upload everything and 20 new skills to two web workers at once, load each once, and return the new ones."""
    with serving(site, *OPTIONS, RATE_LIMIT_WRITE="0", WEB_WORKERS="2") as server, ThreadPoolExecutor(4) as clients:
        assert len(server.web_processes()[1]) == 2
        uploads = Uploads(site, token, "demo")
        messages = [request(site, token, "demo", content) for content in begun.values()]
        assert all(map(uploads.record, clients.map(uploads.send, messages))), uploads.unexpected
        uploads.run(clients=4, prefix="new", each=5)
        assert (len(uploads.accepted), uploads.unexpected) == (len(begun) + 20, [])
        assert {name: uploads.load(name)["digest"] for name in uploads.accepted} == uploads.accepted
        assert server.stop() == 0
    return uploads.begun
