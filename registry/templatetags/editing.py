"""What the pages of the editor and of uploads draw from a comparison."""

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from registry.core import diff
from registry.core.diff import Block

register = template.Library()


@register.simple_tag
def marked(before: str, after: str) -> SafeString | str:
    """The text with the words that differ from the one before underlined."""
    _, pieces = diff.words(before, after)
    return drawn(pieces) if pieces else "(nothing)"


@register.filter
def drawn(pieces: diff.Pieces, sign: str = "ins") -> SafeString:
    """A line in pieces; `sign` is the element that the changed ones stand in: ins or del."""
    tag = "del" if sign == "del" else "ins"
    return format_html_join("", "{}", ((_piece(text, changed, tag),) for text, changed in pieces))


def _piece(text: str, changed: bool, tag: str) -> SafeString | str:
    return format_html_join("", f"<{tag}>{{}}</{tag}>", [(text,)]) if changed else text


@register.filter
def shown_lines(block: Block) -> int:
    return len((block.theirs if block.kind == "theirs" else block.mine).splitlines())
