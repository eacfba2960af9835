"""Instructions as HTML: Markdown, then an allow-list. Nothing a skill says can run or call home."""

import re
from collections.abc import Callable

import bleach
import markdown
from django.utils.safestring import SafeString, mark_safe

_TAGS = frozenset(
    {
        "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2", "h3",
        "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "s", "small", "span", "strong", "sub",
        "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_SCHEMES = frozenset({"http", "https", "mailto"})

Link = Callable[[str], str | None]


def render(text: str, *, link: Link = lambda _: None) -> SafeString:
    """`link` turns a path inside the bundle into an address of ours, or None where there is no such file."""
    html = markdown.markdown(
        text, extensions=["tables", "fenced_code", "sane_lists", "def_list", "toc"], output_format="html"
    )
    cleaned = bleach.clean(
        html, tags=_TAGS, attributes=_attribute(link), protocols=_SCHEMES, strip=False, strip_comments=True
    )
    return mark_safe(_rewrite(cleaned, link))


def _attribute(link: Link) -> Callable[[str, str, str], bool]:
    def allowed(tag: str, name: str, value: str) -> bool:
        if tag == "a":
            return name in {"href", "title"}
        if tag == "img":
            # An image of another host would tell that host who reads; only files of the bundle are shown.
            return name in {"alt", "title"} or (name == "src" and link(value) is not None)
        if tag == "ol":
            return name == "start" and value.isdecimal()
        return tag in {"h1", "h2", "h3", "h4", "h5", "h6"} and name == "id"

    return allowed


_LINK = re.compile(r'(<a [^>]*?href=")([^"]*)(")|(<img [^>]*?src=")([^"]*)(")')


def _rewrite(html: str, link: Link) -> str:
    """Points relative links at the pages of the bundle's files, and marks those that leave the site."""

    def replaced(match: re.Match[str]) -> str:
        before, target, after = (group for group in match.groups() if group is not None)
        if target.startswith("#") or ":" in target.split("/", 1)[0]:
            external = ' rel="noopener noreferrer nofollow"' if match[1] and not target.startswith("#") else ""
            return f"{before}{target}{after}{external}"
        return f"{before}{link(target) or '#'}{after}"

    return _LINK.sub(replaced, html)
