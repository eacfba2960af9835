"""Skills that a platform names with each request: its own format and ours, mixed in one list, to one kind of value."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.core import paths
from registry.core.errors import InvalidRequest, SkillsiteError
from registry.core.resolve.urls import parts, plain

INLINE = "inline"
UNVERSIONED = "0"  # what a definition without a version is kept under

_FORMATS = ("SkillMd", "Package", "S3")
# No other spelling names a bucket: an ARN or an alias could be another door to one that is closed.
_BUCKET = re.compile(r"(?!.*(?:-s3alias|--ol-s3|\.mrap)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_INACTIVE, _ACTIVE = ("false", "0", "no", "off"), ("true", "1", "yes", "on")
_MOST_DIGITS = 10**18
_SHOWN_CHARS = 40
_URL_CHARS = 8_192  # a signed one is long


@dataclass(frozen=True, slots=True)
class Definition:
    """One skill and where it is: `content` is the text itself, else it is under `s3_path`, else at `url`."""

    name: str
    version: str
    url: str = ""
    content: str | None = None
    s3_path: str | None = None


@dataclass(frozen=True, slots=True)
class Malformed:
    """An entry that names nothing that could be loaded: what it calls itself, and what is wrong, in a sentence."""

    name: str
    version: str
    reason: str


Entry = Definition | Malformed


class _Unusable(Exception):
    """Why an entry cannot be used; it costs no other entry anything."""


def parse(given: object) -> tuple[Entry, ...]:
    """The entries of a list, of `{"skills": […]}` or of a whole chat request, in order, without the inactive ones."""
    return tuple(entry for one in _listed(given) if (entry := _entry(one)) is not None)


def origin(definition: Definition) -> str:
    """Where it comes from, as it is written beside a copy and shown: never the part that is a credential."""
    if definition.content is not None:
        return INLINE
    return definition.s3_path.rstrip("/") if definition.s3_path else redacted(definition.url)


def redacted(url: str) -> str:
    """Scheme, host and path. A query may be a signature, and so may what stands before an @."""
    return plain(url)


def _listed(given: object) -> Sequence[object]:
    found = given
    if isinstance(given, Mapping):
        found = given.get("skills")
        if "messages" in given:
            context = _context(given["messages"])
            found = context.get("skills") if "skills" in context else found
        elif "skills" not in given:
            raise InvalidRequest('Send {"skills": […]}, or a chat request with “messages”.')
        found = [] if found is None else found
    if isinstance(found, str | bytes) or not isinstance(found, Sequence):
        raise InvalidRequest("“skills” is not a list. Send a list of definitions.")
    return found


def _context(messages: object) -> Mapping[str, object]:
    """That of the last user message which has one that is not empty."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        raise InvalidRequest("“messages” is not a list.")
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role") == "user":
            context = message.get("platform_context")
            if isinstance(context, Mapping) and context:
                return context
    return {}


def _entry(given: object) -> Entry | None:
    """None where it is switched off."""
    if isinstance(given, Definition | Malformed):
        return given
    if not isinstance(given, Mapping):
        return Malformed("", "", "This entry is not an object with a name and a place to load it from.")
    platform = "Format" in given
    name, version = ("Name", "Version") if platform else ("name", "version")
    try:
        if not _is_active(given):
            return None
        named = paths.check_component(_name(given, name), what="name")
        known = paths.check_component(_version(given, version), what="version")
        return _platform(given, named, known) if platform else _internal(given, named, known)
    except (_Unusable, SkillsiteError) as error:
        return Malformed(_as_given(given.get(name), ""), _as_given(given.get(version), UNVERSIONED), str(error))


def _internal(given: Mapping[str, object], name: str, version: str) -> Definition:
    content, s3_path, url = (_text(given, key) for key in ("content", "s3_path", "url"))
    if content.strip():
        return Definition(name, version, url, _encodable(content))
    if s3_path:
        return Definition(name, version, url, None, _s3(s3_path))
    if url:
        return Definition(name, version, _web(url))
    raise _Unusable("It says nowhere to load it from. Give “url”, “s3_path” or “content”.")


