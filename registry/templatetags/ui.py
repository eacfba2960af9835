"""Template tags and filters for the components of the design system."""

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

from registry.web import labels
from registry.web.humanize import counted, filesize, number, relative, signed, span
from registry.web.render import marked_text
from registry.web.render.sparkline import bar_heights, seal_cells, trend

register = template.Library()

_SOURCE_ICONS = {"project": "home", "imported": "import", "bundled": "book"}
_PROPOSAL_STATES = {
    "open": ("Waiting for review", "accent", "clock"),
    "approved": ("Approved", "ok", "check"),
    "changes-requested": ("Changes requested", "warn", "undo"),
    "stale": ("Outdated", "", "skip"),
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


# -- Numbers and times ----------------------------------------------------------------------------

for function in (number, signed, counted, filesize):
    register.filter(function.__name__, function)
register.filter("kind_label", labels.kind)
register.filter("actor_label", labels.actor)


def _time(moment: datetime, text: str) -> SafeString:
    utc = moment.astimezone(UTC)
    exact = f"{utc.day} {utc:%b %Y, %H:%M} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', f"{utc:%Y-%m-%dT%H:%M:%SZ}", exact, text)


@register.filter
def reltime(moment: datetime | None, now: datetime | None = None) -> SafeString:
    """Return "3 hours ago" or "14 Sep" with the exact time in `datetime`; an empty string for None."""
    if moment is None:
        return mark_safe("")
    return _time(moment, relative(moment, now or timezone.now()))


@register.filter
def age(moment: datetime, now: datetime | None = None) -> SafeString:
    """Return the age as "6 days old"."""
    return _time(moment, f"{span((now or timezone.now()) - moment)} old")


_EXACT = re.compile("`([^`]+)`")


@register.filter
def coded(text: str) -> SafeString:
    """Turn text between backticks into <code>."""
    parts = _EXACT.split(text)
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if place % 2 else part,) for place, part in enumerate(parts))
    )


_QUOTED = re.compile(r"""(?<!\w)(['"])(.+?)\1(?!\w)""")


@register.filter
def curly(text: str) -> str:
    """Replace straight quotes around words with curly ones."""
    return _QUOTED.sub(r"“\2”", text)


@register.filter
def options(values: Iterable[str]) -> SafeString:
    """Return the options of a datalist. For ten thousand names, format_html_join would take 0.1 seconds."""
    return mark_safe("".join(f'<option value="{html.escape(value)}"></option>' for value in values))


@register.filter
def show_hidden(text: object) -> SafeString:
    """Return one line of user text with invisible characters made visible."""
    return marked_text.inline(str(text))


# -- Icons and badges -------------------------------------------------------------------------------------------------


def _aria(label: str) -> SafeString:
    """Return the ARIA attributes of an image: its label, or hidden from screen readers."""
    return format_html('role="img" aria-label="{}"', label) if label else mark_safe('aria-hidden="true"')


@register.simple_tag(name="icon")
def sign(name: str, label: str = "") -> SafeString:
    """Return an icon of the sprite. Without a label it is decoration, hidden from screen readers."""
    return format_html('<svg class="icon" {}><use href="#i-{}"/></svg>', _aria(label), name)


@register.simple_tag
def seal(digest: str, figure_only: bool = False) -> SafeString:
    """Return a digest as a small figure and its first twelve digits, so that equal digests look equal."""
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
    """Return a badge: `badge "Draft" "line" icon="pencil"`. Tones: line, plain, accent, ok, warn, danger."""
    tone_class = f" badge--{tone}" if tone else ""
    return format_html('<span class="badge{}">{}{}</span>', tone_class, sign(icon) if icon else "", label)


@register.simple_tag
def source_badge(source: str, tone: str = "line") -> SafeString:
    """Return the badge of a skill's source. Use the tone "plain" in a table."""
    return badge(labels.SOURCES[source], tone, _SOURCE_ICONS[source])


@register.simple_tag
def proposal_badge(state: str) -> SafeString:
    return badge(*_PROPOSAL_STATES[state])


@register.simple_tag
def risk_badge(risk: str) -> SafeString:
    """Return the badge of a risk. Low risk does not mean safe, so it is never green."""
    return badge(*_RISKS[risk])


def initials_of(name: str) -> str:
    words = name.replace("-", " ").replace(".", " ").split()
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper()


@register.simple_tag
def avatar(who: Any, small: bool = False, agent: bool | None = None) -> SafeString:
    """Return a round avatar for a person, a square one for an agent. `who` is a user, an agent or a name."""
    is_agent = not isinstance(who, str) and not hasattr(who, "initials") if agent is None else agent
    classes = f"avatar{' avatar--small' if small else ''}{' avatar--agent' if is_agent else ''}"
    inside = sign("agents") if is_agent else getattr(who, "initials", None) or initials_of(str(who))
    return format_html('<span class="{}" aria-hidden="true">{}</span>', classes, inside)


@register.simple_tag(name="who")
def who_tag(who: Any, agent: bool | None = None) -> SafeString:
    """Return a small avatar with the name; the name of an agent starts with "Agent"."""
    mark = avatar(who, small=True, agent=agent)
    name = getattr(who, "display_name", None) or getattr(who, "name", None) or str(who)
    prefix = "Agent " if "avatar--agent" in mark else ""
    return format_html('<span class="who">{}{}{}</span>', mark, prefix, name)


# -- SVG charts: lengths are attributes, because the content security policy forbids style attributes --------------


