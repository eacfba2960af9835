"""Which site, which project, which token: from arguments, then from the environment."""

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
    environment: Mapping[str, str] = os.environ,
) -> SkillsiteClient:
    """A client for what is set. Arguments come before SKILLSITE_URL, SKILLSITE_PROJECT and the rest."""
    certificates = ca_file or environment.get("SKILLSITE_CA_FILE", "")
    return SkillsiteClient(
        url or _needed(environment, "SKILLSITE_URL", "--url"),
        project or _needed(environment, "SKILLSITE_PROJECT", "--project"),
        _token(token_file, environment),
        cache_dir=cache_dir or environment.get("SKILLSITE_CACHE") or None,
        ca_file=Path(certificates) if certificates else None,
        offline=offline,
    )


def _token(token_file: str, environment: Mapping[str, str]) -> str:
    """A token is no argument of its own: the arguments of a process can be seen by everybody on the machine."""
    path = token_file or environment.get("SKILLSITE_TOKEN_FILE", "")
    if not token_file and environment.get("SKILLSITE_TOKEN"):
        return environment["SKILLSITE_TOKEN"].strip()
    if not path:
        raise Misconfigured("There is no token. Set SKILLSITE_TOKEN, or SKILLSITE_TOKEN_FILE to a file that holds it.")
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"The token cannot be read from {path}: {_reason(error)}.") from error


def _needed(environment: Mapping[str, str], name: str, argument: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise Misconfigured(f"{name} is not set. Set it, or give {argument}.")
    return value


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or "it cannot be opened" if isinstance(error, OSError) else "it is not text"
