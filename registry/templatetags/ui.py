"""The small parts of the design system as template tags."""

import html
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from django import template
from django.forms import BoundField
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from registry.web.humanize import counted, filesize, number, relative, signed, span
from registry.web.render import marked_text
from registry.web.render.sparkline import bar_heights, seal_cells, trend

register = template.Library()

_SOURCES = {
    "project": ("Project", "home"),
    "imported": ("Imported", "import"),
    "bundled": ("Bundled", "book"),
}
_PROPOSAL_STATES = {
    "open": ("Waiting for review", "accent", "clock"),
    "approved": ("Approved", "ok", "check"),
    "changes-requested": ("Changes asked for", "warn", "undo"),
    "stale": ("Overtaken", "", "skip"),
    "rejected": ("Rejected", "danger", "x"),
    "withdrawn": ("Withdrawn", "", "x"),
}
_RISKS = {
    "high": ("High risk", "warn", "warning"),
    "medium": ("Medium risk", "line", "info"),
    "low": ("Low risk", "plain"),
}
_SEVERITIES = {"error": ("error", "error"), "warning": ("warn", "warning"), "hint": ("hint", "info")}
_MOST_UNSEEN = 12
_NOTICE_ICONS = {"": "info", "accent": "info", "ok": "check", "warn": "warning", "danger": "error"}


# -- Numbers and times in words ----------------------------------------------------------------------------

for plain in (number, signed, counted, filesize):
    register.filter(plain.__name__, plain)


def _time(moment: datetime, text: str) -> SafeString:
    utc = moment.astimezone(UTC)
    exact = f"{utc.day} {utc:%b %Y, %H:%M} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', f"{utc:%Y-%m-%dT%H:%M:%SZ}", exact, text)


@register.filter
def reltime(moment: datetime | None, now: datetime | None = None) -> SafeString:
    """ "3 hours ago", "14 Sep"; the exact time stands in `datetime`. Nothing for no time."""
    if moment is None:
        return mark_safe("")
    return _time(moment, relative(moment, now or timezone.now()))


@register.filter
def age(moment: datetime, now: datetime | None = None) -> SafeString:
    """ "6 days old": how long something has been waiting."""
    return _time(moment, f"{span((now or timezone.now()) - moment)} old")


_EXACT = re.compile("`([^`]+)`")


@register.filter
def coded(text: str) -> SafeString:
    """What a message puts between backticks, drawn as exact text."""
    parts = _EXACT.split(text)
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if place % 2 else part,) for place, part in enumerate(parts))
    )


_QUOTED = re.compile(r"""(?<!\w)(['"])(.+?)\1(?!\w)""")


@register.filter
def curly(text: str) -> str:
    """What a message puts between straight quotes, as programs read it, in those of the pages."""
    return _QUOTED.sub(r"“\2”", text)


@register.filter
def options(values: Iterable[str]) -> SafeString:
    """What a datalist offers. There can be ten thousand names, and Django's own ways take a tenth of a second."""
    return mark_safe("".join(f'<option value="{html.escape(value)}"></option>' for value in values))


@register.filter
def drawn(text: object) -> SafeString:
    """A line of somebody's words, with what cannot be seen drawn."""
    return marked_text.inline(str(text))


# -- Signs -------------------------------------------------------------------------------------------------


def _heard(label: str) -> SafeString:
    """The attributes of a drawing: read aloud as its label, or not at all."""
    return format_html('role="img" aria-label="{}"', label) if label else mark_safe('aria-hidden="true"')


@register.simple_tag(name="icon")
def sign(name: str, label: str = "") -> SafeString:
    """A sign from the sprite of the page; without a label it is decoration and is not read aloud."""
    return format_html('<svg class="icon" {}><use href="#i-{}"/></svg>', _heard(label), name)


@register.simple_tag
def seal(digest: str, figure_only: bool = False) -> SafeString:
    """A digest as its figure and first twelve digits. Same seal, same bytes."""
    if not digest:
        return mark_safe("")
    path = "".join(f"M{column} {row}h1v1h-1z" for column, row in seal_cells(digest))
    figure = format_html(
        '<svg class="seal" viewBox="0 0 5 5" shape-rendering="crispEdges" aria-hidden="true"><path d="{}"/></svg>',
        path,
    )
    digits = digest.removeprefix("sha256:")
    if figure_only:
        return figure
    return format_html('<span class="digest" title="{}">{}{}</span>', f"sha256:{digits}", figure, digits[:12])


