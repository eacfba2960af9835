"""A cache of whole skills in `{root}/skills/{name}/{version}/`.

The file `.{version}.json` beside each copy has its origin and digest. A copy is used only for the same origin and only
if its files still match the digest. Otherwise the skill is downloaded again.
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


class BundleCache:
    def __init__(self, root: Path, *, origin: str) -> None:
        self._root = root / "skills"
        self._origin = origin

    def get(self, name: str, version: str, digest: str) -> Bundle | None:
        try:
            directory, record = self._paths(name, version)
            metadata = json.loads(record.read_bytes())
        except (OSError, ValueError, UnsafePath):
            return None
        if metadata != {"digest": digest, "origin": self._origin}:
            return None
        try:
            bundle = Bundle(read_tree(directory) or {})
        except SkillsiteError:
            return None
        return bundle if bundle.digest == digest else None

    def put(self, name: str, version: str, bundle: Bundle) -> Path:
        """Store a copy and return its directory."""
        directory, record = self._paths(name, version)
        files.make_directories(directory.parent)
        fresh = files.sibling(directory, files.TEMPORARY_PREFIX)
        metadata = json.dumps({"digest": bundle.digest, "origin": self._origin}, sort_keys=True).encode()
        try:
            # Not flushed to disk: a copy is checked against its digest before each use.
            write_tree(fresh, bundle, private=True, durable=False)
            put_in_place(fresh, directory)
            files.write_atomically(record, metadata, mode=files.PRIVATE_FILE, durable=False)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return directory

    def try_put(self, name: str, version: str, bundle: Bundle) -> None:
        """Store a copy, or log why it failed. The caller already has the bundle."""
        try:
            self.put(name, version, bundle)
        except (OSError, UnsafePath) as error:
            log.warning("Could not cache %s %s in %s: %s", name, version, self._root, error)

    def path(self, name: str, version: str) -> Path:
        return self._paths(name, version)[0]

    def _paths(self, name: str, version: str) -> tuple[Path, Path]:
        parent = self._root / paths.check_component(name, what="name")
        safe = paths.check_component(version, what="version")
        return parent / safe, parent / f".{safe}.json"
