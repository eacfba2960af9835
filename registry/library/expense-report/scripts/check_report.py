"""Check an expense report (CSV) against the limits table and print totals. Exit status: 0 fine, 1 problems, 2 unreadable."""

import argparse
import csv
import datetime
import re
import sys
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

COLUMNS = ["date", "category", "description", "amount", "currency", "rate", "amount_eur", "receipt", "note"]
LIMITS = Path(__file__).resolve().parent.parent / "references" / "limits.md"
CENT = Decimal("0.01")


class Limits:
    """The rules in references/limits.md: a limit, its period and its consequence per category."""

    def __init__(self, text):
        self.rules = {}
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 4 and (cells[1] == "none" or re.fullmatch(r"\d+(\.\d+)?", cells[1])):
                limit = None if cells[1] == "none" else Decimal(cells[1])
                self.rules[cells[0]] = (limit, cells[2], cells[3])
        receipt = re.search(r"every line above (\d+(?:\.\d+)?)(?:, except in these categories: ([\w, ]+))?", text)
        self.receipt_above = Decimal(receipt[1]) if receipt else Decimal(0)
        self.no_receipt = {c.strip() for c in (receipt[2] or "").split(",")} if receipt else set()


def number(row, column):
    try:
        value = Decimal(row[column])
    except InvalidOperation:
        raise ValueError(f'{column} is "{row[column]}", which is not a number such as 162.73') from None
    if not value.is_finite():
        raise ValueError(f'{column} is "{row[column]}", which is not an amount')
    return value


def check_row(row, limits):
    """Return the problems of one line, and its amount in euros, or None if a number is invalid."""
    problems = []
    try:
        datetime.date.fromisoformat(row["date"])
    except ValueError:
        problems.append(f'date is "{row["date"]}"; write it as year-month-day, such as 2026-03-09')
    if row["category"] not in limits.rules:
        problems.append(f'category "{row["category"]}" is not one of {", ".join(sorted(limits.rules))}')
    if not row["description"].strip():
        problems.append("description is empty")
    if not re.fullmatch(r"[A-Z]{3}", row["currency"]):
        problems.append(f'currency is "{row["currency"]}"; write the ISO code, such as EUR')
    try:
        amount, rate, euros = number(row, "amount"), number(row, "rate"), number(row, "amount_eur")
    except ValueError as problem:
        return [*problems, str(problem)], None
    if row["currency"] == "EUR" and rate != 1:
        problems.append(f"currency is EUR, so the rate must be 1, not {rate}")
    if rate <= 0:
        problems.append(f"rate is {rate}; it must be above 0")
    due = (amount * rate).quantize(CENT, ROUND_HALF_UP)
    if due != euros:
        problems.append(f"{amount} times {rate} is {due}, but amount_eur is {euros}")
    if euros > limits.receipt_above and not row["receipt"].strip() and row["category"] not in limits.no_receipt:
        problems.append(f"{euros} is above {limits.receipt_above} and has no receipt")
    return problems, euros


def check_limits(lines, limits):
    """Yield limits that are exceeded on a line or a day, unless every line concerned has a note."""
    groups = defaultdict(list)
    for number_, row, euros in lines:
        limit, period, _ = limits.rules.get(row["category"], (None, "line", ""))
        if limit is not None:
            groups[(row["category"], row["date"], number_ if period == "line" else 0)].append((number_, row, euros))
    for (category, date, _), members in groups.items():
        limit, period, consequence = limits.rules[category]
        total = sum(euros for _, _, euros in members)
        if total > limit and not all(row["note"].strip() for _, row, _ in members):
            where = ", ".join(str(n) for n, _, _ in members)
            yield f"line {where}: {category} on {date} is {total}, {total - limit} over {limit} a {period}: {consequence}"


def check(rows, limits):
    problems, lines, seen = [], [], {}
    for number_, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            problems.append(f"line {number_}: has not exactly {len(COLUMNS)} columns; quote a text that contains a comma")
            continue
        found, euros = check_row(row, limits)
        problems += [f"line {number_}: {problem}" for problem in found]
        if euros is not None:
            lines.append((number_, row, euros))
        key = (row["date"], row["category"], row["amount"], row["currency"], row["description"])
        if key in seen:
            problems.append(f"line {number_}: looks the same as line {seen[key]}; is one receipt entered twice?")
        seen.setdefault(key, number_)
    return problems + list(check_limits(lines, limits)), lines


def main():
    parser = argparse.ArgumentParser(description="Check an expense report against the limits table.")
    parser.add_argument("report", type=Path, help="the report, a CSV file made from assets/report-template.csv")
    parser.add_argument("--limits", type=Path, default=LIMITS, help="another limits table (Markdown)")
    options = parser.parse_args()
    try:
        limits = Limits(options.limits.read_text(encoding="utf-8"))
        with options.report.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows, header = list(reader), reader.fieldnames
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        print(f"Cannot read: {error}", file=sys.stderr)
        return 2
    if not limits.rules:
        print(f"{options.limits} holds no limits table.", file=sys.stderr)
        return 2
    if header != COLUMNS:
        print(f"The first line must be: {','.join(COLUMNS)}", file=sys.stderr)
        return 2
    problems, lines = check(rows, limits)
    if not rows:
        problems.append("the report has no lines")
    for problem in problems:
        print(problem)
    totals = defaultdict(Decimal)
    for _, row, euros in lines:
        totals[row["category"]] += euros
    for category in sorted(totals):
        print(f"{category:<10} {totals[category]:>10.2f}")
    print(f"{'Total EUR':<10} {sum(totals.values(), Decimal(0)):>10.2f}  on {len(lines)} lines, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