@register.simple_tag
def badge(label: str, tone: str = "", icon: str = "") -> SafeString:
    """Sign and word: `badge "Draft" "line" icon="pencil"`. Tones: line, plain, accent, ok, warn, danger."""
    tone_class = f" badge--{tone}" if tone else ""
    return format_html('<span class="badge{}">{}{}</span>', tone_class, sign(icon) if icon else "", label)


@register.simple_tag
def source_badge(source: str, tone: str = "line") -> SafeString:
    """House Project, tray Imported, book Bundled; tone "plain" in a table."""
    label, icon = _SOURCES[source]
    return badge(label, tone, icon)


@register.simple_tag
def proposal_badge(state: str) -> SafeString:
    return badge(*_PROPOSAL_STATES[state])


@register.simple_tag
def risk_badge(risk: str) -> SafeString:
    """It orders the queue. Low does not mean safe, so nothing about it is green."""
    return badge(*_RISKS[risk])


def initials_of(name: str) -> str:
    words = name.replace("-", " ").replace(".", " ").split()
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()


@register.simple_tag
def avatar(who: Any, small: bool = False, agent: bool | None = None) -> SafeString:
    """People are round, agents are square. `who` is a user, an agent, or a person's name."""
    is_agent = not isinstance(who, str) and not hasattr(who, "initials") if agent is None else agent
    classes = f"avatar{' avatar--small' if small else ''}{' avatar--agent' if is_agent else ''}"
    inside = sign("agents") if is_agent else getattr(who, "initials", None) or initials_of(str(who))
    return format_html('<span class="{}" aria-hidden="true">{}</span>', classes, inside)


@register.simple_tag(name="who")
def who_tag(who: Any, agent: bool | None = None) -> SafeString:
    """The small avatar with the name beside it; an agent is called one."""
    mark = avatar(who, small=True, agent=agent)
    name = getattr(who, "display_name", None) or getattr(who, "name", None) or str(who)
    prefix = "Agent " if "avatar--agent" in mark else ""
    return format_html('<span class="who">{}{}{}</span>', mark, prefix, name)


# -- Figures drawn as SVG: lengths are attributes, because the policy allows no style attribute --------------


@register.simple_tag
def sparkline(values: Sequence[int], noun: str = "load", label: str = "") -> SafeString:
    """One bar a day. The words for it are the label; the figure itself stands beside it in the page."""
    width = max(1, 3 * len(values))
    total = sum(values)
    heard = f"{counted(total, noun) if total else f'No {noun}s'} in the last {counted(len(values), 'day')}"
    heard = label or ", ".join(filter(None, [heard, trend(values)]))
    bars = "".join(f"M{1 + 3 * i} 19v-{height}" for i, height in enumerate(bar_heights(values)) if height)
    return format_html(
        '<svg class="spark" viewBox="0 0 {} 20" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<path class="spark-base" d="M0 19.5h{}"/><path d="{}"/></svg>',
        width, heard, width, bars,
    )  # fmt: skip


def _percent(part: float, whole: float) -> str:
    return f"{min(100.0, 100 * part / whole):.1f}".removesuffix(".0") if whole > 0 else "0"


def _bar(rects: SafeString, label: str = "") -> SafeString:
    box = '<svg class="meter-bar" viewBox="0 0 100 1" preserveAspectRatio="none" {}>{}</svg>'
    return format_html(box, _heard(label), rects)


def _over(value: int, soft: int, loud: int | None) -> tuple[str, SafeString]:
    """The tone of the bar and the words beside it once a value is over the advice."""
    if loud is not None and value > loud:
        words = '<span class="state state--failed">{}Too long, split it</span>'
        return "danger", format_html(words, sign("error"))
    text = f"Long, {number(value - soft)} over the advice"
    return "warn", format_html('<span class="state state--degraded">{}{}</span>', sign("warning"), text)


@register.simple_tag
def meter(value: int, soft: int, loud: int | None = None, unit: str = "tokens", note: str = "") -> SafeString:
    """A value against advice (`soft`) and a louder limit; the words change before the colour does."""
    said = f"{number(value)} {unit}"
    if value <= soft:
        tone, scale, tick, heard = "a", soft, mark_safe(""), f"{number(value)} of {number(soft)} {unit}"
        advice = f"{note + ', ' if note else ''}of {number(soft)} advised"
        words = format_html('<span class="meter-limit">{}</span>', advice)
    else:
        tone, words = _over(value, soft, loud)
        scale, heard = max(value, loud or 0), f"{said}, advice {number(soft)}"
        tick = format_html('<rect class="meter-tick" x="{}" width="0.6" height="1"/>', _percent(soft, scale))
    bar = format_html('<rect class="meter-{}" width="{}" height="1"/>{}', tone, _percent(value, scale), tick)
    return format_html(
        '<div class="meter"><p class="meter-head"><span class="meter-value">{}</span>{}</p>{}</div>',
        said, words, _bar(bar, heard),
    )  # fmt: skip


