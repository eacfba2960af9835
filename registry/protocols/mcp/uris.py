"""`skill://name/path`: written with every unusual character encoded, read in either form."""

from urllib.parse import quote, unquote

from registry.core.bundle import FileEntry
from registry.services.catalog.catalog import Loaded

SCHEME = "skill://"
INDEX = "skill://index.json"
MANIFEST = "_manifest"


def of(name: str, path: str = "") -> str:
    """The address of a file, or of the directory of the skill itself."""
    root = SCHEME + quote(name, safe="")
    return f"{root}/{quote(path)}" if path else root


def split(uri: str) -> tuple[str, str]:
    """Name and path, the path as it was written; two empty texts for what is no address of ours."""
    if not uri.startswith(SCHEME):
        return "", ""
    name, _, path = uri[len(SCHEME) :].partition("/")
    return unquote(name), path


def entry(loaded: Loaded, path: str) -> FileEntry | None:
    """The file that a path names, decoded or as it stands. Only what the bundle lists is found, wherever `..` leads.

    Decoded first, as addresses are given out: `a%20b.md` is `a b.md`, also where another file has the `%` in its name.
    """
    files = {one.path: one for one in loaded.files}
    return files.get(unquote(path)) or files.get(path)


def directory(loaded: Loaded, path: str) -> str | None:
    """The start that all paths in a directory share: empty for the skill itself, `references/` for one below it."""
    if not path:
        return ""
    for start in (f"{unquote(path)}/", f"{path}/"):
        if any(one.path.startswith(start) for one in loaded.files):
            return start
    return None
