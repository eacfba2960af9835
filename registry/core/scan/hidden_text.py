"""Rules for content that people do not see: invisible characters and comments, and long encoded text in prose."""

import re
from collections.abc import Iterator, Mapping

from registry.core.findings import Category, Finding, Severity, shorten
from registry.core.scan import credentials, invisible
from registry.core.scan.hidden_orders import orders_an_agent
from registry.core.scan.invisible import Hidden, Kind
from registry.core.scan.matches import Match, Rule

_ONLY_HINTS = (Kind.SPACE, Kind.SOFT_HYPHEN, Kind.COMMENT)
_NAMES = {
    Kind.ZERO_WIDTH: "an invisible character",
    Kind.BIDI: "a character that changes the reading direction",
    Kind.TAG: "invisible tag characters",
    Kind.VARIATION: "invisible variation selectors",
    Kind.SPACE: "an unusual space",
    Kind.CONTROL: "a control character",
    Kind.SOFT_HYPHEN: "an invisible hyphen",
    Kind.PADDING: "a long blank gap",
}
_UNREADABLE = re.compile(
    r"(?<![\w+/=-])[\w+/-]{40,}+(?:\r?\n[ \t>]{0,20}[\w+/-]{40,}+)*+(?:\r?\n[ \t>]{0,20}[\w+/-]{1,100}=)?"
    r"|(?:\\x[0-9A-Fa-f]{2}){40,}+",
    re.ASCII,
)
_MOST_HIDDEN = 50_000  # hidden characters of one skill that are told apart by kind
_UNREADABLE_CHARS = 200  # digests and ids in use are shorter
_MOST_COMMENTS = 200  # comments of one file that are searched for orders
_SPACE = re.compile(r"[\s>]+")


def hidden_characters(texts: Mapping[str, str]) -> Iterator[Finding]:
    """Yield one finding per kind and file, at the first occurrence."""
    left = _MOST_HIDDEN
    for path, text in texts.items():
        hidden = invisible.scan(text, comments=path.lower().endswith(".md"), most=left)
        left -= len(hidden)
        if not left:
            message = f"The skill has more than {_MOST_HIDDEN:,} pieces of hidden content. The rest was not checked."
            fix = "Remove the invisible characters and comments."
            yield Finding("text-unread", Severity.WARNING, path, None, message, fix, Category.SECURITY)
        by_kind: dict[Kind, list[Hidden]] = {}
        for each in hidden:
            if not (each.offset == 0 and each.code == "U+FEFF"):  # reported as frontmatter-bom
                by_kind.setdefault(each.kind, []).append(each)
        yield from (_hidden(path, kind, places) for kind, places in by_kind.items())
        if not left:
            return


def _hidden(path: str, kind: Kind, places: list[Hidden]) -> Finding:
    first, count = places[0], len(places)
    hidden_text = next((each.decoded for each in places if each.decoded), "")
    quote = _quoted_end(hidden_text)
    if kind == Kind.COMMENT:
        what = "a comment" if count == 1 else f"{count:,} comments"
        message = f"The text contains {what} that people do not see but agents read{quote}"
    else:
        name = f"{first.code} {first.name}" if first.code else first.name.lower()
        times = f", {count:,} times" if count > 1 else ""
        message = f"The text contains {_NAMES[kind]} ({name}){times}."
        message += f" It hides this text{quote}" if hidden_text else ""
    ordering = kind is Kind.COMMENT and any(orders_an_agent(each.decoded) for each in places[:_MOST_COMMENTS])
    severity = Severity.HINT if kind in _ONLY_HINTS and not ordering else Severity.WARNING
    fix = "Remove it, or write it where people can see it." if hidden_text else "Remove it, or use a normal space."
    return Finding(f"hidden-{kind}", severity, path, first.line, message, fix, Category.SECURITY)


def _quoted_end(text: str) -> str:
    """Return the end of a sentence that quotes the text. A quote that ends like a sentence needs no further period."""
    if not text:
        return "."
    quoted = shorten(text)
    return f": “{quoted}”" if quoted.endswith((".", "!", "?", "…")) else f": “{quoted}”."


def opaque(text: str) -> Iterator[Match]:
    """Yield long encoded text in prose."""
    for match in _UNREADABLE.finditer(text):
        run = _SPACE.sub("", match[0])
        if len(run) >= _UNREADABLE_CHARS and is_encoded(run):
            yield Match(text.count("\n", 0, match.start()) + 1, Rule.OPAQUE, f"{len(run):,}")


def is_encoded(run: str) -> bool:
    """Check for the mix of digits and letters of hex or base64, which words, paths and rules of dashes do not have."""
    fewest = len(run) // 20
    digits, small = sum(map(str.isdigit, run)), sum(map(str.islower, run))
    large = sum(map(str.isupper, run))
    letters = set(run) - set("0123456789")
    if letters <= set("abcdefABCDEFx\\"):
        return min(digits, small + large) > fewest and len(set(run)) >= 8
    return min(digits, small, large) > fewest and len(set(run)) >= 24


def issued_credentials(text: str) -> Iterator[Match]:
    for each in credentials.find(text):
        yield Match(text.count("\n", 0, each.offset) + 1, Rule.CREDENTIAL, f"“{each.start}…” looks like {each.what}.")