@register.simple_tag
def meter_bar(value: int, whole: int, tone: str = "a") -> SafeString:
    """A bare bar for the ladder, where the figure already stands beside it. Tones: a, b, warn, danger."""
    return _bar(format_html('<rect class="meter-{}" width="{}" height="1"/>', tone, _percent(value, whole)))


@register.simple_tag
def stacked_meter(parts: Sequence[tuple[str, int]], limit: int, unit: str = "tokens", note: str = "") -> SafeString:
    """A whole made of two named parts against a suggested limit, with its legend."""
    total = sum(value for _, value in parts)
    whole = max(limit, total)
    toned = list(zip("ab", parts, strict=False))
    starts = accumulate((value for _, value in parts), initial=0)
    bar = format_html_join(
        "", '<rect class="meter-{}" x="{}" width="{}" height="1"/>',
        ((tone, _percent(start, whole), _percent(value, whole))
         for start, (tone, (_, value)) in zip(starts, toned, strict=False)),
    )  # fmt: skip
    legend = format_html_join(
        "",
        '<li><svg viewBox="0 0 1 1" aria-hidden="true"><rect class="meter-{}" width="1" height="1"/></svg>{} {}</li>',
        ((tone, label, number(value)) for tone, (label, value) in toned),
    )
    named = ", ".join(f"{number(value)} {label}" for label, value in parts)
    return format_html(
        '<div class="meter"><p class="meter-head"><span class="meter-value">{} {}</span>'
        '<span class="meter-limit">{}of {} suggested</span></p>{}<ul class="legend">{}</ul></div>',
        number(total), unit, f"{note}, " if note else "", number(limit),
        _bar(bar, f"{number(total)} of {number(limit)} {unit}: {named}"), legend,
    )  # fmt: skip


# -- Blocks ------------------------------------------------------------------------------------------------


@register.simple_block_tag
def notice(
    content: str, tone: str = "", label: str = "", alert: bool = False, url: str = "", action: str = ""
) -> SafeString:
    """A block that says something about the page, with one way on. Tones: none, accent, ok, warn, danger."""
    named = format_html(' role="group" aria-label="{}"', label) if label else ""
    link = '<div class="actions"><a class="btn btn--small" href="{}">{}</a></div>'
    return format_html(
        '<div class="notice{}"{}>{}<div>{}</div>{}</div>',
        f" notice--{tone}" if tone else "",
        mark_safe(' role="alert"') if alert else named,
        sign(_NOTICE_ICONS[tone]),
        content,
        format_html(link, url, action) if url else "",
    )


@register.simple_tag
def copy_button(text: str, label: str = "Copy") -> SafeString:
    """Puts `text` on the clipboard; drawn only where the script runs."""
    return format_html(
        '<button class="btn btn--small needs-script" type="button" data-copy="{}">{}'
        '<span data-copy-label aria-live="polite">{}</span></button>',
        text, sign("copy"), label,
    )  # fmt: skip


@register.inclusion_tag("components/findings.html")
def findings(items: Sequence[Any], empty: str = "No findings") -> dict[str, Any]:
    """Errors, warnings, hints in the order given: sign, severity in words, what is wrong, where, the fix."""
    return {"rows": [(item, *_SEVERITIES[item.severity]) for item in items], "empty": empty}


@register.inclusion_tag("components/unseen.html")
def unseen(text: str) -> dict[str, Any]:
    """A line above a field for writing that names what its text holds and the field does not show."""
    places = marked_text.unseen(text)
    return {"places": places[:_MOST_UNSEEN], "others": len(places) - _MOST_UNSEEN}


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, aside: str = "", placeholder: str = "") -> dict[str, Any]:
    """One form field with label, hint and errors; the look follows the widget."""
    kind = getattr(bound.field.widget, "input_type", "textarea")
    css = {"select": "select", "textarea": "textarea"}.get(kind, "input")
    attributes: dict[str, str | bool] = {"class": css} if kind not in ("radio", "checkbox") else {}
    if placeholder:
        attributes["placeholder"] = placeholder
    return {"bound": bound, "kind": kind, "aside": aside, "widget": bound.as_widget(attrs=attributes)}


@register.inclusion_tag("components/error_summary.html")
def error_summary(form: Any) -> dict[str, Any]:
    """Says at the top of a form what needs the person, with a link to each field."""
    return {"form": form, "bad": [bound for bound in form if bound.errors]}
