"""Real web and S3 servers on loopback, and a cache in a temporary directory."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import pytest

from registry.remote import resolver, s3
from registry.remote.cache import Cache
from registry.remote.reach import Bounds
from registry.remote.resolver import Resolved
from tests import effort
from tests.remote.web import Web
from tests.services.receivers import receiving

PATIENT = Bounds(each=effort.PATIENCE, all=effort.PATIENCE)


@pytest.fixture
def web() -> Iterator[Web]:
    with receiving() as receiver:
        yield Web(receiver)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "volume"


@dataclass
class Buckets:
    endpoint: str
    client: Any

    def put(self, bucket: str, files: dict[str, bytes]) -> None:
        self.client.create_bucket(Bucket=bucket)
        for key, content in files.items():
            self.client.put_object(Bucket=bucket, Key=key, Body=content)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Buckets]:
    import boto3
    from moto.server import ThreadedMotoServer  # half a second, so only for tests with buckets

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "very-secret", "AWS_DEFAULT_REGION": "us-east-1"}
    with mock.patch.dict(os.environ, keys):
        endpoint = f"http://{host}:{port}"
        yield Buckets(endpoint, boto3.client("s3", endpoint_url=endpoint))
    server.stop()


@pytest.fixture
def buckets(s3_server: Buckets) -> Iterator[Buckets]:
    yield s3_server
    server = HTTPConnection(urlsplit(s3_server.endpoint).netloc)
    server.request("POST", "/moto-api/reset")
    assert server.getresponse().read()
    server.close()


Resolve = Callable[..., list[Resolved]]


@pytest.fixture
def resolve(web: Web, root: Path) -> Resolve:
    """`resolve(entry, entry, …)` with the web server allowed."""

    def call(*entries: Any, **more: Any) -> list[Resolved]:
        return resolver.resolve(list(entries), **{"root": root, "allowed": web.allowed, "bounds": PATIENT, **more})

    return call


def storage(buckets: Buckets, **more: Any) -> s3.Storage:
    return s3.Storage(endpoint_url=buckets.endpoint, **more)


@pytest.fixture
def cache(root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cache]:
    """A cache that does not wait between two attempts. Its warnings are in `caplog`."""
    monkeypatch.setattr("registry.remote.cache._PAUSE", 0.0)
    with caplog.at_level("WARNING", logger="registry.remote"):
        yield Cache(root)
