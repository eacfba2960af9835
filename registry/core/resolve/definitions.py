"""Parse skill definitions from requests, in the format of the platform or in our own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.core import paths
from registry.core.errors import InvalidRequest, SkillsiteError
from registry.core.resolve.urls import identity, parts, plain

INLINE = "inline"
UNVERSIONED = "0"  # version of a definition without one

_FORMATS = ("SkillMd", "Package", "S3")
# Plain bucket names only: an ARN or an alias could be another way to a closed bucket.
_BUCKET = re.compile(r"(?!.*(?:-s3alias|--ol-s3|\.mrap)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_INACTIVE, _ACTIVE = ("false", "0", "no", "off"), ("true", "1", "yes", "on")
_MOST_DIGITS = 10**18
_SHOWN_CHARS = 40
_URL_CHARS = 8_192  # signed URLs are long


@dataclass(frozen=True, slots=True)
class Definition:
    """One skill to resolve: from `content`, else from `s3_path`, else from `url`."""

    name: str
    version: str
    url: str = ""
    content: str | None = None
    s3_path: str | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """An invalid entry. `reason` is a sentence."""

    name: str
    version: str
    reason: str


Entry = Definition | Malformed


class _Unusable(Exception):
    """An entry cannot be used. The message is a sentence."""


def parse(raw: object, *, most: int | None = None) -> tuple[Entry, ...]:
    """Return the active entries of a list, of `{"skills": […]}` or of a chat request, in order.

    Raise InvalidRequest as soon as there are more than `most`, before the others are parsed.
    """
    entries: list[Entry] = []
    for one in _definitions_of(raw):
        entry = _parse_entry(one)
        if entry is None:
            continue
        entries.append(entry)
        if most is not None and len(entries) > most:
            raise InvalidRequest(
                f"The request has more than {most:,} active definitions. {most:,} are allowed. Send several requests.",
                allowed=most,
            )
    return tuple(entries)


def origin(definition: Definition) -> str:
    """Return the origin of a skill for records and messages, without credentials.

    Two definitions with the same origin are the same skill. See `urls.identity` for the query of a URL.
    """
    if definition.content is not None:
        return INLINE
    return definition.s3_path.rstrip("/") if definition.s3_path else identity(definition.url)


def redacted(url: str) -> str:
    """Return scheme, host and path. The query and the user part may be credentials."""
    return plain(url)


def _definitions_of(raw: object) -> Sequence[object]:
    value = raw
    if isinstance(raw, Mapping):
        value = raw.get("skills")
        if "messages" in raw:
            context = _context(raw["messages"])
            value = context.get("skills") if "skills" in context else value
        elif "skills" not in raw:
            raise InvalidRequest('Send {"skills": […]}, or a chat request with “messages”.')
        value = [] if value is None else value
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InvalidRequest("“skills” is not a list. Send a list of definitions.")
    return value


def _context(messages: object) -> Mapping[str, object]:
    """Return the last platform context of a user message that is not empty."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        raise InvalidRequest("“messages” is not a list.")
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role") == "user":
            context = message.get("platform_context")
            if isinstance(context, Mapping) and context:
                return context
    return {}


def _parse_entry(raw: object) -> Entry | None:
    """Parse one entry. Return None if it is inactive."""
    if isinstance(raw, Definition | Malformed):
        return raw
    if not isinstance(raw, Mapping):
        return Malformed("", "", "This entry is not an object with a name and a location.")
    platform = "Format" in raw
    name, version = ("Name", "Version") if platform else ("name", "version")
    try:
        if not _is_active(raw):
            return None
        named = paths.check_component(_name(raw, name), what="name")
        known = paths.check_component(_version(raw, version), what="version")
        return _platform(raw, named, known) if platform else _internal(raw, named, known)
    except (_Unusable, SkillsiteError) as error:
        return Malformed(_label(raw.get(name), ""), _label(raw.get(version), UNVERSIONED), str(error))


