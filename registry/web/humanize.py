"""Numbers, sizes and times as the pages say them."""

from datetime import datetime, timedelta

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3_600, 86_400, 604_800
_MONTH = timedelta(days=30)
_MINUS = "\N{MINUS SIGN}"


def number(value: int) -> str:
    """1912 as "1,912"; below zero with a true minus sign."""
    return f"{value:,}".replace("-", _MINUS)


def signed(value: int) -> str:
    """A change: "+72", "−38", "0"."""
    return f"+{value:,}" if value > 0 else number(value)


def counted(value: int, noun: str) -> str:
    """A figure with its noun: `3|counted:"file"`, `2|counted:"match,matches"`."""
    one, _, many = noun.partition(",")
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def filesize(size: int) -> str:
    """ "890 bytes", "14 KiB", "8.2 MiB": one decimal below ten, none above."""
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
    """How long, in the largest unit that fits and whole numbers: "3 hours", "2 weeks"."""
    seconds = int(length.total_seconds())
    # "1 week" for thirteen days would be half the truth, so weeks begin at two.
    if seconds >= 2 * _WEEK:
        return counted(seconds // _WEEK, "week")
    for size, noun in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= size:
            return counted(seconds // size, noun)
    return "less than a minute"


def _to_the_nearest(length: timedelta) -> timedelta:
    """What lasts seven days has a little less the moment somebody reads it, and is not called six."""
    seconds = int(length.total_seconds())
    size = next((size for size in (_DAY, _HOUR, _MINUTE) if seconds >= size), 1)
    return timedelta(seconds=(seconds + size // 2) // size * size)


def day(moment: datetime, now: datetime) -> str:
    """ "14 Sep", with the year where it is another one."""
    text = f"{moment.day} {moment:%b}"
    return text if moment.year == now.year else f"{text} {moment.year}"


def relative(moment: datetime, now: datetime) -> str:
    """Relative up to a month on either side of now, then a date."""
    distance = now - moment
    if abs(distance) >= _MONTH:
        return day(moment, now)
    if distance < timedelta(0):
        return f"in {span(_to_the_nearest(-distance))}"
    return "just now" if distance < timedelta(minutes=1) else f"{span(distance)} ago"
