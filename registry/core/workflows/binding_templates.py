"""Templates of bindings: the forms of their references, secrets and addresses.

`capability_bindings.py` checks them when a capability is registered, and `remote/bindings/` fills them for a call.
"""

import re

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

WHOLE_INPUT = "input"
INPUT_PREFIX = f"{WHOLE_INPUT}."

SECRET = re.compile(r"secret:([A-Za-z_][A-Za-z0-9_]*)")
URL_FIELD = re.compile(r"\{([^{}]*)\}")
URL_START = re.compile(r"https?://[^/?#\\@{}\s]+(?=[/?#]|\Z)", re.IGNORECASE)
PROMPT_FIELD = re.compile(r"\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Headers that the HTTP client sets itself.
OUR_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade", "te"}
)


def authority(url: str) -> str:
    """Return the host and the port of an address, empty if it is not one."""
    found = URL_START.match(url)
    return found[0].partition("://")[2].lower() if found else ""


def is_header_name(name: str) -> bool:
    """Return whether a binding may set a header of this name."""
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return plain and name.lower() not in OUR_HEADERS