@register.simple_tag
def sparkline(values: Sequence[int], noun: str = "load", label: str = "") -> SafeString:
    """Return a bar chart with one bar a day; `label` replaces the generated text for screen readers."""
    width = max(1, 3 * len(values))
    total = sum(values)
    aria_label = f"{counted(total, noun) if total else f'No {noun}s'} in the last {counted(len(values), 'day')}"
    aria_label = label or ", ".join(filter(None, [aria_label, trend(values)]))
    bars = "".join(f"M{1 + 3 * i} 19v-{height}" for i, height in enumerate(bar_heights(values)) if height)
    return format_html(
        '<svg class="spark" viewBox="0 0 {} 20" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<path class="spark-base" d="M0 19.5h{}"/><path d="{}"/></svg>',
        width, aria_label, width, bars,
    )  # fmt: skip


def _percent(part: float, whole: float) -> str:
    return f"{min(100.0, 100 * part / whole):.1f}".removesuffix(".0") if whole > 0 else "0"


def _bar(rects: SafeString, label: str = "") -> SafeString:
    box = '<svg class="meter-bar" viewBox="0 0 100 1" preserveAspectRatio="none" {}>{}</svg>'
    return format_html(box, _aria(label), rects)


def _over(value: int, soft: int, loud: int | None) -> tuple[str, SafeString]:
    """Return tone and text for a value over `soft`."""
    if loud is not None and value > loud:
        words = '<span class="state state--failed">{}Too long, split it</span>'
        return "danger", format_html(words, sign("error"))
    text = f"Long, {number(value - soft)} over the recommended length"
    return "warn", format_html('<span class="state state--degraded">{}{}</span>', sign("warning"), text)


@register.simple_tag
def meter(value: int, soft: int, loud: int | None = None, unit: str = "tokens", note: str = "") -> SafeString:
    """Return a bar for a value, with a warning over `soft` and an error over `loud`."""
    text = f"{number(value)} {unit}"
    if value <= soft:
        tone, scale, tick, aria_label = "a", soft, mark_safe(""), f"{number(value)} of {number(soft)} {unit}"
        advice = f"{note + ', ' if note else ''}of {number(soft)} recommended"
        words = format_html('<span class="meter-limit">{}</span>', advice)
    else:
        tone, words = _over(value, soft, loud)
        scale, aria_label = max(value, loud or 0), f"{text}, {number(soft)} recommended"
        tick = format_html('<rect class="meter-tick" x="{}" width="0.6" height="1"/>', _percent(soft, scale))
    bar = format_html('<rect class="meter-{}" width="{}" height="1"/>{}', tone, _percent(value, scale), tick)
    return format_html(
        '<div class="meter"><p class="meter-head"><span class="meter-value">{}</span>{}</p>{}</div>',
        text, words, _bar(bar, aria_label),
    )  # fmt: skip


@register.simple_tag
def meter_bar(value: int, whole: int, tone: str = "a") -> SafeString:
    """Return a bar without text, for places that already show the number. Tones: a, b, warn, danger."""
    return _bar(format_html('<rect class="meter-{}" width="{}" height="1"/>', tone, _percent(value, whole)))


@register.simple_tag
def stacked_meter(parts: Sequence[tuple[str, int]], limit: int, unit: str = "tokens", note: str = "") -> SafeString:
    """Return a bar of two named parts against a recommended limit, with its legend."""
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
        '<span class="meter-limit">{}of {} recommended</span></p>{}<ul class="legend">{}</ul></div>',
        number(total), unit, f"{note}, " if note else "", number(limit),
        _bar(bar, f"{number(total)} of {number(limit)} {unit}: {named}"), legend,
    )  # fmt: skip


# -- Blocks ------------------------------------------------------------------------------------------------


@register.simple_block_tag
def notice(
    content: str, tone: str = "", label: str = "", alert: bool = False, url: str = "", action: str = ""
) -> SafeString:
    """Return a message box with an optional link. Tones: none, accent, ok, warn, danger."""
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
    """Return a button that copies `text`; hidden without JavaScript."""
    return format_html(
        '<button class="btn btn--small needs-script" type="button" data-copy="{}">{}'
        '<span data-copy-label aria-live="polite">{}</span></button>',
        text, sign("copy"), label,
    )  # fmt: skip


@register.inclusion_tag("components/findings.html")
def findings(items: Sequence[Any], empty: str = "No findings") -> dict[str, Any]:
    """List findings in the given order."""
    return {"rows": [(item, *_SEVERITIES[item.severity]) for item in items], "empty": empty}


@register.inclusion_tag("components/unseen.html")
def unseen(text: str) -> dict[str, Any]:
    """List the invisible characters of a text above its textarea, which does not show them."""
    places = marked_text.unseen(text)
    return {"places": places[:_MOST_UNSEEN], "others": len(places) - _MOST_UNSEEN}


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, aside: str = "", placeholder: str = "") -> dict[str, Any]:
    """Render a form field with label, hint and errors."""
    kind = getattr(bound.field.widget, "input_type", "textarea")
    css = {"select": "select", "textarea": "textarea"}.get(kind, "input")
    attributes: dict[str, str | bool] = {"class": css} if kind not in ("radio", "checkbox") else {}
    if placeholder:
        attributes["placeholder"] = placeholder
    return {"bound": bound, "kind": kind, "aside": aside, "widget": bound.as_widget(attrs=attributes)}


@register.inclusion_tag("components/error_summary.html")
def error_summary(form: Any) -> dict[str, Any]:
    """Render the errors of a form at its top, with a link to each field."""
    return {"form": form, "bad": [bound for bound in form if bound.errors]}
