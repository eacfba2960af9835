"""Built-in capabilities for text."""

import hashlib
import re
import unicodedata

from registry.core.text.patience_diff import Effort, match
from registry.core.text.shorten import shorten
from registry.core.workflows.builtins import templates
from registry.core.workflows.builtins.definition import MOST_BYTES, Inputs, define, refuse
from registry.core.workflows.values import Json

MOST_LINES = 100_000
MOST_COMPARED = 100_000  # characters on each side
MOST_CHANGES = 100
_WORD = re.compile(r"\w+|[^\w\s]")
_SHOWN_CHARS = 200


def _template(given: Inputs) -> dict[str, Json]:
    return {"text": templates.parse(given["template"]).fill(given["variables"])}


def _trim(given: Inputs) -> dict[str, Json]:
    return {"text": given["text"].strip(given["characters"])}


def _normalise(given: Inputs) -> dict[str, Json]:
    text = unicodedata.normalize("NFC", given["text"])
    lines = (" ".join(line.split()) for line in text.splitlines())
    return {"text": (" " if given["one_line"] else "\n").join(line for line in lines if line or not given["one_line"])}


def _case(given: Inputs) -> dict[str, Json]:
    text = given["text"]
    match given["case"]:
        case "lower":
            text = text.lower()
        case "upper":
            text = text.upper()
        case "title":
            text = text.title()
        case "sentence":
            text = text[:1].upper() + text[1:]
        case "slug":
            plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
            text = "-".join(re.findall(r"[a-z0-9]+", plain))
        case _:
            raise refuse("“case” must be one of lower, upper, title, sentence, slug.")
    return {"text": text}


def _lines(given: Inputs) -> dict[str, Json]:
    if given["text"].count("\n") + given["text"].count("\r") > MOST_LINES:
        raise refuse(f"The text has more than {MOST_LINES:,} lines. Work on a part of it.")
    lines = re.split(r"\r\n|\r|\n", given["text"])
    if lines[-1] == "":
        lines.pop()
    lines = [line for line in lines if line.strip()] if given["skip_empty"] else lines
    return {"lines": lines, "count": len(lines)}


def _truncate(given: Inputs) -> dict[str, Json]:
    if given["characters"] < 1:
        raise refuse("“characters” must be at least 1.")
    text = shorten(given["text"], given["characters"])
    return {"text": text, "truncated": text != given["text"]}


def _measure(given: Inputs) -> dict[str, Json]:
    text = given["text"]
    words = sum(1 for _ in re.finditer(r"\S+", text))
    return {
        "characters": len(text),
        "words": words,
        "lines": text.count("\n") + (not text.endswith("\n") and text != ""),
    }


def _contains(given: Inputs) -> dict[str, Json]:
    text, words = given["text"].casefold(), given["words"]
    if not all(isinstance(word, str) and word for word in words) or len(words) > 100:
        raise refuse("“words” must be a list of up to 100 texts that are not empty.")
    found = [word for word in words if word.casefold() in text]
    return {"found": found, "any": bool(found), "all": len(found) == len(words)}


def _hash(given: Inputs) -> dict[str, Json]:
    try:
        return {"digest": hashlib.sha256(given["text"].encode()).hexdigest()}
    except UnicodeEncodeError as error:
        raise refuse(f"Character {error.start + 1:,} of the text is half of a character.") from None


def _compare(given: Inputs) -> dict[str, Json]:
    for name in ("left", "right"):
        if len(given[name]) > MOST_COMPARED:
            raise refuse(
                f"“{name}” has {len(given[name]):,} characters. Texts may have {MOST_COMPARED:,} to be compared."
            )
    left, right = _WORD.findall(given["left"]), _WORD.findall(given["right"])
    changes = [c for c in match(left, right, Effort()).changes(len(left), len(right)) if not c.same]
    removed = sum(change.before_end - change.before for change in changes)
    added = sum(change.after_end - change.after for change in changes)
    kept = len(left) - removed
    return {
        "equal": not changes,
        "similarity": round(2 * kept / (len(left) + len(right)), 4) if left or right else 1.0,
        "words_removed": removed,
        "words_added": added,
        "changes": [
            {
                "removed": shorten(" ".join(left[c.before : c.before_end]), _SHOWN_CHARS),
                "added": shorten(" ".join(right[c.after : c.after_end]), _SHOWN_CHARS),
            }
            for c in changes[:MOST_CHANGES]
        ],
    }


