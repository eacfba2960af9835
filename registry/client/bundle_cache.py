"""Whole skills kept on this machine as `{root}/skills/{name}/{version}/`, so that none is transferred twice.

Beside each copy stands `.{version}.json` with where it came from and its digest. A copy serves only its own origin, and
only as long as its files still are what the digest says: whatever else is found there is fetched again.
"""

import json
import logging
import shutil
from pathlib import Path

from registry.client.atomic_swap import put_in_place
from registry.client.files import read_tree, write_tree
from registry.core import paths
from registry.core.bundle import Bundle
from registry.core.errors import SkillsiteError, UnsafePath
from registry.lib import files

log = logging.getLogger(__name__)


class Copies:
    def __init__(self, root: Path, *, origin: str) -> None:
        self._root = root / "skills"
        self._origin = origin

    def get(self, name: str, version: str, digest: str) -> Bundle | None:
        try:
            directory, record = self._places(name, version)
            said = json.loads(record.read_bytes())
        except (OSError, ValueError, UnsafePath):
            return None
        if said != {"digest": digest, "origin": self._origin}:
            return None
        try:
            bundle = Bundle(read_tree(directory) or {})
        except SkillsiteError:
            return None
        return bundle if bundle.digest == digest else None

    def put(self, name: str, version: str, bundle: Bundle) -> Path:
        """The directory of the copy, which may be read for as long as nobody puts another one there."""
        directory, record = self._places(name, version)
        files.make_directories(directory.parent)
        fresh = files.sibling(directory, files.TEMPORARY_PREFIX)
        said = json.dumps({"digest": bundle.digest, "origin": self._origin}, sort_keys=True).encode()
        try:
            # Not flushed to disk: a copy is checked against its digest before each use.
            write_tree(fresh, bundle, private=True, durable=False)
            put_in_place(fresh, directory)
            files.write_atomically(record, said, mode=files.PRIVATE_FILE, durable=False)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return directory

    def try_put(self, name: str, version: str, bundle: Bundle) -> None:
        """For when a copy would only save time: a full disk or a strange version stops nobody from using a skill."""
        try:
            self.put(name, version, bundle)
        except (OSError, UnsafePath) as error:
            log.warning("No copy of %s %s is kept in %s: %s", name, version, self._root, error)

    def path(self, name: str, version: str) -> Path:
        return self._places(name, version)[0]

    def _places(self, name: str, version: str) -> tuple[Path, Path]:
        parent = self._root / paths.check_component(name, what="name")
        safe = paths.check_component(version, what="version")
        return parent / safe, parent / f".{safe}.json"
