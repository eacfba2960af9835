"""Built-in capabilities for dates. They are texts of ISO 8601: `2026-11-18` or `2026-11-18T09:30:00+01:00`."""

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta

from registry.core.workflows.builtins import json_paths
from registry.core.workflows.builtins.definition import Context, Inputs, define, refuse
from registry.core.workflows.values import Json

MOST_UNITS = 10_000_000
_ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}  # positions of year, month and day
_NUMBERS = re.compile(r"([0-9]{1,4})[./ -]{1,2}([0-9]{1,2})[./ -]{1,2}([0-9]{1,4})")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def read(text: str) -> date:
    """Return a date, or a datetime if the text has a time. Refuse what is not ISO 8601."""
    stripped = text.strip()
    try:
        if re.fullmatch(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}", stripped):
            return date.fromisoformat(stripped)
        return datetime.fromisoformat(stripped)
    except (ValueError, OverflowError):
        raise refuse(f"“{json_paths.shown(stripped)}” is not a date like 2026-11-18 or 2026-11-18T09:30:00Z.") from None


def _parse(given: Inputs) -> dict[str, Json]:
    order, text = given["order"], given["text"].strip()
    if order == "iso":
        return _parts(read(text))
    if order not in _ORDERS:
        raise refuse(f"“order” must be one of iso, {', '.join(_ORDERS)}.")
    match = _NUMBERS.fullmatch(text)
    if match is None:
        raise refuse(f"“{json_paths.shown(text)}” is not a date of three numbers, such as 18.11.2026.")
    year, month, day = (match.groups()[position] for position in _ORDERS[order])
    if len(year) != 4:
        raise refuse(f"The year of “{text}” must have four digits, so that the century is clear.")
    try:
        return _parts(date(int(year), int(month), int(day)))
    except ValueError:
        raise refuse(f"There is no day “{text}” in the order {order}.") from None


def _parts(value: date) -> dict[str, Json]:
    return {
        "date": value.isoformat(),
        "year": value.year,
        "month": value.month,
        "day": value.day,
        "weekday": _WEEKDAYS[value.weekday()],
        "has_time": isinstance(value, datetime),
    }


def _add(given: Inputs) -> dict[str, Json]:
    value = read(given["date"])
    units = ("years", "months", "weeks", "days", "hours", "minutes")
    if too_many := next((unit for unit in units if abs(given[unit]) > MOST_UNITS), None):
        raise refuse(f"“{too_many}” must be between -{MOST_UNITS:,} and {MOST_UNITS:,}.")
    try:
        months = value.year * 12 + value.month - 1 + given["years"] * 12 + given["months"]
        year, month = months // 12, months % 12 + 1
        if not 1 <= year <= 9999:
            raise OverflowError
        value = value.replace(year=year, month=month, day=min(value.day, calendar.monthrange(year, month)[1]))
        if (given["hours"] or given["minutes"]) and not isinstance(value, datetime):
            value = datetime.combine(value, time())
        amounts = {unit: given[unit] for unit in units[2:]}
        return {"date": (value + timedelta(**amounts)).isoformat()}
    except (OverflowError, ValueError):
        raise refuse("The result is not between the years 1 and 9999.") from None


def _difference(given: Inputs) -> dict[str, Json]:
    start, end = _at(read(given["start"])), _at(read(given["end"]))
    if (start.tzinfo is None) != (end.tzinfo is None):
        raise refuse("Only one of the dates has a time zone. Give both or none of them one, such as +01:00.")
    try:
        difference = end - start
    except OverflowError:
        raise refuse("The dates are too close to the years 1 or 9999.") from None
    seconds = difference.total_seconds()
    whole = int(difference / timedelta(days=1))
    return {"days": whole, "seconds": int(seconds) if seconds == int(seconds) else seconds, "later": seconds > 0}


def _at(value: date) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _format(given: Inputs) -> dict[str, Json]:
    value, style = read(given["date"]), given["style"]
    day, month, year = value.day, value.month, value.year
    styles = {
        "iso": f"{year:04}-{month:02}-{day:02}",
        "dmy": f"{day:02}.{month:02}.{year:04}",
        "mdy": f"{month:02}/{day:02}/{year:04}",
        "long": f"{day} {calendar.month_name[month]} {year}",
    }
    if style not in styles:
        raise refuse(f"“style” must be one of {', '.join(styles)}.")
    return {"text": styles[style]}


def _now(given: Inputs, context: Context) -> dict[str, Json]:
    now = context.now().astimezone(UTC)
    return {
        "now": now.isoformat(timespec="seconds"),
        "date": now.date().isoformat(),
        "weekday": _WEEKDAYS[now.weekday()],
    }


_DATE = {"date: string": "A date such as 2026-11-18, or a time such as 2026-11-18T09:30:00Z."}

BUILTINS = (
    define(
        "date.parse",
        _parse,
        "Reads a date from text. The order tells 3/4/2026 in Boston (mdy) from the one in London (dmy).",
        {"text: string": "The date.", 'order?: string = "iso"': f"One of iso, {', '.join(_ORDERS)}."},
        {
            "date: string": "The date of ISO 8601.",
            "year: integer": "The year.",
            "month: integer": "The month.",
            "day: integer": "The day.",
            "weekday: string": "The English name of the weekday.",
            "has_time: boolean": "Whether the text has a time.",
        },
        role=("perceive",),
    ),
    define(
        "date.add",
        _add,
        "Adds time to a date, or takes it away with negative numbers. A month after 31 January is the end of February.",
        _DATE
        | {
            f"{unit}?: integer = 0": f"The {unit} to add."
            for unit in ("years", "months", "weeks", "days", "hours", "minutes")
        },
        {"date: string": "The new date. It has a time if the first one has, or if hours or minutes are added."},
    ),
    define(
        "date.difference",
        _difference,
        "Measures the time between two dates.",
        {"start: string": "The first date.", "end: string": "The second date."},
        {
            "days: integer": "Whole days, negative if the second date is earlier.",
            "seconds: number": "Seconds.",
            "later: boolean": "Whether the second date is later.",
        },
        role=("evaluate",),
    ),
    define(
        "date.format",
        _format,
        "Writes a date: 2026-11-18 (iso), 18.11.2026 (dmy), 11/18/2026 (mdy), 18 November 2026 (long).",
        _DATE | {'style?: string = "long"': "One of iso, dmy, mdy, long."},
        {"text: string": "The text."},
    ),
    define(
        "date.now",
        _now,
        "Tells the time, in UTC.",
        {},
        {
            "now: string": "The time.",
            "date: string": "The date.",
            "weekday: string": "The English name of the weekday.",
        },
        world=True,
    ),
)