def _table(given: Inputs) -> dict[str, Json]:
    rows, columns = given["rows"], given["columns"]
    if not all(isinstance(row, dict) for row in rows):
        raise refuse("Every entry of “rows” must be an object, with a value for each column.")
    names = list(dict.fromkeys(name for row in rows for name in row)) if columns is None else columns
    if not names or not all(isinstance(name, str) for name in names):
        raise refuse("The table has no columns. Give their names in “columns”, or rows with values.")
    if len(names) * (len(rows) + 2) > MOST_BYTES // 4:
        raise refuse("The table has too many cells. Use fewer rows or columns.")
    lines = [names, ["---"] * len(names), *([row.get(name, "") for name in names] for row in rows)]
    return {"text": "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)}


def _cell(value: Json) -> str:
    return " ".join(templates.as_text("" if value is None else value).replace("\\", "\\\\").replace("|", "\\|").split())


_TEXT = {"text: string": "The text."}
_NEW = {"text: string": "The new text."}

BUILTINS = (
    define(
        "text.template",
        _template,
        "Fills a template: {{name}} and {{customer.name}} are replaced by the variables, and nothing else is done.",
        {"template: string": "The template.", "variables?: object = {}": "The values. A missing one is an error."},
        {"text: string": "The text with the values."},
        role=("synthesize",),
    ),
    define(
        "text.trim",
        _trim,
        "Removes spaces and line ends from both ends of a text.",
        _TEXT | {"characters?: string": "Other characters to remove instead."},
        _NEW,
    ),
    define(
        "text.normalise",
        _normalise,
        "Makes spaces and accents uniform, so that texts that look equal are equal.",
        _TEXT | {"one_line?: boolean = false": "Whether all lines become one."},
        _NEW,
    ),
    define(
        "text.case",
        _case,
        "Changes the case of a text. A slug is for names and addresses: “Über uns” becomes “uber-uns”.",
        _TEXT | {"case: string": "One of lower, upper, title, sentence, slug."},
        _NEW,
    ),
    define(
        "text.lines",
        _lines,
        "Splits a text into its lines.",
        _TEXT | {"skip_empty?: boolean = false": "Whether empty lines are left out."},
        {"lines: array": "The lines, without line ends.", "count: integer": "Their number."},
    ),
    define(
        "text.truncate",
        _truncate,
        "Shortens a text between words, and ends it with “…” if something was cut.",
        _TEXT | {"characters: integer": "The most characters, with the ellipsis."},
        _NEW | {"truncated: boolean": "Whether something was cut."},
    ),
    define(
        "text.measure",
        _measure,
        "Counts characters, words and lines.",
        _TEXT,
        {"characters: integer": "Characters.", "words: integer": "Words.", "lines: integer": "Lines."},
        role=("evaluate",),
    ),
    define(
        "text.contains",
        _contains,
        "Looks for words in a text, in any case.",
        _TEXT | {"words: array": "The texts to look for."},
        {
            "found: array": "Those that are in it.",
            "any: boolean": "Whether one is.",
            "all: boolean": "Whether all are.",
        },
        role=("evaluate",),
    ),
    define(
        "text.markdown.table",
        _table,
        "Writes objects as a table in Markdown.",
        {"rows: array": "Objects.", "columns?: array": "Names of the columns in order. Without it, all that occur."},
        {"text: string": "The table."},
        role=("synthesize",),
    ),
    define(
        "compare.texts",
        _compare,
        f"Compares two texts word by word, and shows up to {MOST_CHANGES} changes.",
        {"left: string": "The first text.", "right: string": "The second text."},
        {
            "equal: boolean": "Whether both have the same words.",
            "similarity: number": "1 for the same words, 0 for none in common.",
            "words_removed: integer": "Words and signs that only the first text has.",
            "words_added: integer": "Words and signs that only the second text has.",
            "changes: array": "Objects with the words “removed” and “added” at one place.",
        },
        role=("evaluate",),
    ),
    define(
        "hash.sha256",
        _hash,
        "Computes the SHA-256 digest of a text, to recognise it again.",
        _TEXT,
        {"digest: string": "64 hexadecimal digits."},
    ),
)