def _platform(given: Mapping[str, object], name: str, version: str) -> Definition:
    form = given["Format"]
    if form == "SkillMd":
        return Definition(name, version, "", _encodable(_needed(given, "SkillMd")))
    if form == "S3":
        return Definition(name, version, "", None, _s3(_needed(given, "S3Path")))
    if form == "Package" and _text(given, "PackagePath") == "s3":
        return Definition(name, version, "", None, _folder(given))
    if form == "Package":
        return Definition(name, version, _web(_needed(given, "FileStoreSignedUrl")))
    raise _Unusable(f"There is no format {_shown(form)}. There are: {', '.join(_FORMATS)}.")


def _folder(given: Mapping[str, object]) -> str:
    bucket, folder = _needed(given, "StorageBucketName"), _needed(given, "SkillFolder").strip("/")
    if "/" in bucket or not folder:
        raise _Unusable("StorageBucketName is the name of a bucket, and SkillFolder a folder in it.")
    return _s3(f"s3://{bucket}/{folder}")


def _is_active(given: Mapping[str, object]) -> bool:
    """Missing means yes. Words count as well, since a platform that writes "false" means it."""
    said = given.get("IsActive")
    word = str(said).strip().lower() if isinstance(said, bool | int | str) else said
    if word is None or word in _ACTIVE:
        return True
    if word in _INACTIVE:
        return False
    raise _Unusable(f"IsActive is true or false; not {_shown(said)}.")


def _name(given: Mapping[str, object], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _Unusable(f"{key} is missing or empty.")
    return value


def _version(given: Mapping[str, object], key: str) -> str:
    """An exact text. A number is taken as it is written; a fraction is not, since 1.10 would become 1.1."""
    value = given.get(key)
    if value is None:
        return UNVERSIONED
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST_DIGITS:
        return str(value)
    if not isinstance(value, str):
        raise _Unusable(f"{key} is a text or a whole number; not {_shown(value)}.")
    return value


def _text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Unusable(f"{key} is not a text.")
    return value


def _needed(given: Mapping[str, object], key: str) -> str:
    value = _text(given, key)
    if not value.strip():
        raise _Unusable(f"{key} is missing or empty.")
    return value


def _encodable(content: str) -> str:
    try:
        content.encode()
    except UnicodeEncodeError:
        raise _Unusable("The content has half a character, which no text can hold.") from None
    return content


def _web(url: str) -> str:
    if len(url) > _URL_CHARS:
        raise _Unusable(f"The address has {len(url):,} characters. {_URL_CHARS:,} are allowed.")
    found = parts(url)
    if found is None or found.scheme not in ("http", "https") or not found.host:
        raise _Unusable("The address cannot be used. Write it whole, with https:// at its start.")
    if found.has_user:
        raise _Unusable("The address holds a user name or a password. Leave them out.")
    return url.strip()


def _s3(path: str) -> str:
    bucket, _, folder = path.strip().removeprefix("s3://").partition("/")
    if not path.strip().startswith("s3://") or not _BUCKET.fullmatch(bucket):
        raise _Unusable("The S3 path cannot be used. Write s3://bucket/folder.")
    if len(folder) > _URL_CHARS or not folder.isprintable():
        raise _Unusable("The S3 path is too long or has characters that cannot be seen.")
    return f"s3://{bucket}/{folder.strip('/')}"


def _as_given(value: object, missing: str) -> str:
    """What an entry says about itself, for the answer."""
    if value is None:
        return missing
    return value if isinstance(value, str) else _shown(value)


def _shown(value: object) -> str:
    if isinstance(value, int) and abs(value) >= _MOST_DIGITS:
        return "a number that is too long"
    return repr(value)[:_SHOWN_CHARS] if isinstance(value, bool | int | float | str) else f"a {type(value).__name__}"
