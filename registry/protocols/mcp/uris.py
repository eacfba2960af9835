"""URIs such as `skill://name/path`: written percent-encoded, read encoded or not."""

from urllib.parse import quote, unquote

from registry.core.bundle import FileEntry
from registry.services.catalog.catalog import Loaded

SCHEME = "skill://"
INDEX = "skill://index.json"
MANIFEST = "_manifest"


def of(name: str, path: str = "") -> str:
    """Return the URI of a file, or of the skill itself without a path."""
    root = SCHEME + quote(name, safe="")
    return f"{root}/{quote(path)}" if path else root


def split(uri: str) -> tuple[str, str]:
    """Return the name and the path, still encoded. Both are empty for a URI with another scheme."""
    if not uri.startswith(SCHEME):
        return "", ""
    name, _, path = uri[len(SCHEME) :].partition("/")
    return unquote(name), path


def entry(loaded: Loaded, path: str) -> FileEntry | None:
    """Return the file for a path, decoded or as written. Only files of the bundle are found, so `..` is harmless.

    The decoded path takes precedence, because we write URIs encoded: `a%20b.md` is `a b.md`.
    """
    files = {file.path: file for file in loaded.files}
    return files.get(unquote(path)) or files.get(path)


def directory(loaded: Loaded, path: str) -> str | None:
    """Return the prefix of all paths in a directory, such as `references/`; empty for the skill itself."""
    if not path:
        return ""
    for prefix in (f"{unquote(path)}/", f"{path}/"):
        if any(file.path.startswith(prefix) for file in loaded.files):
            return prefix
    return None
