"""The processes of a pool. Each reads actions as lines of JSON, runs them with the real services, and writes results.

One process is started with the sockets of all, and forks before it uses the database. If an action has a gate, the
process reports that it is ready and waits until the gate opens, so that all processes start at the same moment.
"""

import fcntl
import gc
import io
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import astuple
from itertools import count as count_from
from pathlib import Path
from typing import Any, TextIO

import django

gc.disable()  # until all modules are loaded
django.setup()

from django.core.management import call_command  # noqa: E402
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connections  # noqa: E402
from django.utils import timezone  # noqa: E402

from registry.core.bundle import SKILL_MD, Bundle  # noqa: E402
from registry.core.catalog import precedence  # noqa: E402
from registry.core.errors import SkillsiteError  # noqa: E402
from registry.core.format import skill_md  # noqa: E402
from registry.core.lint import rules  # noqa: E402
from registry.models import Agent, Project, Skill, Token, Usage, Version  # noqa: E402
from registry.services import permissions  # noqa: E402
from registry.services.agents import agents, tokens  # noqa: E402
from registry.services.audit_log import verification  # noqa: E402
from registry.services.catalog import catalog, usage  # noqa: E402
from registry.services.people import projects  # noqa: E402
from registry.services.skills import bundles, skills  # noqa: E402
from tests.faults import proposal_actions, routing_actions, run_actions, source_actions, webhook_actions  # noqa: E402

OPERATOR = permissions.operator()


def _bundle(name: str, text: str, files: int = 1) -> Bundle:
    document = skill_md.compose(
        name=name,
        description=f"Does what {name} does for the team. Use when somebody asks for {name}.",
        instructions=f"# {name}\n\n{text}",
    )
    references = {f"references/part-{number}.md": f"{text}, part {number}\n".encode() for number in range(files)}
    return Bundle({SKILL_MD: document.encode(), **references})


def _project(slug: str) -> Project:
    return Project.objects.get(slug=slug)


def make_project(slug: str) -> int:
    return projects.create(slug=slug, name=slug.capitalize(), by=OPERATOR).revision


def make_token(slug: str, *scopes: str) -> str:
    project = _project(slug)
    agent = agents.ensure(project, "uploader", by=OPERATOR)
    return tokens.create_token(project, agent=agent, scopes=scopes, by=OPERATOR)


def digest(slug: str, name: str) -> str:
    """Return the digest of the effective skill, or an empty string."""
    return precedence.digest_of(catalog.find(_project(slug).pk, name))


def save(slug: str, name: str, who: str, tries: int, base: str) -> list[dict[str, str]]:
    """Save several times, first over `base` and then over the version that is current."""
    bases = (base if number == 0 else digest(slug, name) for number in range(tries))
    return [_save_over(each, slug, name, f"{who}, try {number}") for number, each in enumerate(bases)]


def _save_over(base: str, slug: str, name: str, said: str) -> dict[str, str]:
    bundle = _bundle(name, said)
    outcome = _stored(lambda: skills.save(_project(slug), name, bundle, base=base or None, by=OPERATOR))
    return {**outcome, "base": base}


def import_skill(slug: str, name: str, who: str) -> dict[str, str]:
    return _stored(lambda: bundles.import_bundle(_project(slug), _bundle(name, who), by=OPERATOR))


def create(slug: str, name: str, who: str) -> dict[str, str]:
    return _stored(lambda: skills.create(_project(slug), _bundle(name, who), by=OPERATOR))


def _stored(change: Callable[[], Any]) -> dict[str, str]:
    try:
        version = change().version
    except SkillsiteError as error:
        return {"refused": error.code, "message": error.message}
    return {"version": version.version, "digest": version.digest}


