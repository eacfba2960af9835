"""Skills from a folder in S3-compatible storage, with size limits while streaming."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from registry.core import paths
from registry.core.archive.skill_root import EXPECTED_AT_ROOT
from registry.core.archive.zip_bundle import is_junk
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import TooLarge
from registry.core.limits import DEFAULT, Limits
from registry.remote.outbound_http import Failure, Refused

_CHUNK = 64 * 1024
_CONNECT_SECONDS = 5.0
_MESSAGES = {
    "NoSuchBucket": "The bucket does not exist.",
    "NoSuchKey": "A file was removed during the download.",
    "AccessDenied": "The credentials of this site have no read access.",
    "403": "The credentials of this site have no read access.",
    "404": "The bucket does not exist.",
}


def _ignore(size: int) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True)
class Storage:
    """S3 settings. Buckets in `closed` are never read; if `only` is set, no other buckets are."""

    endpoint_url: str = ""
    closed: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    patience: float = 10.0  # seconds without a byte
    install: str = "Install it with: pip install boto3"


@dataclass(frozen=True, slots=True)
class _S3Session:
    client: Any
    bucket: str
    prefix: str
    limits: Limits
    deadline: float
    count: Callable[[int], None]

    def check_deadline(self) -> None:
        if time.monotonic() > self.deadline:
            raise Failure("No complete response within the time limit.")


def fetch(
    s3_path: str,
    *,
    storage: Storage,
    seconds: float,
    limits: Limits = DEFAULT,
    count: Callable[[int], None] = _ignore,
) -> Bundle:
    """Return the files below a folder, which must contain SKILL.md. Raise Failure if there is no skill.

    `count` is called with the size of each part as it arrives, and may raise an exception to stop.
    """
    bucket, _, folder = s3_path.removeprefix("s3://").partition("/")
    _permit(bucket, storage)
    prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
    deadline = time.monotonic() + seconds
    with _failures():
        client = _client(storage.endpoint_url, storage.patience)
        session = _S3Session(client, bucket, prefix, limits, deadline, count)
        keys = dict(_list(session))
        if not keys:
            raise Failure("The folder is empty.")
        if SKILL_MD not in keys:
            raise Failure(EXPECTED_AT_ROOT)
        return Bundle(_download(session, keys))


def _permit(bucket: str, storage: Storage) -> None:
    if bucket in storage.closed:
        raise Refused("This site stores its own files in that bucket, so skills cannot be loaded from it.")
    if storage.only and bucket not in storage.only:
        raise Refused("This site is not allowed to load skills from that bucket.")
    if find_spec("boto3") is None:  # the extra `s3` is not installed
        raise Failure(f"Skills in S3 need the package boto3, which is not installed. {storage.install}")


def _list(session: _S3Session) -> Iterator[tuple[str, str]]:
    """Yield the relative path and key of each file. Stops at the limit, so that an endless list ends."""
    count = size = 0
    pages = session.client.get_paginator("list_objects_v2").paginate(Bucket=session.bucket, Prefix=session.prefix)
    for page in pages:
        session.check_deadline()
        for one in page.get("Contents", ()):
            relative = one["Key"][len(session.prefix) :]
            if not relative or relative.endswith("/"):  # the placeholder of an empty folder
                continue
            paths.check(relative, limits=session.limits)
            if is_junk(relative):
                continue
            count, size = count + 1, size + one["Size"]
            _cap(count, session.limits.files, "files")
            _cap(size, session.limits.archive_bytes, "bytes")
            yield relative, one["Key"]


def _download(session: _S3Session, keys: dict[str, str]) -> dict[str, bytes]:
    """Download the files. Bytes are counted again, because the sizes in the list may be wrong."""
    files: dict[str, bytes] = {}
    bytes_left = session.limits.archive_bytes
    for relative, key in keys.items():
        most = session.limits.skill_md_bytes if relative == SKILL_MD else session.limits.file_bytes
        files[relative] = _content(session, key, relative, most)
        bytes_left -= len(files[relative])
        _cap(session.limits.archive_bytes - bytes_left, session.limits.archive_bytes, "bytes")
    return files


def _content(session: _S3Session, key: str, relative: str, most: int) -> bytes:
    session.check_deadline()
    body = session.client.get_object(Bucket=session.bucket, Key=key)["Body"]
    body._raw_stream = _Unbuffered(body._raw_stream)  # below the checks of length and checksum
    content = bytearray()
    try:
        for chunk in body.iter_chunks(_CHUNK):
            session.check_deadline()
            session.count(len(chunk))
            content += chunk
            if len(content) > most:
                raise TooLarge(f"{paths.display(relative)} is larger than the limit of {most:,} bytes.")
    finally:
        body.close()
    return bytes(content)


class _Unbuffered:
    """Body without buffering. A buffered one waits for whole chunks, however slowly the bytes arrive."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def read(self, amount: int) -> bytes:
        piece: bytes = self._plain.read1(amount)
        return piece

    def close(self) -> None:
        self._plain.close()


def _cap(actual: int, allowed: int, what: str) -> None:
    if actual > allowed:
        raise TooLarge(f"The folder has more than {allowed:,} {what}. {allowed:,} are allowed.")


@lru_cache(maxsize=8)
def _client(endpoint_url: str, patience: float) -> Any:
    """Return a client. It is thread-safe and shared, because creating one takes longer than a request."""
    import boto3  # noqa: PLC0415 - slow to load, and most processes read no bucket
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=min(_CONNECT_SECONDS, patience), read_timeout=patience, retries={"total_max_attempts": 1}
    )
    return boto3.session.Session().client("s3", endpoint_url=endpoint_url or None, config=config)


@contextmanager
def _failures() -> Iterator[None]:
    """Convert errors of boto3 to Failure. Their messages are not shown, because some contain URLs."""
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError  # noqa: PLC0415

    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        raise Failure(_MESSAGES.get(code, f"The storage refused the request ({code or 'no reason given'}).")) from error
    except NoCredentialsError as error:
        raise Failure("This site has no credentials for S3.") from error
    except (BotoCoreError, OSError) as error:
        raise Failure(f"Reading the storage failed ({type(error).__name__}).") from error
