"""A skill that is a folder in S3-compatible storage: listed, capped while it streams, and checked like any other."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from registry.core import paths
from registry.core.archive.zip_bundle import is_junk
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import TooLarge
from registry.core.limits import DEFAULT, Limits
from registry.remote.outbound_http import Failure, Refused

try:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
except ImportError:  # the extra `s3` is not installed
    boto3 = None

_CHUNK = 64 * 1024
_CONNECT_SECONDS = 5.0
_SAID = {
    "NoSuchBucket": "There is no such bucket.",
    "NoSuchKey": "A file was removed while it was read.",
    "AccessDenied": "The credentials of this site may not read it.",
    "403": "The credentials of this site may not read it.",
    "404": "There is no such bucket.",
}


@dataclass(frozen=True, slots=True)
class Storage:
    """Which S3 is asked, and which buckets are not: `closed` never, and where `only` is given, no others than those."""

    endpoint_url: str = ""
    closed: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    patience: float = 10.0  # seconds without a byte


@dataclass(frozen=True, slots=True)
class _Errand:
    client: Any
    bucket: str
    prefix: str
    limits: Limits
    deadline: float

    def in_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise Failure("There was no complete answer in the time that is allowed.")


def fetch(s3_path: str, *, storage: Storage, seconds: float, limits: Limits = DEFAULT) -> Bundle:
    """The files below a folder, SKILL.md directly in it. Failure says in a sentence why there is no skill."""
    bucket, _, folder = s3_path.removeprefix("s3://").partition("/")
    _permit(bucket, storage)
    prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
    deadline = time.monotonic() + seconds
    with _said_plainly():
        client = _client(storage.endpoint_url, storage.patience)
        errand = _Errand(client, bucket, prefix, limits, deadline)
        wanted = dict(_listed(errand))
        if not wanted:
            raise Failure("There is nothing in that folder.")
        if SKILL_MD not in wanted:
            raise Failure("There is no SKILL.md directly in that folder.")
        return Bundle(_downloaded(errand, wanted))


def _permit(bucket: str, storage: Storage) -> None:
    if bucket in storage.closed:
        raise Refused("This site keeps its own files in that bucket, and reads no skills from it.")
    if storage.only and bucket not in storage.only:
        raise Refused("That bucket is not one of those that this site may read skills from.")
    if boto3 is None:
        raise Failure("This site cannot read S3: the package boto3 is not installed.")


def _listed(errand: _Errand) -> Iterator[tuple[str, str]]:
    """Relative path and key of each file. A list that never ends is left at the first file too many."""
    count = size = 0
    pages = errand.client.get_paginator("list_objects_v2").paginate(Bucket=errand.bucket, Prefix=errand.prefix)
    for page in pages:
        errand.in_time()
        for one in page.get("Contents", ()):
            relative = one["Key"][len(errand.prefix) :]
            if not relative or relative.endswith("/"):  # how consoles show an empty folder
                continue
            paths.check(relative, limits=errand.limits)
            if is_junk(relative):
                continue
            count, size = count + 1, size + one["Size"]
            _cap(count, errand.limits.files, "files")
            _cap(size, errand.limits.archive_bytes, "bytes")
            yield relative, one["Key"]


def _downloaded(errand: _Errand, wanted: dict[str, str]) -> dict[str, bytes]:
    """What the list promised is not believed: bytes are counted as they come."""
    files: dict[str, bytes] = {}
    left = errand.limits.archive_bytes
    for relative, key in wanted.items():
        most = errand.limits.skill_md_bytes if relative == SKILL_MD else errand.limits.file_bytes
        files[relative] = _content(errand, key, relative, most)
        left -= len(files[relative])
        _cap(errand.limits.archive_bytes - left, errand.limits.archive_bytes, "bytes")
    return files


def _content(errand: _Errand, key: str, relative: str, most: int) -> bytes:
    errand.in_time()
    body = errand.client.get_object(Bucket=errand.bucket, Key=key)["Body"]
    body._raw_stream = _AsItComes(body._raw_stream)  # beneath the checks of length and checksum
    content = bytearray()
    try:
        for chunk in body.iter_chunks(_CHUNK):
            errand.in_time()
            content += chunk
            if len(content) > most:
                raise TooLarge(f"{paths.display(relative)} has more than the {most:,} bytes that are allowed.")
    finally:
        body.close()
    return bytes(content)


class _AsItComes:
    """A body in the pieces it arrives in. Read otherwise, it waits for whole chunks, however slowly the bytes drip."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def read(self, amount: int) -> bytes:
        piece: bytes = self._plain.read1(amount)
        return piece

    def close(self) -> None:
        self._plain.close()


def _cap(actual: int, allowed: int, what: str) -> None:
    if actual > allowed:
        raise TooLarge(f"The folder has more than {allowed:,} {what}, which is what is allowed.")


@lru_cache(maxsize=8)
def _client(endpoint_url: str, patience: float) -> Any:
    """Made once, since that takes longer than a request, and shared by threads, which it allows."""
    config = Config(
        connect_timeout=min(_CONNECT_SECONDS, patience), read_timeout=patience, retries={"total_max_attempts": 1}
    )
    return boto3.session.Session().client("s3", endpoint_url=endpoint_url or None, config=config)


@contextmanager
def _said_plainly() -> Iterator[None]:
    """No message of the library is passed on: some hold addresses."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        raise Failure(_SAID.get(code, f"The storage refused ({code or 'no reason given'}).")) from error
    except NoCredentialsError as error:
        raise Failure("This site has no credentials for S3.") from error
    except (BotoCoreError, OSError) as error:
        raise Failure(f"The storage could not be read ({type(error).__name__}).") from error
