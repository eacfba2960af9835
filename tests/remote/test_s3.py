"""Skills in S3-compatible storage: a whole folder, within the limits, from buckets that are open."""

import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from registry.core.errors import TooLarge, UnsafePath
from registry.core.limits import Limits
from registry.remote import s3
from registry.remote.outbound_http import Failure, Refused
from tests import effort
from tests.conftest import skill_text
from tests.remote.conftest import Buckets, storage
from tests.services.receivers import Receiver, answering, hanging, receiving

pytestmark = pytest.mark.slow

TEXT = skill_text("a").encode()
FOLDER = {"skills/a/SKILL.md": TEXT, "skills/a/scripts/run.sh": b"#!/bin/sh\n", "skills/a/references/deep/x.md": b"x"}


def fetch(
    buckets: Buckets, path: str = "s3://b-1/skills/a", limits: Limits | None = None, **more: Any
) -> dict[str, bytes]:
    return dict(s3.fetch(path, storage=storage(buckets, **more), seconds=5.0, limits=limits or Limits()))


def test_a_folder_is_fetched_with_all_that_is_below_it(buckets: Buckets) -> None:
    buckets.put("b-1", {**FOLDER, "skills/a/": b"", "skills/a/empty/": b""})
    wanted = {key.removeprefix("skills/a/"): content for key, content in FOLDER.items()}
    for path in ("s3://b-1/skills/a", "s3://b-1/skills/a/", "s3://b-1//skills/a"):
        assert fetch(buckets, path) == wanted


def test_a_skill_at_the_top_of_a_bucket(buckets: Buckets) -> None:
    buckets.put("b-1", {"SKILL.md": TEXT, "x.md": b"x"})
    assert fetch(buckets, "s3://b-1") == {"SKILL.md": TEXT, "x.md": b"x"}


def test_a_folder_with_the_same_prefix_is_not_fetched(buckets: Buckets) -> None:
    buckets.put("b-1", {**FOLDER, "skills/ab/SKILL.md": b"other", "skills/a.md": b"other"})
    assert set(fetch(buckets)) == {"SKILL.md", "scripts/run.sh", "references/deep/x.md"}


def test_macos_metadata_is_dropped(buckets: Buckets) -> None:
    buckets.put("b-1", {**FOLDER, "skills/a/.DS_Store": b"x", "skills/a/__MACOSX/y": b"x", "skills/a/._SKILL.md": b"x"})
    assert set(fetch(buckets)) == {"SKILL.md", "scripts/run.sh", "references/deep/x.md"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "folder is empty"),
        ({"skills/b/SKILL.md": TEXT}, "folder is empty"),
        ({"skills/a/": b""}, "folder is empty"),
        ({"skills/a/notes.md": b"x"}, "Expected SKILL.md file missing at folder root"),
        ({"skills/a/wrapper/SKILL.md": TEXT}, "Expected SKILL.md file missing at folder root"),
        ({"skills/a/skill.md": TEXT}, "Expected SKILL.md file missing at folder root"),
    ],
)
def test_a_folder_that_is_not_a_skill_is_a_failure_with_its_reason(
    buckets: Buckets, files: dict[str, bytes], said: str
) -> None:
    buckets.put("b-1", files)
    with pytest.raises(Failure, match=said):
        fetch(buckets)


@pytest.mark.parametrize("key", ["../x.md", "a/../../x.md", "/etc/passwd", "a\\b.md", "a//b.md", "nul", "a\u202eb"])
def test_a_key_that_would_leave_the_folder_is_refused_with_the_skill(buckets: Buckets, key: str) -> None:
    buckets.put("b-1", {**FOLDER, f"skills/a/{key}": b"x"})
    with pytest.raises(UnsafePath):
        fetch(buckets)


def test_keys_that_would_meet_are_refused(buckets: Buckets) -> None:
    buckets.put("b-1", {**FOLDER, "skills/a/x.md": b"1", "skills/a/X.md": b"2"})
    with pytest.raises(UnsafePath):
        fetch(buckets)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(files=2), "more than 2 files"),
        (Limits(archive_bytes=30), "more than 30 bytes"),
        (Limits(file_bytes=5), "limit of 5 bytes"),
        (Limits(skill_md_bytes=20), "SKILL.md.*limit of 20 bytes"),
    ],
)
def test_a_folder_beyond_a_limit_is_refused(buckets: Buckets, limits: Limits, said: str) -> None:
    buckets.put("b-1", FOLDER)
    with pytest.raises(TooLarge, match=said):
        fetch(buckets, limits=limits)


def test_the_site_never_reads_skills_from_the_bucket_of_its_own_files(buckets: Buckets) -> None:
    buckets.put("b-1", FOLDER)
    with pytest.raises(Refused, match="its own files"):
        fetch(buckets, closed=frozenset(["b-1"]))
    with pytest.raises(Refused, match="its own files"):
        fetch(buckets, closed=frozenset(["b-1"]), only=frozenset(["b-1"]))


