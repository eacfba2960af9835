"""The command watches a run over the death and the restart of the whole site."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import on_disk
from tests.faults.sites import PATIENCE, ROOT, Site, serving

pytestmark = [pytest.mark.races, pytest.mark.one_database]

ASKS = b"""
id: ask
version: 1.0.0
inputs: {name: {type: string, required: true}}
outputs: {text: {type: string, required: true}}
steps:
  - id: render
    uses: text.template
    input: {template: "Hello {{name}}", variables: {name: inputs.name}}
    output: {text: vars.text}
  - id: sure
    uses: human.approve
    input: {question: "Send it?", details: vars.text}
  - id: send
    uses: data.echo
    input: {value: vars.text}
    output: {value: outputs.text}
"""


@contextmanager
def command(site: Site, token: str, *arguments: str, cache: Path) -> Iterator["subprocess.Popen[str]"]:
    environment = site.environment | {
        "SKILLSITE_URL": site.url(""), "SKILLSITE_PROJECT": "demo", "SKILLSITE_TOKEN": token,
        "SKILLSITE_CACHE": str(cache),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "registry.client", *arguments],
        cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def read_until(process: "subprocess.Popen[str]", words: str) -> list[str]:
    """Return the messages of the command up to the one with these words."""
    found: list[str] = []
    for line in process.stderr or ():
        found.append(line.rstrip())
        if words in line:
            return found
    raise AssertionError(f"no message with {words!r} in {found}")


def send(site: Site, token: str, path: str, body: object = None) -> Any:
    request = urllib.request.Request(
        site.url(f"/api/v1/projects/demo{path}"),
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def test_the_command_survives_a_restart_of_the_site(site: Site, tmp_path: Path) -> None:
    on_disk(site.directory / "library", "ask", {"workflow.yaml": ASKS})
    site.manage("load_demo")
    create = ("create_token", "--project", "demo", "--scope", "read", "--scope")
    agent = site.manage(*create, "run", "--agent", "bot").split()[-1]
    reviewer = site.manage(*create, "review", "--user", "reviewer").split()[-1]
    watch = ("run", "ask", "--input", "name=Ada")
    with (
        serving(site, "--no-prepare") as server,
        command(site, agent, *watch, cache=tmp_path / "cache") as watching,
    ):
        asked = read_until(watching, "Open http")
        assert "  completed  render" in asked
        assert any("A person has to approve this: Send it?" in line for line in asked)
        server.kill_all()
        read_until(watching, "Trying again.")
        with serving(site, "--no-prepare"):
            [run] = send(site, reviewer, "/runs?skill=ask")["results"]
            [question] = send(site, reviewer, f"/runs/{run['id']}")["questions"]
            answer = {"question": question["id"], "digest": question["digest"]}
            send(site, reviewer, f"/runs/{run['id']}/approve", answer)
            output, messages = watching.communicate(timeout=PATIENCE)
        assert (watching.returncode, json.loads(output)) == (0, {"text": "Hello Ada"})
        assert messages.splitlines()[-1] == f"Run {run['id']} is complete."
        assert "render" not in messages, "a step that was printed is not printed again"
