"""A site in its own process with skills that are hard to transfer, and the expected bytes."""

import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.tools import ROOT

BINARY = bytes(range(256)) * 40
PNG = b"\x89PNG\r\n\x1a\n" + secrets.token_bytes(3_000)
LONG = "references/" + "a-rather-long-name-for-a-file-" * 6 + "of-notes.md"
UNICODE = "assets/Übersicht – São Paulo 日本語.txt"

_HEADER = '---\nname: {name}\ndescription: "{description}"\n---\n'


def text(name: str, description: str, body: str) -> bytes:
    return (_HEADER.format(name=name, description=description) + body).encode()


FULL = {
    "SKILL.md": text("full-bundle", "Everything that is hard to carry. Use when testing.", "\n# Full\n\nÄ ö 日本\n"),
    "references/deep/er/notes.md": b"# Notes\r\nwith CRLF\r\n",
    LONG: b"long\n",
    UNICODE: "Inhalt – 内容\n".encode(),
    "assets/all-bytes.bin": BINARY,
    "assets/picture.png": PNG,
    "scripts/run.py": b"print('hello')\n",
}
PLAIN = {"SKILL.md": text("plain-note", "One file and no more. Use when testing.", "# Plain\n\nJust this.\n")}
BUNDLED = {
    "SKILL.md": text("from-disk", "Comes from a directory. Use when testing.", "# From disk\n"),
    "references/a.md": b"a\n",
}
ODD = {
    "SKILL.md": b"---\nname: odd-metadata\ndescription: A number where a text belongs.\n"
    b"metadata:\n  version: 1.0\n---\nOdd.\n"
}
# A workflow that waits for a person.
ASKS = {
    "SKILL.md": text("ask-first", "Greets somebody after a person agreed. Use when testing.", "# Ask first\n"),
    "workflow.yaml": b"""
id: ask-first
version: 1.0.0
inputs: {name: {type: string, required: true}}
outputs: {text: {type: string, required: true}}
steps:
  - id: question
    uses: text.template
    input: {template: "Greet {{name}}?", variables: {name: inputs.name}}
    output: {text: vars.question}
  - id: ask
    uses: human.approve
    input: {question: vars.question}
  - id: greet
    uses: text.template
    input: {template: "Hello {{name}}", variables: {name: inputs.name}}
    output: {text: outputs.text}
""",
}
# The braces would be replaced by frameworks that read a prompt as a template.
PROMPT, OWN_INSTRUCTIONS = "You test {{ client }} and {% raw %} text.", "Be brief."
INSTRUCTIONS = f"{PROMPT}\n\n# Plain\n\nJust this.\n\n{OWN_INSTRUCTIONS}"
EXPECTED = {"full-bundle": FULL, "plain-note": PLAIN, "from-disk": BUNDLED}


@dataclass(frozen=True)
class Site:
    address: str
    token: str
    other_token: str
    run_token: str  # of an agent in the project `flows`
    data: Path = field(repr=False)

    @property
    def by_token(self) -> str:
        return f"{self.address}/t/{self.token}"

    def log(self) -> str:
        return (self.data / "server.log").read_text(errors="replace")


@contextmanager
def running(directory: Path) -> Iterator[Site]:
    library, data, port = directory / "library", directory / "data", _free_port()
    for path, content in BUNDLED.items():
        target = library / "from-disk" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    os.environ.update(
        SKILLSITE_DATA=str(data),
        AGENT_SKILLS_DIRS=str(library),
        PORT=str(port),
        PUBLIC_ROOT_PROJECTS="open",
        DJANGO_SETTINGS_MODULE="skillsite.settings",
        LOG_LEVEL="INFO",
    )
    token, other, run = _fill()
    with (data / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--no-worker"], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, server)
        yield Site(address, token, other, run, data)
    finally:
        server.terminate()
        server.wait(30)


@contextmanager
def working(site: Site) -> Iterator[None]:
    """Run a worker beside the site."""
    with (site.data / "worker.log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "manage.py", "worker"], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield
    finally:
        worker.terminate()
        worker.wait(30)


def approve(run_id: int) -> None:
    """Approve what a run asks, as the reviewer of its project."""
    from django.db import connections

    from registry.models import Project, RunQuestion, User
    from registry.services import permissions
    from registry.services.workflows import questions

    project = Project.objects.get(slug="flows")
    question = RunQuestion.objects.get(run=run_id, state="open")
    by = permissions.person(User.objects.get(username="reviewer"), project)
    questions.approve(project, run_id, question.pk, digest=question.digest, by=by)
    connections.close_all()


def _fill() -> tuple[str, str, str]:
    """Create two projects with the same skills: `open` is public, `closed` has two tokens for reading.

    The project `flows` has a workflow, a reviewer and a token to run it.
    """
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from registry.core import roles
    from registry.core.bundle import Bundle
    from registry.core.catalog.visibility import Definition
    from registry.services import permissions
    from registry.services.agents import agents, tokens
    from registry.services.people import accounts, members, projects
    from registry.services.skills import bundles

    call_command("migrate", interactive=False, verbosity=0)
    by = permissions.operator()
    secrets_made = []
    for slug in ("open", "closed"):
        project = projects.create(slug=slug, name=slug, by=by)
        for files in (FULL, PLAIN, ODD):
            bundles.import_bundle(project, Bundle(files), by=by)
        agents.ensure(project, "client", by=by)
        agent = agents.update(project, "client", Definition(PROMPT, OWN_INSTRUCTIONS, ("plain-note",)), by=by)
        secrets_made.append(tokens.create_token(project, agent=agent, scopes=["read"], by=by))
        projects.set_public(project, slug == "open", by=by)
    flows = projects.create(slug="flows", name="flows", by=by)
    bundles.import_bundle(flows, Bundle(ASKS), by=by)
    members.set_role(flows, accounts.create_user("reviewer", by=by), roles.REVIEWER, by=by)
    agents.ensure(flows, "runner", by=by)
    runner = agents.update(flows, "runner", Definition(), by=by)
    running_token = tokens.create_token(flows, agent=runner, scopes=["read", "run"], by=by)
    connections.close_all()
    return secrets_made[1], secrets_made[0], running_token


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(address: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(1_200):
        if server.poll() is not None:
            raise SystemExit("The site did not start.")
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The site did not answer within 120 seconds.")
