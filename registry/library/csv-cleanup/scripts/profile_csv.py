"""Describe a CSV file without changing it: encoding, delimiter, shape, and what each column holds."""

import argparse
import csv
import io
import json
import re
import sys
from collections import Counter
from pathlib import Path

DELIMITERS = ",;\t|"
EMPTY = {"", "-", "n/a", "na", "null", "none", "nan", "?", "0000-00-00"}
KINDS = [
    ("integer", re.compile(r"[+-]?\d+")),
    ("decimal point", re.compile(r"[+-]?\d{1,3}(,\d{3})*\.\d+|[+-]?\d+\.\d+")),
    ("decimal comma", re.compile(r"[+-]?\d{1,3}(\.\d{3})*,\d+|[+-]?\d+,\d+")),
    ("date year first", re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?")),
    ("date with / or .", re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}")),
    ("scientific", re.compile(r"[+-]?\d(\.\d+)?[eE][+-]?\d+")),
]


def decode(raw):
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16"), "UTF-16"
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return raw.decode("cp1252", errors="replace"), f"not UTF-8 (line {line}); read as Windows-1252"
    return text, "UTF-8 with byte order mark" if raw.startswith(b"\xef\xbb\xbf") else "UTF-8"


def find_delimiter(text):
    """Return the delimiter that splits the most of the first lines into the same number of cells."""
    def score(mark):
        counts = Counter(len(row) for row in csv.reader(text.splitlines()[:50], delimiter=mark) if row)
        cells, rows = max(counts.items(), key=lambda item: item[1]) if counts else (1, 0)
        return (cells > 1, rows, cells)
    return max(DELIMITERS, key=score)


def kind_of(value):
    return next((name for name, pattern in KINDS if pattern.fullmatch(value)), "text")


def column_profile(name, values, examples):
    stripped = [value.strip() for value in values]
    filled = [value for value in stripped if value.lower() not in EMPTY]
    kinds = Counter(map(kind_of, filled))
    profile = {
        "column": name,
        "empty": len(values) - len(filled),
        "distinct": len(set(filled)),
        "kind": next(iter(kinds), "empty") if len(kinds) <= 1 else "mixed",
        "kinds": dict(kinds.most_common()),
        "spaces_around": sum(a != b for a, b in zip(values, stripped, strict=True)),
        "leading_zeros": sum(bool(re.fullmatch(r"0\d+", value)) for value in filled),
        "garbled": sum("Ã" in value or "â€" in value or "\ufffd" in value for value in filled),
    }
    if examples:
        profile["examples"] = [value for value, _ in Counter(filled).most_common(3)]
    return profile


def profile(raw, delimiter, examples):
    text, encoding = decode(raw)
    mark = delimiter or find_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    header = next(reader, [])
    rows, uneven = [], []
    for row in reader:
        if row and len(row) != len(header):
            uneven.append({"line": reader.line_num, "cells": len(row)})
        elif row:
            rows.append(row)
    names = Counter(name.strip() for name in header)
    return {
        "encoding": encoding,
        "delimiter": {"\t": "tab"}.get(mark, mark),
        "columns": len(header),
        "rows": len(rows) + len(uneven),
        "uneven_rows": uneven,
        "duplicate_rows": len(rows) - len({tuple(row) for row in rows}),
        "doubtful_names": [name or "(empty)" for name, count in names.items() if count > 1 or not name],
        "profile": [column_profile(name, [row[i] for row in rows], examples) for i, name in enumerate(header)],
    }


def show(found):
    print(f"{found['encoding']}, delimiter {found['delimiter']!r}, {found['columns']} columns, {found['rows']} rows")
    for item in found["uneven_rows"][:20]:
        print(f"line {item['line']}: {item['cells']} cells instead of {found['columns']}")
    if len(found["uneven_rows"]) > 20:
        print(f"and {len(found['uneven_rows']) - 20} more such lines")
    print(f"{found['duplicate_rows']} rows repeat an earlier row exactly")
    for name in found["doubtful_names"]:
        print(f"column name {name!r} is empty or used twice")
    for column in found["profile"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in column["kinds"].items())
        print(f"\n{column['column'].strip() or '(no name)'}: {column['kind']}  [{kinds}]")
        print(f"  {column['empty']} empty, {column['distinct']} distinct")
        for key in ("spaces_around", "leading_zeros", "garbled"):
            if column[key]:
                print(f"  {column[key]} with {key.replace('_', ' ')}")
        if column.get("examples"):
            print("  such as " + " | ".join(" ".join(value.split()) for value in column["examples"]))


def main():
    parser = argparse.ArgumentParser(description="Describe a CSV file without changing it.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--delimiter", help="one character; found by looking if not given")
    parser.add_argument("--no-examples", action="store_true", help="print no values from the file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    try:
        found = profile(options.file.read_bytes(), options.delimiter, not options.no_examples)
    except (OSError, UnicodeDecodeError, csv.Error, TypeError) as error:
        print(f"Cannot read {options.file}: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
