"""Markdown to safe HTML, through an allow-list. A skill cannot run code, load from other hosts or imitate our page.

HTML in the text, comments included, is shown as text: agents read it as text, and escaped HTML cannot do harm.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import unquote, urlsplit

import markdown
from bleach.html5lib_shim import Filter  # type: ignore[attr-defined]
from bleach.sanitizer import Cleaner
from django.utils.safestring import SafeString, mark_safe
from markdown.extensions.tables import TableExtension
from markdown.extensions.toc import TocExtension, slugify_unicode

from registry.web.render import markdown_effort
from registry.web.render.markdown_lists import CommonLists

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TAGS = frozenset(
    {
        *_HEADINGS, "a", "blockquote", "br", "code", "dd", "dl", "dt", "em", "hr", "img", "li", "ol", "p", "pre",
        "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_SCHEMES = frozenset({"http", "https", "mailto"})
_ELSEWHERE = "noopener noreferrer nofollow"
# No id of our pages starts like this, so the id of a heading cannot collide with one.
_PREFIX = "text-"
_ID = re.compile(r"[\w.-]{1,200}")
# Characters that browsers ignore before the scheme of an address.
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029]+")

Link = Callable[[str], str | None]
_Token = dict[str, Any]
_Attributes = dict[tuple[str | None, str], str]


def _nowhere(_: str) -> str | None:
    return None


def render(text: str, *, link: Link = _nowhere, image: Link | None = None, base: str = "") -> SafeString:
    """Render Markdown. `link` maps a path in the bundle to the address of its page, `image` to that of its bytes.

    Both return None for a missing file. `base` is the path of the file that contains the text.
    """
    try:
        markdown_effort.check(text)
        html = _parser().convert(text)
        return mark_safe(_cleaner(_Links(link, image or link, posixpath.dirname(base))).clean(html))
    except (RecursionError, markdown_effort.TooSlow):
        return _plain(text)


def _plain(text: str) -> SafeString:
    """Return the text unrendered, if it is too long, or nested or marked up too much."""
    note = '<p class="not-shown">This text is too long or too deeply nested to render, so it is shown as it is.</p>'
    return mark_safe(f'{note}<pre tabindex="0">{escape(text)}</pre>')


def _parser() -> markdown.Markdown:
    parser = markdown.Markdown(
        extensions=[
            TableExtension(use_align_attribute=True),
            TocExtension(slugify=_unique_slugs(), toc_depth="1-1"),
            CommonLists(),
            markdown_effort.BoundedInline(),
            "def_list",
        ],
        output_format="html",
    )
    parser.preprocessors.deregister("html_block")
    parser.inlinePatterns.deregister("html")
    return parser


def _unique_slugs() -> Callable[[str, str], str]:
    """Return a function for unique ids. The extension would try one number after the other, in quadratic time."""
    seen: Counter[str] = Counter()

    def slug(value: str, separator: str) -> str:
        plain = slugify_unicode(value, separator)[:80] or "part"
        seen[plain] += 1
        return plain if seen[plain] == 1 else f"{plain}{separator}{separator}{seen[plain]}"

    return slug


def _cleaner(links: "_Links") -> Cleaner:
    def own(source: Any) -> Filter:
        return _PageFilter(source, links)

    return Cleaner(tags=_TAGS, attributes=_allowed, protocols=_SCHEMES, strip=False, strip_comments=True, filters=[own])


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "a":
        return name in {"href", "title"}
    if tag == "img":
        return name in {"src", "alt", "title"}
    if tag in {"th", "td"}:
        return name == "align" and value in {"left", "center", "right"}
    if tag == "ol":
        return name == "start" and value.isdecimal() and len(value) < 6
    return tag in _HEADINGS and name == "id" and bool(_ID.fullmatch(value))


class _Links:
    """Resolves addresses in the text: to other sites, into the bundle, or to nothing."""

    def __init__(self, link: Link, image: Link, directory: str) -> None:
        self.link = link
        self.image = image
        self.directory = directory

    def address(self, written: str) -> tuple[str, bool] | None:
        """Return the address, and whether it leaves the site."""
        value = _IGNORED.sub("", written)
        if value.startswith("#"):
            return f"#{_PREFIX}{value[1:]}", False
        try:
            parts = urlsplit(value)
        except ValueError:
            return None
        if parts.scheme.lower() in _SCHEMES:
            return value, True
        inside = self._inside(written)
        target = self.link(inside) if inside else None
        if target is None:
            return None
        return (f"{target}#{_PREFIX}{parts.fragment}" if parts.fragment else target), False

    def picture(self, written: str) -> str | None:
        inside = self._inside(written)
        return self.image(inside) if inside else None

    def _inside(self, written: str) -> str | None:
        """Return the path in the bundle for a relative address."""
        try:
            parts = urlsplit(written.strip())
        except ValueError:
            return None
        if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
            return None
        return posixpath.normpath(posixpath.join(self.directory, unquote(parts.path)))


class _PageFilter(Filter):  # type: ignore[misc]
    """Runs after the allow-list: resolves addresses, lowers headings below the page title, makes tables scrollable."""

    def __init__(self, source: Any, links: _Links) -> None:
        super().__init__(source)
        self._links = links

    def __iter__(self) -> Iterator[_Token]:
        for token in super().__iter__():
            kind, name = token["type"], token.get("name", "")
            if kind not in {"StartTag", "EndTag", "EmptyTag"}:
                yield token
                continue
            if name == "img":
                yield from self._image(token["data"])
            elif name == "table":
                yield from _wrap(token, opens=kind == "StartTag")
            else:
                yield self._changed(token, opens=kind == "StartTag")

    def _changed(self, token: _Token, *, opens: bool) -> _Token:
        name = token["name"]
        if name in _HEADINGS:
            # The page title is the only h1.
            token["name"] = f"h{min(6, int(name[1]) + 1)}"
        if opens:
            token["data"] = self._attributes(name, token["data"])
        return token

    def _attributes(self, name: str, source: Mapping[tuple[str | None, str], str]) -> _Attributes:
        attributes = dict(source)
        if name in _HEADINGS and (None, "id") in attributes:
            attributes[(None, "id")] = _PREFIX + attributes[(None, "id")]
        elif name == "pre":
            attributes[(None, "tabindex")] = "0"
        elif name == "a":
            target = self._links.address(attributes.pop((None, "href"), ""))
            if target:
                attributes[(None, "href")] = target[0]
                if target[1]:
                    attributes[(None, "rel")] = _ELSEWHERE
        return attributes

    def _image(self, source: Mapping[tuple[str | None, str], str]) -> Iterator[_Token]:
        """Show images of the bundle only: loading one from another host would tell that host who reads the page."""
        alt = source.get((None, "alt"), "")
        address = self._links.picture(source.get((None, "src"), ""))
        if address is not None:
            attributes = {(None, "src"): address, (None, "alt"): alt, (None, "loading"): "lazy"}
            yield {"type": "EmptyTag", "namespace": None, "name": "img", "data": attributes}
            return
        yield _start("span", {"class": "not-shown"})
        yield {"type": "Characters", "data": f"Image not shown: {alt}" if alt else "Image not shown"}
        yield _end("span")


def _wrap(token: _Token, *, opens: bool) -> Iterator[_Token]:
    if opens:
        yield _start("div", {"class": "table-wrap", "tabindex": "0", "role": "group", "aria-label": "Table"})
        yield token
    else:
        yield token
        yield _end("div")


def _start(name: str, attributes: Mapping[str, str]) -> _Token:
    data = {(None, key): value for key, value in attributes.items()}
    return {"type": "StartTag", "namespace": None, "name": name, "data": data}


def _end(name: str) -> _Token:
    return {"type": "EndTag", "namespace": None, "name": name, "data": {}}