def _internal(raw: Mapping[str, object], name: str, version: str) -> Definition:
    content, s3_path, url = (_text(raw, key) for key in ("content", "s3_path", "url"))
    if content.strip():
        return Definition(name, version, url, _encodable(content))
    if s3_path:
        return Definition(name, version, url, None, _s3(s3_path))
    if url:
        return Definition(name, version, _web(url))
    raise _Unusable("The location is missing. Send “url”, “s3_path” or “content”.")


def _platform(raw: Mapping[str, object], name: str, version: str) -> Definition:
    form = raw["Format"]
    if form == "SkillMd":
        return Definition(name, version, "", _encodable(_required(raw, "SkillMd")))
    if form == "S3":
        return Definition(name, version, "", None, _s3(_required(raw, "S3Path")))
    if form == "Package" and _text(raw, "PackagePath") == "s3":
        return Definition(name, version, "", None, _folder(raw))
    if form == "Package":
        return Definition(name, version, _web(_required(raw, "FileStoreSignedUrl")))
    raise _Unusable(f"Unknown format {_display(form)}. Use one of: {', '.join(_FORMATS)}.")


def _folder(raw: Mapping[str, object]) -> str:
    bucket, folder = _required(raw, "StorageBucketName"), _required(raw, "SkillFolder").strip("/")
    if "/" in bucket or not folder:
        raise _Unusable("StorageBucketName must be the name of a bucket, and SkillFolder a folder in it.")
    return _s3(f"s3://{bucket}/{folder}")


def _is_active(raw: Mapping[str, object]) -> bool:
    """Return whether the entry is active. Missing means yes. Strings such as "false" count too."""
    value = raw.get("IsActive")
    word = str(value).strip().lower() if isinstance(value, bool | int | str) else value
    if word is None or word in _ACTIVE:
        return True
    if word in _INACTIVE:
        return False
    raise _Unusable(f"IsActive must be true or false, not {_display(value)}.")


def _name(raw: Mapping[str, object], key: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _Unusable(f"{key} is missing or empty.")
    return value


def _version(raw: Mapping[str, object], key: str) -> str:
    """Return the exact version. Integers are accepted; floats are not, because 1.10 would become 1.1."""
    value = raw.get(key)
    if value is None:
        return UNVERSIONED
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST_DIGITS:
        return str(value)
    if not isinstance(value, str):
        raise _Unusable(f"{key} must be a string or an integer, not {_display(value)}.")
    return value


def _text(raw: Mapping[str, object], key: str) -> str:
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Unusable(f"{key} is not a string.")
    return value


def _required(raw: Mapping[str, object], key: str) -> str:
    value = _text(raw, key)
    if not value.strip():
        raise _Unusable(f"{key} is missing or empty.")
    return value


def _encodable(content: str) -> str:
    try:
        content.encode()
    except UnicodeEncodeError:
        raise _Unusable("The content is not valid Unicode.") from None
    return content


def _web(url: str) -> str:
    if len(url) > _URL_CHARS:
        raise _Unusable(f"The address has {len(url):,} characters. {_URL_CHARS:,} are allowed.")
    value = parts(url)
    if value is None or value.scheme not in ("http", "https") or not value.host:
        raise _Unusable("The address is invalid. Enter the whole address, including https://.")
    if value.has_user:
        raise _Unusable("The address contains a username or password. Remove them.")
    return url.strip()


def _s3(path: str) -> str:
    bucket, _, folder = path.strip().removeprefix("s3://").partition("/")
    if not path.strip().startswith("s3://") or not _BUCKET.fullmatch(bucket):
        raise _Unusable("The S3 path is invalid. Use s3://bucket/folder.")
    if len(folder) > _URL_CHARS or not folder.isprintable():
        raise _Unusable("The S3 path is too long or has invisible characters.")
    return f"s3://{bucket}/{folder.strip('/')}"


def _label(value: object, missing: str) -> str:
    """Return a name or version of an invalid entry, for the response."""
    if value is None:
        return missing
    return value if isinstance(value, str) else _display(value)


def _display(value: object) -> str:
    if isinstance(value, int) and abs(value) >= _MOST_DIGITS:
        return "a number that is too long"
    return repr(value)[:_SHOWN_CHARS] if isinstance(value, bool | int | float | str) else f"a {type(value).__name__}"
