"""Settings from environment variables. Each NAME can also be set as NAME_FILE, the path of a file with the value."""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Collection
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OUR_SECRETS = {"SECRET_KEY", "AUDIT_KEY", "DATABASE_URL", "REDIS_URL", "EMAIL_HOST_PASSWORD"}


def text(name: str, default: str = "") -> str:
    file = os.environ.get(f"{name}_FILE")
    if file is None:
        return os.environ.get(name, default).strip()
    if name in os.environ:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Unset one of them.")
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"Cannot read {file}, the value of {name}_FILE: {error}.") from error


def boolean(name: str, default: bool) -> bool:
    value = text(name).lower()
    if not value:
        return default
    if value in _TRUE | _FALSE:
        return value in _TRUE
    raise ImproperlyConfigured(f"{name} is {value!r}. It must be 1 or 0.")


def integer(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
    value = text(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {value!r}. It must be a whole number.") from None
    if number < least:
        raise ImproperlyConfigured(f"{name} is {number}. It must be {least} or more.")
    if most is not None and number > most:
        raise ImproperlyConfigured(f"{name} is {number}. It must be {most} or less.")
    return number


def choice(name: str, default: str, choices: Collection[str]) -> str:
    """Return one of the choices, which are in upper case. The case of the variable does not matter."""
    value = (text(name) or default).upper()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}. It must be one of {', '.join(choices)}.")
    return value


def items(name: str, default: str = "", *, separator: str = ",") -> list[str]:
    return [item.strip() for item in text(name, default).split(separator) if item.strip()]


def secrets_of_operators(name: str) -> dict[str, str]:
    """Return the values of the variables that a variable lists. The value of one that is not set is empty."""
    listed = items(name)
    for variable in listed:
        if not _VARIABLE.fullmatch(variable):
            raise ImproperlyConfigured(
                f"{name} lists {variable!r}. It must list names of variables, such as API_TOKEN."
            )
        if variable in _OUR_SECRETS:
            raise ImproperlyConfigured(f"{name} lists {variable}, which is a secret of the site. Remove it.")
    return {variable: text(variable) for variable in listed}


def private_directory(name: str, default: Path) -> Path:
    """Return a directory that only this user can access. Create it if it is missing."""
    path = Path(text(name) or default).resolve()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise ImproperlyConfigured(f"Cannot use {path}, the value of {name}: {error}.") from error
    return path


def private_file(path: Path) -> Path:
    """Make a file accessible only to this user, and create it if it is missing.

    SQLite gives the files that it creates beside a database the same mode.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise ImproperlyConfigured(f"Cannot use {path}: {error.strerror}.") from error
    return path


def kept_secret(path: Path) -> str:
    """Return the secret in a file. Create it if it is missing; processes that start at once agree on one secret."""
    fresh = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    if not path.exists():
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(64))
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text(encoding="utf-8").strip()


def derived_secret(secret: str, purpose: str) -> str:
    """Return a secret for one purpose, from which the given one cannot be computed."""
    return hmac.new(secret.encode(), f"skillsite {purpose}".encode(), hashlib.sha256).hexdigest()
