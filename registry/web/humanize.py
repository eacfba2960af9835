"""Numbers, sizes and times as text for people."""

from datetime import datetime, timedelta

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3_600, 86_400, 604_800
_MONTH = timedelta(days=30)
_MINUS = "\N{MINUS SIGN}"


def number(value: int) -> str:
    """Return 1912 as "1,912". Negative numbers get a typographic minus sign."""
    return f"{value:,}".replace("-", _MINUS)


def signed(value: int) -> str:
    """Return a difference as "+72", "−38" or "0"."""
    return f"+{value:,}" if value > 0 else number(value)


def counted(value: int, noun: str) -> str:
    """Return a number with its noun: `3|counted:"file"`, `2|counted:"match,matches"`."""
    one, _, many = noun.partition(",")
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def filesize(size: int) -> str:
    """Return "890 bytes", "14 KiB" or "8.2 MiB", with one decimal below ten."""
    if size < 1024:
        return counted(size, "byte")
    amount, unit = size / 1024, "KiB"
    for bigger in ("MiB", "GiB"):
        # 1023.5 KiB would be written "1,024 KiB".
        if amount < 1023.5:
            break
        amount, unit = amount / 1024, bigger
    text = f"{amount:.1f}".removesuffix(".0") if amount < 9.95 else f"{amount:,.0f}"
    return f"{text} {unit}"


def span(length: timedelta) -> str:
    """Return a duration in the largest unit that fits, in whole numbers: "3 hours", "2 weeks"."""
    seconds = int(length.total_seconds())
    # "1 week" would be misleading for 13 days, so weeks start at two.
    if seconds >= 2 * _WEEK:
        return counted(seconds // _WEEK, "week")
    for size, noun in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= size:
            return counted(seconds // size, noun)
    return "less than a minute"


def duration(seconds: float) -> str:
    """Return how long something took: "42 ms", "6.1 s", "4 min 3 s", "2 h 5 min", "3 days"."""
    if seconds < 0.9995:
        return f"{round(max(0.0, seconds) * 1_000)} ms"
    if seconds < 9.95:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        minutes, rest = divmod(whole, _MINUTE)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    if whole < 2 * _DAY:
        hours, rest = divmod(whole // _MINUTE, 60)
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    return counted(whole // _DAY, "day")


def _round(length: timedelta) -> timedelta:
    """Round to the nearest unit, so that seven days minus a second are not shown as six days."""
    seconds = int(length.total_seconds())
    size = next((size for size in (_DAY, _HOUR, _MINUTE) if seconds >= size), 1)
    return timedelta(seconds=(seconds + size // 2) // size * size)


def day(moment: datetime, now: datetime) -> str:
    """Return "14 Sep", with the year if it is not the current one."""
    text = f"{moment.day} {moment:%b}"
    return text if moment.year == now.year else f"{text} {moment.year}"


def relative(moment: datetime, now: datetime) -> str:
    """Return a relative time within a month of now, else a date."""
    distance = now - moment
    if abs(distance) >= _MONTH:
        return day(moment, now)
    if distance < timedelta(0):
        return f"in {span(_round(-distance))}"
    return "just now" if distance < timedelta(minutes=1) else f"{span(distance)} ago"
