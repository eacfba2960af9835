"""A pytest plugin that is loaded before the settings. It isolates tests from the environment and the network."""

import atexit
import gc
import ipaddress
import os
import re
import shutil
import socket
import socketserver
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests import memory

# Remove the settings that a developer exported for the site and the client. `tests.postgres` chooses the database.
_SETTINGS = "".join(path.read_text() for path in (Path(__file__).parent.parent / "skillsite").glob("*settings.py"))
_OURS = set(re.findall(r'env\.\w+\("([A-Z0-9_]+)"', _SETTINGS)) - {"DATABASE_URL", "SECRET_KEY"}
for name in list(os.environ):
    if name.removesuffix("_FILE") in _OURS or name.startswith("SKILLSITE_"):
        del os.environ[name]

# Without bytecode on disk, every worker of pytest and every process that a test starts compiles all modules again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Hundreds of thousands of objects live as long as the process. Collect rarely: reading them took a sixth of the time.
gc.set_threshold(100_000, 50, 100)

# A worker ends without freeing its objects one by one. Registered first, so that it runs after all other exit handlers.
if "PYTEST_XDIST_WORKER" in os.environ:
    atexit.register(os._exit, 0)

# The servers of the tests send the headers and the body of a response in two packets. Without this option, the second
# packet waits for an acknowledgement, which the other side delays by 40 ms.
socketserver.StreamRequestHandler.disable_nagle_algorithm = True

# Seconds until a server notices that it should stop. A test that stops it waits as long. The default is half a second.
socketserver.BaseServer.serve_forever.__defaults__ = (0.02,)

_connect = socket.socket.connect


def _within_this_machine(connection: socket.socket, address: Any) -> None:
    if connection.family in (socket.AF_INET, socket.AF_INET6):
        host = address[0]
        if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
            raise RuntimeError(f"A test connects to {host}, and no test leaves this machine.")
    _connect(connection, address)


socket.socket.connect = _within_this_machine  # type: ignore[method-assign]

memory.use()
_data = tempfile.mkdtemp(prefix="skillsite-test-")
atexit.register(shutil.rmtree, _data, ignore_errors=True)
os.environ["SKILLSITE_DATA"] = _data
os.environ["LOG_LEVEL"] = "ERROR"


def pytest_collection_finish() -> None:
    """Keep the garbage collector from reading the modules and the collected tests, above all in the last passes."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Make the second of the two last passes quick. The first one found the files that no test closed."""
    gc.freeze()
