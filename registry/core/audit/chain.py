"""The hash chain of the audit log, and the seals that only a holder of the key can make.

Anybody can recompute the hashes, so an export can be verified without the site. A seal is an HMAC with a key that is
not in the database, so a person who can only write to the database cannot make one.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Sequence

SITE = "site"
GENESIS = "0" * 64
# Events with these verbs do not raise the revision of their project, because no answer to an agent depends on them.
QUIET = ("run.", "question.")
_SEAL = re.compile(r"[0-9a-f]{64}")


def chain_name(project_id: int | None) -> str:
    return SITE if project_id is None else f"project-{project_id}"


def event_hash(content: Sequence[object]) -> str:
    """Return the hash of an event. `content` starts with the hash of the event before it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def event_seal(key: str, chain: str, sequence: int, digest: str) -> str:
    """Return the seal of an event at its place in its chain."""
    return _seal(key, "event", chain, sequence, digest)


def head_seal(key: str, chain: str, length: int, digest: str) -> str:
    """Return the seal of the end of a chain. It differs from the seal of the last event, so a cut chain has none."""
    return _seal(key, "head", chain, length, digest)


def is_seal(seal: str, expected: str) -> bool:
    return hmac.compare_digest(seal.encode(), expected.encode())


def is_well_formed(seal: str) -> bool:
    """Return whether some key could have made this seal. The site never writes another one."""
    return _SEAL.fullmatch(seal) is not None


def _seal(key: str, what: str, chain: str, number: int, digest: str) -> str:
    message = f"skillsite audit {what}\n{chain}\n{number}\n{digest}".encode()
    return hmac.digest(key.encode(), message, "sha256").hex()
