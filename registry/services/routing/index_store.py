"""The analysed skills of this node, kept on disk so that a process that starts need not analyse them again.

The file is derived: it can be deleted at any time. An analysis is stored under the digest and the name of its skill and
the version of the code and of the encoder that made it, so it never changes.
"""

from collections.abc import Iterable, Mapping

from registry.core.routing.analysis import Analysed, Damaged
from registry.lib.derived_store import DerivedStore, key_of
from registry.lib.lru import MEBIBYTE
from registry.services.files import node_files

Key = tuple[str, str]  # digest and name

_MOST_BYTES = 2_048 * MEBIBYTE


def load(keys: Iterable[Key], version: str) -> dict[Key, Analysed]:
    """Return the stored analyses of this version. Damaged ones are left out."""
    hashed = {key_of(version, *key): key for key in keys}
    found: dict[Key, Analysed] = {}
    for stored_key, content in _store().get(hashed).items():
        try:
            found[hashed[stored_key]] = Analysed.from_bytes(content)
        except Damaged:
            continue
    return found


def save(analysed: Mapping[Key, Analysed], version: str) -> None:
    _store().put({key_of(version, *key): skill.to_bytes() for key, skill in analysed.items()})


def sweep() -> int:
    """Delete what was not read for a month. Return the number of analyses."""
    return node_files.sweep("routing", "index", most_bytes=_MOST_BYTES)


def _store() -> DerivedStore:
    return node_files.store("routing", "index", most_bytes=_MOST_BYTES)
