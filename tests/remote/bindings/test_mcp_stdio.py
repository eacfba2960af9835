"""Tools of MCP servers that run as child processes: what they get, and how they are ended."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from registry.core.workflows.failures import Code
from registry.remote.bindings import mcp
from registry.remote.bindings.failure import BindingFailed
from tests.effort import PATIENCE

SECRET = "token-that-nobody-may-read"
SERVER = str(Path(__file__).with_name("stdio_server.py"))
SECONDS = 1.0  # for servers that never answer. Python starts within a fraction of it, mostly


def binding(behaviour: str, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [SERVER, behaviour], "tool": "do", **more}


def call(called: dict[str, Any], inputs: dict[str, Any] | None = None, seconds: float = PATIENCE) -> dict[str, Any]:
    secrets = {"TOKEN": SECRET}
    return mcp.call(called, inputs or {}, key="run/a", seconds=seconds, secrets=secrets, allowed=frozenset())


def failure(called: dict[str, Any], inputs: dict[str, Any] | None = None, seconds: float = PATIENCE) -> BindingFailed:
    with pytest.raises(BindingFailed) as caught:
        call(called, inputs, seconds)
    assert SECRET not in caught.value.message
    assert "upstream" not in caught.value.message
    return caught.value


def is_gone(pid: int) -> bool:
    """Return whether a process ends soon. An orphan that was killed stays until its new parent looks after it."""
    for _ in range(2_000):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.005)
    return False


def test_a_tool_gets_its_arguments_the_key_and_only_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://site:password@host/name")
    env = {"API_TOKEN": "secret:TOKEN", "MODE": "fast"}
    found = call(binding("echo", env=env), {"a": [1, "é"], "none": None})
    assert found["arguments"] == {"a": [1, "é"]}
    assert found["meta"] == {"skillsite/idempotencyKey": "run/a"}
    own = {
        "PATH",
        "HOME",
        "TMPDIR",
        "LC_ALL",
        "LC_CTYPE",
        "API_TOKEN",
        "MODE",
        "PWD",
        "SHLVL",
        "__CF_USER_TEXT_ENCODING",
    }
    assert set(found["environment"]) <= own
    assert (found["environment"]["API_TOKEN"], found["environment"]["MODE"]) == (SECRET, "fast")
    assert not Path(found["directory"]).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the list of open files is in /proc")
def test_a_child_has_no_open_files_of_ours(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        assert len(call(binding("echo"))["files"]) == 4  # three streams, and the listing itself


def test_arguments_and_outputs_can_be_mapped() -> None:
    mapped = binding("echo", arguments={"id": "input.user.id"}, outputs={"id": "arguments.id"})
    assert call(mapped, {"user": {"id": 7}}) == {"id": 7}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}), ("[1]", {"value": [1]}), ("plain", {"text": "plain"}), ("", {"text": ""}),
        ("{not json", {"text": "{not json"}), ('{"a": 1, "a": 2}', {"text": '{"a": 1, "a": 2}'}),
    ],
)  # fmt: skip
def test_text_is_read_as_json_if_it_is(text: str, expected: dict[str, Any]) -> None:
    assert call(binding("text"), {"text": text}) == expected


def test_a_server_without_a_handshake_is_asked_in_the_stateless_way() -> None:
    meta = call(binding("stateless"))["meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["skillsite/idempotencyKey"] == "run/a"


def test_requests_of_the_server_are_answered() -> None:
    ping, roots = call(binding("chatty"))["replies"]
    assert (ping["id"], ping["result"]) == ("p1", {})
    assert (roots["id"], roots["error"]["code"]) == ("r1", -32601)


def test_a_large_input_reaches_a_server_that_writes_meanwhile() -> None:
    text = "x" * 500_000
    assert call(binding("text"), {"text": text, "more": "y" * 2_000_000}) == {"text": text}


@pytest.mark.parametrize(
    ("behaviour", "retryable", "maybe_done", "code"),
    [
        ("error", False, False, Code.CALL), ("unknown", False, False, Code.CALL), ("exit", True, True, Code.CALL),
        ("flood", False, True, Code.CALL), ("lines", False, False, Code.OUTPUT), ("noise", False, False, Code.OUTPUT),
        ("future", False, False, Code.OUTPUT),
    ],
)  # fmt: skip
def test_a_server_that_fails(behaviour: str, retryable: bool, maybe_done: bool, code: Code) -> None:
    found = failure(binding(behaviour))
    assert (found.retryable, found.maybe_done, found.code) == (retryable, maybe_done, code)


def test_a_server_that_hangs_in_the_call_leaves_it_in_doubt() -> None:
    found = failure(binding("hang"), seconds=3 * SECONDS)
    assert (found.code, found.retryable, found.maybe_done) == (Code.TIMEOUT, True, True)


def test_a_server_that_hangs_before_the_call_has_done_nothing() -> None:
    found = failure(binding("silent"), seconds=SECONDS)
    assert (found.code, found.retryable, found.maybe_done) == (Code.TIMEOUT, True, False)


def test_a_server_that_ignores_signals_is_killed_with_its_children() -> None:
    pids = call(binding("stubborn"))["pids"]
    assert len(pids) == 2
    assert all(is_gone(pid) for pid in pids)


@pytest.mark.parametrize("command", ["no-such-command-anywhere", "/no/such/file", "", "a\x00b", "/"])
def test_a_command_that_cannot_start_is_named(command: str) -> None:
    found = failure(binding("echo", command=command))
    assert (found.code, found.retryable, found.maybe_done) == (Code.CAPABILITY, False, False)


def test_no_shell_reads_the_command() -> None:
    assert failure(binding("echo", command="true; echo")).code == Code.CAPABILITY


@pytest.mark.parametrize(
    "more",
    [
        {"args": ["--token", "secret:TOKEN"]}, {"args": "x"}, {"args": [1]}, {"command": 3}, {"tool": ""}, {"tool": 1},
        {"env": {"A=B": "x"}}, {"env": {"A": 1}}, {"env": ["A"]}, {"env": {"A": "secret:OTHER"}}, {"arguments": 3},
        {"arguments": {"k": "secret:TOKEN"}},
    ],
)  # fmt: skip
def test_a_binding_that_makes_no_sense_is_refused(more: dict[str, Any]) -> None:
    assert failure(binding("echo", **more)).code == Code.CAPABILITY
