"""Another site on loopback that offers skills in a well-known index, and can change, stop and start again."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from registry.core.archive import zip_bundle as bundle_files
from registry.core.bundle import Bundle
from registry.models import Project, Source
from registry.services.permissions import Actor
from registry.services.sources import source_jobs, sources
from tests.remembered import remembered
from tests.services.receivers import Receiver, answering, receiving

_ROOT = "/.well-known/agent-skills"


@dataclass
class Elsewhere:
    """The other site. `skills` has its skills by name, and `withheld` the names that it lists but does not serve.

    `asked` has the names that were fetched, in order.
    """

    receiver: Receiver
    skills: dict[str, Bundle] = field(default_factory=dict)
    status: int = 200
    withheld: set[str] = field(default_factory=set)

    @property
    def address(self) -> str:
        return self.receiver.url("")

    @property
    def asked(self) -> list[str]:
        paths = [received.path for received in self.receiver.got]
        return [path.rsplit("/", 1)[-1].removesuffix(".zip") for path in paths if path.endswith(".zip")]

    @property
    def offered(self) -> frozenset[tuple[str, str]]:
        return frozenset((name, bundle.digest) for name, bundle in self.skills.items())

    def behave(self, handler: BaseHTTPRequestHandler) -> None:
        if self.status != 200:
            return answering(self.status)(handler)
        if handler.path == f"{_ROOT}/index.json":
            return answering(200, json.dumps({"skills": list(map(self._entry, self.skills))}).encode())(handler)
        name = handler.path.removeprefix(f"{_ROOT}/").removesuffix(".zip")
        if name not in self.skills or name in self.withheld:
            return answering(404)(handler)
        return answering(200, bundle_files.write_zip(self.skills[name]))(handler)

    def _entry(self, name: str) -> dict[str, str]:
        digest = hashlib.sha256(bundle_files.write_zip(self.skills[name])).hexdigest()
        return {
            "name": name, "type": "archive", "description": f"What {name} does.", "url": f"{name}.zip",
            "digest": f"sha256:{digest}",
        }  # fmt: skip


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    with receiving() as receiver:
        site = Elsewhere(receiver)
        receiver.behave = site.behave
        yield site


def checked_source(project: Project, site: Elsewhere, by: Actor) -> Source:
    """Return a source that was added and checked."""
    return _checked_source(project, site.address, site.offered, by)


@remembered
def _checked_source(project: Project, address: str, offered: frozenset[tuple[str, str]], by: Actor) -> Source:
    source = sources.add(project, "well-known", address, label="Elsewhere", by=by)
    source_jobs.run_due()
    source.refresh_from_db()
    return source