def test_an_operator_may_name_the_buckets(buckets: Buckets) -> None:
    buckets.put("b-1", FOLDER)
    assert fetch(buckets, only=frozenset(["b-1", "b-2"]))
    with pytest.raises(Refused, match="not allowed to load skills"):
        fetch(buckets, only=frozenset(["b-2"]))


def test_a_bucket_that_does_not_exist_says_so(buckets: Buckets) -> None:
    with pytest.raises(Failure, match="bucket does not exist"):
        fetch(buckets)


def test_without_the_package_the_reason_names_it(buckets: Buckets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(Failure, match=r"need the package boto3, which is not installed\. Install it with: pip install"):
        fetch(buckets)


def test_without_credentials_the_reason_says_so(buckets: Buckets, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(Failure, match="no credentials"):
        fetch(buckets, patience=9.0)


# -- Servers that are no good ------------------------------------------------------------------------------


@pytest.fixture
def odd(buckets: Buckets) -> Iterator[Receiver]:
    """Speaks HTTP where S3 is expected; credentials are those of the real one."""
    with receiving() as receiver:
        yield receiver


def ask(receiver: Receiver, seconds: float, patience: float = effort.PATIENCE) -> None:
    where = s3.Storage(endpoint_url=f"http://{receiver.host}", patience=patience)
    s3.fetch("s3://b-1/skills/a", storage=where, seconds=seconds)


def test_a_hanging_storage_times_out(odd: Receiver) -> None:
    odd.behave = hanging(odd)
    with pytest.raises(Failure, match="Reading the storage failed"):
        ask(odd, effort.PATIENCE, patience=0.05)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (403, b"<Error><Code>AccessDenied</Code><Message>very-secret</Message></Error>", "no read access"),
        (500, b"<Error><Code>InternalError</Code></Error>", "refused"),
        (200, b"<html>not s3</html>", "folder is empty|Reading the storage failed"),
        (200, b"\xff\xfe not xml", "refused"),
    ],
)
def test_an_error_of_the_storage_is_a_failure_without_its_response(
    odd: Receiver, status: int, body: bytes, said: str
) -> None:
    odd.behave = answering(status, body)
    with pytest.raises(Failure, match=said) as failed:
        ask(odd, effort.PATIENCE)
    assert "secret" not in str(failed.value)


LIST = b"""<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>
<Contents><Key>skills/a/SKILL.md</Key><Size>3</Size></Contents></ListBucketResult>"""


def test_a_size_in_the_list_is_not_believed(odd: Receiver) -> None:
    def lying(handler: Any) -> None:
        is_list = "list-type" in handler.path
        answering(200, LIST if is_list else b"x" * 600_000)(handler)

    odd.behave = lying
    with pytest.raises(TooLarge, match="512,000"):
        ask(odd, effort.PATIENCE)


def test_an_endless_list_is_cut_at_the_deadline(odd: Receiver) -> None:
    more = LIST.replace(b"false", b"true").replace(
        b"</ListBucketResult>", b"<NextContinuationToken>next</NextContinuationToken></ListBucketResult>"
    )
    empty = more.replace(b"<Contents><Key>skills/a/SKILL.md</Key><Size>3</Size></Contents>", b"")
    turn = []

    def endless(handler: Any) -> None:
        turn.append(1)
        answering(200, empty.replace(b"next<", f"next{len(turn)}<".encode()))(handler)

    odd.behave = endless
    with pytest.raises(Failure, match="No complete response"):
        ask(odd, 0.1)


def test_a_file_whose_bytes_arrive_slowly_is_cut_off_at_the_deadline(odd: Receiver) -> None:
    def dripping(handler: Any) -> None:
        if "list-type" in handler.path:
            return answering(200, LIST)(handler)
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not odd.released.wait(0.005):
            try:
                handler.wfile.write(b"x")
            except OSError:
                break
        return None

    odd.behave = dripping
    with pytest.raises(Failure, match="No complete response"):
        ask(odd, 0.2)


def test_a_file_that_is_cut_off_is_a_failure(odd: Receiver) -> None:
    def cutting(handler: Any) -> None:
        if "list-type" in handler.path:
            return answering(200, LIST)(handler)
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"x" * 50)
        handler.close_connection = True
        return None

    odd.behave = cutting
    with pytest.raises(Failure, match="Reading the storage failed"):
        ask(odd, effort.PATIENCE)


def test_a_storage_on_a_closed_port_is_a_failure(buckets: Buckets) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        where = s3.Storage(endpoint_url=f"http://127.0.0.1:{probe.getsockname()[1]}", patience=0.2)
        with pytest.raises(Failure, match="Reading the storage failed"):
            s3.fetch("s3://b-1/skills/a", storage=where, seconds=0.3)