def state(slug: str) -> dict[str, Any]:
    """Return the versions of a project, and the result of checking the audit log."""
    good, broken = verification.verify()
    versions = Version.objects.filter(skill__project__slug=slug).order_by("pk")
    return {
        "revision": _project(slug).revision,
        "empty": list(Skill.objects.filter(project__slug=slug, versions=None).values_list("name", flat=True)),
        "broken": [str(fault) for fault in broken],
        "events": good,
        "versions": [
            {"name": one.skill.name, "version": one.version, "digest": one.digest,
             "files": [astuple(entry) for entry in one.manifest],
             "current": one.skill.overrides and one.skill.current_id == one.pk}
            for one in versions.select_related("skill")
        ],
    }  # fmt: skip


def count(slug: str, names: list[str], times: int, order: int) -> int:
    """Count loads and uses of tokens, and write them. `order` makes each process start at another row."""
    project, now = _project(slug), timezone.now()
    tokens = list(Token.objects.filter(project=project).values_list("pk", "agent_id").order_by("pk"))
    for _ in range(times):
        for name in names[order:] + names[:order]:
            usage.count_load(project.pk, name, "1", caller="bot", now=now)
        for token_id, agent_id in tokens[order:] + tokens[:order]:
            usage.record_seen(token_id, agent_id, now=now)
        usage.flush()
    return times


def counted(slug: str) -> dict[str, Any]:
    rows = Usage.objects.filter(project__slug=slug)
    return {
        "loads": dict(rows.values_list("skill", "loads")),
        "unseen": Agent.objects.filter(project__slug=slug, last_seen_at=None).count(),
    }


def manage(*arguments: str) -> str:
    """Run a management command without the cost of a new process, and return its output."""
    with redirect_stdout(io.StringIO()) as output:
        call_command(*arguments)
    return output.getvalue()


def die_at_blob(number: int) -> None:
    """Make this process kill itself before it stores its blob with this number."""
    numbers = count_from(1)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.rename" and "/blobs/" in str(arguments[1]) and next(numbers) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def serve_http(port: int) -> None:
    """Answer HTTP requests in threads of this process until it ends."""
    server = ThreadedWSGIServer(("127.0.0.1", port), WSGIRequestHandler)
    server.set_app(get_wsgi_application())
    threading.Thread(target=server.serve_forever, daemon=True).start()


ACTIONS: dict[str, Callable[..., Any]] = (
    {
        action.__name__: action
        for action in (make_project, make_token, digest, save, import_skill, create, state, count, counted, manage)
    }
    | {"pid": os.getpid, "die_at_blob": die_at_blob, "serve_http": serve_http}
    | proposal_actions.ACTIONS
    | webhook_actions.ACTIONS
    | source_actions.ACTIONS
    | routing_actions.ACTIONS
    | run_actions.ACTIONS
)


def serve(socket_number: int) -> None:
    with socket.socket(fileno=socket_number) as connection, connection.makefile("rw", encoding="utf-8") as line:
        for request in map(json.loads, line):
            if request["gate"]:
                _send(line, {"ready": True})
                with Path(request["gate"]).open() as gate:
                    fcntl.flock(gate, fcntl.LOCK_SH)
            try:
                _send(line, {"result": ACTIONS[request["action"]](*request["arguments"])})
            except Exception as error:
                _send(line, {"failed": f"{type(error).__name__}: {error}"})


def _send(line: TextIO, message: dict[str, Any]) -> None:
    line.write(json.dumps(message) + "\n")
    line.flush()


def warm_up() -> None:
    """Compile the patterns of the checks, so that the forked processes need not."""
    bundle = _bundle("warm", "Follow the steps.")
    rules.lint(skill_md.read(bundle[SKILL_MD], fallback_name="warm"), bundle, authoring=True)


def main() -> None:
    numbers = [int(number) for number in sys.argv[1:]]
    warm_up()
    gc.freeze()  # so that the forked processes keep sharing the memory of loaded modules
    gc.enable()
    for number in numbers:
        if not os.fork():
            for other in numbers:
                if other != number:
                    os.close(other)
            serve(number)
            connections.close_all()
            os._exit(0)  # skips the interpreter shutdown, which would take longer than most actions
    for number in numbers:
        os.close(number)
    for _ in numbers:
        os.wait()
    os._exit(0)  # as above


if __name__ == "__main__":
    main()
