"""Settings of the client, from arguments and environment variables."""

import os
from collections.abc import Mapping
from pathlib import Path

from registry.client.client import SkillsiteClient
from registry.client.errors import Misconfigured


def connect(
    *,
    url: str = "",
    project: str = "",
    token_file: str = "",
    cache_dir: str = "",
    ca_file: str = "",
    offline: bool = False,
    allow_http: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> SkillsiteClient:
    """Return a client. Arguments take precedence over SKILLSITE_URL, SKILLSITE_PROJECT and the others."""
    certificates = ca_file or environment.get("SKILLSITE_CA_FILE", "")
    return SkillsiteClient(
        url or _required(environment, "SKILLSITE_URL", "--url"),
        project or _required(environment, "SKILLSITE_PROJECT", "--project"),
        _token(token_file, environment),
        cache_dir=cache_dir or environment.get("SKILLSITE_CACHE") or None,
        ca_file=Path(certificates) if certificates else None,
        offline=offline,
        allow_http=allow_http or _is_set(environment.get("SKILLSITE_ALLOW_HTTP", "")),
    )


def _token(token_file: str, environment: Mapping[str, str]) -> str:
    """Read the token. It is never an argument, because other users of the machine can see those."""
    path = token_file or environment.get("SKILLSITE_TOKEN_FILE", "")
    if not token_file and environment.get("SKILLSITE_TOKEN"):
        return environment["SKILLSITE_TOKEN"].strip()
    if not path:
        raise Misconfigured("No token is set. Set SKILLSITE_TOKEN, or SKILLSITE_TOKEN_FILE to a file that contains it.")
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"Could not read the token from {path}: {_reason(error)}.") from error


def _is_set(value: str) -> bool:
    if value.strip().lower() in ("", "0", "false", "no", "off"):
        return False
    if value.strip().lower() in ("1", "true", "yes", "on"):
        return True
    raise Misconfigured(f"SKILLSITE_ALLOW_HTTP is {value[:20]!r}. Set it to 1 or 0.")


def _required(environment: Mapping[str, str], name: str, argument: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise Misconfigured(f"{name} is not set. Set it, or pass {argument}.")
    return value


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or "it cannot be opened" if isinstance(error, OSError) else "it is not text"
